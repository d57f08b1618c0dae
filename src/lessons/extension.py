"""A trained RoPE model read at lengths it never saw, by every rule of ``scaling`` (lesson 08).

The rules change frequencies, never weights: so a rule is tried by giving the trained model another
rotary scheme, and tuned by training on from there at the longer length.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

from lessons import layers, recipes, scaling, training
from lessons.corpus import corpus
from lessons.frequencies import inverse_frequencies, wavelengths

HEAD_DIM = recipes.D_MODEL // recipes.N_HEADS
INV_FREQ = inverse_frequencies(HEAD_DIM)
FACTOR = 4
LONG = FACTOR * recipes.TRAIN_LEN
LENGTHS = (64, 128, 256, 512, 1024)
TUNING_STEPS = (0, 50, 200)
STEPS = sum(TUNING_STEPS)  # of every rule that is tuned
FACTORS = tuple(2 ** (i / 6) for i in range(25))  # 1 … 16
RAISED_THETA = 500_000.0


@dataclass(frozen=True)
class Rule:
    """inv_freq: function of (factor, length to read) to frequencies; attention: of the factor."""

    label: str
    inv_freq: Callable
    attention: Callable = lambda factor: 1.0
    tuned: bool = True  # whether training on from it means anything


def _slow_pairs_stopped():
    return (wavelengths(INV_FREQ) < recipes.TRAIN_LEN).mean()


RULES = {
    "none": Rule("as trained", lambda factor, length: INV_FREQ),
    "linear": Rule("PI", lambda factor, length: scaling.linear(INV_FREQ, factor)),
    "ntk": Rule("NTK", lambda factor, length: scaling.ntk(INV_FREQ, factor)),
    "yarn": Rule(
        "YaRN",
        lambda factor, length: scaling.yarn(INV_FREQ, factor, recipes.TRAIN_LEN),
        scaling.yarn_attention_factor,
    ),
    "yarn_paper": Rule(
        "YaRN, the paper's ramp",
        lambda factor, length: scaling.yarn(INV_FREQ, factor, recipes.TRAIN_LEN, ramp="rotations"),
        scaling.yarn_attention_factor,
    ),
    "llama3": Rule(
        "Llama 3", lambda factor, length: scaling.llama3(INV_FREQ, factor, recipes.TRAIN_LEN)
    ),
    "theta": Rule(
        "θ = 500 000", lambda factor, length: inverse_frequencies(HEAD_DIM, RAISED_THETA)
    ),
    "truncated": Rule(
        "truncated",
        lambda factor, length: scaling.truncated(INV_FREQ, _slow_pairs_stopped()),
    ),
    # Another θ at every length: there is no one model to tune.
    "dynamic_ntk": Rule(
        "dynamic NTK",
        lambda factor, length: scaling.dynamic_ntk(INV_FREQ, factor, length, recipes.TRAIN_LEN),
        tuned=False,
    ),
}


def rescaled(model, rule, factor, length):
    """A copy of a RoPE model that turns by the frequencies of a rule.

    model: a TinyTransformer with one Rotary scheme.  rule: a name in RULES.
    factor: the rule's.  length: how far it will read, which only dynamic NTK asks.
    """
    rule = RULES[rule]
    scheme = layers.Rotary(
        rule.inv_freq(factor, length),
        recipes.FARTHEST,
        attention_factor=rule.attention(factor),
    )
    copied = copy.deepcopy(model)
    copied.schemes = [scheme] * len(copied.schemes)
    return copied


def tune(model, steps, seed, tick=None):
    """Train on at the longer length, 8 pieces a step: as many tokens a step as in training."""
    if steps:
        training.train(
            model, corpus().train, steps=steps, seed=seed, seq_len=LONG, batch=8, lr=1e-3, tick=tick
        )
    return model


def losses_without_tuning(model, rule, factor, lengths, n_tokens=16_384):
    """{length: loss} of a trained RoPE model under a rule, with no training in between."""
    found = {}
    for length in lengths:
        read = rescaled(model, rule, factor, length)
        found |= training.loss_by_length(read, corpus().held_out, [length], n_tokens=n_tokens)
    return found


def measure(model, seed, tick=None):
    """All that lesson 08 prints: losses untuned and tuned, and losses over the factor."""
    tuned = {}
    for name, rule in RULES.items():
        tuned[name] = {0: losses_without_tuning(model, name, FACTOR, LENGTHS)}
        for steps in TUNING_STEPS[1:] if rule.tuned else ():
            made = tune(rescaled(model, name, FACTOR, LONG), steps, seed, tick)
            tuned[name][steps] = training.loss_by_length(made, corpus().held_out, LENGTHS)
    sweep = {
        name: {
            length: [
                losses_without_tuning(model, name, factor, [length], 8192)[length]
                for factor in FACTORS
            ]
            for length in (recipes.TRAIN_LEN, LONG)
        }
        for name in ("linear", "ntk", "yarn", "llama3")
    }
    return {"tuned": tuned, "sweep": sweep}
