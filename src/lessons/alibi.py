"""Attention with linear biases in NumPy (lesson 06)."""

import numpy as np

from lessons import validate


def slopes(n_heads):
    """The slope m of every head: 2^(−8h/n) for h = 1 … n where n is a power of two.

    For other n, as the authors' code does: the slopes of the next lower power of two, then every
    other slope of the next higher one, until there are n.  (The paper's text would take one
    geometric run instead.)
    n_heads: at least 1.
    Returns float64 (n_heads,), in logits per token.
    Raises ValueError or TypeError that names n_heads.
    Source: Press et al. [2108.12409], §3 and the authors' code.
    """
    n_heads = validate.count(n_heads, "n_heads")
    power = 2 ** (n_heads.bit_length() - 1)
    run = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-4 * np.arange(1, 2 * power + 1) / power)[::2]
    return np.concatenate([run, between[: n_heads - power]])


def bias(slopes, q_positions, k_positions, *, symmetric=False):
    """−m · (q − k) for every head, query and key: added to the scores, not divided by √head_dim.

    It is positive for keys of the future, which the causal mask removes.
    slopes: (heads,), in logits per token.
    q_positions, k_positions: whole numbers, (seq,) or (batch, seq), in tokens.
    symmetric: −m · |q − k| instead, for attention that looks both ways.
    Returns float64 (heads, q_len, k_len), or (batch, heads, q_len, k_len) if either has a batch
    axis.
    Raises ValueError or TypeError that names the argument.
    Source: Press et al. [2108.12409], §3 and footnote 10.
    """
    slopes = validate.vector(slopes, "slopes")
    q_positions, k_positions = validate.position_pair(q_positions, k_positions)
    distance = q_positions[..., :, None] - k_positions[..., None, :]
    if symmetric:
        distance = np.abs(distance)
    return -slopes[:, None, None] * distance[..., None, :, :]
