"""Pairs of channels turned by cos and sin: what ``layers.Rotary`` computes with (lesson 05).

One function a pairing, named as in ``rope.PAIRINGS``: x (..., 2 · pairs), and float32 cos and sin
that broadcast against (..., pairs).  They refuse nothing, for ``Rotary`` has done so, and return
float32 or wider: a derivative of any order, forward or backward, and ``torch.func.vmap`` included.
"""

import torch


def half(x, cos, sin):
    """Pairs (i, i + pairs). The tables are float32, and so the products are that or wider."""
    if torch.compiler.is_compiling() or cos.requires_grad or sin.requires_grad:
        # The compiler fuses this form, forward and backward, into one pass each; and it has a
        # gradient for the tables, should anybody ask for one.
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return _TurnHalf.apply(x, cos, sin)


class _TurnHalf(torch.autograd.Function):
    """The eager half layout with one tensor written and none in between, in both directions.

    The gradient of a rotation is the rotation back, so the backward pass is the same function.
    """

    @staticmethod
    def forward(x, cos, sin):
        out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, cos.dtype), device=x.device)
        first, second = x.chunk(2, dim=-1)
        along, across = out.chunk(2, dim=-1)
        torch.mul(first, cos, out=along).addcmul_(second, sin, value=-1)
        torch.mul(second, cos, out=across).addcmul_(first, sin)
        return out

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, cos, sin = inputs
        ctx.save_for_backward(cos, sin)
        ctx.save_for_forward(x, cos, sin)
        ctx.dtype = x.dtype

    @staticmethod
    def backward(ctx, grad):
        cos, sin = ctx.saved_tensors
        return _TurnHalf.apply(grad, cos, -sin).to(ctx.dtype), None, None

    @staticmethod
    def jvp(ctx, *moves):
        # A product moves by each of its factors; one that stands still has None.
        x, cos, sin = ctx.saved_tensors
        each = zip(moves, (x, cos, sin), strict=True)
        x_, cos_, sin_ = (torch.zeros_like(t) if move is None else move for move, t in each)
        return _TurnHalf.apply(x_, cos, sin) + _TurnHalf.apply(x, cos_, sin_)

    @staticmethod
    def vmap(info, in_dims, *tensors):
        # The mapped axis goes in front, where a rotation takes any axes.
        mapped = zip(tensors, in_dims, strict=True)
        x, cos, sin = (t[None] if axis is None else t.movedim(axis, 0) for t, axis in mapped)
        return _TurnHalf.apply(x.expand(info.batch_size, *x.shape[1:]), cos, sin), 0


def interleaved(x, cos, sin):
    """Pairs (2i, 2i + 1) as complex numbers: one product that reads and writes everything once."""
    if torch.compiler.is_compiling():
        # The compiler fuses this form and would leave a complex product alone.
        first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
        turned = torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1)
        return turned.flatten(-2)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    pairs = wide.unflatten(-1, (-1, 2))
    try:
        pairs = torch.view_as_complex(pairs)
    except RuntimeError:  # memory that cannot be read as pairs where it lies
        pairs = torch.view_as_complex(pairs.clone(memory_format=torch.contiguous_format))
    return torch.view_as_real(pairs * torch.complex(cos, sin)).flatten(-2)
