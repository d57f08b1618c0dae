"""Laws of the rules for longer contexts over drawn ladders, factors and lengths."""

import numpy as np
import pytest
from drawn import (
    EPS,
    about,
    inv_freqs,
    ladders,
    near,
    rows,
)
from hypothesis import given
from hypothesis import strategies as st

from lessons import rope, scaling
from lessons.frequencies import inverse_frequencies, wavelengths

factors = st.floats(1, 1e4)
trained = st.integers(1, 2**20)
bounds = st.tuples(st.floats(0.01, 10), st.floats(0.01, 100)).map(lambda two: (two[0], sum(two)))
RULES = {
    "linear": lambda w, s, length, low, high: scaling.linear(w, s),
    "ntk": lambda w, s, length, low, high: scaling.ntk(w, s),
    "dynamic_ntk": lambda w, s, length, low, high: scaling.dynamic_ntk(w, s, 3 * length, length),
    "index": lambda w, s, length, low, high: scaling.yarn(
        w, s, length, beta_slow=low, beta_fast=high
    ),
    "rotations": lambda w, s, length, low, high: scaling.yarn(
        w, s, length, beta_slow=low, beta_fast=high, ramp="rotations"
    ),
    "llama3": lambda w, s, length, low, high: scaling.llama3(
        w, s, length, low_freq_factor=low, high_freq_factor=high
    ),
    "truncated": lambda w, s, length, low, high: scaling.truncated(w, 1 / s),
}


@about(scaling.linear, scaling.ntk, scaling.dynamic_ntk, scaling.yarn, scaling.llama3)
@pytest.mark.parametrize("rule", RULES)
@given(ladders, factors, factors, trained, bounds)
def test_a_rule_slows_down_keeps_the_order_and_a_factor_of_1_changes_nothing(
    rule, w, s, more, length, two
):
    found = RULES[rule](w, s, length, *two)
    assert found.shape == w.shape and found.dtype == np.float64
    assert (found <= w * (1 + 2 * EPS)).all() and (np.diff(found) <= 0).all()
    if rule != "truncated":  # it stops pairs instead
        least = (1 + 2 * s if rule == "dynamic_ntk" else s) * (1 + 4 * EPS)
        assert (found >= w / least).all()
    slower = RULES[rule](w, s * more, length, *two)
    assert (slower <= found * (1 + 4 * EPS)).all()
    if rule != "dynamic_ntk":
        np.testing.assert_allclose(RULES[rule](w, 1, length, *two), w, rtol=2 * EPS)


@about(scaling.linear, rope.angles)
@given(inv_freqs, st.integers(1, 64), rows(low=-10_000, high=10_000))
def test_interpolation_turns_position_s_m_as_far_as_m_was_turned(w, s, m):
    found = rope.angles(m.astype(np.int64) * s, scaling.linear(w, s))
    np.testing.assert_allclose(found, rope.angles(m, w), rtol=4 * EPS, atol=1e-300)


@about(scaling.ntk, scaling.theta)
@given(ladders, factors)
def test_ntk_keeps_the_first_divides_the_last_and_is_a_ladder_of_another_base(w, s):
    found = scaling.ntk(w, s)
    assert found[0] == w[0] and found[-1] == w[-1] / s
    pairs, base = len(w), scaling.theta(w)
    higher = base * s ** (pairs / (pairs - 1))
    np.testing.assert_allclose(found, w[0] * inverse_frequencies(2 * pairs, higher), rtol=1e-11)


@about(scaling.theta)
@given(st.integers(2, 64), st.floats(1.5, 1e9), st.floats(1e-3, 1e3))
def test_the_base_comes_back_from_the_ladder_however_fast_its_first_pair(pairs, theta, first):
    w = first * inverse_frequencies(2 * pairs, theta)
    np.testing.assert_allclose(scaling.theta(w), theta, rtol=1e-11)


@about(scaling.dynamic_ntk, scaling.ntk)
@given(ladders, factors, trained, trained)
def test_dynamic_ntk_changes_nothing_within_l_and_is_ntk_beyond(w, s, length, more):
    near(scaling.dynamic_ntk(w, s, min(length, more), max(length, more)), w, 0)
    grown = s * (length + more) / length - (s - 1)
    found = scaling.dynamic_ntk(w, s, length + more, length)
    np.testing.assert_allclose(found, scaling.ntk(w, grown), rtol=1e-9)


@about(scaling.yarn, scaling.llama3)
@pytest.mark.parametrize("rule", ["rotations", "llama3"])
@given(ladders, factors, trained, bounds)
def test_many_turns_within_l_are_kept_and_few_are_divided(rule, w, s, length, two):
    found, turns = RULES[rule](w, s, length, *two), length / wavelengths(w)
    few, many = turns <= two[0], turns >= two[1]
    near(found[many], w[many], 0)
    near(found[few], w[few] / s, 0)
    between = ~few & ~many
    kept = (turns[between] - two[0]) / (two[1] - two[0])
    wanted = w[between] * (kept + (1 - kept) / s)
    np.testing.assert_allclose(found[between], wanted, rtol=1e-12)


@about(scaling.yarn, scaling.yarn_bounds)
@given(ladders, factors, trained, bounds)
def test_the_bounds_turn_as_often_as_they_say_and_the_ramp_runs_between(w, s, length, two):
    fast, slow_end = scaling.yarn_bounds(w, length, beta_slow=two[0], beta_fast=two[1])
    assert fast < slow_end
    theta, pairs = scaling.theta(w), len(w)
    turns = length * w[0] * theta ** (-np.array([fast, slow_end]) / pairs) / (2 * np.pi)
    np.testing.assert_allclose(turns, two[::-1], rtol=1e-6)
    found, i = scaling.yarn(w, s, length, beta_slow=two[0], beta_fast=two[1]), np.arange(pairs)
    first = max(np.floor(fast), 0)
    last = max(min(np.ceil(slow_end), 2 * pairs - 1), first + 0.001)
    near(found[i <= first], w[i <= first], 0)
    near(found[i >= last], w[i >= last] / s, 0)


@about(scaling.yarn_attention_factor)
@given(factors, factors)
def test_the_attention_factor_grows_by_a_tenth_of_the_logarithm(s, more):
    one, both = (scaling.yarn_attention_factor(f) for f in (s, s * more))
    near(both - one, scaling.yarn_attention_factor(more) - 1, 1e-14)
    assert scaling.yarn_attention_factor(1) == 1


@about(scaling.truncated)
@given(inv_freqs, st.integers(0, 16), st.floats(0, 1))
def test_truncation_keeps_the_first_pairs_and_stops_the_rest(w, kept, fraction):
    kept = min(kept, len(w))
    found = scaling.truncated(w, kept / len(w))
    # As transformers rounds, where k / n · n may come out below k: of 50 pairs, 0.58 keeps 28.
    exact = int(kept / len(w) * len(w))
    near(found, np.r_[w[:exact], np.zeros(len(w) - exact)], 0)
    once = scaling.truncated(w, fraction)
    near(scaling.truncated(once, fraction), once, 0)
    near(scaling.truncated(w, 1), w, 0)
