"""The exercises of lesson 07: right answers pass, wrong ideas get a sentence with a number."""

import math

import numpy as np
import pytest
import torch
from answers import assert_right, assert_wrong

from lessons import laws_07, results, training
from lessons.attention_layer import may_look
from lessons.corpus import corpus

RUNS = results.saved("extrapolation")["runs"]


def nats(name, length):
    return results.by_seed(RUNS, name, "loss", length)


def pairs(form=lambda short, long: math.exp(long.mean() - short.mean())):
    found = [(name, form(nats(name, 64), nats(name, 1024))) for name in laws_07.SORTED]
    return sorted(found, key=lambda pair: pair[1])


RATIOS = pairs()


def seen(window=64, **faults):
    """The window as a mask, with the faults that people make."""

    def answer(model, tokens):
        n = torch.arange(tokens.shape[1])
        mask = may_look(n, n, window)
        return model(tokens, mask=~mask if faults.get("hidden") else mask)

    return answer


def pieces(model, tokens):
    """Positions that begin again at 0 every 64 tokens."""
    return torch.cat([model(part) for part in tokens.split(64, dim=1)], 1)


def blocks(model, tokens):
    """Positions go on, but no token sees the block of 64 before its own."""
    n = torch.arange(tokens.shape[1])
    return model(tokens, mask=n[:, None] // 64 == n // 64)


def needed(model):
    """Exercise 7.3 as the lesson's answer computes it."""
    tokens = training.as_tokens(corpus().held_out)
    ends = torch.linspace(64, len(tokens) - 1, 512).long()
    rows = tokens[ends[:, None] + torch.arange(-64, 1)]
    before, following = rows[:, :-1], rows[:, -1]

    def perplexity(x):
        with torch.no_grad():
            logits = torch.cat([model(part)[:, -1] for part in x.split(128)])
        return torch.nn.functional.cross_entropy(logits, following).exp()

    old = perplexity(before)
    for kept in laws_07.GRID:
        mixed = before.clone()
        mixed[:, : 64 - kept] = before.flip(0)[:, : 64 - kept]
        if abs(perplexity(mixed) / old - 1) < 0.05:
            return kept


@pytest.fixture(scope="module")
def kept():
    return {name: needed(results.trained(name)) for name in results.MODELS}


def test_the_worked_answers_are_right(kept):
    assert_right("7.1", RATIOS)
    assert_right("7.1", [[name, np.float32(ratio)] for name, ratio in RATIOS])
    assert_right("7.2", seen())
    assert_right("7.3", kept)
    # The help texts of another Python move a model by a step of the grid, and no further.
    assert kept["rope"] <= min(kept["sinusoidal"], kept["alibi"])


@pytest.mark.parametrize("name", results.MODELS)
def test_one_step_of_the_grid_to_either_side_is_as_good(name, monkeypatch):
    """16 is the smallest that is enough: 8 and 32 pass too, 4 and 64 do not."""
    changes = {2: 0.5, 4: 0.3, 8: 0.1, 16: 0.04, 32: 0.02, 64: 0.0}
    monkeypatch.setattr(laws_07, "_changes", lambda model, keeps: [changes[w] for w in keeps])
    for given, problem in [
        (2, "even with 4 tokens kept, perplexity changes by 30.0%"),
        (4, "even with 8 tokens kept, perplexity changes by 10.0%"),
        (64, "16 kept tokens are enough, with a change of 4.0%"),
    ]:
        assert_wrong("7.3", dict.fromkeys(results.MODELS, 16) | {name: given}, f"{name}: {problem}")
    for given in (8, 16, 32):
        assert_right("7.3", dict.fromkeys(results.MODELS, 16) | {name: given})


def test_the_change_is_zero_where_nothing_is_replaced():
    few, whole = laws_07._changes(results.trained("rope"), (2, 64), n_targets=64)
    assert whole < 1e-6 < 0.5 < few


def mean_of_ratios(short, long):
    return np.exp(long - short).mean()


WRONG = [
    ("7.1", RATIOS[::-1], "smallest first"),
    ("7.1", RATIOS[:4], "each once, not alibi, none, t5, sinusoidal"),
    ("7.1", [*RATIOS[:4], ("learned", 1.0)], "each once, not alibi, none, t5, sinusoidal, learned"),
    ("7.1", pairs(lambda short, long: long.mean() / short.mean()), "is a ratio of losses"),
    ("7.1", pairs(lambda short, long: long.mean() - short.mean()), "is a difference of losses"),
    (
        "7.1",
        pairs(lambda short, long: math.exp(short.mean() - long.mean())),
        "is the ratio upside down",
    ),
    ("7.1", pairs(lambda short, long: math.exp(long[0] - short[0])), "is that of seed 1 alone"),
    ("7.1", pairs(mean_of_ratios), "is the mean of the seeds' ratios"),
    ("7.1", [(name, 3.0) for name, _ in RATIOS], "the ratio is"),
    ("7.2", lambda model, tokens: model(tokens), "rope: perplexity at 1024 is"),
    ("7.2", seen(128), "more than 1.1"),
    ("7.2", seen(hidden=True), "more than 1.1"),
    ("7.2", pieces, "sinusoidal: perplexity at 1024 is"),
    ("7.2", seen(65), "each token sees 65 tokens, itself among them, not 64"),
    ("7.2", seen(63), "each token sees 63 tokens, itself among them, not 64"),
    ("7.2", blocks, "are not those of a window of 64"),
    ("7.3", {name: 64 for name in results.MODELS}, "kept tokens are enough, with a change of"),
    ("7.3", {name: 2 for name in results.MODELS}, "rope: even with 4 tokens kept"),
    ("7.3", {name: 20 for name in results.MODELS}, "rope: 20 must be one of 2, 4, 8, 16, 32, 64"),
    ("7.3", {"rope": 16}, "a number for each of rope, sinusoidal, alibi"),
    ("7.3", 16, "a dict is asked for"),
]
UNUSABLE = [
    [("rope", None)] * 5,
    [(name, float("nan")) for name in laws_07.SORTED],
    [(name, 1e300) for name in laws_07.SORTED],
    {name: None for name in results.MODELS},
    {name: 8.5 for name in results.MODELS},
    {name: True for name in results.MODELS},
    np.full(5, np.inf),
    lambda model, tokens: None,
    lambda model, tokens: tokens,
    lambda model, tokens: model(tokens)[:, :5],
    lambda model, tokens: model(tokens) * torch.nan,
    lambda model, tokens: model(tokens, mask=torch.ones(3, 3)),
]
