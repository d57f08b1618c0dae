"""Assignment A2, RoPE: matrices, rotate-half, layouts (lessons 04 and 05)."""

import numpy as np

from lessons import frequencies, rope
from lessons.tasks import Assignment, Finding, Task
from lessons.tasks_judges import TOLERANCE, case, numbers, parts, shown, values

OTHER_WAY = "it turns the other way"
OTHER_LAYOUT = "the pairs are those of the other layout"
HEADS, HEAD_DIM = 3, 10  # with 10 channels the pairing permutation is not its own inverse


def _rotation_matrix(rng):
    found = []
    for about, sign in (("positions after 0", 1), ("positions before 0", -1)):
        position = sign * int(rng.integers(3, 30))
        head_dim, theta = 2 * int(rng.integers(3, 6)), float(np.round(rng.uniform(50, 5000), 1))
        judge = _matrix(position, frequencies.inverse_frequencies(head_dim, theta))
        found.append(case(about, 2, (position, head_dim, theta), judge))
    return found


def _matrix(position, inv_freq):
    right = rope.matrix(position, inv_freq, pairing="interleaved")
    slips = {
        f"{OTHER_WAY}: this is the transpose": right.T,
        OTHER_LAYOUT: rope.matrix(position, inv_freq),
        "it is the matrix of the next position": rope.matrix(
            position + 1, inv_freq, pairing="interleaved"
        ),
        "the angles are taken for degrees": rope.matrix(
            position, np.deg2rad(inv_freq), pairing="interleaved"
        ),
        "the frequencies grow: the exponent of θ has lost its sign": rope.matrix(
            position, 1 / inv_freq, pairing="interleaved"
        ),
    }
    return values(right, slips)


def _rotate(rng):
    found = []
    for pairing in rope.PAIRINGS:
        for about, points, low in (("from a later start", 2, 3), ("in any order", 2, -40)):
            x = rng.normal(size=(2, 3, 5, 8))
            start = int(rng.integers(3, 30))
            positions = np.arange(start, start + 5) if low > 0 else rng.integers(low, 40, size=5)
            inv_freq = frequencies.inverse_frequencies(8, float(rng.uniform(50, 5000)))
            arguments = (x, positions, inv_freq, pairing)
            judge = _rotated(x, positions, inv_freq, pairing)
            found.append(case(f"{pairing} pairs, positions {about}", points, arguments, judge))
    return found


def _rotated(x, positions, inv_freq, pairing):
    """A rotation of x's rows: its values, and in words whether it is a rotation at all."""
    other = rope.PAIRINGS[pairing == "half"]
    slips = {
        OTHER_WAY: rope.rotate(x, -positions, inv_freq, pairing=pairing),
        OTHER_LAYOUT: rope.rotate(x, positions, inv_freq, pairing=other),
        "rows are counted from 0, whatever the positions are": rope.rotate(
            x, np.arange(x.shape[-2]), inv_freq, pairing=pairing
        ),
        "it turns one position too far": rope.rotate(x, positions + 1, inv_freq, pairing=pairing),
        "nothing turns": x,
    }
    by_value = values(rope.rotate(x, positions, inv_freq, pairing=pairing), slips)

    def judge(answer):
        finding = by_value(answer)
        given, _ = numbers(answer, x.shape)
        if finding is None or given is None or finding.law in slips:
            return finding
        before, after = (np.linalg.norm(rows, axis=-1) for rows in (x, given))
        error = np.abs(after - before)
        if error.max() <= TOLERANCE * before.max():
            return finding
        bad = tuple(np.argwhere(error > TOLERANCE * before.max())[0])
        where = f"from {shown(before[bad])} to {shown(after[bad])} at position {positions[bad[-1]]}"
        return Finding("a rotation keeps the norm, and it changed", float(error.max()), where)

    return judge


def _scores(x, weights, pairing, inv_freq):
    """(heads, rows, rows): every head's scores at positions 3, 4, …; the weights are (out, in)."""
    positions = np.arange(3, 3 + len(x))
    heads = [(x @ w.T).reshape(len(x), HEADS, HEAD_DIM).swapaxes(0, 1) for w in weights]
    q, k = (rope.rotate(head, positions, inv_freq, pairing=pairing) for head in heads)
    return q @ k.swapaxes(-1, -2) / np.sqrt(HEAD_DIM)


def _convert(rng):
    found = []
    rows = np.arange(HEADS * HEAD_DIM).reshape(HEADS, HEAD_DIM)
    order = rope.pairing_permutation(HEAD_DIM)
    for about, d_model in (("a narrow model", 14), ("a wide model", 41)):
        weights = rng.normal(scale=d_model**-0.5, size=(3, HEADS * HEAD_DIM, d_model))
        judge = _converted(rng, weights, rows, order)
        found.append(case(about, 4, (*weights, HEADS), judge))
    return found


def _converted(rng, weights, rows, order):
    inv_freq = frequencies.inverse_frequencies(HEAD_DIM)
    x = rng.normal(size=(6, weights.shape[-1]))
    before = _scores(x, weights[:2], "interleaved", inv_freq)
    across = rope.pairing_permutation(HEADS * HEAD_DIM)
    slips = {
        "the weights are as they were": np.arange(HEADS * HEAD_DIM),
        "the permutation is the inverse one": rows[:, np.argsort(order)].ravel(),
        "the permutation runs across the heads": across,
    }

    def judge_scores(answers):
        after = _scores(x, answers, "half", inv_freq)
        error = np.abs(after - before)
        if error.max() <= 1e-4:
            return None
        law = "the scores changed"
        for named, wrong in slips.items():
            if np.allclose(answers, weights[:2, wrong], 0, 1e-5):
                law = named
        head, m, n = np.argwhere(error > 1e-4)[0]
        where = (
            f"head {head}, query {m + 3}, key {n + 3}: {shown(before[head, m, n])} became "
            f"{shown(after[head, m, n])}"
        )
        return Finding(law, float(error.max()), where)

    def judge(answer):
        shape = weights.shape[1:]
        if finding := parts(("w_q", "w_k", "w_v"), [lambda a: numbers(a, shape)[1]] * 3)(answer):
            return finding
        arrays = [numbers(part, shape)[0] for part in answer]
        moved = np.abs(arrays[2] - weights[2]).max()
        if moved > 1e-5:
            return Finding("w_v is never rotated, and it was changed", float(moved))
        return judge_scores(arrays[:2])

    return judge


def _rotate_step(rng):
    found = []
    for about, points, kind in (
        ("short texts", 2, "float64"),
        ("long texts", 2, "float64"),
        ("long texts, x in float16", 4, "float16"),
        ("long texts, x in float32", 2, "float32"),
    ):
        x = rng.normal(size=(3, 2, 1, 6)).astype(kind)
        lengths = rng.choice(np.arange(2, 9), size=3, replace=False)
        if "long" in about:
            # Above 4096 float16 holds multiples of 4: some go down to one, and some up.
            lengths = 4 * rng.choice(np.arange(1050, 1950), size=3, replace=False)
            lengths += rng.permutation([1, 3, 3])
        inv_freq = _rounded_by_half(rng)
        judge = _step(x, lengths, inv_freq, kind)
        found.append(case(about, points, (x, lengths, inv_freq), judge))
    return found


def _rounded_by_half(rng):
    """Three frequencies that float16 moves far enough to be seen some thousand tokens out."""
    while True:
        inv_freq = frequencies.inverse_frequencies(6, float(rng.uniform(50, 500)))
        if np.abs(inv_freq.astype("float16") - inv_freq).max() > 5e-5:
            return inv_freq


def _step(x, lengths, inv_freq, kind):
    def at(positions, inv_freq=inv_freq):
        return rope.rotate(x, positions[:, None], inv_freq)

    slips = {
        "every token is turned as at position 0": at(0 * lengths),
        "it is one too few: with n tokens before it, a token stands at n": at(lengths - 1),
        "it is one too many: with n tokens before it, a token stands at n": at(lengths + 1),
        "all texts share one length": at(np.repeat(lengths[0], len(lengths))),
        OTHER_WAY: at(-lengths),
    }
    if kind == "float16":
        slips |= {
            "the positions are rounded to x's dtype before they become angles": at(
                lengths.astype(kind).astype(int)
            ),
            "the frequencies are rounded to x's dtype before they become angles": at(
                lengths, inv_freq.astype(kind)
            ),
        }
    # float16 keeps three digits, and angles in float32 are off by 0.0005 at these positions.
    tolerance = 5e-3 if lengths.max() > 1000 else 1e-4
    by_value = values(at(lengths), slips, tolerance=tolerance)

    def judge(answer):
        if finding := by_value(answer):
            return finding
        back = getattr(answer, "dtype", None)
        if kind != "float64" and back != kind:
            return Finding("the result is not in x's dtype", None, f"{kind} became {back}")
        return None

    return judge


def _key_for_peak(rng):
    found = []
    for about, points in (("a near peak", 3), ("a far peak", 3)):
        head_dim = 2 * int(rng.integers(4, 8))
        inv_freq = frequencies.inverse_frequencies(head_dim, 1000.0)
        q = rng.normal(size=head_dim)
        distance = int(rng.integers(3, 12) if "near" in about else rng.integers(60, 200))
        judge = _peaks(q, distance, inv_freq)
        found.append(case(about, points, (q, distance, inv_freq), judge))
    return found


def _peaks(q, distance, inv_freq):
    """⟨R_m q, R_n k⟩ = qᵀ R_{n−m} k is at most ‖q‖‖k‖, and is that only if k = R_{m−n} q."""
    norm = np.linalg.norm(q)
    distances = np.arange(-256, 257)
    turned = rope.rotate(np.tile(q, (len(distances), 1)), distances, inv_freq)

    def judge(answer):
        k, finding = numbers(answer, q.shape)
        if finding:
            return finding
        scores = turned @ k
        best = int(distances[scores.argmax()])
        off = abs(float(scores[distances == distance][0] - norm**2))
        where = f"asked for distance {distance}, the score peaks at {best}"
        if best == -distance:
            return Finding("the peak lies on the other side: k turns the wrong way", off, where)
        if best != distance:
            return Finding("the peak lies elsewhere", off, where)
        length = float(np.linalg.norm(k))
        if abs(length - norm) > 1e-4 * norm:
            where = f"‖q‖ is {shown(norm)} and ‖k‖ is {shown(length)}"
            return Finding("k has not the norm of q", float(abs(length - norm)), where)
        if off > 1e-3 * norm**2:
            where = f"{shown(scores.max())} where ‖q‖² is {shown(norm**2)}"
            return Finding("the peak is lower than ‖q‖²: not every pair takes part", off, where)
        return None

    return judge


ASSIGNMENT = Assignment(
    name="a2",
    title="RoPE: matrices, rotate-half, layouts",
    allowed=("attention", "frequencies"),
    tasks=(
        Task("a2.1", "The matrix", 4, "rotation_matrix", "04", 20, _rotation_matrix),
        Task("a2.2", "Two layouts", 8, "rotate", "05", 30, _rotate),
        Task("a2.3", "Weights of the other layout", 8, "convert", "05", 30, _convert),
        Task("a2.4", "A token more, in half precision", 10, "rotate_step", "05", 40, _rotate_step),
        Task("a2.5", "A key for a distance", 6, "key_for_peak", "04", 25, _key_for_peak),
        Task("a2.6", "Seventeen back, always", 4, None, "04", 20),
    ),
)
