"""RoPE in NumPy: the relative law, both pairings, partial rotary, and the faults of CASES B."""

import numpy as np
import pytest

from lessons import frequencies, rope

B, H, T, D = 2, 3, 17, 32
W = frequencies.inverse_frequencies(D)


def random_x(seed=0, shape=(B, H, T, D)):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [
        ("interleaved", [-1.142640, 1.922076, 2.959851, 4.029800]),
        ("half", [-1.984111, 1.959901, 2.462378, 4.019800]),
    ],
)
def test_published_values_at_position_1(pairing, expected):
    out = rope.rotate([[1, 2, 3, 4]], [1], frequencies.inverse_frequencies(4), pairing=pairing)
    np.testing.assert_allclose(out[0], expected, atol=1e-6)


def test_the_minimal_sketch_of_introductions_gives_the_same_score_three_times():
    q, k = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for m, n in ((1, 3), (4, 6), (0, 2)):
        assert q @ rope.matrix(m, [1.0]).T @ rope.matrix(n, [1.0]) @ k == pytest.approx(
            -0.909, abs=5e-4
        )


@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_equal_offsets_give_equal_scores_for_both_signs(pairing):
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, 1, D))
    for offset in (-13, -1, 0, 1, 5, 64):
        scores = [
            (
                rope.rotate(q, [m], W, pairing=pairing)
                @ rope.rotate(k, [m + offset], W, pairing=pairing).T
            ).item()
            for m in (0, 3, 1000, 65_535)
        ]
        np.testing.assert_allclose(scores, scores[0], atol=1e-9)


@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_matrix_is_the_rotation_and_composes(pairing):
    x = random_x(2, (T, D))
    positions = np.random.default_rng(3).integers(-70_000, 70_000, T)
    by_matrix = [
        rope.matrix(n, W, pairing=pairing) @ row for n, row in zip(positions, x, strict=True)
    ]
    np.testing.assert_allclose(rope.rotate(x, positions, W, pairing=pairing), by_matrix, atol=1e-12)
    r3, r8 = rope.matrix(3, W, pairing=pairing), rope.matrix(8, W, pairing=pairing)
    np.testing.assert_allclose(r3.T @ r8, rope.matrix(5, W, pairing=pairing), atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.matrix_power(rope.matrix(1, W, pairing=pairing), 3), r3, atol=1e-12
    )
    assert np.linalg.det(r3) == pytest.approx(1)


def test_interleaved_matrix_is_block_diagonal():
    matrix = rope.matrix(7, W, pairing="interleaved")
    blocks = np.kron(np.eye(D // 2), np.ones((2, 2)))
    assert not matrix[blocks == 0].any()
    np.testing.assert_allclose(matrix[:2, :2], [[np.cos(7), -np.sin(7)], [np.sin(7), np.cos(7)]])


def test_the_permutation_joins_the_two_pairings():
    assert rope.pairing_permutation(8).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert rope.pairing_permutation(2).tolist() == [0, 1]
    x, positions = random_x(4), np.arange(3, 3 + T)
    p = rope.pairing_permutation(D)
    interleaved = rope.rotate(x, positions, W, pairing="interleaved")
    np.testing.assert_allclose(
        interleaved[..., p], rope.rotate(x[..., p], positions, W), atol=1e-12
    )
    assert np.abs(interleaved - rope.rotate(x, positions, W)).max() > 1


def test_partial_rotary_leaves_the_tail_untouched():
    x, positions, quarter = (
        random_x(5),
        np.arange(5, 5 + T),
        frequencies.inverse_frequencies(D // 4),
    )
    for pairing in rope.PAIRINGS:
        out = rope.rotate(x, positions, quarter, pairing=pairing)
        np.testing.assert_array_equal(out[..., D // 4 :], x[..., D // 4 :])
        head = rope.rotate(x[..., : D // 4], positions, quarter, pairing=pairing)
        np.testing.assert_allclose(out[..., : D // 4], head, atol=1e-12)


def test_batched_positions_belong_to_the_first_axis_even_when_batch_equals_heads():
    x = random_x(6, (3, 3, T, D))
    positions = np.random.default_rng(7).integers(0, 1000, (3, T))
    out = rope.rotate(x, positions, W)
    for row in range(3):
        np.testing.assert_allclose(out[row], rope.rotate(x[row], positions[row], W), atol=1e-12)


def test_norm_is_kept_and_the_callers_x_is_not_written_to():
    x = random_x(8)
    before = x.copy()
    out = rope.rotate(x, np.arange(T), W)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(np.linalg.norm(out, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-12)


def test_score_can_peak_far_away():
    rng = np.random.default_rng(9)
    w = frequencies.inverse_frequencies(128)
    q = rng.normal(size=(1, 128))
    k = rope.rotate(q, [300], w)  # R_300 q meets R_300 back at distance 300
    positions = np.arange(0, 1001)
    scores = rope.rotate(np.repeat(k, 1001, 0), -positions, w) @ q[0]
    assert positions[scores.argmax()] == 300 and scores.max() == pytest.approx((q**2).sum())


# Faults of kind B: the faulty version, and the assertion that rejects it.


def mixed_tables(x, positions, inv_freq):
    """half-split pairs with interleaved cos and sin"""
    turns = np.repeat(np.asarray(positions)[:, None] * inv_freq, 2, axis=-1)
    x1, x2 = np.split(x, 2, axis=-1)
    return x * np.cos(turns) + np.concatenate([-x2, x1], -1) * np.sin(turns)


def other_axis(x, positions, inv_freq):
    """code for [batch, seq, heads, head_dim] given [batch, heads, seq, head_dim]: turns heads"""
    return rope.rotate(np.swapaxes(x, 1, 2), np.arange(x.shape[1]), inv_freq).swapaxes(1, 2)


def keeps_norm(rotate):
    x = random_x(10)
    return np.allclose(
        np.linalg.norm(rotate(x, np.arange(T), W), axis=-1), np.linalg.norm(x, axis=-1)
    )


def turns_along_the_sequence(rotate):
    out = rotate(np.ones((B, H, T, D)), np.arange(T), W)
    return np.ptp(out, axis=2).max() > 1 and np.ptp(out, axis=1).max() == 0


def matches_the_matrix_beyond_position_0(rotate):
    x = random_x(11, (T, D))
    wanted = np.array([rope.matrix(n, W) @ row for n, row in enumerate(x)])
    return np.allclose(rotate(x, np.arange(T), W)[3:], wanted[3:])


@pytest.mark.parametrize(
    ("law", "faulty"),
    [
        (keeps_norm, mixed_tables),
        (turns_along_the_sequence, other_axis),
        (
            matches_the_matrix_beyond_position_0,
            lambda x, n, w: rope.rotate(x, n, w, pairing="interleaved"),
        ),
        (matches_the_matrix_beyond_position_0, lambda x, n, w: rope.rotate(x, -n, w)),
        (matches_the_matrix_beyond_position_0, lambda x, n, w: rope.rotate(x, n, 1 / w)),
    ],
    ids=["mixed tables", "heads for time", "other layout", "other direction", "exponent's sign"],
)
def test_fault_is_rejected_by_the_law_that_ours_keeps(law, faulty):
    assert law(rope.rotate)
    assert not law(faulty)


def test_frequencies_fall_from_one():
    w = frequencies.inverse_frequencies(64)
    assert w[0] == 1 and (np.diff(w) < 0).all() and w[-1] == pytest.approx(1.3335e-4, rel=1e-4)
