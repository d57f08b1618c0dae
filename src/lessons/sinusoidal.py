"""Sinusoidal absolute encoding (lesson 02)."""

import numpy as np

from lessons import validate
from lessons.frequencies import inverse_frequencies


def encode(positions, d_model, theta=10_000.0):
    """Rows p_n with p_n[2i] = sin(n ω_i) and p_n[2i+1] = cos(n ω_i), ω_i = θ^(−2i/d_model).

    positions: whole numbers, (..., seq), negative ones too.
    d_model: channels, at least 1; an odd one drops the last cosine.
    theta: the base θ, at least 1.
    Returns float64 (..., seq, d_model): rows are positions, columns are dimensions.
    Raises ValueError or TypeError that names the argument.
    Source: Vaswani et al. [1706.03762], §3.5.
    """
    positions = validate.positions(positions)
    d_model = validate.count(d_model, "d_model")
    angles = positions[..., None] * inverse_frequencies(d_model, theta)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(*positions.shape, d_model + d_model % 2)[..., :d_model]


def shift_matrix(offset, d_model, theta=10_000.0):
    """R_Δ with R_Δ p(n) = p(n − Δ) for every n: it steps back by Δ, its transpose steps forward.

    R_Δ is block-diagonal; the block of pair i is [[cos ω_iΔ, −sin ω_iΔ], [sin ω_iΔ, cos ω_iΔ]],
    acting on (sin, cos) columns.  (A (cos, sin) order would transpose it.)
    offset: Δ in tokens, a whole number of either sign.
    d_model: even: an odd one has a sine without its cosine, which no matrix can shift.
    theta: the base θ, at least 1.
    Returns float64 (d_model, d_model), orthogonal.
    Raises ValueError or TypeError that names the argument.
    Source: Vaswani et al. [1706.03762], §3.5 (the claim); the matrix is lesson 02's.
    """
    offset = validate.offset(offset)
    d_model = validate.count(d_model, "d_model", even=True)
    angles = offset * inverse_frequencies(d_model, theta)
    matrix = np.zeros((d_model, d_model))
    sines, cosines = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[sines, sines] = matrix[cosines, cosines] = np.cos(angles)
    matrix[sines, cosines] = -np.sin(angles)
    matrix[cosines, sines] = np.sin(angles)
    return matrix
