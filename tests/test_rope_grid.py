"""RoPE on a grid: the law of two distances, text as a special case, and the faults of grids.

The grid is 3 rows of 5 patches: on a square one, rows and columns could change places unseen.
"""

import numpy as np
import pytest

from lessons import frequencies, rope

ROWS, COLUMNS, D = 3, 5, 32
GRID = np.indices((ROWS, COLUMNS)).reshape(2, -1)
# (row, column) of the query minus those of the key, for every query and key.
APART = (GRID[:, :, None] - GRID[:, None, :]).reshape(2, -1)
QWEN2, QWEN3 = (16, 24, 24), (24, 20, 20)
SECTIONS = {
    "blocks": rope.grid_sections(QWEN2),
    "interleaved": rope.grid_sections(QWEN3, layout="interleaved"),
}
W = frequencies.inverse_frequencies(128)


def axial(grid=GRID):
    """Half of the pairs for rows, half for columns, each with all its frequencies."""
    inv_freq = np.tile(frequencies.inverse_frequencies(D // 2), 2)
    return rope.grid_angles(grid, rope.grid_sections([D // 4, D // 4]), inv_freq)


def scores(q_angles, k_angles, seed=0, pairing="half"):
    """One query content at every patch against one key content at every patch: (15, 15)."""
    q, k = np.random.default_rng(seed).normal(size=(2, 1, D)).repeat(len(q_angles), axis=1)
    return rope.rotate_by(q, q_angles, pairing=pairing) @ (
        rope.rotate_by(k, k_angles, pairing=pairing).T
    )


def by_distance(table):
    """The scores of each (Δrow, Δcolumn)."""
    groups = {}
    for row, column, score in zip(*APART, np.ravel(table), strict=True):
        groups.setdefault((row, column), []).append(score)
    assert len(groups) == (2 * ROWS - 1) * (2 * COLUMNS - 1)
    return groups.values()


def spread(table):
    """The largest difference between scores of equal (Δrow, Δcolumn)."""
    return max(np.ptp(scores) for scores in by_distance(table))


def nearest(table):
    """The smallest difference between scores of different (Δrow, Δcolumn)."""
    return np.diff(np.sort([scores[0] for scores in by_distance(table)])).min()


@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_scores_depend_on_both_distances_and_on_nothing_else(pairing):
    for seed in range(5):
        table = scores(axial(), axial(), seed, pairing)
        assert spread(table) < 1e-12
        assert nearest(table) > 1e-6
        far = axial(
            GRID + np.array([[700], [-40]])
        )  # rows and columns moved, each by its own shift
        np.testing.assert_allclose(scores(far, far, seed, pairing), table, atol=1e-10)


def flattened(rows=ROWS, columns=COLUMNS):
    return rope.angles(np.arange(rows * columns), frequencies.inverse_frequencies(D))


@pytest.mark.parametrize(
    "faulty",
    [
        lambda: scores(axial(GRID[::-1]), axial()),
        lambda: scores(axial(np.indices((COLUMNS, ROWS)).reshape(2, -1)), axial()),
        lambda: scores(*[axial(np.indices((COLUMNS, ROWS)).reshape(2, -1))] * 2),
    ],
    ids=["axes swapped for q alone", "shape swapped for q alone", "shape swapped for both"],
)
def test_swapped_axes_break_the_law(faulty):
    assert spread(faulty()) > 1


def test_a_square_grid_would_not_have_shown_the_swapped_shape():
    square = np.indices((4, 4)).reshape(2, -1)
    swapped = np.indices((4, 4)).transpose(0, 2, 1).reshape(2, -1)
    apart = (square[:, :, None] - square[:, None, :]).reshape(2, -1)
    q, k = np.random.default_rng(1).normal(size=(2, 1, D)).repeat(16, axis=1)
    table = rope.rotate_by(q, axial(swapped)) @ rope.rotate_by(k, axial(swapped)).T
    for delta in np.unique(apart, axis=1).T:
        assert np.ptp(table.ravel()[(apart == delta[:, None]).all(0)]) < 1e-12


def test_one_number_for_two_axes_cannot_tell_a_step_right_from_the_next_line():
    table = scores(flattened(), flattened())
    assert spread(table) < 1e-12
    assert nearest(table) < 1e-12  # (0, 1) and (1, −4) are both one token


def test_the_score_is_a_sum_of_one_term_of_rows_and_one_of_columns():
    """Each pair belongs to one axis: the mixed second difference vanishes."""
    table = scores(axial(), axial())[0].reshape(ROWS, COLUMNS)
    mixed = table - table[:1] - table[:, :1] + table[0, 0]
    assert np.abs(mixed).max() < 1e-12
    line = scores(flattened(), flattened())[0].reshape(ROWS, COLUMNS)
    assert np.abs(line - line[:1] - line[:, :1] + line[0, 0]).max() > 1


@pytest.mark.parametrize("layout", SECTIONS)
@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_text_with_equal_ids_is_rope_of_one_number_exactly(layout, pairing):
    n = np.random.default_rng(2).integers(-70_000, 70_000, (2, 9))
    turns = rope.grid_angles(np.stack([n] * 3), SECTIONS[layout], W)
    np.testing.assert_array_equal(turns, rope.angles(n, W))
    x = np.random.default_rng(3).normal(size=(2, 4, 9, 128))
    np.testing.assert_array_equal(
        rope.rotate_by(x, turns, pairing=pairing), rope.rotate(x, n, W, pairing=pairing)
    )


def own_frequencies(ids, counts):
    """The fault: each section starts again at the fastest frequency."""
    inv_freq = np.concatenate([frequencies.inverse_frequencies(2 * pairs) for pairs in counts])
    return rope.grid_angles(ids, rope.grid_sections(counts), inv_freq)


def test_sections_with_frequencies_of_their_own_are_not_rope_on_text():
    text = np.tile(np.arange(9), (3, 1))
    assert np.abs(own_frequencies(text, QWEN2) - rope.angles(np.arange(9), W)).max() > 1


@pytest.mark.parametrize("layout", SECTIONS)
def test_each_id_turns_its_own_pairs_and_no_others(layout):
    for axis in range(3):
        ids = np.zeros((3, 1))
        ids[axis] = 7
        turns = rope.grid_angles(ids, SECTIONS[layout], W)[0]
        np.testing.assert_array_equal(turns, np.where(SECTIONS[layout] == axis, 7 * W, 0))


def test_video_scores_depend_on_the_three_distances():
    ids = np.indices((2, ROWS, COLUMNS)).reshape(3, -1)
    apart = (ids[:, :, None] - ids[:, None, :]).reshape(3, -1)
    q, k = np.random.default_rng(4).normal(size=(2, 1, 128)).repeat(30, axis=1)
    for sections in SECTIONS.values():
        turns = rope.grid_angles(ids, sections, W)
        values = (rope.rotate_by(q, turns) @ rope.rotate_by(k, turns).T).ravel()
        for delta in np.unique(apart, axis=1).T:
            assert np.ptp(values[(apart == delta[:, None]).all(0)]) < 1e-11


def test_sections_as_the_models_share_them_out():
    blocks = rope.grid_sections(QWEN2)
    assert blocks.tolist() == [0] * 16 + [1] * 24 + [2] * 24
    dealt = rope.grid_sections(QWEN3, layout="interleaved")
    assert dealt.tolist() == [0, 1, 2] * 20 + [0] * 4
    assert blocks.dtype == dealt.dtype == np.int64
    assert rope.grid_sections([1, 3, 2], layout="interleaved").tolist() == [0, 1, 2, 1, 2, 1]
    for layout in rope.LAYOUTS:
        for counts in ([5], [1, 9], [3, 1, 4, 1, 5]):
            assert np.bincount(rope.grid_sections(counts, layout=layout)).tolist() == counts


def test_rotation_by_angles_keeps_norms_and_composes():
    x = np.random.default_rng(5).normal(size=(ROWS * COLUMNS, D))
    turned = rope.rotate_by(x, axial())
    np.testing.assert_allclose(
        np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-12
    )
    np.testing.assert_allclose(rope.rotate_by(turned, -axial()), x, atol=1e-12)
    # Axis by axis, with the other axis' pairs held still, it is the rotation of lesson 04 twice.
    inv_freq = np.tile(frequencies.inverse_frequencies(D // 2), 2)
    mine = rope.grid_sections([D // 4, D // 4])
    twice = rope.rotate(x, GRID[0], np.where(mine == 0, inv_freq, 0))
    twice = rope.rotate(twice, GRID[1], np.where(mine == 1, inv_freq, 0))
    np.testing.assert_allclose(twice, turned, atol=1e-12)


@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_rotation_by_the_angles_of_positions_is_the_rotation(pairing):
    x = np.random.default_rng(6).normal(size=(3, 3, 7, D))
    few = frequencies.inverse_frequencies(D // 2)
    for n in (np.arange(7), np.random.default_rng(7).integers(-99, 999, (3, 7))):
        np.testing.assert_array_equal(
            rope.rotate_by(x, rope.angles(n, few), pairing=pairing),
            rope.rotate(x, n, few, pairing=pairing),
        )
    np.testing.assert_array_equal(rope.rotate_by(x, np.ones((7, 4)))[..., 8:], x[..., 8:])


def test_batched_angles_belong_to_the_first_axis():
    """As many rows in the batch as heads: the angles must not be taken for the heads'."""
    x = np.random.default_rng(8).normal(size=(3, 3, 7, D))
    turns = np.random.default_rng(9).normal(size=(3, 7, D // 2))
    out = rope.rotate_by(x, turns)
    for row in range(3):
        np.testing.assert_array_equal(out[row], rope.rotate_by(x[row], turns[row]))


@pytest.mark.parametrize(
    ("counts", "sections", "inv_freq", "message"),
    [
        (2, [0, 2], [1, 1], "sections must lie in 0 … 1, got 2"),
        (3, [0, 1, 2], [1, 1], r"sections must have shape \(2,\), got \(3,\)"),
    ],
)
def test_sections_that_do_not_fit_are_named(counts, sections, inv_freq, message):
    with pytest.raises(ValueError, match=message):
        rope.grid_angles(np.zeros((counts, 4)), sections, inv_freq)
