"""ALiBi's slopes and bias: values of the authors' code, laws, and the faults that people report."""

import numpy as np
import pytest
import torch

from lessons import alibi, attention


def text_rule(n_heads):
    """the paper's sentence taken alone: one geometric run"""
    return 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)


def is_the_authors_rule(slopes):
    between = [0.707107, 0.353553, 0.176777, 0.088388]
    return np.allclose(slopes(12), [*(2.0 ** -np.arange(1, 9)), *between], atol=1e-6)


def test_slopes_for_a_number_of_heads_that_is_no_power_of_two():
    assert is_the_authors_rule(alibi.slopes)
    assert not is_the_authors_rule(text_rule)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8, 16, 128])
def test_slopes_of_a_power_of_two_are_the_texts_run(n_heads):
    np.testing.assert_allclose(alibi.slopes(n_heads), text_rule(n_heads), rtol=1e-12)


@pytest.mark.parametrize("n_heads", range(1, 40))
def test_every_slope_is_its_own_and_below_one(n_heads):
    slopes = alibi.slopes(n_heads)
    assert slopes.shape == (n_heads,) and len(set(slopes.round(12))) == n_heads
    assert (slopes > 0).all() and (slopes < 1).all()


def test_bias_is_minus_slope_times_query_minus_key():
    bias = alibi.bias([0.5, 0.25], [4, 7], [0, 7, 9])
    assert bias.tolist() == [[[-2, 1.5, 2.5], [-3.5, 0, 1]], [[-1, 0.75, 1.25], [-1.75, 0, 0.5]]]
    both = alibi.bias([0.5], [4, 7], [0, 7, 9], symmetric=True)
    assert both.tolist() == [[[-2, -1.5, -2.5], [-3.5, 0, -1]]]


def test_a_decode_step_gets_the_last_row_of_the_full_bias():
    def by_query_length(slopes, q_positions, k_positions):
        return alibi.bias(slopes, range(len(q_positions)), range(len(q_positions)))

    def last_row_agrees(bias):
        full, step = bias(alibi.slopes(4), range(9), range(9)), bias(alibi.slopes(4), [8], range(9))
        return step.shape == (4, 1, 9) and np.array_equal(step[:, 0], full[:, -1])

    assert last_row_agrees(alibi.bias)
    assert not last_row_agrees(by_query_length)


def test_batched_positions_give_a_batch_axis_before_the_heads():
    q = np.array([[3, 4], [8, 9], [0, 1]])
    bias = alibi.bias(alibi.slopes(4), q, range(5))
    assert bias.shape == (3, 4, 2, 5)
    for row in range(3):
        np.testing.assert_array_equal(bias[row], alibi.bias(alibi.slopes(4), q[row], range(5)))


def softmax_differs(one, other):
    return np.abs(attention.softmax(one) - attention.softmax(other)).max()


def test_adding_slope_times_key_is_the_same_where_softmax_forgets_the_rows_constant():
    n = np.arange(40)
    mask = attention.causal_mask(n, n)
    slopes = alibi.slopes(8)
    scores = np.random.default_rng(0).normal(size=(8, 40, 40))

    def trick_equals(bias):
        rows = scores + bias(slopes, n, n), scores + slopes[:, None, None] * n
        return softmax_differs(*(np.where(mask, row, -np.inf) for row in rows)) < 1e-12

    def divided(slopes, q_positions, k_positions):  # as if the bias were part of the dot product
        return alibi.bias(slopes, q_positions, k_positions) / 8

    assert trick_equals(alibi.bias)
    assert not trick_equals(divided)
    both_ways = alibi.bias(slopes, n, n, symmetric=True)
    assert softmax_differs(both_ways, both_ways * 0 + slopes[:, None, None] * n) > 0.3


def test_a_common_shift_changes_nothing_and_each_head_falls_by_its_slope():
    slopes = alibi.slopes(6)
    near, far = alibi.bias(slopes, range(20), range(20)), alibi.bias(slopes, *[range(900, 920)] * 2)
    np.testing.assert_array_equal(near, far)
    np.testing.assert_allclose(np.diff(near, axis=-1), slopes[:, None, None] + np.zeros((20, 19)))
    np.testing.assert_array_equal(np.diagonal(near, axis1=1, axis2=2), 0)


def test_key_positions_in_bfloat16_run_together():
    keys = torch.arange(2048)
    assert len(set((0.5 * keys.to(torch.bfloat16)).tolist())) == 641
    assert len(set(alibi.bias([0.5], [2047], keys.numpy())[0, 0])) == 2048


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: alibi.slopes(0), ValueError, "n_heads"),
        (lambda: alibi.slopes(2.5), ValueError, "n_heads"),
        (lambda: alibi.slopes(True), TypeError, "n_heads"),
        (lambda: alibi.bias(0.5, [0], [0]), ValueError, "slopes"),
        (lambda: alibi.bias([np.nan], [0], [0]), ValueError, "slopes"),
        (lambda: alibi.bias([0.5], [0.5], [0]), ValueError, "q_positions"),
        (lambda: alibi.bias([0.5], [0], 3), ValueError, "k_positions"),
        (lambda: alibi.bias([0.5], [[0], [1]], [[0], [1], [2]]), ValueError, "k_positions"),
        (lambda: alibi.bias(torch.ones(2), [0], [0]), TypeError, "slopes"),
    ],
)
def test_refusals_name_the_argument(call, error, named):
    with pytest.raises(error, match=named):
        call()
