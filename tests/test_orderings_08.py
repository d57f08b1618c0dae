"""What lesson 08 says of the saved study: every order holds for every seed, not for the mean only.

The numbers are perplexities of models trained at 64 tokens, rules with a factor of 4.
"""

import numpy as np
import pytest

from lessons import extension, results

RUNS = results.saved("extension")["runs"]
LENGTHS = [str(length) for length in extension.LENGTHS]


def at(rule, steps, length):
    """(seeds,) perplexities."""
    return np.exp(results.by_seed(RUNS, "rope", "tuned", rule, steps, length))


def sweep(rule, length):
    """(seeds, factors) perplexities."""
    return np.exp(results.by_seed(RUNS, "rope", "sweep", rule, length))


def all_below(smaller, larger, by=1.0):
    """Seed by seed: smaller · by < larger."""
    assert (smaller * by < larger).all(), (smaller, larger)


def test_the_file_holds_three_seeds_and_every_rule_at_every_length():
    assert [run["seed"] for run in RUNS] == [1, 2, 3]
    for run in RUNS:
        assert set(run["tuned"]) == set(extension.RULES)
        for name, rule in extension.RULES.items():
            steps = ["0", "50", "200"] if rule.tuned else ["0"]
            assert list(run["tuned"][name]) == steps
            assert all(list(losses) == LENGTHS for losses in run["tuned"][name].values())
        for losses in run["sweep"].values():
            assert [len(losses[n]) for n in ("64", "256")] == [len(extension.FACTORS)] * 2


def test_a_factor_of_one_is_the_model_as_it_was():
    for length in (64, 256):
        first = [sweep(rule, length)[:, 0] for rule in ("linear", "ntk", "yarn", "llama3")]
        np.testing.assert_allclose(np.std(first, axis=0), 0, atol=1e-3)


def test_dynamic_ntk_changes_nothing_within_the_trained_length():
    assert (at("dynamic_ntk", 0, 64) == at("none", 0, 64)).all()


def test_an_untuned_model_is_worse_beyond_its_length():
    all_below(at("none", 0, 64), at("none", 0, 256), by=1.8)
    all_below(at("none", 0, 256), at("none", 0, 1024), by=1.5)


@pytest.mark.parametrize("rule", ["ntk", "yarn", "llama3", "theta", "dynamic_ntk"])
def test_rules_that_keep_the_fast_pairs_help_untuned_at_four_times_the_length(rule):
    all_below(at(rule, 0, 256), at("none", 0, 256), by=1.25)


@pytest.mark.parametrize("rule", ["linear", "yarn_paper"])
@pytest.mark.parametrize("length", [64, 128, 256])
def test_rules_that_slow_every_pair_hurt_untuned(rule, length):
    all_below(at("none", 0, length), at(rule, 0, length), by=1.2)


def test_truncation_of_a_trained_model_hurts():
    for length in (64, 128, 256):
        all_below(at("none", 0, length), at("truncated", 0, length), by=1.1)


def test_yarn_beats_ntk_untuned_and_the_papers_ramp_is_far_behind():
    all_below(at("yarn", 0, 256), at("ntk", 0, 256), by=1.1)
    all_below(at("yarn", 0, 256), at("yarn_paper", 0, 256), by=2)


def test_every_rule_costs_something_inside():
    for name in extension.RULES:
        if name not in ("none", "dynamic_ntk"):
            all_below(at("none", 0, 64), at(name, 0, 64))


def test_no_rule_for_four_times_the_length_holds_at_sixteen():
    for name in extension.RULES:
        all_below(at("none", 0, 64), at(name, 0, 1024), by=2)


def test_the_best_factor_is_far_above_4_for_ntk_and_below_it_for_yarn():
    factors = np.array(extension.FACTORS)
    best = {n: factors[sweep(n, 256).argmin(1)] for n in ("linear", "ntk", "yarn", "llama3")}
    assert (best["linear"] < 1.3).all()
    assert (best["ntk"] > 12).all()
    assert ((best["yarn"] > 2.5) & (best["yarn"] < 3.5)).all()
    assert ((best["llama3"] > 2) & (best["llama3"] < 2.5)).all()


NEAR = ["none", "ntk", "yarn", "llama3", "theta"]


def test_tuning_brings_the_good_rules_and_no_rule_together():
    end = np.array([at(name, 200, 256) for name in NEAR])
    assert end.max() < 1.03 * end.min()


def test_pi_is_last_after_tuning():
    for name, rule in extension.RULES.items():
        if rule.tuned and name != "linear":
            all_below(at(name, 200, 256), at("linear", 200, 256), by=1.02)
            all_below(at(name, 50, 256), at("linear", 50, 256), by=1.2)


def test_a_rule_that_keeps_the_fast_pairs_is_a_head_start():
    for name in NEAR[1:]:
        all_below(at(name, 50, 256), at("none", 50, 256), by=1.01)


def test_the_papers_ramp_and_truncation_stand_between():
    for between in ("yarn_paper", "truncated"):
        for name in NEAR:
            all_below(at(name, 200, 256), at(between, 200, 256))


def test_far_beyond_the_tuned_length_the_order_turns_round():
    all_below(at("truncated", 200, 1024), at("none", 200, 1024))
    for name, rule in extension.RULES.items():
        if rule.tuned and name not in ("none", "truncated"):
            all_below(at("none", 200, 1024), at(name, 200, 1024))


def test_fifty_steps_go_two_thirds_of_the_way_or_more():
    for name, rule in extension.RULES.items():
        if rule.tuned:
            start, early, end = (np.log(at(name, n, 256).mean()) for n in (0, 50, 200))
            assert (start - early) / (start - end) > 0.65, name


def test_these_orders_would_notice_rules_that_changed_places(monkeypatch):
    names = {"linear": "yarn", "yarn": "linear"}
    other = [
        run | {key: {n: run[key][names.get(n, n)] for n in run[key]} for key in ("tuned", "sweep")}
        for run in RUNS
    ]
    monkeypatch.setitem(globals(), "RUNS", other)
    for test in (
        test_yarn_beats_ntk_untuned_and_the_papers_ramp_is_far_behind,
        test_the_best_factor_is_far_above_4_for_ntk_and_below_it_for_yarn,
        test_tuning_brings_the_good_rules_and_no_rule_together,
        test_pi_is_last_after_tuning,
    ):
        with pytest.raises(AssertionError):
            test()
