"""The torch half keeps the laws of each scheme: norms, common shifts, composition, gradients."""

import pytest
import torch
from torch_schemes import (
    MAX_LEN,
    ROTARY,
    B,
    D,
    H,
    T,
    assert_near,
    by_numpy,
    normal,
    positions,
    rotary,
    t5,
)

from lessons import layers


@pytest.mark.parametrize("name", ROTARY)
def test_norms_are_kept(name):
    x = normal(B, H, T, D, dtype=torch.float64)
    out = rotary(name).rotate(x, positions())
    torch.testing.assert_close(out.norm(dim=-1), x.norm(dim=-1), rtol=2e-7, atol=0)


def test_attention_factor_multiplies_what_turns():
    x, far = normal(B, H, T, D), positions()
    for factor in (1.25, 0.5, 0.0):
        wanted = factor * rotary().rotate(x, far)
        torch.testing.assert_close(rotary(factor=factor).rotate(x, far), wanted)
    out = rotary("partial", 1.25).rotate(x, far)
    assert torch.equal(out[..., D // 4 :], x[..., D // 4 :])


@pytest.mark.parametrize("name", ROTARY)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_common_shift_is_invisible_to_rotary_scores(name, dtype):
    q, k = normal(2, B, H, T, D, dtype=dtype)
    far = positions() // 2

    def scores(moved):
        turned = [rotary(name).rotate(x, far + moved) for x in (q, k)]
        return turned[0] @ turned[1].transpose(-1, -2)

    bound = 4 * torch.finfo(torch.float32).eps * q.norm(dim=-1).max() * k.norm(dim=-1).max()
    for moved in (1, 1000, MAX_LEN // 2):
        assert (scores(moved) - scores(0)).abs().max() < bound
    one_moved = rotary(name).rotate(q, far + 1) @ rotary(name).rotate(k, far).transpose(-1, -2)
    assert (one_moved - scores(0)).abs().max() > 1


def test_a_common_shift_is_invisible_to_biases_to_the_last_bit_and_moves_added_rows():
    q, k = positions(), positions(seq=29, seed=1)
    for scheme in (layers.Alibi(H), t5()):
        for moved in (1, 1000, 2**30):
            assert torch.equal(scheme.bias(q + moved, k + moved), scheme.bias(q, k))
            int32 = scheme.bias((q + moved).int(), (k + moved).int())
            assert torch.equal(int32, scheme.bias(q, k))
        ends = torch.tensor([1 - 2**31, 2**31 - 1])  # their distance is none of int32
        assert torch.equal(scheme.bias(ends.int(), ends.int()), scheme.bias(ends, ends))
    x, scheme = normal(B, T, D), layers.Sinusoidal(D, MAX_LEN)
    assert (scheme.embed(x, q // 2 + 1) - scheme.embed(x, q // 2)).abs().max() > 0.1


@pytest.mark.parametrize("name", ROTARY)
def test_rotations_compose(name):
    x, far = normal(B, H, T, D, dtype=torch.float64), positions() // 2
    more = positions(seed=5) // 2
    twice = rotary(name).rotate(rotary(name).rotate(x, far), more)
    assert_near(twice, by_numpy(name, x, far + more))


@pytest.mark.parametrize("name", ROTARY)
def test_the_gradient_is_the_rotation_back(name):
    x = normal(B, H, T, D, dtype=torch.float64).requires_grad_()
    upstream, far = normal(B, H, T, D, seed=3, dtype=torch.float64), positions()
    rotary(name).rotate(x, far).backward(upstream)
    assert_near(x.grad, by_numpy(name, upstream, -far))


@pytest.mark.parametrize(
    "act",
    [
        lambda x: layers.Rotary([1.0, 0.01], 9).rotate(x, torch.tensor([3, 8])),
        lambda x: layers.Rotary([1.0], 9, pairing="interleaved").rotate(x, torch.tensor([3, 8])),
        lambda x: layers.Rotary([1.0, 0.1], 9).shift(x, torch.tensor([-3, 800])),
        lambda x: layers.Sinusoidal(4, 9).embed(x, torch.tensor([[3, 8]])),
    ],
    ids=["half", "partial interleaved", "shift", "sinusoidal"],
)
def test_gradients_of_inputs(act):
    x = normal(1, 2, 4, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(act, x)


@pytest.mark.parametrize("make", [lambda: layers.Learned(4, 9), lambda: layers.T5Bias(2)])
def test_gradients_of_weights(make):
    scheme, n = make().double(), torch.tensor([[3, 8, 3]])
    x = normal(1, 3, 4, dtype=torch.float64)

    def act(weight):
        hook, given = ("embed", (x, n)) if hasattr(scheme, "std") else ("bias", (n, n))
        call = {"weight": weight}
        scheme.forward = getattr(scheme, hook)
        return torch.func.functional_call(scheme, call, given)

    assert torch.autograd.gradcheck(act, scheme.weight.detach().clone().requires_grad_())


@pytest.mark.parametrize("name", ROTARY)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap_is_the_loop_forwards_and_backwards(name, axis):
    scheme, far = rotary(name), positions(1)[0]
    each = normal(5, B, H, T, D, dtype=torch.float64)
    upstream = normal(B, H, T, D, seed=3, dtype=torch.float64)

    def loss(x):
        return (scheme.rotate(x, far) * upstream).sum()

    for work in (lambda x: scheme.rotate(x, far), torch.func.grad(loss)):
        mapped = torch.func.vmap(work, in_dims=axis)(each.movedim(0, axis))
        torch.testing.assert_close(mapped, torch.stack([work(x) for x in each]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shared", ["x", "offset"])
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_vmap_over_one_of_two_inputs_is_the_loop(pairing, shared):
    scheme = rotary(pairing)
    k = normal(4, H, T, D, dtype=torch.float64)
    offset = positions(4)
    if shared == "x":
        one, axes = (k[0], offset), (None, 0)
        loop = [scheme.shift(k[0], each) for each in offset]
    else:
        one, axes = (k, offset[0]), (0, None)
        loop = [scheme.shift(each, offset[0]) for each in k]
    mapped = torch.func.vmap(scheme.shift, in_dims=axes)(*one)
    torch.testing.assert_close(mapped, torch.stack(loop), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ROTARY)
def test_the_form_that_a_compiler_fuses_is_the_same_rotation(name, monkeypatch):
    x = normal(B, H, T, D, dtype=torch.float64).requires_grad_()
    upstream, far = normal(B, H, T, D, seed=3, dtype=torch.float64), positions()
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    out = rotary(name).rotate(x, far)
    assert_near(out, by_numpy(name, x.detach(), far))
    out.backward(upstream)
    assert_near(x.grad, by_numpy(name, upstream, -far))


# Log queries.


@pytest.mark.parametrize("length", [2, 5])
def test_queries_grow_with_the_logarithm_of_the_keys_they_see(length):
    scheme, n = layers.LogQueries(layers.NoPosition(), length), torch.arange(20)
    scale = scheme.scale(n)
    assert scale.shape == (20, 1) and (scale[:length] == 1).all()
    # At position n a query sees n + 1 keys, and L to the power of the scale is their number.
    torch.testing.assert_close(length ** scale[length:, 0], n[length:] + 1.0)
    rows = torch.stack([n + 7, 3 * n])
    batched = scheme.scale(rows)
    assert batched.shape == (2, 1, 20, 1)
    for row in range(2):
        assert torch.equal(batched[row, 0], scheme.scale(rows[row]))


def test_log_queries_act_on_top_of_what_they_hold():
    inner, n = layers.Rotary([1.0, 0.1], 9), torch.arange(9)
    outer, x = layers.LogQueries(layers.LogQueries(inner, 3), 3), normal(1, 2, 9, 4)
    assert outer.max_len == 9
    assert torch.equal(outer.rotate(x, n), inner.rotate(x, n))
    assert torch.equal(outer.shift(x, 5), inner.shift(x, 5))
    torch.testing.assert_close(outer.scale(n), outer.inner.scale(n) ** 2)
    with pytest.raises(ValueError, match=r"^q_positions must lie in 0 … 8"):
        outer.scale(n + 1)
