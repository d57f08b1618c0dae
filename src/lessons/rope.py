"""Rotary position embedding in NumPy: pairs of channels turn as positions grow (lessons 04, 05).

The direction is counter-clockwise: x1' = x1 cos − x2 sin, x2' = x1 sin + x2 cos.
A *pairing* says which channels belong together: "half" pairs channel i with i + pairs,
"interleaved" pairs 2i with 2i + 1.
"""

import numpy as np

from lessons import validate

PAIRINGS = ("half", "interleaved")


def angles(positions, inv_freq):
    """The angle of every pair at every position: position · ω_i, in radians.

    positions: whole numbers, (..., seq), negative ones too.
    inv_freq: (pairs,), radians per token.
    Returns float64 (..., seq, pairs).
    Raises ValueError or TypeError that names the argument.
    """
    positions = validate.positions(positions)
    return positions[..., None] * validate.inverse_frequencies(inv_freq)


def rotate(x, positions, inv_freq, *, pairing="half"):
    """R_m x for every row: each pair (x1, x2) turns counter-clockwise by m · ω_i.

    x: (..., seq, head_dim), head_dim even.
    positions: (seq,), or (batch, seq) where batch is x's first axis; the axes between share them.
    inv_freq: (pairs,); where 2 · pairs < head_dim the first 2 · pairs channels turn and the rest
    comes back untouched (partial rotary).
    pairing: "half" or "interleaved".
    Returns float64 of x's shape.
    Raises ValueError or TypeError that names the argument.
    Source: Su et al. [2104.09864], eq. 34 (interleaved); the half layout is GPT-NeoX's.
    """
    x, inv_freq = validate.rotatable(x, inv_freq)
    positions = validate.row_positions(positions, x)
    turns = positions[..., None] * inv_freq
    first, second = _channels(len(inv_freq), pairing)
    cos, sin = np.cos(turns), np.sin(turns)
    out = x.copy()
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def matrix(position, inv_freq, *, pairing="half"):
    """R_m as a matrix: ``matrix(m, ω) @ x`` is ``rotate(x, m, ω)``.

    In the interleaved pairing R_m is block-diagonal, with the block [[cos mω_i, −sin mω_i],
    [sin mω_i, cos mω_i]] for pair i; the half pairing spreads each block over rows i and i + pairs.
    position: one whole number of either sign.
    inv_freq: (pairs,), radians per token.
    Returns float64 (2 · pairs, 2 · pairs), orthogonal with determinant 1.
    Raises ValueError or TypeError that names the argument.
    Source: Su et al. [2104.09864], eq. 15.
    """
    position = validate.offset(position, "position")
    turns = position * validate.inverse_frequencies(inv_freq)
    first, second = _channels(len(turns), pairing)
    out = np.zeros((2 * len(turns), 2 * len(turns)))
    out[first, first] = out[second, second] = np.cos(turns)
    out[first, second] = -np.sin(turns)
    out[second, first] = np.sin(turns)
    return out


def pairing_permutation(dim):
    """The channel order that joins the two pairings: indices p, [0, 2, 4, …, 1, 3, 5, …].

    rotate(x, …, pairing="interleaved")[..., p] == rotate(x[..., p], …, pairing="half").
    dim: an even number of channels, at least 2.
    Returns int64 (dim,).
    Raises ValueError or TypeError that names dim.
    """
    dim = validate.count(dim, "dim", minimum=2, even=True)
    return np.concatenate([np.arange(0, dim, 2), np.arange(1, dim, 2)])


def _channels(pairs, pairing):
    """The channels of the first and of the second members of all pairs."""
    if validate.choice(pairing, "pairing", PAIRINGS) == "half":
        return np.arange(pairs), np.arange(pairs, 2 * pairs)
    return np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
