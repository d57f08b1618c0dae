"""The torch half: every scheme equals its NumPy function, acts in one place, keeps its axes."""

import numpy as np
import pytest
import torch
from torch_schemes import (
    DTYPES,
    MAX_LEN,
    ROTARY,
    B,
    D,
    H,
    T,
    W,
    assert_near,
    by_numpy,
    normal,
    positions,
    rotary,
    same_but_for_rounding,
    t5,
)

from lessons import alibi, frequencies, layers, relative, rope, sinusoidal

# NumPy = torch.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ROTARY)
def test_rotary_is_the_numpy_rotation(name, dtype):
    x, far = normal(B, H, T, D, dtype=dtype), positions()
    assert_near(rotary(name).rotate(x, far), by_numpy(name, x, far), dtype)
    assert_near(rotary(name).rotate(x, far[1]), by_numpy(name, x, far[1]), dtype)
    assert_near(rotary(name).rotate(x, far.int()), by_numpy(name, x, far), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [D, D - 1])
def test_sinusoidal_adds_the_numpy_rows(width, dtype):
    x, far = normal(B, T, width, dtype=dtype), positions()
    scheme = layers.Sinusoidal(width, MAX_LEN, theta=500.0)
    for some in (far, far[1], far.int()):
        wanted = x.double() + torch.tensor(sinusoidal.encode(some.numpy(), width, 500.0))
        assert_near(scheme.embed(x, some), wanted, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_learned_adds_its_rows(dtype):
    x, far = normal(B, T, D, dtype=dtype), positions()
    scheme = layers.Learned(D, MAX_LEN)
    for some in (far, far[1], far.int()):
        wanted = x.double() + scheme.weight.detach()[some.long()].double()
        assert_near(scheme.embed(x, some), wanted)


@pytest.mark.parametrize("heads", [1, 8, 12])
def test_alibi_is_the_numpy_bias(heads):
    q, k = positions(), positions(seq=29, seed=1)
    for some_q, some_k in ((q, k), (q[0], k), (q, k[0]), (q[0], k[0]), (q.int(), k.int())):
        wanted = alibi.bias(alibi.slopes(heads), some_q.numpy(), some_k.numpy())
        ours = layers.Alibi(heads).bias(some_q, some_k)
        assert ours.dtype == torch.float32 and ours.shape == wanted.shape
        np.testing.assert_allclose(ours.numpy(), wanted, rtol=1e-6)


def test_t5_looks_up_the_numpy_buckets():
    q, k, scheme = positions(), positions(seq=29, seed=1), t5()
    near = torch.arange(300)
    for some_q, some_k in ((q, k), (q[0], k), (q, k[0]), (near[-5:], near), (near.int(), near)):
        apart = some_k.numpy()[..., None, :] - some_q.numpy()[..., :, None]
        buckets = relative.t5_bucket(apart, bidirectional=False)
        wanted = np.moveaxis(scheme.weight.detach().numpy()[buckets], -1, -3)
        np.testing.assert_array_equal(scheme.bias(some_q, some_k).detach().numpy(), wanted)


@pytest.mark.parametrize("max_distance", [5, 20])  # with 5, the last bucket starts there
def test_t5_takes_other_sizes(max_distance):
    scheme = layers.T5Bias(2, n_buckets=8, max_distance=max_distance)
    assert scheme.weight.shape == (8, 2) and not scheme.weight.any()
    torch.nn.init.normal_(scheme.weight)
    buckets = relative.t5_bucket(-np.arange(50), 8, max_distance, bidirectional=False)
    row = scheme.bias(torch.tensor([49]), torch.arange(50).flip(0))[:, 0]
    torch.testing.assert_close(row, scheme.weight[buckets].T)


# The hooks: each scheme acts in one place.


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (layers.NoPosition, None),
        (layers.PositionScheme, None),
        (lambda: layers.Sinusoidal(D, 32), "embed"),
        (lambda: layers.Learned(D, 32), "embed"),
        (lambda: layers.Rotary(W, 32), "rotate"),
        (lambda: layers.Alibi(H), "bias"),
        (t5, "bias"),
    ],
)
def test_each_scheme_acts_in_one_place(make, place):
    scheme, n = make(), torch.arange(4, 4 + T)
    x, q = normal(B, T, D), normal(B, H, T, D)
    assert isinstance(scheme, layers.PositionScheme) and isinstance(scheme, torch.nn.Module)
    assert (scheme.embed(x, n) is x) == (place != "embed")
    assert (scheme.rotate(q, n) is q) == (place != "rotate")
    assert (scheme.bias(n, n) is None) == (place != "bias")
    assert scheme.scale(n) == 1


def test_a_learned_table_starts_at_the_scale_of_tokens_and_trains():
    torch.manual_seed(0)
    scheme = layers.Learned(64, 512)
    assert scheme.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert layers.Learned(64, 512, std=0.5).weight.std().item() == pytest.approx(0.5, rel=0.05)
    assert not layers.Learned(4, 4, std=0).weight.any()
    scheme.embed(normal(B, T, 64), positions() % 512).sum().backward()
    used = (positions() % 512).flatten().unique()
    assert scheme.weight.grad[used].all()
    assert scheme.weight.grad.abs().sum() == B * T * 64


def test_learned_tables_are_trained_and_fixed_ones_are_not():
    assert [name for name, _ in layers.Learned(4, 8).named_parameters()] == ["weight"]
    assert [name for name, _ in layers.T5Bias(4).named_parameters()] == ["weight"]
    for scheme in (layers.Sinusoidal(4, 8), layers.Rotary(W, 8), layers.Alibi(4)):
        assert not list(scheme.parameters()) and not scheme.state_dict()


# Axes.


def test_batched_positions_belong_to_the_first_axis_even_when_batch_equals_heads():
    x, far, scheme = normal(3, 3, T, D), positions(3), rotary()
    out = scheme.rotate(x, far)
    for row in range(3):
        torch.testing.assert_close(out[row], scheme.rotate(x[row], far[row]), rtol=0, atol=0)
    bias = layers.Alibi(3).bias(far, far)
    for row in range(3):
        assert torch.equal(bias[row], layers.Alibi(3).bias(far[row], far[row]))


@pytest.mark.parametrize("lead", [(), (B,), (B, H), (B, 2, 3)])
def test_any_leading_axes(lead):
    x, far, scheme = normal(*lead, T, D), positions(), rotary("interleaved")
    assert_near(scheme.rotate(x, far[0]), by_numpy("interleaved", x, far[0]))
    if lead:
        assert_near(scheme.rotate(x, far), by_numpy("interleaved", x, far))


@pytest.mark.parametrize("name", ROTARY)
def test_layout_in_memory_does_not_matter(name):
    x, far = normal(B, T, H, D).transpose(1, 2), positions().T.contiguous().T
    scheme = rotary(name)
    assert not x.is_contiguous() and not far.is_contiguous()
    out = scheme.rotate(x.contiguous(), far.contiguous())
    same_but_for_rounding(scheme.rotate(x, far), out)
    same_but_for_rounding(scheme.shift(x, far), scheme.shift(x.contiguous(), far.contiguous()))


LAYOUTS = {
    "every second number": lambda b, h, t, d: normal(b, h, t, 2 * d)[..., ::2],
    "every row at an odd place": lambda b, h, t, d: normal(b, h, t, d + 2)[..., 1:-1],
    "every second row": lambda b, h, t, d: normal(b, h, t, d + 1)[..., :-1],
    "every second head": lambda b, h, t, d: normal(b, h, t * d + 1)[..., :-1].unflatten(-1, (t, d)),
    "a pair in two rows": lambda b, h, t, d: normal(b, h, d, t).mT,
    "a pair in two heads": lambda b, h, t, d: normal(b, t, d, h).permute(0, 3, 1, 2),
    "a pair in two texts": lambda b, h, t, d: normal(h, t, d, b).permute(3, 0, 1, 2),
    "rows that share numbers": lambda b, h, t, d: (
        normal(t + d - 1).unfold(0, d, 1).expand(b, h, -1, -1)
    ),
    "a pair in one number": lambda b, h, t, d: normal(b, h, t, 2)[..., :1].expand(-1, -1, -1, d),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pairing", rope.PAIRINGS)
def test_pairs_are_found_wherever_they_lie_in_memory(layout, pairing):
    """Complex numbers can be read in place only from even places, next to each other."""
    x = LAYOUTS[layout](2, 4, 6, 8)  # even sizes, so that nothing but the layout makes a place odd
    scheme = layers.Rotary(frequencies.inverse_frequencies(8), 6, pairing=pairing)
    out = scheme.rotate(x, torch.arange(6))
    same_but_for_rounding(out, scheme.rotate(x.contiguous(), torch.arange(6)))


@pytest.mark.parametrize("seq", [0, 1])
def test_no_token_and_one_token(seq):
    n, x = torch.arange(seq), normal(B, seq, D)
    assert rotary().rotate(x[:, None], n).shape == (B, 1, seq, D)
    assert layers.Sinusoidal(D, 8).embed(x, n).shape == x.shape
    assert layers.Alibi(H).bias(n, torch.arange(5)).shape == (H, seq, 5)
    assert t5().bias(n, torch.arange(5)).shape == (H, seq, 5)


@pytest.mark.parametrize("shape", [(0, H, T, D), (B, 0, T, D), (B, H, 0, D)])
@pytest.mark.parametrize("name", ROTARY)
def test_nothing_turned_keeps_its_shape(name, shape):
    """In a partial rotation too, whose channels at rest are put back beside no turned ones."""
    x = torch.empty(shape)
    assert rotary(name).rotate(x, torch.arange(shape[2])).shape == shape


@pytest.mark.parametrize("width", [D - 1, D + 1, 1])
@pytest.mark.parametrize("scheme", [layers.Sinusoidal(D, 8), layers.Learned(D, 8)])
def test_x_of_another_width_than_the_table_is_refused(scheme, width):
    with pytest.raises(ValueError, match=rf"^x must be .* with d_model {D}, got .*{width}\)$"):
        scheme.embed(normal(B, 4, width), torch.arange(4))


def rows_of_bias(scheme):
    """Its bias for nine fixed keys, with one row a token."""
    return lambda x, n: scheme.bias(n, torch.arange(9)).transpose(1, 2).flatten(2)


ON_TOKENS = {  # every scheme as (x, positions) -> something with one row a token
    "sinusoidal": lambda: layers.Sinusoidal(D, MAX_LEN).embed,
    "learned": lambda: layers.Learned(D, MAX_LEN).embed,
    "half": lambda: rotary("half").rotate,
    "partial interleaved": lambda: rotary("partial interleaved").rotate,
    "shift": lambda: rotary().shift,
    "alibi": lambda: rows_of_bias(layers.Alibi(H)),
    "t5": lambda: rows_of_bias(t5()),
}


@pytest.mark.parametrize("name", ON_TOKENS)
def test_tokens_in_another_order_with_their_positions_give_the_same_rows(name):
    x, far, act = normal(B, T, D), positions(), ON_TOKENS[name]()
    order = torch.randperm(T, generator=torch.Generator().manual_seed(2))
    assert torch.equal(act(x[:, order], far[:, order]), act(x, far)[:, order])


@pytest.mark.parametrize("name", ON_TOKENS)
def test_sequences_of_a_batch_do_not_mix(name):
    x, far, act = normal(B, T, D), positions(), ON_TOKENS[name]()
    other_x, other_far = x.clone(), far.clone()
    other_x[1], other_far[1] = 7.0, far[1].flip(0)
    before, after = act(x, far), act(other_x, other_far)
    assert torch.equal(before[0], after[0]) and not torch.equal(before[1], after[1])


def test_the_callers_tensors_are_not_written_to():
    x, q, far = normal(B, T, D), normal(B, H, T, D), positions()
    kept = [t.clone() for t in (x, q, far)]
    for scheme in (rotary("half"), rotary("partial interleaved")):
        scheme.rotate(q, far), scheme.shift(q, far)
    layers.Sinusoidal(D, MAX_LEN).embed(x, far), layers.Learned(D, MAX_LEN).embed(x, far)
    layers.Alibi(H).bias(far, far), t5().bias(far, far)
    for now, before in zip((x, q, far), kept, strict=True):
        assert torch.equal(now, before)
