"""Faults that people reported in sinusoidal encodings: the law holds here and rejects the fault.

Each test keeps the faulty version in a few lines and gives it to the assertion that passes here.
"""

import numpy as np
import pytest

from lessons.attention import attend, causal_mask
from lessons.frequencies import inverse_frequencies, wavelengths
from lessons.sinusoidal import encode, shift_matrix

N = np.arange(60)


def tells_apart(law, right, *faulty):
    law(right)
    for fault in faulty:
        with pytest.raises((AssertionError, ValueError)):
            law(fault)


def interleaved(angles):
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(len(angles), -1)


def ladder(make):
    """The angles that one token adds, read off the table, are the ladder θ^(−2i/d)."""
    row = make([1], 8)[0]
    steps = np.arctan2(row[0::2], row[1::2])
    np.testing.assert_allclose(steps, [1, 0.1, 0.01, 0.001], rtol=1e-9)


def unit_circles(make):
    table = make(N, 512)
    np.testing.assert_allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, 1)
    np.testing.assert_allclose((table**2).sum(-1), 256.0)


def test_odd_width_cosines_do_not_fit():
    def faulty(positions, d_model):
        angles = np.asarray(positions)[:, None] * inverse_frequencies(d_model)
        table = np.zeros((len(positions), d_model))
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
        return table

    def law(make):
        row = make([1], 5)[0]
        np.testing.assert_allclose(
            row, [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=1e-6
        )

    tells_apart(law, encode, faulty)
    np.testing.assert_array_equal(faulty(N, 6), encode(N, 6))  # even widths never show it


def test_column_index_instead_of_half_of_it():
    def faulty(positions, d_model):
        columns = np.arange(d_model)
        angles = np.asarray(positions)[:, None] / 10_000 ** (2 * columns / d_model)
        return np.where(columns % 2, np.cos(angles), np.sin(angles))

    tells_apart(unit_circles, encode, faulty)
    tells_apart(ladder, encode, faulty)


def test_sines_then_cosines_is_a_fixed_permutation_of_the_columns():
    def blocks(positions, d_model):
        angles = np.asarray(positions)[:, None] * inverse_frequencies(d_model)
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)

    order = np.concatenate([np.arange(0, 8, 2), np.arange(1, 8, 2)])
    ours, theirs = encode(N, 8), blocks(N, 8)
    np.testing.assert_array_equal(ours[:, order], theirs)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-12)

    def weights_made_for_our_layout(make):
        w = np.random.default_rng(0).normal(size=(8, 8))
        np.testing.assert_allclose(make(N, 8) @ w, encode(N, 8) @ w)

    tells_apart(weights_made_for_our_layout, encode, blocks)


def test_batch_axis_read_as_time_axis():
    def faulty(x):
        return x + encode(np.arange(x.shape[0]), x.shape[-1])[:, None]

    def law(add):
        out = add(np.zeros((2, 5, 8)))
        np.testing.assert_array_equal(out[0], out[1])
        assert np.abs(out[:, :1] - out[:, 1:]).max(-1).min() > 1e-3

    tells_apart(law, lambda x: x + encode(np.arange(x.shape[1]), x.shape[2]), faulty)


def test_a_batch_of_one_for_a_batch_of_sixteen():
    def faulty(positions, d_model):
        return encode(positions[0], d_model)[None]

    def law(make):
        positions = np.add.outer(np.arange(16), np.arange(7))
        table = make(positions, 8)
        assert table.shape == (16, 7, 8)
        np.testing.assert_array_equal(table[5], encode(positions[5], 8))

    tells_apart(law, encode, faulty)


def test_left_padding_positions_counted_from_the_pad():
    tokens = np.random.default_rng(0).normal(size=(3, 8))
    padded, real = np.concatenate([np.zeros((2, 8)), tokens]), np.array([False, False] + 3 * [True])

    def layer(x, positions, may_be_seen):
        x = x + encode(positions, 8)
        return attend(x, x, x, mask=causal_mask(positions, positions) & may_be_seen)[0]

    def law(positions):
        alone = layer(tokens, [0, 1, 2], np.array([True]))
        np.testing.assert_allclose(layer(padded, positions, real)[2:], alone, atol=1e-12)

    tells_apart(law, [0, 0, 0, 1, 2], [0, 1, 2, 3, 4])


def test_pads_that_may_be_looked_at():
    x, positions = encode([0, 0, 0, 1, 2], 8), [0, 0, 0, 1, 2]
    real = np.array([False, False, True, True, True])

    def law(mask):
        _, weights = attend(x, x, x, mask=mask)
        assert weights[:, :2].max() == 0
        np.testing.assert_allclose(weights[2:].sum(-1), 1)

    tells_apart(law, causal_mask(positions, positions) & real, causal_mask(positions, positions))


def test_position_divided_by_the_term_that_multiplies():
    def faulty(positions, d_model):
        div_term = np.exp(np.arange(0, d_model, 2) * -np.log(10_000.0) / d_model)
        return interleaved(np.asarray(positions)[:, None] / div_term)

    tells_apart(ladder, encode, faulty)
    unit_circles(faulty)  # norms do not reveal it; wavelengths do


def test_exponent_with_the_wrong_sign():
    def law(inv_freq):
        assert inv_freq[0] == 1 and np.all(np.diff(inv_freq) < 0)
        np.testing.assert_allclose(inv_freq[-1], 1.3335e-4, rtol=1e-4)

    tells_apart(law, inverse_frequencies(64), 10_000 ** (2 * np.arange(32) / 64))


def test_each_pair_doubles_the_wavelength():
    def law(lengths):
        np.testing.assert_allclose(lengths[1:] / lengths[:-1], 10_000 ** (2 / 64))

    tells_apart(law, wavelengths(inverse_frequencies(64)), 2 * np.pi * 2.0 ** np.arange(32))


def test_ratio_of_neighbours_is_theta_to_the_2_over_d_not_1_over_d():
    def law(inv_freq):
        np.testing.assert_allclose(inv_freq[:-1] / inv_freq[1:], 10_000 ** (2 / 128))

    columns = 10_000 ** (-np.arange(64) / 128)
    tells_apart(law, inverse_frequencies(128), columns)


def test_the_longest_wavelength_of_a_ladder_that_reaches_theta():
    def law(inv_freq):
        assert wavelengths(inv_freq)[-1] < 60_612

    tells_apart(law, inverse_frequencies(512), 10_000 ** -(np.arange(256) / 255))


def test_angles_in_half_precision():
    def faulty(positions, d_model):
        angles = np.float16(positions)[:, None] * np.float16(inverse_frequencies(d_model))
        return interleaved(angles.astype(float))

    def law(make):
        gap = make([1857, 1858], 32) @ make([1], 32)[0] - make([1856, 1857], 32) @ make([0], 32)[0]
        np.testing.assert_allclose(gap, 0, atol=1e-9)

    tells_apart(law, encode, faulty)


def test_block_matrix_that_turns_the_other_way():
    def law(matrix):
        for offset in (3, -7):
            shifted = encode(N, 8) @ matrix(offset, 8).T
            np.testing.assert_allclose(shifted, encode(N - offset, 8), atol=1e-12)

    tells_apart(law, shift_matrix, lambda offset, d_model: shift_matrix(offset, d_model).T)


def test_block_matrix_in_cosine_sine_order():
    swap = np.arange(8) ^ 1  # exchanges the two channels of each pair

    def law(matrix):
        np.testing.assert_allclose(encode(N, 8) @ matrix.T, encode(N - 3, 8), atol=1e-12)

    tells_apart(law, shift_matrix(3, 8), shift_matrix(3, 8)[swap][:, swap])
