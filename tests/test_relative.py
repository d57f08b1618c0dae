"""T5's buckets: values of the authors' code, laws, and the faults that people report."""

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


@pytest.mark.parametrize("max_distance", [9, 11, 23])
def test_logarithmic_buckets_begin_where_the_formula_says(max_distance):
    bucket = relative.t5_bucket(-np.arange(40), 8, max_distance, bidirectional=False)
    steps = np.arange(1, 4)
    begins = [int(np.argmax(bucket == 4 + step)) for step in steps]
    assert begins == np.ceil(4 * (max_distance / 4) ** (steps / 4)).tolist()


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
