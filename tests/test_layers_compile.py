"""The torch half compiled: one graph, the eager numbers, a look-up that raises by itself."""

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch_schemes import (
    B,
    D,
    H,
    T,
    W,
    normal,
    positions,
    same_but_for_rounding,
)

from lessons import layers

ROTARY = {"half": layers.Rotary(W, 64), "partial": layers.Rotary(W[:4], 64, pairing="interleaved")}
SINUSOIDAL, LEARNED = layers.Sinusoidal(D, 64), layers.Learned(D, 64)
ALIBI, T5 = layers.Alibi(H), layers.T5Bias(H)


def every_hook(x, q, n):
    """All schemes in one function, for each compilation takes its time."""
    return [
        SINUSOIDAL.embed(x, n),
        LEARNED.embed(x, n),
        *(rotary.rotate(q, n) for rotary in ROTARY.values()),
        ROTARY["half"].shift(q, -n),
        ROTARY["half"].shift(q, torch.tensor(5)),
        ROTARY["partial"].shift(q, -3),
        ALIBI.bias(n, n),
        T5.bias(n, n),
    ]


@pytest.mark.parametrize("batched", [False, True], ids=["(seq,)", "(batch, seq)"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_into_one_graph_at_two_lengths(dynamic, batched):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(every_hook, backend=counter, fullgraph=True, dynamic=dynamic)
    for length in (17, 29):
        n = torch.arange(length)
        n = torch.stack([n, n + 3]) if batched else n
        given = normal(B, length, D), normal(B, H, length, D), n
        for ours, eager in zip(compiled(*given), every_hook(*given), strict=True):
            same_but_for_rounding(ours, eager)
    assert counter.frame_count == (1 if dynamic else 2)  # one graph for all lengths, or one each


def test_compiled_after_eager_use_and_eager_after_compiled():
    torch._dynamo.reset()
    scheme, q, n = layers.Rotary(W, 64), normal(B, H, T, D), torch.arange(T)
    wanted = scheme.rotate(q, n)
    compiled = torch.compile(scheme.rotate, backend="eager", fullgraph=True)
    for given in (n, n.clone(), n):
        same_but_for_rounding(compiled(q, given), wanted)
    with pytest.raises(ValueError, match="must lie in"):
        scheme.rotate(q, n + 60)


@pytest.mark.parametrize("hook", [SINUSOIDAL.embed, LEARNED.embed, ROTARY["half"].rotate])
def test_in_compiled_code_the_look_up_itself_raises(hook):
    torch._dynamo.reset()
    compiled = torch.compile(hook, backend="eager", fullgraph=True)
    x = normal(B, T, D)
    compiled(x, torch.arange(T))
    for start in (60, -1):
        with pytest.raises(IndexError):
            compiled(x, torch.arange(T) + start)


def test_compiled_code_still_refuses_what_the_graph_can_see():
    torch._dynamo.reset()
    n = torch.arange(T).float()
    for hook, given in ((ROTARY["half"].rotate, normal(B, T, D)), (ALIBI.bias, n)):
        compiled = torch.compile(hook, backend="eager", fullgraph=True)
        with pytest.raises(torch._dynamo.exc.TorchDynamoException, match="int64 or int32"):
            compiled(given, n)


def test_a_reading_check_would_break_the_graph():
    torch._dynamo.reset()

    def faulty(q, n):
        if int(n.max()) >= 64:
            raise ValueError("outside")
        return ROTARY["half"].rotate(q, n)

    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        torch.compile(faulty, backend="eager", fullgraph=True)(normal(B, H, T, D), torch.arange(T))


def test_compiled_gradients_are_the_eager_ones():
    torch._dynamo.reset()
    n, grads = positions() % 64, []
    compiled = torch.compile(ROTARY["half"].rotate, backend="aot_eager", fullgraph=True)
    for rotate in (ROTARY["half"].rotate, compiled):
        q = normal(B, H, T, D).requires_grad_()
        rotate(q, n).square().sum().backward()
        grads.append(q.grad)
    torch.testing.assert_close(*grads)
