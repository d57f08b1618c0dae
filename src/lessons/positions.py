"""Positions and masks of padded, packed and windowed texts in NumPy (lessons 07, 09).

Positions come back as int64 and masks as bool, True = may look: they are made to be handed to a
model, ``torch.from_numpy(positions)``.  Masks are combined with & among themselves and with
``attention.causal_mask``.
"""

import numpy as np

from lessons import validate


def from_padding_mask(mask):
    """Positions that count real tokens only: 0, 1, 2, …, wherever the padding stands.

    A pad gets 0, which every table has, and nobody may look at it: ``mask[:, None, None, :]`` is
    the part of the model's mask that says so.  The token that comes next in each row stands at
    the number of its real tokens, ``np.sum(mask, -1)``, and not at the padded length.
    mask: (batch, seq) or (seq,), True or 1 = a real token, False or 0 = a pad.
    Returns int64 of mask's shape, in tokens.
    Raises ValueError or TypeError that names mask.
    """
    mask = validate.padding_mask(mask)
    return np.where(mask, mask.cumsum(-1) - 1, 0)


def from_lengths(lengths):
    """Positions of documents packed one after the other: each starts at 0 again.

    That alone separates nothing: combine the causal mask with ``document_mask``.
    lengths: (documents,), tokens of each, at least 1.
    Returns int64 (seq,), seq = sum of lengths, in tokens.
    Raises ValueError or TypeError that names lengths.
    """
    lengths = validate.counts(lengths, "lengths")
    return np.concatenate([np.arange(length) for length in lengths])


def document_mask(lengths):
    """True where query and key belong to the same document: blocks along the diagonal.

    It is not causal: combine it with the causal mask, of rows or of ``from_lengths`` alike.
    lengths: (documents,), tokens of each, at least 1.
    Returns bool (seq, seq), seq = sum of lengths.
    Raises ValueError or TypeError that names lengths.
    """
    lengths = validate.counts(lengths, "lengths")
    document = np.repeat(np.arange(len(lengths)), lengths)
    return document[:, None] == document


def window_mask(q_positions, k_positions, window):
    """True where |m − n| < window: near keys of both sides; future ones are the causal mask's.

    With the causal mask a query looks at ``window`` keys, itself among them.
    q_positions, k_positions: m and n, whole numbers, (seq,) or (batch, seq), in tokens.
    window: at least 1, in tokens.
    Returns bool (q_len, k_len), or (batch, 1, q_len, k_len) if either has a batch axis.
    Raises ValueError or TypeError that names the argument.
    Source: Beltagy et al. [2004.05150], §3.1.
    """
    q_positions, k_positions = validate.position_pair(q_positions, k_positions)
    window = validate.count(window, "window")
    mask = np.abs(q_positions[..., :, None] - k_positions[..., None, :]) < window
    return mask[:, None] if mask.ndim == 3 else mask
