"""Positions and masks of padded, packed and windowed texts."""

import numpy as np
import pytest
import torch

from lessons import attention, layers, positions

MASK = [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]


@pytest.mark.parametrize("kind", [list, np.array, lambda mask: np.array(mask, bool)])
def test_positions_count_real_tokens_and_a_pad_gets_zero(kind):
    given = kind(MASK)
    found = positions.from_padding_mask(given)
    assert found.dtype == np.int64
    assert found.tolist() == [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]
    assert np.sum(given, -1).tolist() == [3, 5]  # where the next token of each row stands
    np.testing.assert_array_equal(np.asarray(given), MASK)


def test_padding_may_stand_anywhere():
    rows = [[1, 1, 1, 0, 0], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]]
    wanted = [[0, 1, 2, 0, 0], [0, 0, 1, 0, 2], [0, 0, 0, 0, 0]]
    assert positions.from_padding_mask(rows).tolist() == wanted
    for row, one in zip(rows, wanted, strict=True):
        assert positions.from_padding_mask(row).tolist() == one
    assert positions.from_padding_mask(np.zeros((2, 0), bool)).shape == (2, 0)


def test_the_next_position_is_the_one_that_one_more_token_gets():
    rng = np.random.default_rng(0)
    mask = rng.random((50, 9)) < 0.6
    grown = np.concatenate([mask, np.ones((50, 1), bool)], axis=1)
    np.testing.assert_array_equal(positions.from_padding_mask(grown)[:, -1], mask.sum(-1))


def test_packed_documents_each_start_at_zero():
    found = positions.from_lengths([3, 2, 4])
    assert found.dtype == np.int64
    assert found.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
    assert positions.from_lengths(np.array([1])).tolist() == [0]


def test_the_document_mask_is_block_diagonal_and_looks_both_ways():
    mask = positions.document_mask([2, 1, 3])
    assert mask.dtype == bool
    wanted = np.zeros((6, 6), bool)
    wanted[:2, :2] = wanted[2, 2] = wanted[3:, 3:] = True
    np.testing.assert_array_equal(mask, wanted)
    np.testing.assert_array_equal(mask, mask.T)


@pytest.mark.parametrize("window", [1, 2, 3, 7, 100])
def test_with_the_causal_mask_a_query_looks_at_as_many_keys_as_the_window_has(window):
    def law(make):
        n = np.arange(20)
        mask = make(n, n, window) & attention.causal_mask(n, n)
        assert mask.sum(-1).tolist() == [min(m + 1, window) for m in n]
        assert mask.diagonal().all()

    def one_too_many(q_positions, k_positions, window):
        return positions.window_mask(q_positions, k_positions, window + 1)

    law(positions.window_mask)
    if window < 20:
        with pytest.raises(AssertionError):
            law(one_too_many)


def test_the_window_is_about_positions_and_looks_both_ways():
    mask = positions.window_mask([10], [0, 7, 8, 9, 10, 11, 12, 13], 3)
    assert mask.dtype == bool
    assert mask.tolist() == [[False, False, True, True, True, True, True, False]]
    n = np.arange(12)
    step = positions.window_mask([11], n, 4)
    np.testing.assert_array_equal(step, positions.window_mask(n, n, 4)[-1:])


def test_the_window_has_the_axes_of_the_causal_mask():
    q, k = np.array([[3, 4], [8, 9], [0, 1]]), np.arange(10)
    mask = positions.window_mask(q, k, 3)
    assert mask.shape == attention.causal_mask(q, k).shape == (3, 1, 2, 10)
    for row in range(3):
        np.testing.assert_array_equal(mask[row, 0], positions.window_mask(q[row], k, 3))
    assert positions.window_mask(q[0], np.tile(k, (4, 1)), 3).shape == (4, 1, 2, 10)


def test_the_positions_can_be_handed_to_a_model():
    table = layers.Learned(4, 5)
    for found in (positions.from_padding_mask(MASK), positions.from_lengths([3, 2])):
        out = table.embed(torch.zeros(2, 5, 4), torch.from_numpy(found))
        assert torch.equal(out, table.weight[found].expand(2, 5, 4))
