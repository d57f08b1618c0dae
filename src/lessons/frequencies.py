"""Frequencies: the one source of every angle in the book (lessons 02, 04, 08)."""

import numpy as np

from lessons import validate


def inverse_frequencies(dim, theta=10_000.0):
    """Angular frequencies ω_i = θ^(−2i/dim) for i = 0 … ⌈dim/2⌉ − 1, fastest first.

    dim: number of channels, at least 1; an odd one uses one channel of its last pair.
    theta: the base θ, at least 1.
    Returns float64 (⌈dim/2⌉,), in radians per token.
    Raises ValueError or TypeError that names dim or theta.
    Source: Vaswani et al. [1706.03762], §3.5.
    """
    dim = validate.count(dim, "dim")
    theta = validate.real(theta, "theta", minimum=1)
    return theta ** (-np.arange(0, dim, 2) / dim)


def wavelengths(inv_freq):
    """Tokens per full turn, λ_i = 2π / ω_i; infinite where a frequency is 0.

    inv_freq: (n,) radians per token, none negative.
    Returns float64 (n,), in tokens.
    Raises ValueError or TypeError that names inv_freq.
    """
    inv_freq = validate.inverse_frequencies(inv_freq)
    with np.errstate(divide="ignore", over="ignore"):
        return 2 * np.pi / np.abs(inv_freq)  # abs, for a frequency of −0.0


def mean_cosine(distance, inv_freq):
    """K(Δ) = mean_i cos(ω_i Δ): the cosine similarity of sinusoidal encodings Δ apart (lesson 02).

    It is also the score, divided by ‖q‖², that RoPE gives on average to equal q and k (lesson 04).
    distance: whole numbers of either sign, (..., n), in tokens.
    inv_freq: (pairs,) radians per token.
    Returns float64 of distance's shape; even in distance, 1 at 0.
    Raises ValueError or TypeError that names the argument.
    """
    distance = validate.positions(distance, "distance")
    inv_freq = validate.inverse_frequencies(inv_freq)
    return np.cos(distance[..., None] * inv_freq).mean(-1)


def log_law(distance, theta=10_000.0):
    """The straight line that ``mean_cosine`` follows: K(Δ) ≈ 1 − (ln Δ + γ) / ln θ for 1 ≪ Δ ≪ θ.

    γ = 0.5772… is Euler's constant; the line falls by ln 10 / ln θ with each tenfold distance and
    is zero at Δ = θ e^(−γ).  With many pairs the mean becomes the integral
    of cos(ωΔ)/ω.
    distance: positive numbers, (..., n), in tokens.  theta: the base, above 1.
    Returns float64 of distance's shape.
    Raises ValueError or TypeError that names the argument.
    Source: the cosine integral, NIST DLMF §6.2(ii) and §6.6.
    """
    distance = validate.finite(distance, "distance")
    if (distance <= 0).any():
        raise ValueError(f"distance must be positive, got {distance.min():g}")
    theta = validate.real(theta, "theta", minimum=1)
    if theta == 1:
        raise ValueError("theta must be above 1, got 1: ln θ would be 0")
    return 1 - (np.log(distance) + np.euler_gamma) / np.log(theta)
