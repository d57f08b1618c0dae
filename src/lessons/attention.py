"""Scaled dot-product attention in NumPy: where positions are, or are not, seen (lesson 01)."""

from typing import NamedTuple

import numpy as np

from lessons import validate


class Weights(NamedTuple):
    """The four (d_model, d_model) matrices of a self-attention layer; x stands left of them."""

    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    w_o: np.ndarray


def softmax(x):
    """exp(x) / Σ exp(x) over the last axis, float64; a row that is −inf throughout becomes 0.

    x: (..., n); −inf allowed, NaN and +inf refused.
    Returns float64 of x's shape: each row sums to 1, or to 0 where nothing may be looked at.
    Raises ValueError or TypeError that names x.
    """
    x = validate.logits(x)
    if x.size == 0:
        return x
    largest = x.max(-1, keepdims=True)
    # exp never overflows once the largest entry is 0; an all −inf row has nothing to subtract.
    with np.errstate(over="ignore"):  # −1e308 − 1e308 is −inf, whose exp is the right 0
        powers = np.exp(x - np.where(np.isneginf(largest), 0.0, largest))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1.0, total)


def causal_mask(q_positions, k_positions):
    """True where the key's position is not after the query's: n ≤ m.

    q_positions, k_positions: whole numbers, (seq,) or (batch, seq), in tokens.
    Returns bool (q_len, k_len), or (batch, 1, q_len, k_len) if either has a batch axis.
    Raises ValueError or TypeError that names the argument.
    """
    q_positions, k_positions = validate.position_pair(q_positions, k_positions)
    mask = k_positions[..., None, :] <= q_positions[..., :, None]
    return mask[:, None] if mask.ndim == 3 else mask


def attend(q, k, v, *, bias=None, mask=None):
    """softmax(q kᵀ / √head_dim + bias) v, over the keys that mask allows.

    q: (..., q_len, head_dim).  k: (..., k_len, head_dim).  v: (..., k_len, value_dim).
    bias: added to the scores after the division by √head_dim; broadcasts to (..., q_len, k_len).
    mask: bool, True = may look; broadcasts to (..., q_len, k_len).
    Returns float64 (out, weights): (..., q_len, value_dim) and (..., q_len, k_len).  A query that
    may look at nothing gets weights and output 0.
    Raises ValueError or TypeError that names the argument.
    Source: Vaswani et al. [1706.03762], §3.2.1; bias as in Press et al. [2108.12409], §3.
    """
    q, k, v = validate.queries_keys_values(q, k, v)
    bias, mask = validate.score_terms(bias, mask, (*q.shape[:-1], k.shape[-2]))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


def random_weights(d_model, seed):
    """Weights with independent entries of mean 0, variance 1 / d_model: they keep the scale of x.

    d_model: channels, at least 1.  seed: whole number, at least 0.
    Returns Weights of four float64 (d_model, d_model) matrices.
    Raises ValueError or TypeError that names the argument.
    """
    d_model = validate.count(d_model, "d_model")
    seed = validate.count(seed, "seed", minimum=0)
    rng = np.random.default_rng(seed)
    return Weights(*rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model)))


def self_attention(x, weights, *, n_heads, bias=None, mask=None):
    """Multi-head self-attention: x W_q, x W_k, x W_v split in heads, attended, joined, times W_o.

    x: (..., seq, d_model).  weights: Weights.  n_heads: a divisor of d_model.
    bias, mask: broadcast to (..., n_heads, seq, seq), as in ``attend``.
    Returns float64 (..., seq, d_model).
    Raises ValueError or TypeError that names the argument.
    Source: Vaswani et al. [1706.03762], §3.2.2.
    """
    x = validate.finite(x, "x")
    n_heads = validate.count(n_heads, "n_heads")
    weights = _fitting(weights, x, n_heads)
    validate.score_terms(bias, mask, (*x.shape[:-2], n_heads, x.shape[-2], x.shape[-2]))
    q, k, v = (_split(x @ w, n_heads) for w in weights[:3])
    out, _ = attend(q, k, v, bias=bias, mask=mask)
    return np.swapaxes(out, -3, -2).reshape(x.shape) @ weights.w_o


def _split(x, n_heads):
    """(..., seq, d_model) -> (..., heads, seq, head_dim)"""
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads), -3, -2)


def _fitting(weights, x, n_heads):
    """The weights as float64, once they, x and n_heads fit together."""
    if x.ndim < 2 or x.shape[-1] == 0:
        raise ValueError(f"x must be (..., seq, d_model), got shape {x.shape}")
    d_model = x.shape[-1]
    validate.heads(n_heads, d_model)
    if not isinstance(weights, Weights):
        raise TypeError(f"weights must be attention.Weights, got {type(weights).__name__}")
    arrays = [validate.finite(w, name) for name, w in weights._asdict().items()]
    for name, array in zip(Weights._fields, arrays, strict=True):
        validate.has_shape(array, name, (d_model, d_model))
    return Weights(*arrays)
