"""lessons.sinusoidal: the encoding's values and laws, and the matrix that shifts it."""

import numpy as np
import pytest

from lessons import sinusoidal
from lessons.frequencies import inverse_frequencies

FAR = np.array([-70_000, -513, -3, -1, 0, 1, 2, 7, 100, 4095, 1_000_003])


def test_the_seeds_row():
    assert np.round(sinusoidal.encode(range(4), 4)[2], 2).tolist() == [0.91, -0.42, 0.02, 1.0]
    row = sinusoidal.encode([2], 4)[0]
    np.testing.assert_allclose(row, [0.9093, -0.4161, 0.0200, 0.9998], atol=5e-5)


def test_odd_width_drops_the_last_cosine():
    row = sinusoidal.encode([1], 5)[0]
    np.testing.assert_allclose(row, [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=1e-6)
    np.testing.assert_array_equal(sinusoidal.encode(FAR, 1)[:, 0], np.sin(FAR.astype(float)))


def test_rows_are_positions_and_columns_are_dimensions():
    table = sinusoidal.encode(np.arange(7), 12)
    assert table.shape == (7, 12) and table.dtype == np.float64
    np.testing.assert_array_equal(table[0], [0, 1] * 6)
    for n in range(7):
        for i in range(6):
            angle = n / 10_000 ** (2 * i / 12)
            np.testing.assert_allclose(table[n, 2 * i], np.sin(angle), atol=1e-15)
            np.testing.assert_allclose(table[n, 2 * i + 1], np.cos(angle), atol=1e-15)


def test_positions_may_be_negative_shuffled_repeated_batched_and_of_any_dtype():
    table = sinusoidal.encode(FAR, 10)
    batch = np.array([FAR[::-1], FAR])
    encoded = sinusoidal.encode(batch, 10)
    assert encoded.shape == (2, len(FAR), 10)
    np.testing.assert_array_equal(encoded[0], table[::-1])
    np.testing.assert_array_equal(encoded[1], table)
    mirror = sinusoidal.encode(-FAR, 10)
    np.testing.assert_array_equal(mirror[:, 0::2], -table[:, 0::2])
    np.testing.assert_array_equal(mirror[:, 1::2], table[:, 1::2])
    np.testing.assert_array_equal(sinusoidal.encode(np.int32(FAR), 10), table)
    np.testing.assert_array_equal(sinusoidal.encode(list(FAR), 10.0), table)
    np.testing.assert_array_equal(sinusoidal.encode([3, 3], 4)[0], sinusoidal.encode([3, 3], 4)[1])
    assert sinusoidal.encode([], 4).shape == (0, 4)
    assert sinusoidal.encode(np.zeros((3, 0)), 5).shape == (3, 0, 5)


def test_theta_is_the_base():
    table = sinusoidal.encode([1], 4, theta=100)
    np.testing.assert_allclose(table[0, 2:], [np.sin(0.1), np.cos(0.1)])
    np.testing.assert_array_equal(
        sinusoidal.encode(FAR, 6, theta=10_000), sinusoidal.encode(FAR, 6)
    )
    equal_hands = sinusoidal.encode(FAR, 6, theta=1)
    np.testing.assert_array_equal(equal_hands[:, :2], equal_hands[:, 4:])


@pytest.mark.parametrize("d_model", [2, 4, 64, 512])
def test_every_row_has_norm_root_of_half_the_width(d_model):
    table = sinusoidal.encode(FAR, d_model)
    np.testing.assert_allclose(np.linalg.norm(table, axis=-1), np.sqrt(d_model / 2), rtol=1e-14)
    np.testing.assert_allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, 1, rtol=1e-14)
    assert np.abs(table).max() <= 1


def test_dot_products_at_512():
    start = np.arange(-50, 5000, 101)
    here = sinusoidal.encode(start, 512)
    expected = {0: 256, 1: 249.102, 2: 231.734, 5: 189.597, 10: 173.790, -10: 173.790}
    for k, value in expected.items():
        products = (here * sinusoidal.encode(start + k, 512)).sum(-1)
        np.testing.assert_allclose(products, value, atol=5e-4)
        assert np.ptp(products) < 1e-9


def test_dot_products_do_not_tell_left_from_right():
    middle, k = sinusoidal.encode([1000], 64)[0], np.arange(1, 900)
    left, right = sinusoidal.encode(1000 - k, 64), sinusoidal.encode(1000 + k, 64)
    np.testing.assert_allclose(left @ middle, right @ middle, atol=1e-10)
    assert np.abs(left - right).max(-1).min() > 1e-3


@pytest.mark.parametrize("theta", [10.0, 10_000.0, 5e5])
@pytest.mark.parametrize("d_model", [2, 4, 10, 64])
@pytest.mark.parametrize("offset", [-4097, -7, -1, 0, 1, 2, 500])
def test_shift_matrix_steps_back_and_its_transpose_forward(offset, d_model, theta):
    r = sinusoidal.shift_matrix(offset, d_model, theta)
    assert r.shape == (d_model, d_model) and r.dtype == np.float64
    here = sinusoidal.encode(FAR, d_model, theta)
    back = sinusoidal.encode(FAR - offset, d_model, theta)
    forward = sinusoidal.encode(FAR + offset, d_model, theta)
    np.testing.assert_allclose(here @ r.T, back, atol=1e-9)
    np.testing.assert_allclose(here @ r, forward, atol=1e-9)
    np.testing.assert_allclose(r @ r.T, np.eye(d_model), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(r), 1, rtol=1e-12)
    np.testing.assert_allclose(sinusoidal.shift_matrix(-offset, d_model, theta), r.T, atol=1e-15)


def test_shift_matrix_block_order_and_sign():
    r = sinusoidal.shift_matrix(1, 4)
    c, s = np.cos([1, 0.01]), np.sin([1, 0.01])
    by_hand = [[c[0], -s[0], 0, 0], [s[0], c[0], 0, 0], [0, 0, c[1], -s[1]], [0, 0, s[1], c[1]]]
    np.testing.assert_allclose(r, by_hand, atol=1e-15)


def test_shifts_compose():
    for a, b in [(1, 1), (3, -8), (-40, -2), (1000, -1000), (0, 5)]:
        composed = sinusoidal.shift_matrix(a, 16) @ sinusoidal.shift_matrix(b, 16)
        np.testing.assert_allclose(composed, sinusoidal.shift_matrix(a + b, 16), atol=1e-12)
    np.testing.assert_array_equal(sinusoidal.shift_matrix(0, 16), np.eye(16))
    power = np.linalg.matrix_power(sinusoidal.shift_matrix(1, 16), 37)
    np.testing.assert_allclose(power, sinusoidal.shift_matrix(37, 16), atol=1e-12)


def test_shift_matrix_is_one_matrix_for_all_positions_and_another_for_each_offset():
    offsets = np.arange(1, 60)
    matrices = np.array([sinusoidal.shift_matrix(offset, 8) for offset in offsets])
    gaps = np.abs(matrices[:, None] - matrices[None]).max((-2, -1))
    assert gaps[~np.eye(len(offsets), dtype=bool)].min() > 1e-3


def test_shift_matrix_of_an_odd_width_says_why_not():
    with pytest.raises(ValueError, match="d_model must be even, got 5"):
        sinusoidal.shift_matrix(1, 5)
    assert len(inverse_frequencies(5)) == 3  # the last of which has a sine alone
