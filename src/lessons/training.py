"""How the book trains a small model, and how it measures one against length (lesson 07)."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from lessons import validate
from lessons.attention_layer import may_look

IGNORED = -100  # a target that no loss is taken from


def fit(model, batch, *, steps, seed, lr=3e-3, tick=None):
    """Train by AdamW: warm-up over 50 steps, then a cosine down to a tenth of lr.

    batch: function of a torch.Generator that gives (tokens, targets), int64 (batch, seq) each; a
    target of −100 is not learned from.
    steps, seed: whole numbers.  lr: the highest learning rate.
    tick: called after every step, for a progress bar.
    Returns the last training loss, in nats per token.
    Raises TypeError or ValueError that names the argument.
    """
    steps = validate.count(steps, "steps")
    lr = validate.real(lr, "lr", minimum=0)
    if lr > 1:
        raise ValueError(f"lr must be at most 1, got {lr}")
    generator = torch.Generator().manual_seed(validate.count(seed, "seed", minimum=0))
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    for step in range(steps):
        warm = min(1, (step + 1) / 50)
        cosine = 0.1 + 0.45 * (1 + math.cos(math.pi * step / steps))
        for group in adam.param_groups:
            group["lr"] = lr * warm * cosine
        tokens, targets = batch(generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        if tick is not None:
            tick()
    return loss.item()


def train(model, text, *, steps, seed, seq_len=64, batch=32, lr=3e-3, tick=None):
    """Train on windows of seq_len bytes drawn from text; arguments and result as in ``fit``."""
    seq_len = validate.count(seq_len, "seq_len")
    batch = validate.count(batch, "batch")
    tokens = _longer(text, seq_len)
    steps_along = torch.arange(seq_len + 1)

    def draw(generator):
        starts = torch.randint(len(tokens) - seq_len, (batch, 1), generator=generator)
        windows = tokens[starts + steps_along]
        return windows[:, :-1], windows[:, 1:]

    return fit(model, draw, steps=steps, seed=seed, lr=lr, tick=tick)


def as_tokens(text):
    """Bytes as int64 tokens 0 … 255."""
    if not isinstance(text, bytes):
        raise TypeError(f"text must be bytes, got {type(text).__name__}")
    return torch.from_numpy(np.frombuffer(text, np.uint8).astype(np.int64))


def loss_by_length(model, text, lengths, *, window=None, n_tokens=16_384):
    """Mean loss in nats per byte when text is cut into pieces of each length.

    text: bytes.  lengths: whole numbers.  window: tokens to look back on, at test only.
    n_tokens: bytes to predict, the same ones for every length.
    Returns {length: loss, or None where a scheme of the model is not defined so far out}.
    Raises TypeError or ValueError that names the argument.
    """
    return {
        length: None if losses is None else losses.mean().item()
        for length in lengths
        for losses in [position_losses(model, text, length, window=window, n_tokens=n_tokens)]
    }


def position_losses(model, text, length, *, window=None, n_tokens=16_384, stride=None):
    """Loss at every position of every piece: float64 (pieces, length), or None if undefined.

    text, length, window, n_tokens: as in ``loss_by_length``.
    stride: from one piece's start to the next; None puts them end to end.
    Raises TypeError or ValueError that names the argument.
    """
    length = validate.count(length, "length")
    n_tokens = validate.count(n_tokens, "n_tokens", minimum=length)
    window = length if window is None else validate.count(window, "window")
    stride = length if stride is None else validate.count(stride, "stride")
    tokens = _longer(text, length)[: n_tokens + 1]
    if not defined(model, length):
        return None
    pieces = tokens.unfold(0, length + 1, stride)
    mask = None
    if window < length:
        positions = torch.arange(length)
        mask = may_look(positions, positions, window)
    with torch.no_grad():
        return torch.cat([_losses(model, part, mask) for part in _parts(pieces)])


def last_losses(model, text, width, *, n_targets=256, reach=1024):
    """Loss at the last of ``width`` tokens, for the same targets whatever the width.

    This is a sliding window: no target has fewer than width tokens before it, so none is an early
    token (Press et al. [2108.12409], Appendix B).
    reach: the largest width that will be compared.  Returns float64 (n_targets,), or None.
    Raises TypeError or ValueError that names the argument.
    """
    reach = validate.count(reach, "reach")
    width = validate.count(width, "width")
    if width > reach:
        raise ValueError(f"width must be at most reach ({reach}), got {width}")
    n_targets = validate.count(n_targets, "n_targets")
    tokens = _longer(text, reach)
    if not defined(model, width):
        return None
    targets = torch.linspace(reach, len(tokens) - 1, n_targets, dtype=torch.float32).long()
    pieces = tokens[targets[:, None] + torch.arange(-width, 1)]
    with torch.no_grad():
        return torch.cat([_losses(model, part, None)[:, -1] for part in _parts(pieces)])


def defined(model, length):
    """Whether every scheme of the model has a position length − 1."""
    return all(s.max_len is None or length <= s.max_len for s in model.schemes)


def _longer(text, length):
    """A text's tokens, which must be more than length: each of them has a next one to predict."""
    tokens = as_tokens(text)
    if len(tokens) <= length:
        raise ValueError(f"text must be longer than {length} bytes, got {len(tokens)}")
    return tokens


def _parts(pieces):
    """The pieces in groups of about 8192 tokens, which the processor's cache still holds."""
    return pieces.split(max(1, 8192 // pieces.shape[1]))


def _losses(model, pieces, mask):
    logits = model(pieces[:, :-1], mask=mask)
    losses = F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten(), reduction="none")
    return losses.view(len(pieces), -1).double()
