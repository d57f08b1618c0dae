"""The steps of the speed story: the same rotation, written in six ways (lesson 05).

A variant is a builder: it takes the cos and sin of every position and pair, float tensors
(seq, pairs), and returns a function of x, (..., seq, 2 · pairs). What can be prepared is prepared
by the builder, so a timing of the function measures the rotation alone. The functions check
nothing, for the same reason; ``layers.Rotary`` is what a model uses.
All pair channel i with i + pairs, but for ``complex_product``, whose pairs are interleaved.
"""

import functools
import json
import logging
import statistics
import time
import warnings
from importlib import resources

import numpy as np
import torch

from lessons import frequencies, rope, validate


def matrices(cos, sin):
    """One (head_dim, head_dim) matrix R_m a position, and a matrix product: d² multiplications.

    Source: Su et al. [2104.09864], eq. 15.
    """
    top = torch.cat([torch.diag_embed(cos), torch.diag_embed(-sin)], dim=-1)
    bottom = torch.cat([torch.diag_embed(sin), torch.diag_embed(cos)], dim=-1)
    turns = torch.cat([top, bottom], dim=-2)
    return lambda x: torch.einsum("...td,tcd->...tc", x, turns)


def rotate_half(x):
    """(−x₂, x₁) for the halves x₁, x₂ of the channels: every pair turned by a quarter.

    The name is that of GPT-NeoX and of the transformers library.
    """
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def full_width(cos, sin):
    """x · cos + rotate_half(x) · sin with tables as wide as x, as in the transformers library."""
    cos, sin = torch.cat([cos, cos], dim=-1), torch.cat([sin, sin], dim=-1)
    return lambda x: x * cos + rotate_half(x) * sin


def halves(cos, sin):
    """The plain formula on both halves, joined."""

    def turn(x):
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    return turn


def buffer(cos, sin):
    """The same products, written where they belong: no temporary, but no gradient either."""

    def turn(x):
        out = torch.empty_like(x)
        first, second = x.chunk(2, dim=-1)
        left, right = out.chunk(2, dim=-1)
        torch.mul(first, cos, out=left).addcmul_(second, sin, value=-1)
        torch.mul(second, cos, out=right).addcmul_(first, sin)
        return out

    return turn


def complex_product(cos, sin):
    """(x₁ + i x₂) · e^{iφ}: a turn is one complex product, where a pair's members are neighbours.

    Source: Meta's LLaMA code.
    """
    turns = torch.complex(cos, sin)

    def turn(x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turns).flatten(-2)

    return turn


def compiled(cos, sin):
    """``halves`` through torch.compile: one loop that reads x once and writes once."""
    return torch.compile(halves(cos, sin), fullgraph=True)


VARIANTS = {
    "matrices": matrices,
    "rotate_half": full_width,
    "halves": halves,
    "buffer": buffer,
    "complex": complex_product,
    "compiled": compiled,
}
INTERLEAVED = frozenset({"complex"})
WITHOUT_GRADIENT = frozenset({"buffer"})


def build(name, cos, sin):
    """The function of x that the variant of this name makes of cos and sin.

    name: a key of VARIANTS.  cos, sin: float tensors (seq, pairs), of one shape, dtype and device.
    Raises ValueError or TypeError that names the argument.
    """
    builder = VARIANTS[validate.choice(name, "name", tuple(VARIANTS))]
    for argument, table in (("cos", cos), ("sin", sin)):
        if not (isinstance(table, torch.Tensor) and table.is_floating_point()):
            raise TypeError(f"{argument} must be a float tensor, got {type(table).__name__}")
    if cos.ndim != 2 or not cos.numel():
        raise ValueError(f"cos must be (seq, pairs), got shape {tuple(cos.shape)}")
    validate.has_shape(sin, "sin", tuple(cos.shape))
    return builder(cos, sin)


def tables(seq_len, head_dim, theta=10_000.0):
    """cos and sin of positions 0 … seq_len − 1: float64 angles, float32 tables.

    seq_len: at least 1.  head_dim: even, at least 2.  theta: the base, at least 1.
    Returns two float32 tensors (seq_len, head_dim / 2).
    Raises ValueError or TypeError that names the argument.
    """
    seq_len = validate.count(seq_len, "seq_len")
    head_dim = validate.count(head_dim, "head_dim", minimum=2, even=True)
    angles = rope.angles(range(seq_len), frequencies.inverse_frequencies(head_dim, theta))
    return tuple(torch.from_numpy(table).float() for table in (np.cos(angles), np.sin(angles)))


def bytes_moved(shape, dtype):
    """The bytes that a rotation on its own must move: every entry of x read and written once.

    One that is fused into its neighbours moves less. The tables of cos and sin are left out: all
    heads share them.
    shape: the shape of x.  dtype: its torch dtype.
    Returns an int.
    Raises ValueError or TypeError that names the argument.
    """
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be a torch.dtype, got {dtype!r}")
    sides = [validate.count(side, "shape") for side in validate.vector(shape, "shape")]
    return 2 * int(np.prod(sides, dtype=object)) * dtype.itemsize


def measure(functions, x, *, rounds=5, backward=False):
    """Median seconds of a call of each function on x, over rounds in which all of them take turns.

    A machine that slows down for a moment then slows all of them. One call each goes before, so
    that nothing is compiled, and no first memory asked for, while the clock runs.
    functions: {name: function of x}.  x: a tensor.  rounds: at least 1.
    backward: time the call and its gradient for x together; without it, no gradient is prepared.
    Returns {name: seconds}.
    Raises ValueError or TypeError that names the argument.
    """
    rounds = validate.count(rounds, "rounds")
    for name, function in functions.items():
        validate.function(function, f"functions[{name!r}]")
    x = x.detach().requires_grad_(backward)
    gradient = torch.ones_like(x) if backward else None
    times = {name: [] for name in functions}
    with torch.set_grad_enabled(backward):
        for _ in range(1 + rounds):
            for name, function in functions.items():
                times[name].append(_seconds(function, x, gradient))
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def _seconds(function, x, gradient):
    _synchronize(x)
    start = time.perf_counter()
    out = function(x)
    if gradient is not None:
        torch.autograd.grad(out, x, gradient)
    _synchronize(x)
    return time.perf_counter() - start


def _synchronize(x):
    if x.is_cuda:
        torch.cuda.synchronize(x.device)


@functools.cache
def can_compile():
    """Whether torch.compile works here: one line is compiled and run, once a process.

    A compiler that is found may still not do: torch hands the linker a folder with a space in
    pieces, and a GPU needs Triton too.  What torch logs on the way is not shown.
    Returns a bool.
    """
    line = torch.compile(lambda x: x + 1, fullgraph=True)  # in one graph, or it raises
    x = torch.zeros(8, device="cuda" if torch.cuda.is_available() else "cpu")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool((line(x) == 1).all())
    except Exception:  # of Dynamo, of Inductor, of a linker: each has its own
        return False
    finally:
        logging.disable(before)


def saved(machine):
    """The newest benchmark of "cpu" or "gpu" that ``tests/bench`` saved, or None.

    Returns a dict: command, date, machine, versions, config and the times.
    Raises ValueError or TypeError that names machine.
    """
    machine = validate.choice(machine, "machine", ("cpu", "gpu"))
    folder = resources.files(__package__).joinpath("data")
    if not folder.is_dir():
        return None
    results = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in folder.iterdir()
        if path.name.startswith(f"rope_{machine}") and path.name.endswith(".json")
    ]
    return max(results, key=lambda result: result["date"], default=None)
