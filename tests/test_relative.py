"""T5's buckets: values of the authors' code, laws, and the faults that people report."""

import decimal
from fractions import Fraction

import numpy as np
import pytest

from lessons import relative


def test_buckets_are_those_of_the_authors():
    both = relative.t5_bucket([-200, -128, -64, -8, -1, 0, 1, 8, 64, 128])
    assert both.tolist() == [15, 15, 14, 8, 1, 0, 17, 24, 30, 31]
    distances = np.array([0, 1, 15, 16, 31, 32, 64, 127, 128])
    causal = relative.t5_bucket(-distances, bidirectional=False)
    assert causal.tolist() == [0, 1, 15, 16, 21, 21, 26, 31, 31]
    assert (relative.t5_bucket([0, 1, 500], bidirectional=False) == 0).all()


def test_buckets_mirror_and_never_fall_with_distance():
    distances = np.arange(1, 400)
    before, after = relative.t5_bucket(-distances), relative.t5_bucket(distances)
    np.testing.assert_array_equal(after, before + 16)
    assert (np.diff(before) >= 0).all() and before.max() == 15


def test_causal_buckets_have_the_blind_spots_that_the_lesson_names():
    buckets = relative.t5_bucket(-np.arange(300), bidirectional=False)
    assert buckets[16] == buckets[17] and len(set(buckets[:16])) == 16
    assert (buckets[113:] == 31).all() and buckets[112] == 30


def test_the_future_shares_the_past_half_or_the_past_the_futures():
    def tells_sides_apart(bucket):
        past, future = bucket(np.array([-5, -100])), bucket(np.array([5, 100]))
        return not set(past) & set(future) and (past < 16).all() and (future >= 16).all()

    def swapped(relative_position):  # query − key handed in for key − query
        return relative.t5_bucket(-relative_position)

    def one_sided(relative_position):
        return relative.t5_bucket(-np.abs(relative_position), bidirectional=False)

    assert tells_sides_apart(relative.t5_bucket)
    assert not tells_sides_apart(swapped) and not tells_sides_apart(one_sided)


@pytest.mark.parametrize("n_buckets, max_distance", [(8, 20), (32, 128), (64, 1000)])
def test_exact_half_logarithmic_half_and_no_bucket_left_over(n_buckets, max_distance):
    distances = np.arange(2 * max_distance)
    bucket = relative.t5_bucket(-distances, n_buckets, max_distance, bidirectional=False)
    exact = n_buckets // 2
    np.testing.assert_array_equal(bucket[:exact], distances[:exact])
    assert (bucket[max_distance:] == n_buckets - 1).all() and (np.diff(bucket) >= 0).all()
    assert bucket.dtype == np.int64 and bucket.shape == distances.shape


def by_whole_numbers(distance, n_buckets, max_distance):
    """The causal bucket, step by step: the largest k below n with (d/e)^n ≥ (M/e)^k."""
    exact = n = n_buckets // 2
    if distance < exact:
        return distance
    gone, whole = Fraction(distance, exact) ** n, Fraction(max_distance, exact)
    return exact + max(k for k in range(n) if gone >= whole**k)


REACHES = [
    *(
        (n_buckets, e + more)
        for e in range(2, 17)
        for n_buckets in [2 * e]
        for more in range(1, 33)
    ),
    *((20, 320), (20, 80), (32, 128), (32, 256), (8, 64), (16, 100), (40, 320), (64, 512)),
]


def test_buckets_are_those_of_whole_numbers_at_every_count_and_distance():
    def wrong(bucket):
        return [
            (n_buckets, max_distance, d)
            for n_buckets, max_distance in REACHES
            for distances in [np.arange(max_distance + 2)]
            for d, b in enumerate(bucket(-distances, n_buckets, max_distance, bidirectional=False))
            if b != by_whole_numbers(d, n_buckets, max_distance)
        ]

    def rounded(relative_position, n_buckets, max_distance, **options):
        exact, d = n_buckets // 2, -relative_position
        steps = np.log(np.maximum(d, exact) / exact) / np.log(max_distance / exact) * exact
        return np.where(d < exact, d, np.minimum(exact + steps.astype(int), n_buckets - 1))

    assert wrong(relative.t5_bucket) == []
    missed = wrong(rounded)
    assert (20, 320, 40) in missed and not [case for case in missed if case[:2] == (32, 128)]


def test_the_edges_that_were_reported():
    given = [-20, -40, -160]
    assert relative.t5_bucket(given, 20, 320, bidirectional=False).tolist() == [12, 14, 18]
    both = relative.t5_bucket([*given, 20, 40, 160], 40, 320)
    assert both.tolist() == [12, 14, 18, 32, 34, 38]


@pytest.mark.parametrize(
    ("n_buckets", "max_distance"),
    [
        (4, 3),
        (4, 2**31 - 1),
        (2**31 - 4, 2**31 - 1),
        (2**30, 2**30),
        (2**20, 2**31 - 1),
        (1000, 501),
    ],
)
def test_the_largest_and_smallest_arguments(n_buckets, max_distance):
    exact, last = n_buckets // 2, n_buckets - 1
    spread = exact * (max_distance / exact) ** (np.arange(1, 200) / 200)
    distances = np.unique([0, 1, exact - 1, exact, *spread.astype(int), max_distance, 2**31 - 1])
    found = relative.t5_bucket(-distances, n_buckets, max_distance, bidirectional=False)
    assert found[0] == 0 and found[-1] == last and (np.diff(found) >= 0).all()
    assert found[distances == exact].tolist() == [exact]
    assert (found[distances >= max_distance] == last).all()
    between = distances[(distances > exact) & (distances < max_distance)]
    for d, b in zip(between.tolist(), found[np.isin(distances, between)], strict=True):
        with decimal.localcontext(prec=60):  # more digits than any of these needs
            gone, whole = (
                decimal.Decimal(x).ln() - decimal.Decimal(exact).ln() for x in (d, max_distance)
            )
            assert b == exact + int(exact * gone / whole)


def test_a_whole_step_between_long_powers_is_decided():
    # At powers of two the steps are fractions, and those that are whole lie on an edge.
    for power in (5, 10, 20):
        exact = 2**power
        distances = exact * 2 ** np.arange(1, 31 - power)
        n = relative.t5_bucket(-distances, 2 * exact, 2**30, bidirectional=False) - exact
        steps = np.arange(1, 31 - power) * Fraction(exact, 30 - power)
        assert n.tolist() == [min(step.__floor__(), exact - 1) for step in steps]


@pytest.mark.parametrize("n", [2, 3, 30, 31, 32, 33, 37, 60, 64, 96, 127, 150])
def test_an_edge_is_where_the_powers_meet(n):
    """The smallest distance that has gone k steps has, and the one before it has not."""
    for exact, end in ((n, 3 * n + 1), (n, 2**20 + 7), (7, 1000), (n, 4 * n), (2**30, 2**31 - 1)):
        for k in {1, 2, n // 3, n // 2, n - 1} - {0}:
            wanted = end**k * exact ** (n - k)
            low, high = exact, end
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if middle**n >= wanted else (middle + 1, high)
            for d in (low - 1, low, low + 1, end, exact):
                found = relative._reaches(d, k, exact, end, n)
                assert found == (d**n >= wanted), (d, k, exact, end, n)


@pytest.mark.parametrize("n", [2**30 - 35, 2**30 - 1])
def test_an_edge_of_very_long_powers_is_decided_by_digits(n):
    exact, end = 2**30 - 3, 2**31 - 1
    if n == 2**30 - 35:  # so close below their edges that 15 digits say the contrary
        for d, k in ((1_718_074_930, 728_153_499), (1_259_165_364, 246_768_003)):
            assert not relative._reaches(d, k, exact, end, n)
    for d in (exact + 1, exact + 12_345, 1_500_000_001, end - 1):
        with decimal.localcontext(prec=80):
            logs = [decimal.Decimal(x).ln() for x in (d, exact, end)]
            gone = n * (logs[0] - logs[1]) / (logs[2] - logs[1])
        k = int(gone)
        assert relative._reaches(d, k, exact, end, n)
        assert not relative._reaches(d, k + 1, exact, end, n)


@pytest.mark.parametrize(("n_buckets", "max_distance"), [*REACHES[::7], *REACHES[-8:]])
def test_begins_are_the_whole_table_in_short(n_buckets, max_distance):
    begins = relative.t5_begins(n_buckets, max_distance)
    assert begins.dtype == np.int64 and begins.shape == (n_buckets,)
    distances = np.arange(2 * max_distance)
    wanted = relative.t5_bucket(-distances, n_buckets, max_distance, bidirectional=False)
    found = np.searchsorted(begins, distances, side="right") - 1
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("n_buckets", "max_distance", "below", "bucket"),
    [(8, 2_147_474_760, 14_107_857, 6), (10, 2_147_483_039, 40_303_039, 8)],
)
def test_a_distance_just_below_an_edge_has_not_reached_it(n_buckets, max_distance, below, bucket):
    found = relative.t5_bucket([-below, -below - 1], n_buckets, max_distance, bidirectional=False)
    assert found.tolist() == [bucket, bucket + 1]


def test_begins_of_the_farthest_reach():
    assert relative.t5_begins(4, 2**31 - 1).tolist() == [0, 1, 2, 65_536]
    assert relative.t5_begins(4, 3).tolist() == [0, 1, 2, 3]
    assert relative.t5_begins()[[0, 16, 17, 30, 31]].tolist() == [0, 16, 19, 99, 113]


@pytest.mark.parametrize(("n_buckets", "bidirectional"), [(4, False), (8, True)])
def test_the_fewest_buckets_and_the_shortest_reach_are_taken(n_buckets, bidirectional):
    bucket = relative.t5_bucket([0, -1, -2, -3, -9], n_buckets, 3, bidirectional=bidirectional)
    assert bucket.tolist() == [0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "named"),
    [
        ((0,), {}, ValueError, "relative_position"),
        (([0.5],), {}, ValueError, "relative_position"),
        ((["a"],), {}, TypeError, "relative_position"),
        (([0], 4), {}, ValueError, "n_buckets"),
        (([0], 6), {}, ValueError, "n_buckets must be at least 8, got 6"),
        (([0], 10), {}, ValueError, "n_buckets must be divisible by 4 .*, got 10"),
        (([0], 2), {"bidirectional": False}, ValueError, "n_buckets"),
        (([0], 7), {"bidirectional": False}, ValueError, "n_buckets must be even, got 7"),
        (([0], 32, 8), {}, ValueError, "max_distance"),
        (([0], 32, 16), {"bidirectional": False}, ValueError, "max_distance"),
    ],
)
def test_refusals_name_the_argument(arguments, options, error, named):
    with pytest.raises(error, match=named):
        relative.t5_bucket(*arguments, **options)
