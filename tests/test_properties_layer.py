"""Laws of causal attention as a torch layer, and of its masks and biases, over drawn inputs."""

import copy

import numpy as np
import torch
from drawn import about, near, normal, seeds, slow
from drawn_torch import dtypes, places, refuses, shapes, sizes, tensor
from hypothesis import given
from hypothesis import strategies as st

from lessons import (
    alibi,
    attention,
    attention_layer,
    layers,
    positions,
    rope,
)


@about(attention_layer.may_look)
@given(st.data(), sizes, sizes, sizes, st.none() | st.integers(1, 8))
def test_what_may_be_looked_at_is_the_causal_mask_and_the_window(data, batch, q_len, k_len, window):
    q, k = (places(data.draw, batch, n, 9) for n in (q_len, k_len))
    wanted = attention.causal_mask(q.numpy(), k.numpy())
    if window:
        wanted &= positions.window_mask(q.numpy(), k.numpy(), window)
    found = attention_layer.may_look(q, k, window)
    assert found.dtype == torch.bool
    near(found, wanted, 0)
    assert attention_layer.may_look(q.to("meta"), k.to("meta"), window).shape == found.shape


@about(attention_layer.score_terms, attention_layer.fits)
@given(st.data(), sizes, sizes, sizes, sizes, shapes, dtypes)
def test_a_term_is_the_bias_where_one_may_look_and_fits_as_numpy_says(
    data, batch, heads, q_len, k_len, shape, dtype
):
    q, k = (torch.zeros(batch, heads, n, 4, dtype=dtype) for n in (q_len, k_len))
    scores = (batch, heads, q_len, k_len)
    try:
        fits = np.broadcast_shapes(shape, scores) == scores
    except ValueError:
        fits = False
    bias = torch.from_numpy(normal(data.draw(seeds), *shape)).float().reshape(shape)
    assert bool(refuses(lambda: attention_layer.fits("bias", bias, scores))) == (not fits)
    mask = torch.from_numpy(normal(data.draw(seeds), q_len, k_len) > 0)
    assert attention_layer.score_terms(q, k, None, mask) is mask
    if fits:
        found = attention_layer.score_terms(q, k, bias, mask).expand(scores)
        assert found.dtype == dtype and (found[..., ~mask] == -torch.inf).all()
        assert (found == bias.to(dtype))[..., mask].all()


@about(attention_layer.attend)
@given(st.data(), sizes, sizes, sizes, sizes, st.booleans())
def test_attention_is_that_of_numpy_and_a_row_that_sees_nothing_is_0(
    data, batch, heads, q_len, k_len, biased
):
    q, k, v = (
        tensor(data.draw, batch, heads, n, 4, dtype=torch.float64) for n in (q_len, k_len, k_len)
    )
    mask = torch.from_numpy(normal(data.draw(seeds), q_len, k_len) > 0)
    bias = torch.from_numpy(normal(data.draw(seeds), heads, q_len, k_len)) if biased else None
    term = attention_layer.score_terms(q, k, bias, mask)
    wanted, _ = attention.attend(
        *(t.numpy() for t in (q, k, v)),
        bias=bias if bias is None else bias.numpy(),
        mask=mask.numpy(),
    )
    near(attention_layer.attend(q, k, v, term), wanted, 1e-9)
    near(torch.func.vmap(attention_layer.attend, (0, 0, 0, None))(q, k, v, term), wanted, 1e-9)


@about(attention_layer.CausalSelfAttention)
@slow(2)
@given(
    st.data(), sizes, st.integers(1, 6), sizes, sizes, st.sampled_from(["rope", "alibi", "none"])
)
def test_the_layer_is_attention_in_numpy_with_the_scheme_in_its_place(
    data, batch, seq, n_heads, half, name
):
    d_model = 2 * half * n_heads
    made = attention_layer.CausalSelfAttention(d_model, n_heads).double()
    x, at = (
        tensor(data.draw, batch, seq, d_model, dtype=torch.float64),
        places(data.draw, batch, seq, 40),
    )
    x.requires_grad_()
    w = [part.T.numpy() for part in made.q_k_v.weight.detach().split(d_model)]
    inv_freq = np.ones(half)
    q, k, v = (
        np.moveaxis((x.detach().numpy() @ part).reshape(batch, seq, n_heads, -1), 1, 2)
        for part in w
    )
    used, bias = layers.NoPosition(), None
    if name == "rope":
        used = layers.Rotary(inv_freq, 41)
        q, k = (rope.rotate(y, at.numpy(), inv_freq) for y in (q, k))
    if name == "alibi":
        used = layers.Alibi(n_heads)
        bias = alibi.bias(alibi.slopes(n_heads), at.numpy(), at.numpy())
    mask = attention.causal_mask(at.numpy(), at.numpy())
    out, _ = attention.attend(q, k, v, bias=bias, mask=mask)
    joined = np.moveaxis(out, 2, 1).reshape(batch, seq, -1)
    found = made(x, at, used)
    near(found.detach(), joined @ made.out.weight.detach().T.numpy(), 1e-5)
    found.sum().backward()
    assert x.grad.isfinite().all() and made.q_k_v.weight.grad.isfinite().all()
    there = copy.deepcopy(made).to("meta")(
        x.to("meta"), at.to("meta"), copy.deepcopy(used).to("meta")
    )
    assert there.is_meta and there.shape == found.shape and there.dtype == found.dtype
