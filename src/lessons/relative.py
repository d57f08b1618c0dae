"""T5's relative position buckets in NumPy (lesson 06)."""

import numpy as np

from lessons import validate


def t5_bucket(relative_position, n_buckets=32, max_distance=128, *, bidirectional=True):
    """The bucket of a relative position, key − query: one learned scalar per bucket and head.

    Half of the buckets are exact, one per distance; the other half widen logarithmically up to
    max_distance, and everything farther shares the last.  Bidirectional: the upper half of all
    buckets is for keys after the query.  Causal: keys after the query fall into bucket 0.
    relative_position: whole numbers of either sign, any shape with at least one axis.
    n_buckets: at least 4 and even, and at least 8 and divisible by 4 if bidirectional.
    max_distance: above the number of exact buckets.
    Returns int64 of relative_position's shape.
    Raises ValueError or TypeError that names the argument.
    Source: Raffel et al. [1910.10683], §2.1 and the authors' code.
    """
    relative_position = validate.positions(relative_position, "relative_position")
    sides = 2 if bidirectional else 1
    n_buckets = validate.count(n_buckets, "n_buckets", minimum=4 * sides, even=True)
    if n_buckets % (2 * sides):
        raise ValueError(f"n_buckets must be divisible by 4 if bidirectional, got {n_buckets}")
    per_side = n_buckets // sides
    exact = per_side // 2
    max_distance = validate.count(max_distance, "max_distance", minimum=exact + 1)
    relative_position = relative_position.astype(np.int64)
    after = relative_position > 0
    distance = np.abs(relative_position) if bidirectional else np.maximum(-relative_position, 0)
    # Far keys: how many of the (per_side − exact) logarithmic steps from exact to max_distance lie
    # below the distance.  The clip keeps the logarithm away from 0, where the exact half is used.
    steps = np.log(np.maximum(distance, exact) / exact) / np.log(max_distance / exact)
    far = exact + (steps * (per_side - exact)).astype(np.int64)
    bucket = np.where(distance < exact, distance, np.minimum(far, per_side - 1))
    return bucket + per_side * (after & bidirectional)
