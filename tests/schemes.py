"""Position schemes of every kind in a few lines each, with small random contents: for criteria."""

import numpy as np

from lessons import criteria, sinusoidal
from lessons.frequencies import inverse_frequencies

HEADS, WIDTH = 8, 16
CONTENTS = criteria.random_contents(n_heads=HEADS, head_dim=WIDTH, n_contents=6, seed=1)
SLOPES = 2.0 ** -np.arange(1, HEADS + 1)


def distances(q_positions, k_positions):
    return q_positions[:, None] - k_positions[None]


def alibi(q_positions, k_positions):
    return -SLOPES[:, None, None] * distances(q_positions, k_positions)


def rotate(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] * inverse_frequencies(2 * half)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def waves(positions, d_model=HEADS * WIDTH):
    return sinusoidal.encode(positions, d_model)


def table(positions, rows=64):
    if positions.max() >= rows:
        raise ValueError(f"position {positions.max():g} is outside a table of {rows} rows")
    return np.random.default_rng(0).normal(size=(rows, HEADS * WIDTH))[positions.astype(int)]


def buckets(q_positions, k_positions, last=16):
    values = np.random.default_rng(3).normal(size=(HEADS, 2 * last + 1))
    return values[:, np.clip(distances(q_positions, k_positions), -last, last).astype(int) + last]


def scheme(**hooks):
    return criteria.scheme_logits(CONTENTS, **hooks)


PLAIN, WAVES, TABLE = scheme(), scheme(embed=waves), scheme(embed=table)
ROTARY, ALIBI, BUCKETS = scheme(rotate=rotate), scheme(bias=alibi), scheme(bias=buckets)
