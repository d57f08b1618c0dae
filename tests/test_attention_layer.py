"""The attention layer beside the NumPy formulas, its axes, its masks, and what it refuses."""

import functools

import numpy as np
import pytest
import torch
from tiny import FAR, HEADS, D, W, near

from lessons import attention, layers, positions, rope
from lessons.attention_layer import CausalSelfAttention, may_look, score_terms
from lessons.cache import KVCache

B, T = 2, 7
SCHEMES = {
    "none": layers.NoPosition(),
    "alibi": layers.Alibi(HEADS),
    "t5": layers.T5Bias(HEADS),
}
torch.nn.init.normal_(SCHEMES["t5"].weight, generator=torch.Generator().manual_seed(0))
N = torch.arange(T)
ROWS = torch.stack([N + 3, 2 * N])  # (batch, seq), each row its own
CASES = {"(seq,)": N, "(batch, seq)": ROWS}


def layer(dtype=torch.float64):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return CausalSelfAttention(D, HEADS).to(dtype)


def stream(dtype=torch.float64, batch=B):
    return torch.randn(batch, T, D, generator=torch.Generator().manual_seed(1)).to(dtype)


def weights(of):
    w_q, w_k, w_v = of.q_k_v.weight.detach().numpy().reshape(3, D, D).transpose(0, 2, 1)
    return attention.Weights(w_q, w_k, w_v, of.out.weight.detach().numpy().T)


# Beside the NumPy half.


@pytest.mark.parametrize("n", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", SCHEMES)
def test_what_acts_on_scores_equals_the_numpy_layer(name, n):
    scheme, x, ours = SCHEMES[name], stream(), layer()
    bias = scheme.bias(n, n)
    wanted = attention.self_attention(
        x.numpy(),
        weights(ours),
        n_heads=HEADS,
        bias=None if bias is None else bias.detach().numpy(),
        mask=attention.causal_mask(n.numpy(), n.numpy()),
    )
    near(ours(x, n, scheme), torch.from_numpy(wanted), 1e-12)


@pytest.mark.parametrize("n", CASES.values(), ids=CASES)
def test_turned_and_scaled_queries_equal_the_numpy_formula(n):
    scheme, x, ours = layers.LogQueries(layers.Rotary(W, FAR), 4), stream(), layer()
    w = weights(ours)
    q, k, v = (
        (x.numpy() @ each).reshape(B, T, HEADS, -1).swapaxes(1, 2) for each in (w.w_q, w.w_k, w.w_v)
    )
    q, k = rope.rotate(q, n.numpy(), W), rope.rotate(k, n.numpy(), W)
    scale = np.maximum(1, np.log(n.numpy() + 1) / np.log(4))
    q = q * (scale[:, None, :, None] if n.ndim == 2 else scale[:, None])
    out, _ = attention.attend(q, k, v, mask=attention.causal_mask(n.numpy(), n.numpy()))
    wanted = out.swapaxes(1, 2).reshape(B, T, D) @ w.w_o
    near(ours(x, n, scheme), torch.from_numpy(wanted), 1e-6)


@pytest.mark.parametrize("name", [*SCHEMES, "rope"])
def test_each_row_of_a_batch_keeps_its_own_positions(name):
    scheme, ours = {**SCHEMES, "rope": layers.Rotary(W, FAR)}[name], layer()
    x = stream(batch=HEADS)  # as many rows as heads: positions must not go along the heads
    together = ours(x, ROWS, scheme)
    for row in range(HEADS):
        near(together[row : row + 1], ours(x[row : row + 1], ROWS[row], scheme))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", [*SCHEMES, "rope", "log"])
def test_the_result_has_the_dtype_of_x(name, dtype):
    more = {"rope": layers.Rotary(W, FAR), "log": layers.LogQueries(layers.NoPosition(), 4)}
    out = layer(dtype)(stream(dtype), N, {**SCHEMES, **more}[name])
    assert out.dtype == dtype and torch.isfinite(out).all()


# Masks.


@pytest.mark.parametrize("window", [None, 1, 3, 100])
@pytest.mark.parametrize("n", CASES.values(), ids=CASES)
def test_may_look_is_the_causal_mask_and_the_window_of_the_numpy_half(n, window):
    wanted = attention.causal_mask(n.numpy(), n.numpy())
    if window:
        wanted = wanted & positions.window_mask(n.numpy(), n.numpy(), window)
    assert np.array_equal(may_look(n, n, window).numpy(), wanted)
    step = may_look(n[..., -1:], n, window)
    assert np.array_equal(step.numpy(), wanted[..., -1:, :])


def test_a_mask_is_the_whole_of_what_may_be_looked_at():
    x, ours, free = stream(), layer(), torch.ones(T, T, dtype=torch.bool)
    out = ours(x, N, SCHEMES["none"], mask=free)
    changed = x.clone()
    changed[:, -1] += 1
    assert (ours(changed, N, SCHEMES["none"], mask=free)[:, 0] - out[:, 0]).abs().max() > 1e-3
    near(ours(changed, N, SCHEMES["none"])[:, 0], ours(x, N, SCHEMES["none"])[:, 0])


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_token_that_may_look_at_nothing_takes_nothing(name, dtype):
    ours, x = layer(dtype), stream(dtype).requires_grad_()
    mask = may_look(N, N).repeat(B, 1, 1, 1)
    mask[0, :, 2] = False
    out = ours(x, N, SCHEMES[name], mask=mask)
    assert (out[0, 2] == 0).all()
    near(out[1], ours(x, N, SCHEMES[name])[1].detach(), 1e-2 if dtype == torch.bfloat16 else 1e-6)
    out.float().square().sum().backward()
    for grad in (x.grad, ours.q_k_v.weight.grad):
        assert torch.isfinite(grad).all()


def test_a_given_bias_takes_the_place_of_the_schemes():
    x, ours, alibi = stream(), layer(), SCHEMES["alibi"]
    near(ours(x, N, SCHEMES["none"], bias=alibi.bias(N, N)), ours(x, N, alibi))
    none = torch.zeros(HEADS, T, T)
    near(ours(x, N, alibi, bias=none), ours(x, N, SCHEMES["none"]))


@pytest.mark.parametrize("n", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", [*SCHEMES, "rope", "log"])
def test_with_a_cache_and_no_mask_the_keys_keep_their_own_positions(name, n):
    more = {"rope": layers.Rotary(W, FAR), "log": layers.LogQueries(layers.NoPosition(), 4)}
    scheme, x, ours, cache = {**SCHEMES, **more}[name], stream(), layer(), KVCache(1)
    append = functools.partial(cache.append, 0)
    for part, at in zip(x.split(2, 1), n.split(2, -1), strict=True):
        last = ours(part, at, scheme, cache=append)
    near(last, ours(x, n, scheme)[:, -1:])


# Refusals.


WRONG = [
    ({"x": None}, TypeError, "x must be a torch tensor, got NoneType"),
    ({"x": np.ones((B, T, D))}, TypeError, "x must be a torch tensor, got ndarray"),
    ({"x": torch.ones(B, T, D).long()}, TypeError, "x must hold floating-point .* torch.int64"),
    ({"x": torch.ones(B, T, D).double()}, TypeError, "x must be torch.float32 like the weights"),
    ({"positions": N.to("meta")}, ValueError, "positions must be on the device of x, cpu, got m"),
    ({"mask": torch.ones(T, T).bool().to("meta")}, ValueError, "mask must be on the device of q"),
    ({"bias": torch.ones(T, T, device="meta")}, ValueError, "bias must be on the device of q, cp"),
    ({"x": torch.ones(T, D)}, ValueError, r"x must be \(batch, seq, d_model\) .* 16, .*\(7, 16\)"),
    ({"x": torch.ones(B, T, D + 1)}, ValueError, r"x must be .* 16, .*\(2, 7, 17\)"),
    ({"x": torch.ones(B, T, D - 1)}, ValueError, r"x must be .* 16, .*\(2, 7, 15\)"),
    ({"x": torch.ones(1, B, T, D)}, ValueError, r"x must be \(batch, seq, .*\(1, 2, 7, 16\)"),
    ({"positions": list(range(T))}, TypeError, "positions must be a torch tensor, got list"),
    ({"positions": N.float()}, TypeError, "positions must be int64 or int32, got torch.float32"),
    ({"positions": N[:-1]}, ValueError, r"positions must be \(7,\) or \(2, 7\) for x"),
    ({"positions": N.expand(3, -1)}, ValueError, r"positions must be .*\(3, 7\)"),
    ({"positions": N + FAR}, ValueError, "positions must lie in 0 … 63 .* 64 … 70"),
    ({"bias": [0.0]}, TypeError, "bias must be a torch tensor, got list"),
    ({"bias": torch.zeros(HEADS + 1, T, T)}, ValueError, r"bias must broadcast .*\(3, 7, 7\)"),
    ({"bias": torch.zeros(3, 1, T, T)}, ValueError, r"bias must broadcast .*\(3, 1, 7, 7\)"),
    ({"mask": np.ones((T, T), bool)}, TypeError, "mask must be a torch tensor, got ndarray"),
    ({"mask": torch.ones(T, T)}, TypeError, "mask must be bool .* torch.float32"),
    ({"mask": torch.ones(T, T + 1).bool()}, ValueError, r"mask must broadcast .*\(7, 8\)"),
    ({"mask": torch.ones(3, B, 1, T, T).bool()}, ValueError, r"mask must .*\(3, 2, 1, 7, 7\)"),
    ({"mask": torch.ones(1, B, 1, T, T).bool()}, ValueError, r"mask must .*\(1, 2, 1, 7, 7\)"),
]


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG)
def test_what_does_not_fit_is_named(wrong, kind, said):
    given = {"x": stream(torch.float32), "positions": N, "scheme": layers.Rotary(W, FAR)} | wrong
    with pytest.raises(kind, match=f"^{said}"):
        layer(torch.float32)(**given)


def test_bias_and_mask_join_into_one_term():
    q = torch.zeros(B, HEADS, T, 8)
    mask, bias = may_look(ROWS, ROWS), SCHEMES["alibi"].bias(N, N)
    assert score_terms(q, q, None, mask) is mask
    term = score_terms(q, q, bias, mask)  # (batch, 1, …) and (heads, …): neither holds the other
    assert term.shape == (B, HEADS, T, T) and term.dtype == q.dtype
    assert torch.equal(term, bias.masked_fill(~mask, -torch.inf))
