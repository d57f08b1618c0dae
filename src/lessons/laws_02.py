"""The laws behind the exercises of lesson 02, sinusoids."""

import numpy as np

from lessons import frequencies, sinusoidal, validate
from lessons.exercises import number, parts


def _norm_and_ratio(answer):
    norm, ratio = map(number, parts(answer, "a norm", "a ratio"))
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
    theta = number(answer)
    inv_freq = frequencies.inverse_frequencies(512, theta)
    mean = frequencies.mean_cosine(np.arange(600, 1601), inv_freq).mean()
    if abs(mean - 0.5) > 0.02:
        return f"with θ = {theta:.10g} the mean similarity over distances 600 … 1600 is {mean:.3f}."
    return None


LAWS = {
    "2.1": _norm_and_ratio,
    "2.2": _shift_forward,
    "2.3": _half_at_a_thousand,
}
