"""A task that asks who can reach back: name the value that stood behind a key (lesson 07).

A sequence: 12 pairs of a key and its value, filler made of 4 other pairs, then the 12 keys again in
another order, each followed by its value.  Only those last values are learned and counted.
"""

import torch

from lessons import validate
from lessons.training import IGNORED, fit

SYMBOLS = 32  # keys are tokens 0 … 31, values 32 … 63
PAIRS, FILLERS = 12, 4
SHORTEST = 4 * PAIRS


def sequences(n, length, generator):
    """(tokens, targets), int64 (n, length): what is read, and what follows each asked key."""
    length = validate.count(length, "length", minimum=SHORTEST, even=True)
    n = validate.count(n, "n")
    keys = _shuffled(n, SYMBOLS, generator)[:, : PAIRS + FILLERS]
    values = torch.randint(SYMBOLS, keys.shape, generator=generator) + SYMBOLS
    pairs = torch.stack([keys, values], -1)
    order = _shuffled(n, PAIRS, generator)
    filler = torch.randint(FILLERS, (n, length // 2 - 2 * PAIRS), generator=generator) + PAIRS
    which = torch.cat([torch.arange(PAIRS).expand(n, -1), filler, order], -1)
    tokens = pairs.gather(1, which[..., None].expand(-1, -1, 2)).flatten(1)
    targets = torch.full_like(tokens, IGNORED)
    targets[:, -2 * PAIRS :: 2] = tokens[:, 1 - 2 * PAIRS :: 2]
    return tokens, targets


def learn(model, *, steps, seed, length=64, batch=32, lr=1e-3, tick=None):
    """Train on sequences of one length; arguments and result as in ``training.fit``."""
    batch = validate.count(batch, "batch")
    draw = lambda generator: sequences(batch, length, generator)  # noqa: E731
    return fit(model, draw, steps=steps, seed=seed, lr=lr, tick=tick)


def share_right(model, length, *, n=64, seed=0):
    """Share of the 12 · n asked values that the model names, guessing among all tokens.

    By chance about 1 / 32, once the model knows that a value is asked for.
    """
    generator = torch.Generator().manual_seed(validate.count(seed, "seed", minimum=0))
    tokens, targets = sequences(n, length, generator)
    asked = targets != IGNORED
    with torch.no_grad():
        parts = tokens.split(max(1, 8192 // tokens.shape[1]))
        named = torch.cat([model(part).argmax(-1) for part in parts])
    return (named == targets)[asked].double().mean().item()


def _shuffled(n, size, generator):
    """(n, size): the numbers 0 … size − 1 in another order in each row."""
    return torch.rand(n, size, generator=generator, dtype=torch.float32).argsort(-1)
