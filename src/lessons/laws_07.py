"""The laws behind the exercises of lesson 07, trained short and tested long."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

from lessons import results, training, validate
from lessons.attention_layer import may_look
from lessons.corpus import corpus
from lessons.exercises import parts

SORTED = ("rope", "sinusoidal", "alibi", "none", "t5")  # defined at 1024, one scheme in all layers
WINDOW = 64
GRID = (2, 4, 8, 16, 32, 64)  # of exercise 7.3: tokens that are kept
CHANGE = 0.05  # of the perplexity; 512 targets cannot tell much less


def _ratios(answer):
    given = [parts(pair, "a name", "a ratio") for pair in answer]
    names = [name for name, _ in given]
    if sorted(map(str, names)) != sorted(SORTED):
        said = ", ".join(map(str, names))[:80]
        return f"the names must be {', '.join(SORTED)}, each once, not {said}."
    runs = results.saved("extrapolation")["runs"]
    for name, ratio in given:
        short, long = (results.by_seed(runs, name, "loss", n).mean() for n in (64, 1024))
        ratio = validate.real(ratio, f"the ratio of {name}")
        right = math.exp(long - short)
        if abs(ratio / right - 1) < 0.005:
            continue
        for wrong, idea in _other_ratios(runs, name, short, long):
            if abs(ratio / wrong - 1) < 0.005:
                return f"{name}: {ratio:.4g} is {idea}; the ratio of perplexities is {right:.4g}."
        return f"{name}: from the seeds' mean losses the ratio is {right:.4g}, not {ratio:.4g}."
    for (name, ratio), (after, larger) in itertools.pairwise(given):
        if ratio > larger:
            return f"{name} ({ratio:.4g}) stands before {after} ({larger:.4g}): smallest first."
    return None


def _other_ratios(runs, name, short, long):
    """What people divide instead, with its name."""
    yield long / short, "a ratio of losses"
    yield long - short, "a difference of losses"
    yield math.exp(short - long), "the ratio upside down"
    nats = [results.by_seed(runs, name, "loss", n) for n in (64, 1024)]
    each = np.exp(nats[1] - nats[0])
    for seed, one in enumerate(each, 1):
        yield one, f"that of seed {seed} alone"
    yield each.mean(), "the mean of the seeds' ratios"


def _windowed(answer):
    read = validate.function(answer, "the answer")
    models = {name: results.trained(name) for name in ("rope", "sinusoidal")}
    text = training.as_tokens(corpus().held_out)[: 4 * 1024 + 1]
    for name, model in models.items():
        short = _perplexity(lambda m, tokens: m(tokens), model, text, 64)
        ratio = _perplexity(read, model, text, 1024) / short
        said = f"{name}: perplexity at 1024 is {ratio:.2f} times that at 64"
        if name == "rope" and ratio > 1.1:
            return f"{said}, more than 1.1: it still meets distances it was not trained on."
        if name == "sinusoidal" and ratio < 2:
            return f"{said}, less than 2: a window alone leaves positions up to 1023 in place."
    tokens = text[:400].view(2, 200)
    for name, model in models.items():
        given = _logits(read, model, tokens)
        error = (given - _with_window(model, tokens, WINDOW)).abs().amax(-1)
        if error.max() < 1e-4:
            continue
        for window in (WINDOW - 1, WINDOW + 1):
            if (given - _with_window(model, tokens, window)).abs().max() < 1e-4:
                return f"{name}: each token sees {window} tokens, itself among them, not {WINDOW}."
        row, position = divmod(int(error.argmax()), 200)
        return (
            f"{name}: the logits at position {position} of row {row} are not those of a window of "
            f"{WINDOW} in every layer; they are off by {error.max():.2g}."
        )
    return None


def _perplexity(read, model, text, length):
    pieces = text.unfold(0, length + 1, length)
    with torch.no_grad():
        logits = _logits(read, model, pieces[:, :-1])
        return math.exp(F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten()))


def _logits(read, model, tokens):
    """What the answer gives, refused if it is no tensor of logits."""
    with torch.no_grad():
        given = read(model, tokens.clone())
    shape = (*tokens.shape, model.config.vocab_size)
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"the logits must be a torch tensor, got {type(given).__name__}")
    if given.shape != shape:
        raise ValueError(f"the logits must have shape {shape}, got {tuple(given.shape)}")
    if not given.isfinite().all():
        raise ValueError("the logits must be finite, got NaN or inf")
    return given


def _with_window(model, tokens, window):
    positions = torch.arange(tokens.shape[1])
    with torch.no_grad():
        return model(tokens, mask=may_look(positions, positions, window))


def _needed(answer):
    if not isinstance(answer, dict) or set(answer) != set(results.MODELS):
        return f"a dict is asked for, with a number for each of {', '.join(results.MODELS)}."
    for name in results.MODELS:
        kept = validate.count(answer[name], f"the number of {name}")
        if kept not in GRID:
            return f"{name}: {kept} must be one of {', '.join(map(str, GRID))}."
        # One step of the grid to either side is as good: other text would move the line as much.
        place = GRID.index(kept)
        more, fewer = GRID[min(place + 1, len(GRID) - 1)], GRID[max(place - 2, 0)]
        enough, too_few = _changes(results.trained(name), (more, fewer))
        if enough > CHANGE:
            return f"{name}: even with {more} tokens kept, perplexity changes by {enough:.1%}."
        if place >= 2 and too_few <= CHANGE:
            return f"{name}: {fewer} kept tokens are enough, with a change of {too_few:.1%}."
    return None


def _changes(model, keeps, n_targets=512):
    """How much perplexity changes if, of 64 tokens, all but the nearest few are other text.

    The far part comes from the piece half the held-out text away.  Returns one share for each of
    keeps, whatever its sign.
    """
    tokens = training.as_tokens(corpus().held_out)
    targets = torch.linspace(64, len(tokens) - 1, n_targets).long()
    pieces = tokens[targets[:, None] + torch.arange(-64, 1)]
    seen, following = pieces[:, :-1], pieces[:, -1]

    def loss(seen):
        with torch.no_grad():
            last = torch.cat([model(part)[:, -1] for part in seen.split(128)])
        return F.cross_entropy(last, following)

    old, other = loss(seen), seen.roll(n_targets // 2, 0)
    for kept in keeps:
        mixed = torch.cat([other[:, : 64 - kept], seen[:, 64 - kept :]], 1)
        yield abs(math.expm1(loss(mixed) - old))


LAWS = {
    "7.1": _ratios,
    "7.2": _windowed,
    "7.3": _needed,
}
