"""lessons.criteria: laws that hold whatever the random contents are, on schemes of all kinds."""

import numpy as np
import pytest
from schemes import (
    ALIBI,
    BUCKETS,
    CONTENTS,
    HEADS,
    PLAIN,
    ROTARY,
    SLOPES,
    TABLE,
    WAVES,
    WIDTH,
    alibi,
    distances,
    rotate,
    scheme,
    waves,
)

from lessons import criteria

N = np.arange(40)


def test_random_contents_have_variance_1_and_heads_keep_it():
    contents = criteria.random_contents(n_heads=4, head_dim=32, n_contents=200, seed=5)
    assert contents.x.shape == contents.y.shape == (200, 128)
    assert contents.w_q.shape == contents.w_k.shape == (4, 128, 32)
    for values, variance in zip(contents, (1, 1, 1 / 128, 1 / 128), strict=True):
        assert abs(values.var() / variance - 1) < 0.05 and abs(values.mean()) < 0.02
    again = criteria.random_contents(n_heads=4, head_dim=32, n_contents=200, seed=5)
    np.testing.assert_array_equal(contents.w_k, again.w_k)
    assert np.abs(np.corrcoef(contents.x.ravel(), contents.y.ravel())[0, 1]) < 0.03
    default = criteria.random_contents()
    assert default.x.shape == (64, 512) and default.w_q.shape == (8, 512, 64)
    np.testing.assert_array_equal(default.x, criteria.random_contents(seed=0).x)


def test_logits_are_the_formula():
    both = scheme(embed=waves, rotate=rotate, bias=alibi)
    found = both([3, 9], [4, 0, 7])
    assert found.shape == (HEADS, 6, 2, 3)
    for h, p, (i, m), (j, n) in [
        (0, 0, (0, 3), (0, 4)),
        (5, 2, (1, 9), (2, 7)),
        (7, 5, (1, 9), (1, 0)),
    ]:
        q = (CONTENTS.x[p] + waves([m])[0]) @ CONTENTS.w_q[h]
        k = (CONTENTS.y[p] + waves([n])[0]) @ CONTENTS.w_k[h]
        turned = rotate(q[None], np.array([m]))[0] @ rotate(k[None], np.array([n]))[0]
        expected = turned / np.sqrt(WIDTH) - SLOPES[h] * (m - n)
        np.testing.assert_allclose(found[h, p, i, j], expected, atol=1e-12)


def test_no_scheme_is_the_same_everywhere():
    scores = PLAIN(N, N)
    assert np.ptp(scores, axis=(-1, -2)).max() == 0 and scores.std() > 0.5
    assert criteria.uniqueness(PLAIN, 40) == (0, (0, 1))
    assert np.isnan(criteria.growth(PLAIN, PLAIN, 40))
    assert np.isnan(criteria.distance_share(PLAIN, 40))
    result = criteria.scalability(PLAIN, 40)
    assert result.defined and result.unseen_mass == 0
    np.testing.assert_allclose(result.mass_kept, 1 / 8)
    np.testing.assert_allclose(criteria.scalability(PLAIN, 12, factor=3).mass_kept, 1 / 3)


@pytest.mark.parametrize("name", ["alibi", "buckets", "random by distance", "rotary"])
def test_relative_schemes_know_only_the_distance(name):
    by_distance = np.random.default_rng(2).normal(size=(HEADS, 79))
    scheme_logits = {
        "alibi": ALIBI,
        "buckets": BUCKETS,
        "rotary": ROTARY,
        "random by distance": scheme(
            bias=lambda q, k: by_distance[:, distances(q, k).astype(int) + 39]
        ),
    }[name]
    np.testing.assert_allclose(criteria.distance_share(scheme_logits, 40), 1, atol=1e-9)
    moved = scheme_logits(N + 1000, N + 1000)
    np.testing.assert_allclose(moved, scheme_logits(N, N), atol=1e-10)


def test_added_vectors_spend_little_on_distance():
    assert 0 < criteria.distance_share(WAVES, 40) < 0.3
    assert 0 < criteria.distance_share(TABLE, 40) < 0.2


def test_distance_share_by_hand():
    # logits [[0, 1], [2, 4]]: mean 7/4, total variance 35/16; within distance 0 (0 and 4) the
    # squares sum to 8, elsewhere to 0, so 8/4 = 2 of 35/16 are not explained by the distance.
    given = np.array([[0.0, 1], [2, 4]])
    share = criteria.distance_share(lambda q, k: given[None, None], 2)
    np.testing.assert_allclose(share, 1 - 2 / (35 / 16))
    # A second head in which only the key's own position counts: [[0, 1], [0, 1]] leaves 1/8 of 1/4.
    heads = np.array([given, [[0, 1], [0, 1]], [[5, 5], [5, 5]]])
    share = criteria.distance_share(lambda q, k: heads[:, None], 2)
    np.testing.assert_allclose(share, (1 - 32 / 35 + 0.5) / 2)  # the head that never moves is out


def test_uniqueness_is_0_for_two_equal_distances_and_names_the_positions():
    blind = scheme(bias=lambda q, k: alibi(q, np.where(k == 7, 4, k)))
    assert criteria.uniqueness(blind, 20) == (0, (4, 7))
    assert criteria.uniqueness(BUCKETS, 20) == (0, (0, 1))  # distances 19 and 18 share a bucket
    assert criteria.uniqueness(BUCKETS, 17)[0] > 0.1


def test_uniqueness_by_hand():
    smallest, pair = criteria.uniqueness(ALIBI, 30)
    np.testing.assert_allclose(smallest, np.sqrt(np.mean(SLOPES**2)))
    assert abs(smallest - 0.204) < 5e-4 and pair[1] - pair[0] == 1
    at = np.array([0.0, 3.0, 10.0, 8.5])
    logits = lambda q, k: np.array([[at[k][None], 2 * at[k][None]]])  # noqa: E731
    smallest, pair = criteria.uniqueness(logits, 4)
    np.testing.assert_allclose(smallest, 1.5 * np.sqrt(5 / 2))
    assert pair == (2, 3)


def test_the_numbers_that_the_book_reports():
    contents = criteria.random_contents(n_contents=16)
    added = criteria.scheme_logits(contents, embed=lambda p: waves(p, 512))
    turned = criteria.scheme_logits(contents, rotate=rotate)
    plain = criteria.scheme_logits(contents)
    assert 0.13 < criteria.uniqueness(added, 256)[0] < 0.19  # .161 there
    assert 0.20 < criteria.uniqueness(turned, 256)[0] < 0.27  # .237
    assert 0.7 < criteria.growth(added, plain, 256) < 1.1  # 0.9
    assert 1.0 < criteria.growth(turned, plain, 256) < 1.4  # 1.2


def test_every_scheme_with_signs_is_unique():
    for logits in (WAVES, TABLE, ROTARY):
        assert 0.05 < criteria.uniqueness(logits, 40)[0] < 3


def test_growth_is_the_factor_for_a_slope_and_about_1_where_entries_are_bounded():
    for factor in (1, 2, 8):
        grown = criteria.growth(ALIBI, PLAIN, 256, factor)
        np.testing.assert_allclose(grown, factor, rtol=0.01)
    assert 7.5 < criteria.growth(ALIBI, PLAIN, 64) < 8.5  # the factor is 8 unless another is given
    for logits in (WAVES, ROTARY, BUCKETS):
        assert 0.4 < criteria.growth(logits, PLAIN, 40) < 1.5


def test_growth_looks_at_the_99th_percentile_of_what_the_last_query_sees():
    def logits(q, k):
        part = np.where(np.arange(len(k)) < len(k) // 50, 5.0, 1.0) * len(k)
        return -part[None, None, None] * (q[0] == len(k) - 1)

    assert criteria.growth(logits, lambda q, k: np.zeros((1, 1, 1, len(k))), 100, 3) == 3
    np.testing.assert_array_equal(criteria.growth(logits, logits, 100), np.nan)


def test_growth_from_nothing_is_infinite():
    late = scheme(bias=lambda q, k: alibi(q, k) * (distances(q, k) > 100))
    assert criteria.growth(late, PLAIN, 40) == np.inf
    small = scheme(bias=lambda q, k: 1e-3 * alibi(q, k) * (distances(q, k) > 100))
    assert criteria.growth(small, PLAIN, 40) == np.inf


def test_uniqueness_looks_from_the_last_position():
    asked = []
    criteria.uniqueness(lambda q, k: asked.append((list(q), len(k))) or ALIBI(q, k), 9)
    assert asked == [([8], 9)]


def test_the_nearest_quarter_is_rounded_down():
    def logits(q, k):  # the three nearest of 30 keys count twice, of 15 none
        scores = np.zeros((1, 1, len(q), len(k)))
        scores[..., -3:] = np.log(2) * (len(k) == 30)
        return scores

    kept = criteria.scalability(logits, 15, factor=2).mass_kept
    np.testing.assert_allclose(kept, (6 / (27 + 6)) / (3 / 15))


def test_a_scheme_that_refuses_the_length_is_not_defined_there():
    result = criteria.scalability(TABLE, 16)
    assert not result.defined and np.isnan([result.unseen_mass, result.mass_kept]).all()
    assert criteria.scalability(TABLE, 16, factor=4).defined
    with pytest.raises(ValueError, match="outside a table of 64 rows"):
        criteria.scalability(TABLE, 65)


def test_unseen_mass():
    assert criteria.scalability(WAVES, 64).unseen_mass > 0.95
    assert 0.7 < criteria.scalability(ROTARY, 64).unseen_mass < 0.95  # most of 1 − 1/8 = .875
    assert criteria.scalability(BUCKETS, 64).unseen_mass == 0
    assert criteria.scalability(ALIBI, 64).unseen_mass < 0.3
    for logits in (WAVES, ROTARY, ALIBI):
        assert criteria.scalability(logits, 16, factor=1).unseen_mass == 0


def test_unseen_mass_and_mass_kept_by_hand():
    # Keys are seen at distances 0 … 7; steps are 1, so a distance is new beyond 7.5.
    def logits(q, k):
        return -np.abs(np.subtract.outer(np.asarray(q), k))[None, None].astype(float)

    weights = np.exp(-np.arange(16.0))
    result = criteria.scalability(logits, 8, factor=2)
    np.testing.assert_allclose(result.unseen_mass, weights[8:].sum() / weights.sum())
    np.testing.assert_allclose(result.mass_kept, weights[:8].sum() / weights.sum())

    def steeper(q, k):
        return logits(q, k) * (2 if len(k) == 16 else 1)

    near, far = weights[:2].sum() / weights[:8].sum(), (weights[:2] ** 2).sum() / (weights**2).sum()
    np.testing.assert_allclose(criteria.scalability(steeper, 8, factor=2).mass_kept, far / near)


def test_the_shortest_lengths_that_can_be_measured():
    assert criteria.uniqueness(ALIBI, 2)[1] == (0, 1)
    assert criteria.growth(ALIBI, PLAIN, 2, 1) == 1
    assert 0 < criteria.distance_share(ALIBI, 2) <= 1
    assert criteria.scalability(ALIBI, 4, 1) == (True, 0, 1)


def test_seen_is_within_half_a_step_of_what_a_causal_query_saw():
    def keys(last, future):  # training shows 0 … 7 in steps of 1, the far query 16 times `last`
        def logits(q, k):
            seen = np.where(np.asarray(q)[:, None] >= k, k, future)
            return np.where(len(k) == 16, last, seen)[None, None].astype(float)

        return logits

    for last, unseen in [(7.49, 0), (7.51, 1), (-0.49, 0), (-0.51, 1), (3.5, 0)]:
        np.testing.assert_allclose(criteria.scalability(keys(last, 7), 8, 2).unseen_mass, unseen)
    np.testing.assert_allclose(criteria.scalability(keys(99, 99), 8, 2).unseen_mass, 1)


def test_mass_kept_tells_dilution_from_a_window():
    assert criteria.scalability(ALIBI, 64).mass_kept > 0.85
    for logits in (WAVES, ROTARY, BUCKETS):
        assert criteria.scalability(logits, 64).mass_kept < 0.25


@pytest.mark.parametrize(
    ("hooks", "named"),
    [
        (
            {"embed": lambda p: waves(p)[:1]},
            r"embed\(…\) must have shape \(3, 128\), got \(1, 128\)",
        ),
        ({"rotate": lambda x, p: x[..., :8]}, r"rotate\(…\) must have shape \(8, 6, 3, 16\)"),
        (
            {"bias": lambda q, k: alibi(q, k)[0]},
            r"bias\(…\) must have shape \(8, 3, 6\), got \(3, 6\)",
        ),
        ({"bias": lambda q, k: alibi(k, q)}, r"bias\(…\) must have shape \(8, 3, 6\)"),
    ],
)
def test_a_hook_of_the_wrong_shape_is_named(hooks, named):
    with pytest.raises(ValueError, match=named):
        scheme(**hooks)(N[:3], N[:6])


@pytest.mark.parametrize("argument", ["q_positions", "k_positions"])
@pytest.mark.parametrize("value", [3, [0.5], [[1, 2]], [np.nan], None, ["a"]])
def test_logits_refuse_what_are_no_positions(argument, value):
    with pytest.raises((ValueError, TypeError), match=argument):
        PLAIN(**{"q_positions": N, "k_positions": N, argument: value})


@pytest.mark.parametrize(
    ("logits", "named"),
    [
        (
            lambda q, k: np.zeros((len(q), len(k))),
            r"must be \(heads, contents, .* got shape \(\d+, \d+\)",
        ),
        (lambda q, k: np.zeros((2, 3, len(k), len(q) + 1)), r"must be \(heads, contents, "),
        (lambda q, k: None, r"must be \(heads, contents, .* got shape \(\)"),
        (lambda q, k: np.full((2, 3, len(q), len(k)), np.nan), "must be finite"),
        (lambda q, k: np.full((2, 3, len(q), len(k)), -np.inf), "must be finite"),
    ],
)
def test_scores_that_cannot_be_measured_are_refused(logits, named):
    for measure in (criteria.uniqueness, criteria.distance_share, criteria.scalability):
        with pytest.raises(ValueError, match=rf"^logits\(…\) {named}"):
            measure(logits, 8)
    with pytest.raises(ValueError, match=rf"^logits\(…\) {named}"):
        criteria.growth(logits, PLAIN, 8)
    with pytest.raises(ValueError, match=rf"^plain_logits\(…\) {named}"):
        criteria.growth(PLAIN, logits, 8)


def test_scores_that_go_wrong_only_far_out_are_refused_there():
    with pytest.raises(ValueError, match=r"^logits\(…\) must be .* got shape \(2, 3, 1, 8\)"):
        criteria.scalability(lambda q, k: np.zeros((2, 3, len(q), 8)), 8)
