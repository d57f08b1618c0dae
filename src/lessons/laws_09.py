"""The laws behind the exercises of lesson 09, the key/value cache."""

import numpy as np

from lessons import attention, frequencies, rope, validate
from lessons.exercises import parts

# Of exercise 9.1: three prompts of 2, 5 and 6 tokens, padded on the left to 6.
MASK = np.arange(6) >= np.array([[4], [1], [0]])
KEPT = (0, 1, 2, 3, 6, 7, 8)  # of exercise 9.2


def _padded(answer):
    given, upcoming = parts(answer, "positions", "next positions")
    given = validate.has_shape(validate.positions(given), "positions", MASK.shape)
    upcoming = validate.positions(upcoming, "next positions")
    upcoming = validate.has_shape(upcoming, "next positions", (len(MASK),))
    for row, real in enumerate(MASK):
        count = int(real.sum())
        wrong = np.flatnonzero(real & (given[row] != real.cumsum() - 1))
        if wrong.size:
            column = int(wrong[0])
            return (
                f"row {row + 1}, column {column + 1}: token {real[: column + 1].sum()} of "
                f"{count} stands at {real[: column + 1].sum() - 1}, not {given[row, column]:g}."
            )
        outside = given[row, ~real & ~((given[row] >= 0) & (given[row] < MASK.shape[1]))]
        if outside.size:
            return f"row {row + 1}: a table of 6 rows has no position {outside[0]:g} for a pad."
        if upcoming[row] != count:
            return (
                f"row {row + 1}: with {count} real tokens at 0 … {count - 1}, the next one stands "
                f"at {count}, not {upcoming[row]:g}."
            )
    return None


def _evicted(answer):
    close = validate.function(answer, "the answer")
    rng = np.random.default_rng(9)
    cases = [(2, 9, 16, KEPT, 1e4), (3, 12, 10, (0, 5, 6, 11), 100.0), (1, 6, 4, (2, 3), 1e4)]
    for heads, held, head_dim, keep, theta in cases:
        inv_freq = frequencies.inverse_frequencies(head_dim, theta)
        fresh = rng.normal(size=(heads, held, head_dim))
        cached = rope.rotate(fresh, np.arange(held), inv_freq)
        given = validate.finite(close(cached.copy(), np.array(keep), inv_freq.copy()), "the keys")
        given = validate.has_shape(given, "the keys", (heads, len(keep), head_dim))
        right = rope.rotate(fresh[:, list(keep)], np.arange(len(keep)), inv_freq)
        error = np.abs(given - right).max(axis=(0, 2))
        if error.max() > 1e-6:
            slot = int(np.argmax(error > 1e-6))
            problem = f"the key of position {keep[slot]} belongs at {slot} now and is off by "
            problem += f"{error[slot]:.2g}"
            stands = _stands_at(given[:, slot], fresh[:, keep[slot]], inv_freq)
            return problem + (f": it stands at {stands}." if stands is not None else ".")
    return None


def _stands_at(key, fresh, inv_freq):
    """The position that a key was turned for, if it is one from −30 to 30."""
    for position in sorted(range(-30, 31), key=abs):
        if np.abs(rope.rotate(fresh, [position] * len(fresh), inv_freq) - key).max() < 1e-6:
            return position
    return None


def _shared(answer):
    attend = validate.function(answer, "the answer")
    rng = np.random.default_rng(90)
    for seq_len, head_dim in ((7, 16), (12, 6)):
        inv_freq = frequencies.inverse_frequencies(head_dim)
        q, c = rng.normal(size=(2, seq_len, head_dim))
        positions = np.cumsum(rng.integers(1, 4, seq_len))

        def out(positions, q=q, c=c, inv_freq=inv_freq):
            given = attend(q.copy(), c.copy(), positions.copy(), inv_freq.copy())
            return validate.has_shape(validate.finite(given, "the output"), "the output", q.shape)

        moved = np.abs(out(positions + 37) - out(positions)).max()
        if moved > 1e-12:
            return f"a shift of all positions by 37 changes the output by {moved:.2g}."
        right = rope.rotate(_one_tensor(q, c, positions, inv_freq), -positions, inv_freq)
        error = np.abs(out(positions) - right).max()
        if error > 1e-12:
            keys, mask = rope.rotate(c, positions, inv_freq), _causal(positions)
            plain = attention.attend(rope.rotate(q, positions, inv_freq), keys, c, mask=mask)[0]
            if np.abs(out(positions) - plain).max() < 1e-12:
                return (
                    "these are the values unturned, which needs a second tensor: with the turned "
                    f"ones the output differs by {error:.2g}."
                )
            return f"the output is off by {error:.2g}, at {seq_len} tokens."
    return None


def _one_tensor(q, c, positions, inv_freq):
    """Attention where one turned tensor is key and value; its output is still turned."""
    turned = rope.rotate(c, positions, inv_freq)
    q = rope.rotate(q, positions, inv_freq)
    return attention.attend(q, turned, turned, mask=_causal(positions))[0]


def _causal(positions):
    return attention.causal_mask(positions, positions)


LAWS = {
    "9.1": _padded,
    "9.2": _evicted,
    "9.3": _shared,
}
