"""The laws behind the exercises of lesson 11, grids."""

import itertools

import numpy as np

from lessons import frequencies, rope, validate
from lessons.exercises import number, parts

ROWS, COLUMNS = 32, 48  # of exercise 11.1: 448 × 672 pixels in patches of 14


def _two_distances(answer):
    below, start = (number(part) for part in parts(answer, "below", "start of the next row"))
    count = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)  # how the patches are numbered
    for name, given, patch in (
        ("the patch below", below, count[1, -1]),
        ("the first patch of the next row", start, count[1, 0]),
    ):
        tokens = patch - count[0, -1]
        if given != tokens:
            return (
                f"{name} of patch {count[0, -1]}, which ends row 0, has number {patch}: "
                f"it is {tokens} on, not {given:g}."
            )
    return None


def _by_distance(scores):
    """The scores of one shape of grid, gathered by (Δrow, Δcolumn)."""
    patches = list(np.ndindex(3, 5))
    found = {}
    for (q, k), score in np.ndenumerate(scores):
        apart = tuple(np.subtract(patches[q], patches[k]).tolist())
        found.setdefault(apart, []).append((score, patches[q], patches[k]))
    return found


def _two_distances_count(answer):
    turn = validate.function(answer, "the answer")
    x = np.random.default_rng(11).normal(size=(15, 16))
    rows, columns = np.repeat(np.arange(3), 5), np.tile(np.arange(5), 3)

    def turned(x):
        given = validate.finite(turn(x.copy(), rows.copy(), columns.copy()), "the turned x")
        return validate.has_shape(given, "the turned x", (15, 16))

    error = np.abs(np.linalg.norm(turned(x), axis=-1) - np.linalg.norm(x, axis=-1)).max()
    if error > 1e-9:
        return f"a rotation keeps norms, and here one changes by {error:.2g}."
    q, k = x[:2, None].repeat(15, axis=1)  # one content for all patches
    groups = _by_distance(turned(q) @ turned(k).T)
    for (row, column), group in groups.items():
        lowest, highest = min(group), max(group)
        if highest[0] - lowest[0] > 1e-9:
            return (
                f"{row} rows and {column} columns apart, the score is {lowest[0]:.4f} from "
                f"{lowest[1]} to {lowest[2]} and {highest[0]:.4f} from {highest[1]} to "
                f"{highest[2]}."
            )
    ordered = sorted((group[0][0], apart) for apart, group in groups.items())
    for (one, first), (other, second) in itertools.pairwise(ordered):
        if other - one < 1e-9:
            return f"{first} and {second}, rows and columns apart, have one score, {one:.4f}."
    return None


def _mrope(answer):
    mrope = validate.function(answer, "the answer")
    rng = np.random.default_rng(12)
    for counts, layout in (((2, 3, 3), "blocks"), ((4, 2, 2), "interleaved")):
        sections = rope.grid_sections(counts, layout=layout)
        inv_freq = frequencies.inverse_frequencies(16)
        x = rng.normal(size=(9, 16))

        def turned(ids, x=x, sections=sections):
            given = mrope(x.copy(), ids.copy(), sections.copy())
            given = validate.finite(given, "the turned x")
            return validate.has_shape(given, "the turned x", (9, 16))

        text = np.tile(rng.integers(0, 500, 9), (3, 1))
        error = np.abs(turned(text) - rope.rotate(x, text[0], inv_freq)).max()
        if error > 1e-12:
            return f"{layout}: on text with three equal ids it misses rope.rotate by {error:.2g}."
        for axis, name in enumerate(("time", "row", "column")):
            ids = text.copy()
            ids[axis] += 3
            change = np.abs(turned(ids) - turned(text)).reshape(9, 2, 8).max(axis=(0, 1))
            wrong = np.flatnonzero((change > 1e-9) != (sections == axis))
            if wrong.size:
                pair = wrong[0]
                does = "turns" if change[pair] > 1e-9 else "does not turn"
                owner = ("time", "row", "column")[sections[pair]]
                return f"{layout}: the {name} id {does} pair {pair}, which belongs to {owner}."
        ids = rng.integers(0, 500, (3, 9))
        right = rope.rotate_by(x, rope.grid_angles(ids, sections, inv_freq))
        error = np.abs(turned(ids) - right).max()
        if error > 1e-9:
            return f"{layout}: with three different ids it is off by {error:.2g}."
    return None


LAWS = {
    "11.1": _two_distances,
    "11.2": _two_distances_count,
    "11.3": _mrope,
}
