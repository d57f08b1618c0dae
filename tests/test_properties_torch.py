"""Laws of the torch schemes: the NumPy half in every shape, dtype, layout and on every device."""

import copy
import functools
import pickle

import numpy as np
import pytest
import torch
from drawn import FAR, about, even_dims, inv_freqs, near, normal, pairings, seeds, whole
from drawn_torch import dtypes, places, refuses, shapes, sizes, tensor, whole_dtypes
from hypothesis import given
from hypothesis import strategies as st
from torch_schemes import assert_near

from lessons import (
    alibi,
    layers,
    relative,
    rope,
    scheme,
    sinusoidal,
    turn,
    validate_rows,
)


def same_without_values(hook, made, *tensors):
    """On the meta device, where there are shapes and dtypes only, they are the same."""
    found = getattr(made, hook)(*tensors)
    there = getattr(copy.deepcopy(made).to("meta"), hook)(*(t.to("meta") for t in tensors))
    assert there.is_meta and there.shape == found.shape and there.dtype == found.dtype
    return found


@about(layers.Sinusoidal, layers.Learned)
@given(st.data(), sizes, sizes, st.integers(1, 33), st.integers(1, 50), dtypes)
def test_what_is_added_is_the_row_of_the_position(data, batch, seq, d_model, max_len, dtype):
    x = tensor(data.draw, batch, seq, d_model, dtype=dtype)
    at = places(data.draw, batch, seq, max_len - 1)
    waves, learned = layers.Sinusoidal(d_model, max_len), layers.Learned(d_model, max_len, std=1)
    tables = sinusoidal.encode(range(max_len), d_model), learned.weight.detach().double().numpy()
    for made, table in zip((waves, learned), tables, strict=True):
        found = same_without_values("embed", made, x, at)
        assert_near(found.detach(), x.double().numpy() + table[at.numpy()], dtype)
    found.float().sum().backward()
    counted = np.bincount(at.expand(batch, seq).numpy().ravel(), minlength=max_len)
    near(learned.weight.grad, np.broadcast_to(counted[:, None], (max_len, d_model)), 0)


@st.composite
def turned(draw, inv_freq, last):
    """(x, positions): x (batch, heads, seq, head_dim), its last channels may be left alone."""
    batch, heads, seq = draw(sizes), draw(sizes), draw(sizes)
    width = 2 * len(inv_freq) + 2 * draw(st.integers(0, 2))
    x = tensor(draw, batch, heads, seq, width, dtype=draw(dtypes))
    return x, places(draw, batch, seq, last)


@about(layers.Rotary)
@given(st.data(), inv_freqs, st.integers(1, 50), pairings, st.floats(0.5, 2))
def test_a_rotation_is_that_of_numpy_and_its_gradient_is_the_way_back(
    data, inv_freq, max_len, pairing, factor
):
    made = layers.Rotary(inv_freq, max_len, pairing=pairing, attention_factor=factor)
    x, at = data.draw(turned(inv_freq, max_len - 1))
    x.requires_grad_()
    found = same_without_values("rotate", made, x, at)
    wide, channels = x.detach().double().numpy(), 2 * len(inv_freq)
    wanted = rope.rotate(wide, at.numpy(), inv_freq, pairing=pairing)
    wanted[..., :channels] *= factor
    assert_near(found.detach(), wanted, x.dtype)
    (back,) = torch.autograd.grad(found, x, found.detach())
    assert back.dtype == x.dtype and back.shape == x.shape and back.isfinite().all()
    if x.dtype in (torch.float64, torch.float32):
        wide[..., :channels] *= factor**2
        near(back, wide, 1e-5 * max(1, np.abs(wide).max()))


@about(turn.half, turn.interleaved)
@given(st.data(), shapes, sizes, sizes, pairings, dtypes)
def test_pairs_turn_as_numpy_turns_them(data, lead, seq, pairs, pairing, dtype):
    x = tensor(data.draw, *lead, seq, 2 * pairs, dtype=dtype)
    angles = normal(data.draw(seeds), seq, pairs)
    cos, sin = (torch.from_numpy(table).float() for table in (np.cos(angles), np.sin(angles)))
    found = {"half": turn.half, "interleaved": turn.interleaved}[pairing](x, cos, sin)
    assert found.dtype == torch.promote_types(dtype, torch.float32)
    near(found, rope.rotate_by(x.double().numpy(), angles, pairing=pairing), 1e-5)


@functools.cache
def far_rotary(pairing):
    return layers.Rotary([1.0, 0.37], FAR + 1, pairing=pairing)


@about(layers.Rotary)
@given(st.data(), pairings, dtypes)
def test_far_positions_turn_as_exactly_as_near_ones(data, pairing, dtype):
    x = tensor(data.draw, 2, 3, 4, 4, dtype=dtype)
    at = places(data.draw, 2, 4, FAR)
    wanted = rope.rotate(x.double().numpy(), at.numpy(), [1.0, 0.37], pairing=pairing)
    assert_near(far_rotary(pairing).rotate(x, at), wanted, dtype)


@about(layers.Rotary)
@given(st.data(), pairings, whole)
def test_a_key_is_moved_to_where_it_would_have_been_turned(data, pairing, to):
    made, x = far_rotary(pairing), torch.from_numpy(normal(data.draw(seeds), 2, 3, 4, 4))
    at, to = places(data.draw, 2, 4, FAR), abs(to)
    wanted = made.rotate(x, torch.full_like(at, to))
    moved = made.shift(made.rotate(x, at), to - at)
    near(moved, wanted, 1e-5)
    shift = data.draw(whole)
    near(
        made.shift(x, shift),
        rope.rotate(x.numpy(), [shift] * 4, [1.0, 0.37], pairing=pairing),
        1e-6,
    )
    near(made.shift(made.shift(x, shift), torch.tensor(-shift)), x, 1e-6)


@about(layers.Alibi, layers.T5Bias)
@given(st.data(), st.integers(1, 128), sizes, sizes, sizes, st.integers(2, 16), st.integers(1, 999))
def test_a_bias_is_that_of_numpy_for_any_heads_and_batches(
    data, heads, batch, q_len, k_len, exact, more
):
    q, k = places(data.draw, batch, q_len, FAR), places(data.draw, batch, k_len, FAR)
    found = same_without_values("bias", layers.Alibi(heads), q, k)
    wanted = alibi.bias(alibi.slopes(heads), q.numpy(), k.numpy())
    assert found.dtype == torch.float32 and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=3e-7)
    learned = layers.T5Bias(heads, 2 * exact, exact + more)
    torch.nn.init.normal_(learned.weight)
    found = same_without_values("bias", learned, q, k)
    distance = q.long()[..., :, None] - k.long()[..., None, :]
    bucket = relative.t5_bucket(-distance.numpy(), 2 * exact, exact + more, bidirectional=False)
    wanted = np.moveaxis(learned.weight.detach().numpy()[bucket], -1, -3)
    assert found.dtype == torch.float32
    near(found.detach(), wanted, 0)


@about(layers.LogQueries, layers.NoPosition, scheme.PositionScheme)
@given(st.data(), sizes, sizes, st.integers(2, 5000))
def test_queries_grow_with_the_logarithm_beyond_l_and_the_rest_is_the_inner_scheme(
    data, batch, seq, length
):
    at = places(data.draw, batch, seq, FAR)
    made = layers.LogQueries(layers.NoPosition(), length)
    found = same_without_values("scale", made, at)
    wanted = np.maximum(1, np.log(at.numpy() + 1.0) / np.log(length))[..., None]
    near(found, wanted[:, None] if at.ndim == 2 else wanted, 1e-5)
    twice = layers.LogQueries(made, length)
    near(twice.scale(at), found.double() ** 2, 1e-4)
    x = torch.from_numpy(normal(data.draw(seeds), batch, 1, seq, 4))
    for nothing in (made, layers.NoPosition(), scheme.PositionScheme()):
        assert nothing.rotate(x, at) is x and nothing.embed(x, at) is x
        assert nothing.bias(at, at) is None and nothing.shift(x, 3) is x
    assert scheme.PositionScheme().scale(at) == 1


MADE = {
    "sinusoidal": (lambda d, n: layers.Sinusoidal(d, n), "embed"),
    "learned": (lambda d, n: layers.Learned(d, n), "embed"),
    "rotary": (lambda d, n: layers.Rotary([1.0] * (d // 2), n), "rotate"),
    "alibi": (lambda d, n: layers.Alibi(d), "bias"),
    "t5": (lambda d, n: layers.T5Bias(d), "bias"),
    "log queries": (lambda d, n: layers.LogQueries(layers.Learned(d, n), 2), "embed"),
}


@about(scheme.PositionScheme)
@pytest.mark.parametrize("name", MADE)
@given(st.data(), even_dims, st.integers(1, 40), sizes, sizes)
def test_a_scheme_takes_exactly_the_positions_of_its_table_wherever_it_was_moved(
    name, data, d_model, max_len, batch, seq
):
    make, hook = MADE[name]
    made = make(d_model, max_len)
    at = places(data.draw, batch, seq, 2 * max_len) - data.draw(st.integers(0, 1))
    x = torch.from_numpy(normal(data.draw(seeds), batch, seq, d_model)).float()
    given = (at, at) if hook == "bias" else (x, at)
    if made.max_len and not (at.min() >= 0 and at.max() < max_len):
        with pytest.raises(ValueError, match=f"0 … {max_len - 1}"):
            getattr(made, hook)(*given)
        return
    found = getattr(made, hook)(*given)
    copies = [copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    copies.append(copy.deepcopy(made).to(torch.bfloat16).to(torch.float32))
    copies.append(copy.deepcopy(made).to("meta").to_empty(device="cpu"))
    for moved in copies:
        moved.load_state_dict(made.state_dict())
        near(getattr(moved, hook)(*given).detach(), found.detach(), 0)


@about(scheme.floats, scheme.span)
@given(st.data(), shapes, dtypes, whole_dtypes)
def test_the_span_of_whole_numbers_and_the_types_that_one_computes_in(data, shape, dtype, whole):
    values = torch.tensor(normal(data.draw(seeds), *shape) * 1e8).to(whole)
    assert scheme.span(values) == (values.min().item(), values.max().item())
    for unread in (values[None][:0], values.to("meta")):
        assert scheme.span(unread) is None
    if shape:
        seen = []
        torch.func.vmap(lambda row: seen.append(scheme.span(row)) or row)(values)
        assert seen == [None]
    scheme.floats(values.to(dtype), "x")
    for wrong in (values, values.to(torch.complex64), values.to(torch.float8_e4m3fn), values > 0):
        assert refuses(lambda: scheme.floats(wrong, "x")).startswith("x must hold")  # noqa: B023


@about(scheme.rows, scheme.whole, scheme.tensor, scheme.beside, scheme.shape)
@about(validate_rows.row_positions)
@given(st.data(), shapes, shapes, whole_dtypes)
def test_both_halves_take_the_same_shapes_of_rows_and_positions(data, x_shape, at_shape, dtype):
    x, at = torch.zeros(*x_shape, 4), torch.zeros(at_shape, dtype=dtype)
    scheme.tensor(x, "x"), scheme.whole(at, "at"), scheme.beside(at, "at", x, "x")
    said = refuses(lambda: scheme.rows(x, "x", at, "at"))
    if x.ndim < 2:
        assert said.startswith("x must") and scheme.shape(x) in said
    elif at.ndim:  # one position for all rows is torch's alone: an offset of cached keys
        wanted = refuses(lambda: validate_rows.row_positions(at.numpy(), x.numpy()))
        assert bool(said) == bool(wanted), (said, wanted)
        assert not said or str(tuple(at_shape)) in said
    assert refuses(lambda: scheme.whole(x, "x")).startswith("x must be int64 or int32")
    assert refuses(lambda: scheme.beside(at.to("meta"), "at", x, "x")).startswith("at must")
