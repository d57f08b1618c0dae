"""Rules for longer contexts: laws that hold for each rule, then values known from elsewhere."""

import functools
import warnings

import numpy as np
import pytest

from lessons import rope, scaling
from lessons.frequencies import inverse_frequencies, wavelengths

L = 4096
LLAMA = inverse_frequencies(128)  # a head of LLaMA-2, trained at 4096 tokens
LADDERS = {"llama": (LLAMA, L), "toy": (inverse_frequencies(24, 1000.0), 64)}
PAPER = functools.partial(scaling.yarn, ramp="rotations")
RULES = {
    "linear": lambda w, s, length: scaling.linear(w, s),
    "ntk": lambda w, s, length: scaling.ntk(w, s),
    "dynamic": lambda w, s, length: scaling.dynamic_ntk(w, s, 2 * length, length),
    "yarn index": scaling.yarn,
    "yarn rotations": PAPER,
    "llama3": scaling.llama3,
}
FACTORS = (1, 1.5, 2, 16, 1e6)


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("name", RULES)
def test_every_rule_keeps_the_order_and_divides_each_pair_by_1_to_its_factor(name, ladder):
    w, length = LADDERS[ladder]
    before = w.copy()
    for factor in FACTORS:
        scaled = RULES[name](w, factor, length)
        most = 1 + factor if name == "dynamic" else factor  # at twice the length
        assert scaled.dtype == np.float64 and scaled.shape == w.shape
        assert (np.diff(scaled) < 0).all()
        assert (scaled <= w * (1 + 1e-15)).all() and (scaled >= w / most * (1 - 1e-15)).all()
        np.testing.assert_allclose(scaled[-1], w[-1] / most, rtol=1e-15)
        np.testing.assert_array_equal(w, before)


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("name", [name for name in RULES if name != "dynamic"])
def test_a_factor_of_one_changes_nothing(name, ladder):
    def law(factor):
        w, length = LADDERS[ladder]
        np.testing.assert_allclose(RULES[name](w, factor, length), w, rtol=4e-16)

    law(1)
    with pytest.raises(AssertionError):
        law(1.00001)


def test_linear_is_a_shorter_position():
    n = np.arange(0, 4 * L, 4)
    squeezed = rope.angles(n, scaling.linear(LLAMA, 4))
    np.testing.assert_allclose(squeezed, rope.angles(n // 4, LLAMA), rtol=1e-15)


@pytest.mark.parametrize("ladder", LADDERS)
def test_ntk_keeps_the_first_pair_and_divides_the_last_by_the_factor_exactly(ladder):
    w, _ = LADDERS[ladder]

    def law(rule):
        for factor in (1.7, 3, 16):
            scaled = rule(w, factor)
            assert scaled[0] == w[0] and scaled[-1] == w[-1] / factor

    def exponent_one(w, factor):  # the new base without d/(d−2)
        return w / factor ** (np.arange(len(w)) / len(w))

    law(scaling.ntk)
    with pytest.raises(AssertionError):
        law(exponent_one)


@pytest.mark.parametrize("dim", [4, 24, 128])
def test_ntk_is_a_ladder_with_another_base(dim):
    for theta in (12.0, 10_000.0, 1e6):
        w = inverse_frequencies(dim, theta)
        for factor in (2, 5.5, 16):
            wanted = inverse_frequencies(dim, theta * factor ** (dim / (dim - 2)))
            np.testing.assert_allclose(scaling.ntk(w, factor), wanted, rtol=1e-14)


def test_ntk_bases():
    bases = [scaling.theta(scaling.ntk(LLAMA, s)) for s in (2, 4, 8, 16)]
    np.testing.assert_allclose(bases, [20221.26, 40889.94, 82684.62, 167198.74], atol=0.005)


def test_dynamic_bases_grow_with_the_text_and_not_before():
    w = inverse_frequencies(128)

    def base(length):
        return scaling.theta(scaling.dynamic_ntk(w, 2, length, 2048))

    np.testing.assert_allclose([base(4096), base(8192)], [30527.74, 72195.86], atol=0.005)
    for length in (1, 100, 2047, 2048):
        np.testing.assert_array_equal(scaling.dynamic_ntk(w, 2, length, 2048), w)
    assert base(2049) > base(2048)


def test_the_base_of_a_ladder_and_what_is_none():
    for dim in (4, 24, 128):
        for theta in (1.5, 12.0, 1e4, 1e6):
            w = inverse_frequencies(dim, theta)
            np.testing.assert_allclose(scaling.theta(w), theta, rtol=1e-12)
            np.testing.assert_allclose(scaling.theta(w / 7), theta, rtol=1e-12)
            assert abs(scaling.theta(np.float32(w)) / theta - 1) < 1e-5
    for stretched in (scaling.llama3(w, 8, L), scaling.truncated(w, 0.5), w[::-1], w[:1]):
        with pytest.raises(ValueError, match=r"^inv_freq must"):
            scaling.theta(stretched)
    bfloat16 = (np.float32(w).view(np.uint32) & 0xFFFF0000).view(np.float32)
    with pytest.raises(ValueError, match=r"^inv_freq must fall geometrically"):
        scaling.theta(bfloat16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scaling.theta([1e100, 1e-300]) == np.inf


# YaRN.


def divided_by(rule):
    """By what each pair of a LLaMA-2 head is divided at a factor of 16."""
    return LLAMA / rule(LLAMA, 16, L)


def test_yarn_bounds():
    bounds = scaling.yarn_bounds(LLAMA, L)
    np.testing.assert_allclose(bounds, [20.94, 45.03], atol=0.005)
    # They are where a pair turns 32 times and once, for a ladder that starts elsewhere, too.
    for w in (LLAMA, LLAMA / 4):
        bounds = scaling.yarn_bounds(w, L)
        turns = np.exp(np.interp(bounds, np.arange(64), np.log(L / wavelengths(w))))
        np.testing.assert_allclose(turns, [32, 1], rtol=1e-12)


def test_yarn_by_index_keeps_up_to_pair_20_and_divides_from_46_on():
    share = (1 / divided_by(scaling.yarn) - 1 / 16) / (1 - 1 / 16)
    wanted = np.clip((46 - np.arange(64)) / (46 - 20), 0, 1)
    np.testing.assert_allclose(share, wanted, atol=1e-14)

    unrounded = np.clip((45.03 - np.arange(64)) / (45.03 - 20.94), 0, 1)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(share, unrounded, atol=1e-14)


def test_the_upper_bound_of_the_index_may_lie_past_the_last_pair():
    """12 pairs that all finish a turn in 64 tokens: the bound is 12, one past them, as in the code
    of the authors, which limits it to d − 1 and not to the last index."""
    w = inverse_frequencies(24, 12.0)
    share = (scaling.yarn(w, 16, 64) / w - 1 / 16) / (1 - 1 / 16)
    np.testing.assert_allclose(share, 1 - np.arange(12) / 12, atol=1e-14)


def test_yarn_by_rotations_is_linear_in_the_turns_of_a_pair():
    share = (1 / divided_by(PAPER) - 1 / 16) / (1 - 1 / 16)
    turns = L / wavelengths(LLAMA)
    np.testing.assert_allclose(share, np.clip((turns - 1) / (32 - 1), 0, 1), atol=1e-14)


@pytest.mark.parametrize(("factor", "apart"), [(4, 1.73), (16, 3.04), (32, 3.96)])
def test_how_far_the_ramp_of_the_code_is_from_the_papers(factor, apart):
    ratio = scaling.yarn(LLAMA, factor, L) / PAPER(LLAMA, factor, L)
    assert abs(ratio.max() - apart) < 0.005 and ratio.min() > 0.97


@pytest.mark.parametrize("rule", [scaling.yarn, PAPER], ids=["index", "rotations"])
def test_yarn_keeps_the_pairs_that_turn_often_and_divides_those_that_never_finish(rule):
    def law(rule):
        scaled, turns = rule(LLAMA, 16, L), L / wavelengths(LLAMA)
        often, unfinished = turns > 37, turns < 0.86  # rounding moves the bounds by one pair
        assert often.sum() == 20 and unfinished.sum() == 17
        np.testing.assert_array_equal(scaled[often], LLAMA[often])
        np.testing.assert_array_equal(scaled[unfinished], LLAMA[unfinished] / 16)

    law(rule)
    with pytest.raises(AssertionError):  # the ramp inverted
        law(lambda w, s, length: w + w / s - rule(w, s, length))


def test_yarn_where_the_limits_of_the_index_make_the_bounds_cross():
    # Nothing finishes a turn in 3 tokens: all but the first pair, whose index is the lower limit.
    np.testing.assert_array_equal(scaling.yarn(LLAMA, 4, 3), [LLAMA[0], *LLAMA[1:] / 4])
    # All 12 pairs turn more than 32 times in a million tokens.
    toy = inverse_frequencies(24, 12.0)
    np.testing.assert_array_equal(scaling.yarn(toy, 4, 1_000_000), toy)


def test_yarn_by_index_ends_its_ramp_at_channel_d_minus_1():
    inv_freq = 2.0 ** (-np.arange(4) / 4)
    first, last = scaling.yarn_bounds(inv_freq, 250)
    assert 1 < first < 2 and last > 21
    # d − 1 = 7: kept falls from 1 at pair 1 to 0 at 7, where there is no pair any more.
    kept = np.array([1, 1, 5 / 6, 4 / 6])
    ours = scaling.yarn(inv_freq, 4, 250)
    np.testing.assert_allclose(ours, inv_freq * (kept + (1 - kept) / 4), rtol=1e-12)


def test_yarn_attention_factors():
    factors = [scaling.yarn_attention_factor(s) for s in (1, 2, 4, 8, 16, 32, 64, 128)]
    wanted = [1, 1.0693, 1.1386, 1.2079, 1.2773, 1.3466, 1.4159, 1.4852]
    np.testing.assert_allclose(factors, wanted, atol=5e-5)
    assert factors[0] == 1 and type(factors[0]) is float
    assert abs(factors[4] ** 2 - 1.6314) < 5e-5


# Llama 3.1, and truncation.


def test_llama_3_1_keeps_29_pairs_blends_6_and_divides_29():
    w = inverse_frequencies(128, 500_000)
    divisors = w / scaling.llama3(w, 8, 8192)
    np.testing.assert_array_equal(divisors[:29], 1)
    np.testing.assert_array_equal(divisors[35:], 8)
    wanted = [1.2075, 1.5534, 2.0263, 2.6945, 3.6843, 5.2573]
    np.testing.assert_allclose(divisors[29:35], wanted, atol=5e-5)
    kept, divided = wavelengths(w) < 8192 / 4, wavelengths(w) > 8192
    assert kept.sum() == divided.sum() == 29 and kept[:29].all() and divided[35:].all()


def test_llama_3_1_is_yarns_ramp_over_rotations_from_1_to_4():
    w = inverse_frequencies(128, 500_000)
    ramp = scaling.yarn(w, 8, 8192, beta_fast=4, beta_slow=1, ramp="rotations")
    np.testing.assert_array_equal(scaling.llama3(w, 8, 8192), ramp)


@pytest.mark.parametrize("fraction", [0, 0.1, 0.25, 0.5, 0.7, 0.999, 1])
def test_truncated_keeps_the_fastest_and_stops_the_rest(fraction):
    for w in (inverse_frequencies(128), inverse_frequencies(20)):
        cut, kept = scaling.truncated(w, fraction), int(fraction * len(w))
        assert cut.dtype == np.float64
        np.testing.assert_array_equal(cut[:kept], w[:kept])
        np.testing.assert_array_equal(cut[kept:], 0)
        assert not np.shares_memory(cut, w)


def test_a_truncated_ladder_is_not_a_recomputed_one():
    """Rotate 25 % of 128 channels, θ = 10⁶: one reaches wavelength 160, the other 2.65 million."""
    full = inverse_frequencies(128, 1e6)
    turning = scaling.truncated(full, 0.25)[:16]
    assert abs(wavelengths(turning).max() - 160) < 1
    assert abs(wavelengths(inverse_frequencies(32, 1e6)).max() / 2.65e6 - 1) < 1e-3


def test_a_pair_that_stands_still_stays_so():
    still = scaling.truncated(LLAMA, 0.5)
    for name in ("linear", "ntk", "dynamic", "llama3"):
        assert (RULES[name](still, 8, L)[32:] == 0).all()
