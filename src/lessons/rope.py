"""Rotary position embedding in NumPy: pairs of channels turn with position (lessons 04, 05, 11).

The direction is counter-clockwise: x1' = x1 cos − x2 sin, x2' = x1 sin + x2 cos.
A *pairing* says which channels belong together: "half" pairs channel i with i + pairs,
"interleaved" pairs 2i with 2i + 1.
On a grid a token has one id an axis, and *sections* say which of them turns each pair.
"""

import numpy as np

from lessons import validate, validate_rows

PAIRINGS = ("half", "interleaved")
LAYOUTS = ("blocks", "interleaved")


def angles(positions, inv_freq):
    """The angle of every pair at every position: position · ω_i, in radians.

    positions: whole numbers, (..., seq), negative ones too.
    inv_freq: (pairs,), radians per token.
    Returns float64 (..., seq, pairs).
    Raises ValueError or TypeError that names the argument.
    """
    positions = validate.positions(positions)
    return positions[..., None] * validate.inverse_frequencies(inv_freq)


def grid_sections(counts, *, layout="blocks"):
    """Which axis turns each pair, where axis a has counts[a] pairs.

    counts: whole numbers, at least 1: the pairs of each axis, such as [16, 24, 24].
    layout: "blocks" gives the first counts[0] pairs to axis 0, the next ones to axis 1, and so on;
    "interleaved" deals the pairs to the axes in turn, passing over an axis that has its share.
    Returns int64 (sum of counts,).
    Raises ValueError or TypeError that names counts or layout.
    Source: blocks, Wang et al. [2409.12191], §2.1; interleaved, Huang et al. [2510.23095].
    """
    counts = validate.counts(counts)
    layout = validate.choice(layout, "layout", LAYOUTS)
    blocks = np.repeat(np.arange(len(counts)), counts)
    if layout == "blocks":
        return blocks
    rounds = np.concatenate([np.arange(pairs) for pairs in counts])
    return blocks[np.argsort(rounds, kind="stable")]


def grid_angles(positions, sections, inv_freq):
    """Angles on a grid: pair i turns by the id of its own axis, positions[sections[i]] · ω_i.

    Where all ids of a token are equal, as in text, this is ``angles`` of that one id.
    positions: whole numbers, (axes, ..., seq): rows and columns as ``np.indices`` makes them, or
    time, row and column.
    sections: (pairs,), the axis of each pair, 0 … axes − 1; ``grid_sections`` makes the usual ones.
    inv_freq: (pairs,), radians per step along the pair's axis.
    Returns float64 (..., seq, pairs), in radians, for ``rotate_by``.
    Raises ValueError or TypeError that names the argument.
    Source: axial, Heo et al. [2403.13298], §3; M-RoPE, Wang et al. [2409.12191], §2.1.
    """
    positions, sections, inv_freq = validate.grid(positions, sections, inv_freq)
    return np.moveaxis(positions[sections], 0, -1) * inv_freq


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
    x, inv_freq = validate_rows.rotatable(x, inv_freq)
    positions = validate_rows.row_positions(positions, x)
    return _turn(x, positions[..., None] * inv_freq, pairing)


def rotate_by(x, angles, *, pairing="half"):
    """Every row with its pairs turned counter-clockwise by given angles, one for each pair.

    ``rotate(x, n, ω)`` is ``rotate_by(x, angles(n, ω))``.
    x: (..., seq, head_dim), head_dim even.
    angles: (seq, pairs) radians, or (batch, seq, pairs) where batch is x's first axis; the axes
    between share them.  Where 2 · pairs < head_dim, the channels beyond come back untouched.
    pairing: "half" or "interleaved".
    Returns float64 of x's shape.
    Raises ValueError or TypeError that names the argument.
    """
    x = validate_rows.paired(x)
    return _turn(x, validate_rows.row_angles(angles, x), pairing)


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


def _turn(x, turns, pairing):
    first, second = _channels(turns.shape[-1], pairing)
    cos, sin = np.cos(turns), np.sin(turns)
    out = x.copy()
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def _channels(pairs, pairing):
    """The channels of the first and of the second members of all pairs."""
    if validate.choice(pairing, "pairing", PAIRINGS) == "half":
        return np.arange(pairs), np.arange(pairs, 2 * pairs)
    return np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
