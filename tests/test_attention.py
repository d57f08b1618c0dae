"""lessons.attention: equivariance, masks and biases; parity with torch, an independent library."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons import attention
from lessons.attention import attend, causal_mask, random_weights, self_attention, softmax

B, H, T, S, D, V = 2, 3, 5, 7, 4, 6  # batch, heads, queries, keys, head_dim, value_dim


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def qkv(batch=B, heads=H):
    lengths = (T, D), (S, D), (S, V)
    return [normal(batch, heads, *length, seed=seed) for seed, length in enumerate(lengths)]


def stack(x, n_layers, n_heads, mask=None, residual=True):
    for seed in range(n_layers):
        weights = random_weights(x.shape[-1], seed)
        x = residual * x + self_attention(x, weights, n_heads=n_heads, mask=mask)
    return x


def test_softmax_is_torchs():
    x = normal(4, 3, 9) * [[[1.0], [50.0], [1e300]]]
    x[0, 0, :4] = -np.inf
    expected = torch.from_numpy(x).softmax(-1).numpy()
    np.testing.assert_allclose(softmax(x), expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(softmax(x).sum(-1), 1)
    np.testing.assert_allclose(softmax(x[0] + 7), softmax(x[0]), rtol=1e-12)


def test_softmax_by_hand_and_at_the_edges():
    np.testing.assert_allclose(softmax([[0, np.log(3)], [5, 5]]), [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_array_equal(softmax([-np.inf, -np.inf]), [0, 0])
    np.testing.assert_array_equal(softmax([1e308, -1e308, -np.inf]), [1, 0, 0])
    assert softmax(np.zeros((2, 0))).shape == (2, 0) and softmax([3]).tolist() == [1]


def test_attend_by_hand():
    out, weights = attend([[2.0, 0]], [[np.log(3) / np.sqrt(2), 5], [0, 1]], [[4.0], [8.0]])
    np.testing.assert_allclose(weights, [[0.75, 0.25]])
    np.testing.assert_allclose(out, [[5.0]])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_attend_is_torchs_scaled_dot_product_attention(masked, biased):
    q, k, v = qkv()
    mask = normal(B, 1, T, S, seed=4) > 0
    mask[..., 0] = True
    bias = 3 * normal(H, T, S, seed=5)
    terms = np.where(mask if masked else True, bias if biased else np.zeros((H, T, S)), -np.inf)
    theirs = F.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v, terms)))
    given = {"bias": bias if biased else None, "mask": mask if masked else None}
    out, weights = attend(q, k, v, **given)
    assert out.shape == (B, H, T, V) and weights.shape == (B, H, T, S)
    assert out.dtype == weights.dtype == np.float64
    np.testing.assert_allclose(out, theirs.numpy(), atol=1e-12)
    np.testing.assert_allclose(weights.sum(-1), 1)


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_is_torchs_multihead_attention(causal):
    d_model = H * D
    x, weights = normal(B, T, d_model), random_weights(d_model, 1)
    bias = normal(B, H, T, T, seed=2)
    mask = causal_mask(range(T), range(T)) if causal else None
    theirs = torch.nn.MultiheadAttention(
        d_model, H, bias=False, batch_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w.T for w in weights[:3]])))
        theirs.out_proj.weight.copy_(torch.from_numpy(weights.w_o.T))
        scores = bias if mask is None else np.where(mask, bias, -np.inf)
        added = torch.from_numpy(scores.reshape(B * H, T, T))
        expected = theirs(*3 * [torch.from_numpy(x)], attn_mask=added, need_weights=False)[0]
    ours = self_attention(x, weights, n_heads=H, bias=bias, mask=mask)
    np.testing.assert_allclose(ours, expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("n_layers", [1, 2, 4])
@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_attention_without_positions_is_equivariant_and_its_mean_invariant(n_heads, n_layers):
    x, rng = normal(3, 8, 12), np.random.default_rng(n_heads + 10 * n_layers)
    out = stack(x, n_layers, n_heads)
    for _ in range(10):
        order = rng.permutation(8)
        moved = stack(x[:, order], n_layers, n_heads)
        np.testing.assert_allclose(moved, out[:, order], atol=1e-12)
        np.testing.assert_allclose(moved.mean(1), out.mean(1), atol=1e-12)
    assert np.abs(out[:, order] - out).max() > 0.1  # equivariant, not invariant


@pytest.mark.parametrize("residual", [False, True])
def test_one_causal_layer_ignores_the_order_of_the_prefix_and_two_do_not(residual):
    x, n = normal(6, 8), np.arange(6)
    mask, order = causal_mask(n, n), [3, 0, 4, 2, 1, 5]
    one, two = (
        np.abs(stack(x[order], k, 2, mask, residual) - stack(x, k, 2, mask, residual))[-1].max()
        for k in (1, 2)
    )
    assert one < 1e-12 and two > 1e-3


def test_nothing_flows_back_through_a_causal_mask():
    x, n = normal(6, 8), np.arange(6)
    changed = x.copy()
    changed[4] += 1
    gap = np.abs(stack(changed, 3, 2, causal_mask(n, n)) - stack(x, 3, 2, causal_mask(n, n))).max(
        -1
    )
    assert gap[:4].max() == 0 and gap[4:].min() > 1e-3


def test_equal_values_make_any_bias_invisible():
    row = normal(V)
    q, k, _ = qkv()
    for seed in range(5):
        bias = 20 * normal(B, H, T, S, seed=seed)
        mask = normal(T, S, seed=seed) > 0
        mask[:, 2] = True
        out, _ = attend(q, k, np.tile(row, (B, H, S, 1)), bias=bias, mask=mask)
        np.testing.assert_allclose(out, np.broadcast_to(row, out.shape), atol=1e-12)


def test_equal_tokens_stay_equal_under_any_bias_until_one_is_different():
    n = np.arange(9)
    x, mask = np.tile(normal(8), (9, 1)), causal_mask(n, n)
    started = np.concatenate([normal(1, 8, seed=1), x])

    def two_layers(x, mask):
        for seed in range(2):
            bias = 5 * normal(2, len(x), len(x), seed=seed)
            weights = random_weights(8, seed)
            x = x + self_attention(x, weights, n_heads=2, bias=bias, mask=mask)
        return x

    same = two_layers(x, mask)
    np.testing.assert_allclose(same, np.broadcast_to(same[0], same.shape), atol=1e-12)
    differ = two_layers(started, causal_mask(range(10), range(10)))[1:]
    assert np.abs(differ[:, None] - differ)[~np.eye(9, dtype=bool)].max(-1).min() > 1e-3


def test_a_row_that_may_look_at_nothing_is_0():
    q, k, v = qkv()
    mask = np.ones((T, S), bool)
    mask[2] = False
    out, weights = attend(q, k, v, mask=mask)
    assert not out[..., 2, :].any() and not weights[..., 2, :].any()
    np.testing.assert_allclose(weights.sum(-1)[..., [0, 1, 3, 4]], 1)
    by_bias, _ = attend(q, k, v, bias=np.where(mask, 0.0, -np.inf))
    np.testing.assert_array_equal(by_bias, out)
    nothing, none = attend(q, k[..., :0, :], v[..., :0, :])
    assert nothing.shape == (B, H, T, V) and not nothing.any() and none.shape == (B, H, T, 0)
    assert self_attention(np.zeros((B, 0, 8)), random_weights(8, 0), n_heads=2).shape == (B, 0, 8)


def test_causal_mask_is_made_from_positions():
    np.testing.assert_array_equal(causal_mask(range(4), range(4)), np.tri(4, dtype=bool))
    np.testing.assert_array_equal(causal_mask([5, -1], [4, 5, 6, -1]), [[1, 1, 0, 1], [0, 0, 0, 1]])
    batch = causal_mask([[0, 2], [1, 3]], [[0, 1, 2], [3, 4, 2]])
    assert batch.shape == (2, 1, 2, 3) and batch.dtype == bool
    np.testing.assert_array_equal(
        batch[:, 0].tolist(), [[[1, 0, 0], [1, 1, 1]], [[0] * 3, [1, 0, 1]]]
    )
    one_row = causal_mask([1], [[0, 1, 2], [2, 1, 0]])
    np.testing.assert_array_equal(one_row[:, 0, 0], [[1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(causal_mask([[1], [2]], [1, 2])[:, 0, 0], [[1, 0], [1, 1]])
    with pytest.raises(
        ValueError, match=r"k_positions must have the batch of q_positions \(2\), got 3"
    ):
        causal_mask(np.zeros((2, 4)), np.zeros((3, 4)))


@pytest.mark.parametrize(("batch", "heads"), [(2, 3), (2, 2), (5, 5), (1, 1)])
def test_each_sequence_of_a_batch_sees_its_own_mask_and_bias(batch, heads):
    q, k, v = qkv(batch, heads)
    q_positions = np.random.default_rng(3).integers(0, S, size=(batch, T))
    mask, bias = causal_mask(q_positions, range(S)), normal(batch, heads, T, S, seed=9)
    out, weights = attend(q, k, v, mask=mask, bias=bias)
    for b in range(batch):
        for h in range(heads):
            alone = causal_mask(q_positions[b], range(S))
            one, seen = attend(q[b, h], k[b, h], v[b, h], mask=alone, bias=bias[b, h])
            np.testing.assert_allclose(out[b, h], one, atol=1e-14)
            np.testing.assert_array_equal(weights[b, h] > 0, alone)
            np.testing.assert_allclose(weights[b, h], seen, atol=1e-14)


def test_random_weights_keep_the_scale_and_repeat():
    weights = random_weights(200, 7)
    assert isinstance(weights, attention.Weights)
    for w, again, other in zip(
        weights, random_weights(200, 7), random_weights(200, 8), strict=True
    ):
        np.testing.assert_array_equal(w, again)
        assert w.shape == (200, 200) and np.abs(w - other).max() > 0.1
        assert abs(w.mean()) < 0.002 and abs(w.var() * 200 - 1) < 0.05
    assert np.abs(np.corrcoef([w.ravel() for w in weights]) - np.eye(4)).max() < 0.03


def test_inputs_are_left_as_they_were():
    given = [*qkv(), normal(H, T, S), normal(T, S) > 0]
    before = [array.copy() for array in given]
    attend(*given[:3], bias=given[3], mask=given[4])
    softmax(given[3])
    for array, kept in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, kept)
