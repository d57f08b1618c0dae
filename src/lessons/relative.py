"""T5's relative position buckets in NumPy (lesson 06)."""

import decimal
import math

import numpy as np

from lessons import validate


def t5_bucket(relative_position, n_buckets=32, max_distance=128, *, bidirectional=True):
    """The bucket of a relative position, key − query: one learned scalar per bucket and head.

    Half of the buckets are exact, one per distance; the other half widen logarithmically up to
    max_distance, and everything farther shares the last.  Bidirectional: the upper half of all
    buckets is for keys after the query.  Causal: keys after the query fall into bucket 0.
    With e exact buckets and n others, a distance d ≥ e falls into bucket e + k for the largest k
    below n with n ln(d / e) / ln(max_distance / e) ≥ k, decided without rounding.
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
    far = exact + _steps(np.maximum(distance, exact), exact, max_distance, per_side - exact)
    return np.where(distance < exact, distance, far) + per_side * (after & bidirectional)


def t5_begins(n_buckets=32, max_distance=128):
    """The smallest distance of each causal bucket of ``t5_bucket``, at which the one before ends.

    It is the whole table in short: distance d falls into the last bucket that begins at d or
    nearer.  Where two begin alike, the first of them is empty.
    n_buckets, max_distance: as in ``t5_bucket``.
    Returns int64 (n_buckets,), from 0 on, never falling.
    Raises ValueError or TypeError that names the argument.
    """
    n_buckets = validate.count(n_buckets, "n_buckets", minimum=4, even=True)
    max_distance = validate.count(max_distance, "max_distance", minimum=n_buckets // 2 + 1)
    low, high = np.zeros(n_buckets, np.int64), np.full(n_buckets, max_distance)
    while (low < high).any():  # by halves, all buckets at once
        middle = (low + high) // 2
        begun = t5_bucket(-middle, n_buckets, max_distance, bidirectional=False)
        reached = begun >= np.arange(n_buckets)
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return low


def _steps(distance, exact, max_distance, n):
    """How many of n logarithmic steps from exact to max_distance a distance has gone, below n."""
    # log1p of a difference, for the quotient of two close numbers loses digits.
    gone = np.log1p((distance - exact) / exact) * (n / math.log1p((max_distance - exact) / exact))
    steps, nearest = np.floor(gone), np.rint(gone)
    # What lies this close to a whole step may lie on either side, for a logarithm is rounded.
    close = (np.abs(gone - nearest) <= 1e-13 * nearest) & (distance < max_distance)
    for each in np.unique(distance[close]):
        here = distance == each
        step = int(nearest[here][0])
        steps[here] = step - (not _reaches(int(each), step, exact, max_distance, n))
    return np.minimum(steps, n - 1).astype(np.int64)


def _reaches(distance, step, exact, max_distance, n):
    """Whether (distance / exact)^n ≥ (max_distance / exact)^step, of whole numbers below 2**31."""
    shared = math.gcd(n, step)
    n, step = n // shared, step // shared
    if n < 32:
        return distance**n >= max_distance**step * exact ** (n - step)
    # The two sides differ: were they equal, n would divide the power of every prime in
    # max_distance / exact, and none of these is above 30.  So enough digits decide.
    digits = 15
    while True:
        with decimal.localcontext(decimal.Context(prec=digits)):
            ours, theirs, unit = (decimal.Decimal(x).ln() for x in (distance, max_distance, exact))
            apart = n * (ours - unit) - step * (theirs - unit)
        if abs(apart) > decimal.Decimal(10) ** (15 - digits):  # n < 2**31, logarithms below 22
            return apart > 0
        digits *= 2
