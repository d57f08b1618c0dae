"""Rules for longer contexts in NumPy: maps from frequencies to slower frequencies (lesson 08).

Every rule takes inv_freq (pairs,), fastest first, and returns as many; none of them knows a model.
Below, d = 2 · pairs counts the channels that turn, and s is ``factor``.  A factor of 1 changes
nothing, and the order from fast to slow is kept.
"""

import numpy as np

from lessons import validate
from lessons.frequencies import wavelengths

RAMPS = ("index", "rotations")


def theta(inv_freq):
    """The base of a geometric ladder: θ = (ω_0 / ω_last)^(d/(d−2)), so that ω_i = ω_0 θ^(−2i/d).

    inv_freq: (pairs,), at least two, each the same share of the one before, in radians per token.
    Returns θ as float, above 1.
    Raises ValueError or TypeError that names inv_freq.
    """
    inv_freq = validate.geometric(inv_freq)
    dim = 2 * len(inv_freq)
    with np.errstate(over="ignore"):
        return float((inv_freq[0] / inv_freq[-1]) ** (dim / (dim - 2)))


def linear(inv_freq, factor):
    """Position interpolation: ω_i / s, which turns position m as far as m / s was turned before.

    inv_freq: (pairs,), radians per token.  factor: s, at least 1.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Chen et al. [2306.15595], §2.3.
    """
    inv_freq = validate.inverse_frequencies(inv_freq)
    return inv_freq / validate.real(factor, "factor", minimum=1)


def ntk(inv_freq, factor):
    """NTK-aware scaling, the base θ′ = θ s^(d/(d−2)): pair i slows down by s^(i/(pairs − 1)).

    The first pair keeps its frequency and the last is divided by s; the exponent d/(d−2) is the
    one that makes it so, since θ′^(−2i/d) = θ^(−2i/d) s^(−2i/(d−2)).
    inv_freq: (pairs,), at least two, radians per token.  factor: s, at least 1.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Peng et al. [2309.00071], §3.1, after a post by bloc97.
    """
    inv_freq = validate.inverse_frequencies(inv_freq, minimum=2)
    factor = validate.real(factor, "factor", minimum=1)
    pairs = len(inv_freq)
    return inv_freq / factor ** (np.arange(pairs) / (pairs - 1))


def dynamic_ntk(inv_freq, factor, seq_len, original_max_len):
    """``ntk`` by a factor that grows with the text: 1 + s (l/L − 1), which is s l/L − (s − 1).

    Up to the trained length L it is 1: the input comes back.  The frequencies depend on the length
    l and on nothing that was asked before; keys that were rotated at another length and cached
    are stale (lesson 09).
    inv_freq: (pairs,), at least two, radians per token.  factor: s, at least 1.
    seq_len: l, tokens of the text so far.  original_max_len: L, tokens.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Peng et al. [2309.00071], §3.3; the form with s is that of transformers.
    """
    factor = validate.real(factor, "factor", minimum=1)
    seq_len, original_max_len = _lengths(seq_len=seq_len, original_max_len=original_max_len)
    return ntk(inv_freq, 1 + factor * (max(seq_len / original_max_len, 1) - 1))


def yarn(inv_freq, factor, original_max_len, *, beta_fast=32, beta_slow=1, ramp="index"):
    """YaRN: (1 − γ_i) ω_i / s + γ_i ω_i, fast pairs kept (γ = 1), slow ones divided (γ = 0).

    r_i = L / λ_i counts the turns of pair i within the trained length L.
    ramp "rotations", the paper's text: γ rises linearly in r_i from beta_slow to beta_fast turns.
    ramp "index", the authors' code and most libraries: γ falls linearly in i, between the pair
    that turns beta_fast times (rounded down, at least 0) and the one that turns beta_slow times
    (rounded up, at most d − 1).
    The other half of YaRN is ``yarn_attention_factor``.
    inv_freq: (pairs,), at least two, geometric, radians per token.  factor: s, at least 1.
    original_max_len: L, tokens.  beta_fast > beta_slow > 0: turns within L.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Peng et al. [2309.00071], §3.2, and the authors' code.
    """
    inv_freq = validate.geometric(inv_freq)
    factor = validate.real(factor, "factor", minimum=1)
    (original_max_len,) = _lengths(original_max_len=original_max_len)
    slow, fast = _rising(beta_slow=beta_slow, beta_fast=beta_fast)
    if validate.choice(ramp, "ramp", RAMPS) == "rotations":
        return _blend(inv_freq, factor, _kept_by_turns(inv_freq, original_max_len, slow, fast))
    first, last = yarn_bounds(inv_freq, original_max_len, beta_fast=fast, beta_slow=slow)
    first, last = max(np.floor(first), 0), min(np.ceil(last), 2 * len(inv_freq) - 1)
    # A ramp needs a width; where the limits 0 and d − 1 made the bounds cross, it becomes a step.
    last = max(last, first + 0.001)
    return _blend(inv_freq, factor, np.interp(np.arange(len(inv_freq)), [first, last], [1, 0]))


def yarn_bounds(inv_freq, original_max_len, *, beta_fast=32, beta_slow=1):
    """Where on the ladder a pair turns beta_fast and beta_slow times within L, before rounding.

    L ω_0 θ^(−2i/d) = 2π β, solved for the index: i = d ln(L ω_0 / 2πβ) / (2 ln θ).
    inv_freq: (pairs,), at least two, geometric, radians per token.
    original_max_len: L, tokens.  beta_fast > beta_slow > 0: turns within L.
    Returns two floats, of beta_fast and of beta_slow; they may lie outside 0 … pairs − 1.
    Raises ValueError or TypeError that names the argument.
    Source: Peng et al. [2309.00071], the authors' code.
    """
    inv_freq = validate.geometric(inv_freq)
    (original_max_len,) = _lengths(original_max_len=original_max_len)
    slow, fast = _rising(beta_slow=beta_slow, beta_fast=beta_fast)
    # A difference of logarithms, for no β makes it overflow.
    log_turns = np.log(original_max_len * inv_freq[0] / (2 * np.pi)) - np.log([fast, slow])
    first, last = len(inv_freq) * log_turns / np.log(theta(inv_freq))
    return float(first), float(last)


def yarn_attention_factor(factor):
    """0.1 ln s + 1: multiplies cos and sin, so that scores take its square.

    It goes to ``Rotary(attention_factor=…)``, and nowhere else.
    factor: s, at least 1.
    Returns float, 1 at s = 1.
    Raises ValueError or TypeError that names factor.
    Source: Peng et al. [2309.00071], §3.4.
    """
    factor = validate.real(factor, "factor", minimum=1)
    return float(0.1 * np.log(factor) + 1)


def llama3(inv_freq, factor, original_max_len, *, low_freq_factor=1, high_freq_factor=4):
    """Llama 3.1's rule: pairs that turn more than high_freq_factor times within L are kept.

    Those that turn less than low_freq_factor times are divided by s, and between them the share
    that is kept rises linearly in the turns r_i = L / λ_i: YaRN's ramp "rotations" with other
    bounds.
    inv_freq: (pairs,), radians per token.  factor: s, at least 1.
    original_max_len: L, tokens.  high_freq_factor > low_freq_factor > 0: turns within L.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Meta's code for Llama 3.1, ``apply_scaling``.
    """
    inv_freq = validate.inverse_frequencies(inv_freq)
    factor = validate.real(factor, "factor", minimum=1)
    (original_max_len,) = _lengths(original_max_len=original_max_len)
    low, high = _rising(low_freq_factor=low_freq_factor, high_freq_factor=high_freq_factor)
    return _blend(inv_freq, factor, _kept_by_turns(inv_freq, original_max_len, low, high))


def truncated(inv_freq, fraction):
    """The fastest ⌊fraction · pairs⌋ pairs as they are, the slow rest 0: they turn no more.

    Unlike partial rotary, which computes a new ladder for fewer channels, it cuts the old one.
    inv_freq: (pairs,), fastest first, radians per token.  fraction: from 0 to 1.
    Returns float64 (pairs,), in radians per token.
    Raises ValueError or TypeError that names the argument.
    Source: Barbero et al. [2410.06205], §6 (p-RoPE); rounded as transformers' "proportional".
    """
    inv_freq = validate.inverse_frequencies(inv_freq)
    kept = validate.real(fraction, "fraction", minimum=0) * len(inv_freq)
    if kept > len(inv_freq):
        raise ValueError(f"fraction must be at most 1, got {fraction!r}")
    return np.where(np.arange(len(inv_freq)) < np.floor(kept), inv_freq, 0.0)


def _kept_by_turns(inv_freq, original_max_len, low, high):
    """0 for pairs with fewer than ``low`` turns within L, 1 above ``high``, linear between."""
    return np.interp(original_max_len / wavelengths(inv_freq), [low, high], [0, 1])


def _blend(inv_freq, factor, kept):
    return (1 - kept) * (inv_freq / factor) + kept * inv_freq


def _lengths(**lengths):
    return [validate.count(value, name) for name, value in lengths.items()]


def _rising(**bounds):
    """The two bounds as floats, once 0 < the first < the second."""
    (low_name, _), (high_name, _) = bounds.items()
    low, high = (validate.real(value, name) for name, value in bounds.items())
    if low <= 0:
        raise ValueError(f"{low_name} must be above 0, got {low:g}")
    if high <= low:
        raise ValueError(f"{high_name} must be above {low_name} ({low:g}), got {high:g}")
    return low, high
