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
    torch.testing.assert_close(rotary(factor=1.25).rotate(x, far), 1.25 * rotary().rotate(x, far))
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
