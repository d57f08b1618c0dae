"""The laws behind the exercises of lesson 06, ALiBi and T5's buckets."""

import numpy as np

from lessons import alibi, attention, validate
from lessons.exercises import parts


def _vector(answer, length, name):
    vector = validate.vector(answer, name)
    return validate.has_shape(vector, name, (length,))


def _twelve_slopes(answer):
    given = _vector(answer, 12, "the slopes")
    right = alibi.slopes(12)
    wrong = np.flatnonzero(~np.isclose(given, right, rtol=1e-3, atol=0))
    if wrong.size == 0:
        return None
    head = int(wrong[0])
    if np.allclose(np.sort(given), np.sort(right), rtol=1e-3, atol=0):
        return (
            f"these are the twelve slopes in another order: head {head + 1} has "
            f"{right[head]:.4f}, not {given[head]:.4f}; trained weights expect the code's order."
        )
    source = "the run of 8 heads" if head < 8 else "every other slope of the run of 16"
    return (
        f"head {head + 1} has not {given[head]:.4f}: the code takes it from {source}, "
        f"where it is {right[head]:.4f}."
    )


def _spans(answer):
    given = _vector(answer, 8, "the spans")
    # A context so long that a longer one changes no span.
    weights = attention.softmax(alibi.bias(alibi.slopes(8), [16_383], range(16_384)))[:, 0, ::-1]
    held = np.cumsum(weights, axis=-1)
    for head, tokens in enumerate(given):
        if not (tokens == int(tokens) and 1 <= tokens < 16_384):
            return f"the span of head {head + 1} must be a whole number of tokens, not {tokens:g}."
        tokens = int(tokens)
        fewer = held[head, tokens - 2] if tokens > 1 else 0.0
        if held[head, tokens - 1] < 0.95:
            return (
                f"in head {head + 1} the nearest {tokens} tokens hold only "
                f"{held[head, tokens - 1]:.4f} of the attention."
            )
        if fewer >= 0.95:
            return (
                f"in head {head + 1} fewer than {tokens} tokens are enough: the nearest "
                f"{tokens - 1} hold {fewer:.4f}."
            )
    return None


def _two_channels(answer):
    if not callable(answer):
        return "the answer must be a function of q, k, slopes and positions."
    rng = np.random.default_rng(6)
    cases = [(8, 12, 64, 0), (3, 9, 10, 200), (1, 2, 5, 0)]  # heads, seq_len, head_dim, first
    for heads, seq_len, head_dim, first in cases:
        q, k = rng.normal(size=(2, heads, seq_len, head_dim))
        slopes = alibi.slopes(heads)
        positions = np.arange(first, first + 2 * seq_len, 2)
        given = parts(answer(q.copy(), k.copy(), slopes, positions), "q'", "k'")
        longer = [validate.finite(given[0], "q'"), validate.finite(given[1], "k'")]
        for name, part in zip(("q'", "k'"), longer, strict=True):
            if part.shape != (heads, seq_len, head_dim + 2):
                return (
                    f"{name} must have two channels more than the head's {head_dim}, shape "
                    f"{(heads, seq_len, head_dim + 2)}, got {part.shape}."
                )
        scores = longer[0] @ np.swapaxes(longer[1], -1, -2) / np.sqrt(head_dim + 2)
        biased = q @ np.swapaxes(k, -1, -2) / np.sqrt(head_dim)
        error = np.abs(scores - biased - alibi.bias(slopes, positions, positions))
        if error.max() > 1e-12:
            head, i, j = np.unravel_index(error.argmax(), error.shape)
            return (
                f"head {head + 1} of {heads}, query at {positions[i]}, key at {positions[j]}: the "
                f"plain score misses the biased one by {error.max():.2g}."
            )
    return None


LAWS = {
    "6.1": _twelve_slopes,
    "6.2": _spans,
    "6.3": _two_channels,
}
