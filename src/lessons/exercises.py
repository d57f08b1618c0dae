"""The checks of the exercises that close each lesson: an answer goes in, one sentence comes out.

A check computes the law that the question is about; it never compares with a stored answer.
"""

from itertools import permutations

import numpy as np

from lessons import attention, frequencies, sinusoidal, validate


def check(exercise, answer):
    """Print the verdict on an answer; ``...`` means that there is none yet.

    exercise: the number printed with it, such as "1.2".  answer: what the exercise asks for.
    Raises ValueError or TypeError that names exercise, whatever the answer is.
    """
    print(verdict(exercise, answer)[1])


def verdict(exercise, answer):
    """(right, sentence): whether the law holds for the answer, and if not, where it fails."""
    if not isinstance(exercise, str):
        raise TypeError(f'exercise must be a string such as "1.2", got {exercise!r}')
    if exercise not in _LAWS:
        raise ValueError(f"exercise must be one of {', '.join(_LAWS)}, got {exercise!r}")
    parts = answer if isinstance(answer, (tuple, list)) else [answer]
    if any(part is ... for part in parts):
        return False, f"{exercise}: not answered yet."
    try:
        problem = _LAWS[exercise](answer)
    except Exception as error:  # whatever was handed in, a student reads a sentence, not a trace
        problem = f"the answer could not be used: {str(error).rstrip('.')}."
    return problem is None, f"{exercise}: {'right.' if problem is None else problem}"


def _number(value):
    """The answer as one float, whatever kind of number it is."""
    array = validate.finite(value, "the number")
    if array.size != 1:
        raise ValueError(f"one number is asked for, got shape {array.shape}")
    return float(array.reshape(()))


def _parts(answer, *names):
    """The parts of the answer, one for each name."""
    parts = list(answer) if np.iterable(answer) else [answer]
    if len(parts) != len(names):
        raise ValueError(f"{', '.join(names)} are asked for, got {len(parts)} part(s)")
    return parts


def _layers(tokens, n_layers, seed):
    """The output of n_layers causal layers without encoding, each with a residual connection."""
    mask = attention.causal_mask(np.arange(len(tokens)), np.arange(len(tokens)))
    x = tokens
    for layer in range(n_layers):
        weights = attention.random_weights(x.shape[-1], seed + layer)
        x = x + attention.self_attention(x, weights, n_heads=2, mask=mask)
    return x


def _pooled_orders(answer):
    number = _number(answer)
    tokens = np.random.default_rng(1).normal(size=(5, 8))
    weights = attention.random_weights(8, 1)
    orders = list(permutations(range(5)))
    pooled = attention.self_attention(tokens[np.array(orders)], weights, n_heads=2).mean(1)
    away = np.abs(pooled - pooled[0]).max(-1)  # of each order's output from the first order's
    distinct = 1 + np.sum(away > 1e-12)
    if number != distinct:
        return (
            f"not {number:.10g}: the pooled outputs of all {len(orders)} orders of five "
            f"tokens differ by at most {away.max():.0e}."
        )
    return None


def _two_orders(answer):
    first, second = map(np.asarray, _parts(answer, "one order", "another order"))
    for order in (first, second):
        if sorted(order.tolist()) != [0, 1, 2, 3]:
            return f"each order must hold 0, 1, 2, 3 once, got {order.tolist()}."
    tokens = np.random.default_rng(2).normal(size=(4, 8))
    one, two = (
        np.abs(_layers(tokens[first], n, 3)[-1] - _layers(tokens[second], n, 3)[-1]).max()
        for n in (1, 2)
    )
    if one > 1e-12:
        return f"one layer already tells them apart at the last row, by {one:.2f}."
    if two < 1e-3:
        return f"two layers do not tell them apart either: the last row differs by {two:.0e}."
    return None


def _one_over_n(answer):
    tokens = np.random.default_rng(4).normal(size=(101, 4))
    tokens[:, 0] = 0
    tokens[0] = [1, 0, 0, 0]
    n = np.arange(101)
    mask = attention.causal_mask(n, n)
    weights = attention.Weights(*_parts(answer, *attention.Weights._fields))
    out = attention.self_attention(tokens, weights, n_heads=1, mask=mask)[:, 0]
    error = np.abs(out - 1 / (n + 1))
    if error.max() > 1e-12:
        worst = int(error.argmax())
        return (
            f"channel 0 at position {worst} is {out[worst]:.4f}, off from 1/(n+1) = "
            f"{1 / (worst + 1):.4f} by {error[worst]:.2g}."
        )
    return None


def _norm_and_ratio(answer):
    norm, ratio = map(_number, _parts(answer, "a norm", "a ratio"))
    true_norm = np.linalg.norm(sinusoidal.encode([7], 512))
    if abs(norm - true_norm) > 1e-6:
        return f"the norm is not {norm:.10g}: each of the 256 pairs of a row gives sin² + cos²."
    token_norm = 0.02 * np.sqrt(512)
    if abs(ratio - true_norm / token_norm) > 0.05:
        return f"the ratio is not {ratio:.10g}: 512 entries of std 0.02 have norm {token_norm:.4f}."
    return None


def _shift_forward(answer):
    matrix = validate.finite(answer, "the matrix")
    if matrix.shape != (10, 10):
        return f"the matrix must be (10, 10), got {matrix.shape}."
    n = np.arange(-50, 51)
    error = np.abs(sinusoidal.encode(n, 10) @ matrix.T - sinusoidal.encode(n + 7, 10)).max(-1)
    if error.max() > 1e-12:
        worst = int(error.argmax())
        return f"R p({n[worst]}) misses p({n[worst] + 7}) by {error[worst]:.2g}."
    return None


def _half_at_a_thousand(answer):
    theta = _number(answer)
    inv_freq = frequencies.inverse_frequencies(512, theta)
    mean = frequencies.mean_cosine(np.arange(600, 1601), inv_freq).mean()
    if abs(mean - 0.5) > 0.02:
        return f"with θ = {theta:.10g} the mean similarity over distances 600 … 1600 is {mean:.3f}."
    return None


_LAWS = {
    "1.1": _pooled_orders,
    "1.2": _two_orders,
    "1.3": _one_over_n,
    "2.1": _norm_and_ratio,
    "2.2": _shift_forward,
    "2.3": _half_at_a_thousand,
}
