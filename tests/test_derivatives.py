"""Derivatives of every scheme and of the decoder: forward, of the tables, of second order."""

import pytest
import tiny
import torch
import torch.autograd.forward_ad as forward
from tiny import D, W, near, tokens
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch_schemes import normal

from lessons import layers

# What torch loads for the first forward derivative of a process calls its own old compiler.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
TWO = torch.float64
IDS = tokens()
EVERY = pytest.mark.parametrize("name", tiny.MODELS)


def tensors(named):
    return {name: tensor.detach() for name, tensor in named}


def difference(f, at, along, step=1e-6):
    """(f(at + h v) − f(at − h v)) / 2h."""
    there = {name: tensor + step * along[name] for name, tensor in at.items()}
    back = {name: tensor - step * along[name] for name, tensor in at.items()}
    return (f(there) - f(back)) / (2 * step)


@EVERY
def test_a_forward_derivative_is_the_difference_quotient(name):
    model = tiny.make(name, TWO)
    weights = tensors(model.named_parameters())
    along = {name: normal(*tensor.shape, dtype=TWO) for name, tensor in weights.items()}
    read = lambda given: functional_call(model, given, (IDS,))  # noqa: E731
    _, found = jvp(read, (weights,), (along,))
    near(found, difference(read, weights, along), 1e-5)
    with forward.dual_level():
        dual = {name: forward.make_dual(weights[name], along[name]) for name in weights}
        near(forward.unpack_dual(read(dual)).tangent, found)
    pull = grad(lambda given: read(given).square().sum())(weights)
    _, push = jvp(lambda given: read(given).square().sum(), (weights,), (along,))
    near(sum((pull[name] * along[name]).sum() for name in weights), push, 1e-8 * push.abs().item())


@EVERY
def test_a_forward_derivative_by_the_tables_is_the_difference_quotient(name):
    model = tiny.make(name, TWO)
    buffers = tensors(model.named_buffers()).items()
    tables = {name: table.double() for name, table in buffers if table.is_floating_point()}
    along = {name: normal(*table.shape, dtype=TWO) for name, table in tables.items()}
    for some in (list(tables), list(tables)[:1], list(tables)[1:]):
        if not some:
            continue
        at = {name: tables[name] for name in some}
        read = lambda given: functional_call(model, tables | given, (IDS,))  # noqa: E731
        _, found = jvp(read, (at,), ({name: along[name] for name in some},))
        near(found, difference(read, at, along), 1e-5)
        pull = grad(lambda given: (read(given) * found).sum())(at)  # noqa: B023
        near(sum((pull[name] * along[name]).sum() for name in some), found.square().sum(), 1e-6)


@EVERY
def test_a_hessian_is_the_difference_quotient_of_gradients(name):
    model, ids = tiny.make(name, TWO), IDS[:1, :5]
    weight = model.blocks[0].attention.q_k_v.weight.detach()[:4]

    def loss(part):
        whole = torch.cat([part, model.blocks[0].attention.q_k_v.weight.detach()[4:]])
        given = {"blocks.0.attention.q_k_v.weight": whole}
        return functional_call(model, given, (ids,)).square().mean()

    along = normal(*weight.shape, dtype=TWO)
    wanted = (grad(loss)(weight + 1e-5 * along) - grad(loss)(weight - 1e-5 * along)) / 2e-5
    # Not over jacfwd: there torch's own layer norm is wrong, whatever the scheme.
    for second in (hessian, lambda f: jacrev(jacrev(f))):
        near((second(loss)(weight) * along).sum((-2, -1)), wanted, 1e-6)


ROTATIONS = {
    "half": layers.Rotary(W, 64).rotate,
    "partial": layers.Rotary(W[:2], 64).rotate,
    "interleaved": layers.Rotary(W, 64, pairing="interleaved").rotate,
    "moved": layers.Rotary(W, 64).shift,
    "moved, interleaved": layers.Rotary(W, 64, pairing="interleaved").shift,
    "within another": layers.LogQueries(layers.Rotary(W, 64), 4).rotate,
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_forward_and_backward_jacobians_of_a_rotation_are_the_rotation(name):
    turn, x = ROTATIONS[name], normal(2, 3, D, dtype=TWO)
    act = lambda x: turn(x, torch.tensor([3, 0, 60]))  # noqa: E731
    for way in (jacfwd(act)(x), jacrev(act)(x)):
        near(torch.einsum("...abc,abc->...", way, x), act(x))


@pytest.mark.parametrize("name", ROTATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_a_forward_derivative_comes_in_the_type_of_its_input(name, dtype):
    turn, x = ROTATIONS[name], normal(2, 3, D, dtype=dtype)
    out, along = jvp(lambda x: turn(x, torch.tensor([3, 0, 60])), (x,), (x,))
    assert out.dtype == along.dtype == dtype and torch.equal(out, along)


@pytest.mark.parametrize("name", ROTATIONS)
def test_derivatives_of_many_rows_at_once(name):
    turn, x = ROTATIONS[name], normal(4, 3, D, dtype=TWO)
    at = torch.arange(12).view(4, 3)
    push = lambda x, n: jvp(lambda x: turn(x, n), (x,), (x.cos(),))[1]  # noqa: E731
    pull = lambda x, n: vjp(lambda x: turn(x, n), x)[1](x.cos())[0]  # noqa: E731
    for way in (push, pull):
        wanted = torch.stack([way(*pair) for pair in zip(x, at, strict=True)])
        near(vmap(way)(x, at), wanted)
