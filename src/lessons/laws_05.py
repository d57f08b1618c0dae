"""The laws behind the exercises of lesson 05, rotate-half."""

import numpy as np

from lessons import frequencies, rope, validate
from lessons.exercises import number, parts

HEADS, HEAD_DIM = 3, 8


def _positions_left(answer):
    claimed = number(answer)
    # A bfloat16 keeps 8 significant bits: round the first 8, drop the rest.
    mantissa, exponent = np.frexp(np.arange(4096.0))
    rounded = np.ldexp(np.round(mantissa * 2**8), exponent - 8)
    if claimed != np.unique(rounded).size:
        last = int((rounded == 256).nonzero()[0][-1])
        kept = np.unique(rounded[256:512]).size - 1
        return (
            f"not {claimed:.10g}: positions up to 256 all survive, {last} already becomes 256, "
            f"and the 256 positions from 256 to 511 keep {kept} values, as does each later octave."
        )
    return None


def _converted_weights(answer):
    validate.function(answer, "the answer")
    rng = np.random.default_rng(5)
    d_model = HEADS * HEAD_DIM
    x = rng.normal(size=(6, d_model))
    given = rng.normal(scale=d_model**-0.5, size=(3, d_model, d_model))
    names = "w_q", "w_k", "w_v"
    new = parts(answer(*given.copy(), HEADS), *names)
    for name, matrix in zip(names, new, strict=True):
        validate.has_shape(validate.finite(matrix, name), name, (d_model, d_model))
    before = _scores(x, given[0], given[1], "interleaved")
    after = _scores(x, new[0], new[1], "half")
    error = np.abs(before - after)
    if error.max() > 1e-9:
        head, m, n = np.unravel_index(error.argmax(), error.shape)
        return (
            f"the score of head {head}, query {m + 3}, key {n + 3} was {before[head, m, n]:.4f} "
            f"and is {after[head, m, n]:.4f} after the conversion."
        )
    moved = np.abs(new[2] - given[2]).max()
    if moved > 0:
        return f"w_v is never rotated, and it was changed by up to {moved:.2g}."
    return None


def _scores(x, w_q, w_k, pairing):
    """(heads, 6, 6): every head's scores at positions 3 … 8."""
    inv_freq = frequencies.inverse_frequencies(HEAD_DIM)
    positions = np.arange(3, 3 + len(x))
    heads = [(x @ w).reshape(len(x), HEADS, HEAD_DIM).swapaxes(0, 1) for w in (w_q, w_k)]
    q, k = (rope.rotate(head, positions, inv_freq, pairing=pairing) for head in heads)
    return q @ k.swapaxes(-1, -2) / np.sqrt(HEAD_DIM)


def _backward(answer):
    import torch

    validate.function(answer, "the answer")
    rng = np.random.default_rng(6)
    inv_freq = frequencies.inverse_frequencies(HEAD_DIM)
    positions = np.array([7, 0, 3, 1000, 65_535])
    x, grad_out = rng.normal(size=(2, 2, len(positions), HEAD_DIM))
    x = torch.from_numpy(x).requires_grad_()
    angles = torch.from_numpy(rope.angles(positions, inv_freq))
    cos, sin = angles.cos(), angles.sin()
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    turned.backward(torch.from_numpy(grad_out))
    right = x.grad.numpy()
    given = validate.finite(answer(grad_out.copy(), positions, inv_freq), "grad_x")
    error = np.abs(validate.has_shape(given, "grad_x", right.shape) - right).max((0, 2))
    if error.max() > 1e-9:
        worst = int((error > 1e-9).argmax())
        off = f"{error[worst]:.2g}"
        return f"at position {positions[worst]} it differs from autograd's gradient by {off}."
    return None


LAWS = {
    "5.1": _positions_left,
    "5.2": _converted_weights,
    "5.3": _backward,
}
