"""The exercises of lesson 11: right answers pass, wrong ideas get a sentence with a number."""

import numpy as np

from lessons import frequencies, rope

W = frequencies.inverse_frequencies(16)


def halves(x, rows, columns):
    """The first channels turn by the row, the rest by the column."""
    w = frequencies.inverse_frequencies(8)
    return np.concatenate([rope.rotate(x[:, :8], rows, w), rope.rotate(x[:, 8:], columns, w)], -1)


def axial(x, rows, columns):
    sections = rope.grid_sections([4, 4])
    inv_freq = np.tile(frequencies.inverse_frequencies(8), 2)
    return rope.rotate_by(x, rope.grid_angles([rows, columns], sections, inv_freq))


def mixed(x, rows, columns):
    """Both ids turn every pair, with frequencies of their own: no axis, and yet the law holds."""
    turns = rows[:, None] * W + columns[:, None] * 2.7 * W[::-1]
    return rope.rotate_by(x, turns)


def odd_axes():
    """Axes swapped at every second call: the query's only."""
    calls = []

    def answer(x, rows, columns):
        calls.append(1)
        return axial(x, *((columns, rows) if len(calls) % 2 == 0 else (rows, columns)))

    return answer


def by_rotations(x, ids, sections):
    for axis, n in enumerate(ids):
        x = rope.rotate(x, n, np.where(sections == axis, W, 0))
    return x


def by_angles(x, ids, sections):
    return rope.rotate_by(x, rope.grid_angles(ids, sections, W))


def own_frequencies(x, ids, sections):
    """Every axis starts again at the fastest frequency."""
    inv_freq = np.empty(8)
    for axis in range(3):
        mine = sections == axis
        inv_freq[mine] = frequencies.inverse_frequencies(2 * mine.sum())
    return rope.rotate_by(x, rope.grid_angles(ids, sections, inv_freq))


RIGHT = [
    ("11.1", (48, 1)),
    ("11.1", [48.0, np.int64(1)]),
    ("11.2", halves),
    ("11.2", axial),
    ("11.2", lambda x, rows, columns: axial(x, columns, rows)),
    ("11.2", mixed),
    ("11.3", by_rotations),
    ("11.3", by_angles),
]
WRONG = [
    ("11.1", (32, 1), "has number 95: it is 48 on, not 32"),
    ("11.1", (1, 48), "the patch below of patch 47"),
    ("11.1", (48, -47), "has number 48: it is 1 on, not -47"),
    ("11.1", (672, 1), "not 672"),
    ("11.2", lambda x, r, c: rope.rotate(x, 5 * r + c, W), "have one score"),
    ("11.2", lambda x, r, c: rope.rotate(x, r + c, W), "have one score"),
    ("11.2", lambda x, r, c: rope.rotate(x, r, W), "have one score"),
    ("11.2", lambda x, r, c: x, "have one score"),
    ("11.2", lambda x, r, c: x + axial(x, r, c), "keeps norms"),
    ("11.2", lambda x, r, c: axial(x, *np.indices((5, 3)).reshape(2, -1)), "columns apart, the"),
    ("11.2", lambda x, r, c: rope.rotate(x, r * c, W), "columns apart, the score is"),
    ("11.2", odd_axes(), "columns apart, the score is"),
    ("11.3", own_frequencies, "blocks: on text with three equal ids it misses rope.rotate by"),
    (
        "11.3",
        lambda x, ids, s: rope.rotate(x, ids[0], W),
        "the time id turns pair 2, which belongs",
    ),
    ("11.3", lambda x, ids, s: x, "misses rope.rotate"),
    (
        "11.3",
        lambda x, ids, s: by_angles(x, ids, np.sort(s)),
        "interleaved: the time id turns pair 1, which belongs to row",
    ),
    ("11.3", lambda x, ids, s: by_angles(x, ids[[0, 2, 1]], s), "blocks: the row id does not turn"),
    (
        "11.3",
        lambda x, ids, s: rope.rotate_by(x, rope.grid_angles(ids, s, W), pairing="interleaved"),
        "misses rope.rotate",
    ),
    (
        "11.3",
        lambda x, ids, s: by_angles(x, ids + (ids.max(0) - ids.min(0)), s),
        "the time id turns pair 2",
    ),
]
UNUSABLE = [
    (float("nan"), 1),
    lambda *arguments: arguments,
    lambda x, *more: x * np.nan,
    lambda x, *more: x[:3],
]
