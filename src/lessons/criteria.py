"""The four criteria of a position scheme, each as a number (lesson 01 says them in words).

Whatever a scheme does, it can only act through the score, so the criteria are measured there: on
the *logit* of a query at position m and a key at position n, before mask and softmax.  A scheme is
given as

    logits(q_positions, k_positions) -> (heads, contents, q_len, k_len)

for fixed random contents, so that vectors added to embeddings, rotations of q and k, and biases
on the scores all fit.  ``scheme_logits`` builds such a function from the places where a scheme can
act.
"""

from typing import NamedTuple

import numpy as np

from lessons import validate
from lessons.attention import softmax


class Contents(NamedTuple):
    """Random contents x, y (contents, d_model) and heads w_q, w_k (heads, d_model, head_dim)."""

    x: np.ndarray
    y: np.ndarray
    w_q: np.ndarray
    w_k: np.ndarray


class Scalability(NamedTuple):
    """What happens at factor × train_len: defined at all, and two shares of attention there."""

    defined: bool
    unseen_mass: float
    mass_kept: float


def random_contents(*, n_heads=8, head_dim=64, n_contents=64, seed=0):
    """Contents of variance 1 per channel under projections of variance 1 / d_model.

    n_heads, head_dim, n_contents: at least 1; d_model = n_heads · head_dim.  seed: at least 0.
    Returns Contents of float64 arrays.
    Raises ValueError or TypeError that names the argument.
    """
    heads, width = validate.count(n_heads, "n_heads"), validate.count(head_dim, "head_dim")
    n_contents = validate.count(n_contents, "n_contents")
    seed = validate.count(seed, "seed", minimum=0)
    rng = np.random.default_rng(seed)
    d_model = heads * width
    x, y = rng.normal(size=(2, n_contents, d_model))
    return Contents(x, y, *rng.normal(scale=d_model**-0.5, size=(2, heads, d_model, width)))


def scheme_logits(contents, *, embed=None, rotate=None, bias=None):
    """The logits of a scheme: ⟨rotate((x + p_m) W_q), rotate((y + p_n) W_k)⟩ / √head_dim + bias.

    contents: Contents.
    embed(positions) -> (seq, d_model): the vectors p added to the embeddings.
    rotate(x, positions) -> x: turns (heads, contents, seq, head_dim) queries and keys.
    bias(q_positions, k_positions) -> (heads, q_len, k_len): added to the scores.
    Returns logits(q_positions, k_positions) -> float64 (heads, contents, q_len, k_len).
    Raises ValueError or TypeError that names the argument, or what returned a wrong shape.
    """
    if not isinstance(contents, Contents):
        raise TypeError(f"contents must be criteria.Contents, got {type(contents).__name__}")
    for name, hook in (("embed", embed), ("rotate", rotate), ("bias", bias)):
        validate.function(hook, name, optional=True)
    heads, d_model, _ = contents.w_q.shape

    def project(content, weights, positions):
        projected = np.repeat((content @ weights)[:, :, None], len(positions), axis=2)
        if embed is not None:
            added = validate.has_shape(embed(positions), "embed(…)", (len(positions), d_model))
            projected += (added @ weights)[:, None]
        if rotate is None:
            return projected
        return validate.has_shape(rotate(projected, positions), "rotate(…)", projected.shape)

    def logits(q_positions, k_positions):
        q_positions = validate.positions(q_positions, "q_positions", max_axes=1)
        k_positions = validate.positions(k_positions, "k_positions", max_axes=1)
        q = project(contents.x, contents.w_q, q_positions)
        k = project(contents.y, contents.w_k, k_positions)
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        if bias is None:
            return scores
        added = bias(q_positions, k_positions)
        return scores + validate.has_shape(added, "bias(…)", (heads, *scores.shape[-2:]))[:, None]

    return logits


def uniqueness(logits, length):
    """How far apart the two most similar of ``length`` key positions look from the last one.

    For each pair a < b of positions 0 … length − 1 take the RMS over heads and contents of
    ℓ(m, a) − ℓ(m, b) with the query at m = length − 1.
    Returns (smallest RMS, (a, b)); 0 means that every head sees those two positions alike.
    Raises ValueError or TypeError that names logits or length (at least 2).
    """
    validate.function(logits, "logits")
    length = validate.count(length, "length", minimum=2)
    signatures = _signatures(_measured(logits, [length - 1], np.arange(length)))[0]
    nearest = (np.inf, (0, 0))
    for a in range(length - 1):
        # Differences, not a Gram matrix: two equal positions must come out as exactly 0.
        rms = np.sqrt(np.mean((signatures[a + 1 :] - signatures[a]) ** 2, axis=-1))
        b = int(rms.argmin())
        nearest = min(nearest, (float(rms[b]), (a, a + 1 + b)))
    return nearest


def growth(logits, plain_logits, train_len, factor=8):
    """How the scheme's own part of the logit grows from the training length to factor times it.

    The part is |ℓ − ℓ without the scheme|; its 99th percentile over all heads, contents and keys
    seen by the last query of factor · train_len tokens is divided by the same of train_len tokens.
    Bounded: at most about 1.5.  NaN for a scheme that adds nothing, inf for one that starts to add
    only beyond train_len.
    logits, plain_logits: with and without the scheme.  train_len: tokens.  factor: at least 1.
    Raises ValueError or TypeError that names the argument.
    """
    for name, function in (("logits", logits), ("plain_logits", plain_logits)):
        validate.function(function, name)
    train_len, long_len = _lengths(train_len, factor)

    def reach(length):
        seen = [length - 1], np.arange(length)
        part = _measured(logits, *seen) - _measured(plain_logits, *seen, name="plain_logits")
        return np.quantile(np.abs(part), 0.99)

    short, long = reach(train_len), reach(long_len)
    if short == 0:
        return float("inf" if long > 0 else "nan")
    return float(long / short)


def distance_share(logits, length):
    """The share of the logit's variance over positions that the signed distance m − n explains.

    D = 1 − (variance within a distance) / (variance over all m, n < length), averaged over heads
    and contents.  1: only the distance matters.  NaN where positions change nothing.
    Raises ValueError or TypeError that names logits or length (at least 2).
    """
    validate.function(logits, "logits")
    length = validate.count(length, "length", minimum=2)
    positions = np.arange(length)
    scores = _measured(logits, positions, positions).reshape(-1, length, length)
    centred = scores - scores.mean((-2, -1), keepdims=True)
    total = np.mean(centred**2, axis=(-2, -1))
    within = sum(
        np.square(diagonal - diagonal.mean(-1, keepdims=True)).sum(-1)
        for diagonal in (np.diagonal(centred, k, -2, -1) for k in range(1 - length, length))
    )
    moving = total > 1e-24  # far below any logit difference, far above rounding
    if not moving.any():
        return float("nan")
    return float(np.mean(1 - within[moving] / length**2 / total[moving]))


def scalability(logits, train_len, factor=8):
    """What the last query of factor · train_len tokens meets.

    unseen_mass: attention on keys whose signature (their logits over heads and contents) is farther
    than half a median neighbour step from every signature of a query m and key n ≤ m < train_len.
    mass_kept: attention on the nearest train_len / 4 keys, divided by the same at train_len;
    below 1 the attention is diluted.
    Returns Scalability; where the scheme refuses the length: (False, NaN, NaN).
    train_len: tokens, at least 4.  factor: at least 1.
    Raises ValueError or TypeError that names the argument.
    """
    validate.function(logits, "logits")
    train_len, long_len = _lengths(train_len, factor, minimum=4)
    trained = _measured(logits, np.arange(train_len), np.arange(train_len))
    try:
        far = logits([long_len - 1], np.arange(long_len))
    except ValueError:
        return Scalability(False, float("nan"), float("nan"))
    _check(far, (1, long_len), "logits")
    weights = softmax(far[:, :, 0]).mean((0, 1))
    recent = train_len // 4
    kept = weights[-recent:].sum() / softmax(trained[:, :, -1]).mean((0, 1))[-recent:].sum()
    return Scalability(True, float(weights[_unseen(trained, far)].sum()), float(kept))


def _unseen(trained, far):
    """bool (long_len,): keys of the far query unlike anything that training showed."""
    seen = _signatures(trained)
    step = np.median(np.linalg.norm(np.diff(seen, axis=1), axis=-1))
    seen = seen[np.tri(len(seen), dtype=bool)]
    signatures = _signatures(far)[0]
    # |a − b|² = |a|² + |b|² − 2ab turns the search into matrix products, a block at a time to bound
    # the memory; their rounding stays far below the slack.
    squares = np.sum(seen**2, -1)
    blocks = np.array_split(signatures, -(-len(signatures) // 64))
    nearest = np.concatenate([np.min(squares - 2 * block @ seen.T, axis=1) for block in blocks])
    slack = 1e-9 * squares.max()
    return nearest + np.sum(signatures**2, -1) > (step / 2) ** 2 + slack


def _measured(logits, q_positions, k_positions, name="logits"):
    return _check(logits(q_positions, k_positions), (len(q_positions), len(k_positions)), name)


def _check(scores, lengths, name):
    """The scores back, if they are finite and (heads, contents, q_len, k_len)."""
    if np.ndim(scores) != 4 or scores.shape[2:] != lengths:
        raise ValueError(
            f"{name}(…) must be (heads, contents, {lengths[0]}, {lengths[1]}), "
            f"got shape {np.shape(scores)}"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"{name}(…) must be finite, got NaN or inf")
    return scores


def _signatures(scores):
    """(heads, contents, q_len, k_len) -> (q_len, k_len, heads · contents)"""
    return np.moveaxis(scores.reshape(-1, *scores.shape[-2:]), 0, -1)


def _lengths(train_len, factor, minimum=2):
    train_len = validate.count(train_len, "train_len", minimum=minimum)
    factor = validate.count(factor, "factor")
    return train_len, train_len * factor
