"""Faults that attention invites: a law holds for ours, and the same assertion rejects the fault."""

import functools

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons.attention import Weights, attend, causal_mask, self_attention, softmax

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(3, 2, 3, 5, 4))  # three of (batch 2, heads 3, seq 5, head_dim 4)
BIAS, CAUSAL = RNG.normal(size=(3, 5, 5)), np.tri(5, dtype=bool)


def tells_apart(law, right, *faulty):
    law(right)
    for fault in faulty:
        with pytest.raises((AssertionError, ValueError)):
            law(fault)


def scores(q, k, scale=2.0):
    return q @ np.swapaxes(k, -1, -2) / scale


def test_bias_divided_or_multiplied_by_root_head_dim():
    def law(attention):  # a bias of ln 3 makes its key three times as heavy, whatever q and k are
        plain = attention(Q, K, V, bias=np.zeros((5, 5)))
        added = attention(Q, K, V, bias=np.log([1, 1, 3, 1, 1]) + np.zeros((5, 5)))
        tripled = added[..., 2] / added[..., 0] / (plain[..., 2] / plain[..., 0])
        np.testing.assert_allclose(tripled, 3)

    tells_apart(
        law,
        lambda q, k, v, bias: attend(q, k, v, bias=bias)[1],
        lambda q, k, v, bias: softmax((scores(q, k, 1) + bias) / 2),
        lambda q, k, v, bias: softmax(scores(q, k) + 2 * bias),
    )


def test_scores_without_root_head_dim_or_with_root_of_the_model_width():
    def law(attention):
        one = np.ones((1, 4))
        weights = attention(one, np.array([[0.5] * 4, [0.0] * 4]))
        np.testing.assert_allclose(weights[0, 0] / weights[0, 1], np.e)  # e^(4 · 0.5 / √4)

    tells_apart(
        law,
        lambda q, k: attend(q, k, k)[1],
        lambda q, k: softmax(scores(q, k, 1)),
        lambda q, k: softmax(scores(q, k, 12**0.5)),
    )


def test_mask_inverted():
    def law(attention):
        weights = attention(CAUSAL)
        assert np.all(weights[..., ~CAUSAL] == 0) and np.all(weights[..., CAUSAL] > 0)

    tells_apart(
        law,
        lambda mask: attend(Q, K, V, mask=mask)[1],
        lambda mask: attend(Q, K, V, mask=~mask)[1],
        lambda mask: softmax(scores(Q, K) + mask),  # a bool mask taken for numbers to add
    )


def test_mask_multiplied_instead_of_put_at_minus_infinity():
    def law(attention):
        assert attention(CAUSAL)[..., 0, 1:].max() == 0

    tells_apart(
        law,
        lambda mask: attend(Q, K, V, mask=mask)[1],
        lambda mask: softmax(scores(Q, K) * mask),
    )


def test_mask_after_the_softmax():
    def law(attention):
        np.testing.assert_allclose(attention(CAUSAL).sum(-1), 1)

    tells_apart(
        law,
        lambda mask: attend(Q, K, V, mask=mask)[1],
        lambda mask: softmax(scores(Q, K)) * mask,
    )


def test_softmax_over_the_wrong_axis():
    def law(attention):
        np.testing.assert_allclose(attention(Q, K).sum(-1), 1)

    tells_apart(
        law,
        lambda q, k: attend(q, k, V)[1],
        lambda q, k: np.swapaxes(softmax(np.swapaxes(scores(q, k), -1, -2)), -1, -2),
        lambda q, k: np.moveaxis(softmax(np.moveaxis(scores(q, k), 1, -1)), -1, 1),
    )


def test_is_causal_with_one_query_and_three_keys():
    q, k, v = Q[..., -1:, :], K[..., :3, :], V[..., :3, :]

    def law(attention):  # the query is the third token: it sees all three, as in the full pass
        full = attend(np.concatenate([K[..., :2, :], q], -2), k, v, mask=np.tri(3, dtype=bool))[0]
        np.testing.assert_allclose(attention(q, k, v), full[..., -1:, :], atol=1e-12)

    def torchs_flag(q, k, v):
        q, k, v = map(torch.from_numpy, map(np.ascontiguousarray, (q, k, v)))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()

    tells_apart(
        law,
        lambda q, k, v: attend(q, k, v, mask=causal_mask([2], [0, 1, 2]))[0],
        torchs_flag,
        lambda q, k, v: attend(q, k, v, mask=np.tri(1, 3, dtype=bool))[0],
    )


def test_causal_by_place_in_the_array_instead_of_by_position():
    order = np.array([2, 0, 4, 1, 3])
    q, k, v = Q[..., order, :], K[..., order, :], V[..., order, :]

    def law(mask):  # tokens stored in another order, with their positions, see what they saw
        stored = attend(q, k, v, mask=mask)[0]
        np.testing.assert_allclose(stored, attend(Q, K, V, mask=CAUSAL)[0][..., order, :])

    tells_apart(law, causal_mask(order, order), CAUSAL)


def test_mask_of_a_batch_read_as_a_mask_of_heads():
    positions = np.array([[0, 1, 2], [0, 5, 6], [3, 1, 0]])  # as many sequences as heads
    q, k, v = RNG.normal(size=(3, 3, 3, 3, 4))

    def law(mask):
        for b in range(3):
            alone = attend(q[b], k[b], v[b], mask=causal_mask(positions[b], [0, 4, 5]))[0]
            np.testing.assert_allclose(attend(q, k, v, mask=mask)[0][b], alone)

    mask = causal_mask(positions, [0, 4, 5])
    tells_apart(law, mask, mask[:, 0])


def test_heads_split_without_moving_their_axis():
    x, eye = RNG.normal(size=(2, 5, 6)), np.eye(6)

    def law(layer):  # head h reads and writes channels 2h and 2h + 1 of every token
        for h in (0, 1, 2):
            one = x[..., 2 * h : 2 * h + 2]
            np.testing.assert_allclose(layer(x)[..., 2 * h : 2 * h + 2], attend(one, one, one)[0])

    def reshaped(x):
        heads = x.reshape(2, 3, 5, 2)
        return attend(heads, heads, heads)[0].reshape(x.shape)

    def split_in_channels_of_every_third(x):
        heads = np.moveaxis(x.reshape(2, 5, 2, 3), -1, 1)
        return np.moveaxis(attend(heads, heads, heads)[0], 1, -1).reshape(x.shape)

    weights = Weights(eye, eye, eye, eye)
    ours = functools.partial(self_attention, weights=weights, n_heads=3)
    tells_apart(law, ours, reshaped, split_in_channels_of_every_third)


def test_a_row_that_may_look_at_nothing_is_nan():
    def faulty(mask):
        with np.errstate(invalid="ignore"):
            powers = np.exp(np.where(mask, scores(Q, K), -np.inf))
            return powers / powers.sum(-1, keepdims=True)

    def uniform(mask):
        return softmax(np.where(mask, scores(Q, K), -1e9))

    def law(attention):
        assert np.all(attention(np.zeros((5, 5), bool)) == 0)

    tells_apart(law, lambda mask: attend(Q, K, V, mask=mask)[1], faulty, uniform)
