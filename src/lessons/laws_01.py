"""The laws behind the exercises of lesson 01, order."""

from itertools import permutations

import numpy as np

from lessons import attention
from lessons.exercises import number, parts


def _layers(tokens, n_layers, seed):
    """The output of n_layers causal layers without encoding, each with a residual connection."""
    mask = attention.causal_mask(np.arange(len(tokens)), np.arange(len(tokens)))
    x = tokens
    for layer in range(n_layers):
        weights = attention.random_weights(x.shape[-1], seed + layer)
        x = x + attention.self_attention(x, weights, n_heads=2, mask=mask)
    return x


def _pooled_orders(answer):
    claimed = number(answer)
    tokens = np.random.default_rng(1).normal(size=(5, 8))
    weights = attention.random_weights(8, 1)
    orders = list(permutations(range(5)))
    pooled = attention.self_attention(tokens[np.array(orders)], weights, n_heads=2).mean(1)
    away = np.abs(pooled - pooled[0]).max(-1)  # of each order's output from the first order's
    distinct = 1 + np.sum(away > 1e-12)
    if claimed != distinct:
        return (
            f"not {claimed:.10g}: the pooled outputs of all {len(orders)} orders of five "
            f"tokens differ by at most {away.max():.0e}."
        )
    return None


def _two_orders(answer):
    first, second = map(np.asarray, parts(answer, "one order", "another order"))
    for order in (first, second):
        if sorted(order.tolist()) != [0, 1, 2, 3]:
            return f"each order must hold 0, 1, 2, 3 once, got {order.tolist()}."
    first, second = first.astype(int), second.astype(int)
    tokens = np.random.default_rng(2).normal(size=(4, 8))
    one, two = (
        np.abs(_layers(tokens[first], n, 3)[-1] - _layers(tokens[second], n, 3)[-1]).max()
        for n in (1, 2)
    )
    if one > 1e-12:
        return f"one layer already tells them apart at the last row, by {one:.2f}."
    if two < 1e-3:
        return f"two layers do not tell them apart either: the last row differs by {two:.0e}."
    return None


def _one_over_n(answer):
    tokens = np.random.default_rng(4).normal(size=(101, 4))
    tokens[:, 0] = 0
    tokens[0] = [1, 0, 0, 0]
    n = np.arange(101)
    mask = attention.causal_mask(n, n)
    weights = attention.Weights(*parts(answer, *attention.Weights._fields))
    out = attention.self_attention(tokens, weights, n_heads=1, mask=mask)[:, 0]
    error = np.abs(out - 1 / (n + 1))
    if error.max() > 1e-12:
        worst = int(error.argmax())
        return (
            f"channel 0 at position {worst} is {out[worst]:.4f}, off from 1/(n+1) = "
            f"{1 / (worst + 1):.4f} by {error[worst]:.2g}."
        )
    return None


LAWS = {
    "1.1": _pooled_orders,
    "1.2": _two_orders,
    "1.3": _one_over_n,
}
