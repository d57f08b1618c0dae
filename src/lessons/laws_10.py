"""The laws behind the exercises of lesson 10, choosing a scheme."""

import numpy as np

from lessons import costs, validate
from lessons.exercises import number, parts
from lessons.frequencies import inverse_frequencies, wavelengths

LAYERS, HEADS, HEAD_DIM = 48, 8, 128
LONG, WINDOW = 131_072, 1024
# 10.2: channels, base, tokens of training.
DIM, THETA, TRAINED = 128, 1e6, 8192
# 10.3: tokens and bytes.
MILLION, BUDGET, FULL, BETWEEN = 2**20, 36 * 2**30, 8, 5


def _cache(seq_len, windows):
    return costs.cache_bytes(seq_len, LAYERS, HEADS, HEAD_DIM, windows=windows)


def _share_of_all_full(answer):
    given = number(answer)
    windows = ([WINDOW] * 5 + [None]) * (LAYERS // 6)
    right = _cache(LONG, windows) / _cache(LONG, None)
    if abs(given - right) <= 5e-4:
        return None
    if abs(given - 1 / 6) <= 5e-4:
        return (
            f"{given:.4f} counts the windowed layers as nothing: each holds {WINDOW} of "
            f"{LONG} tokens, {WINDOW / LONG:.4f} of a full one."
        )
    return f"{given:.4g} is not the share: 8 full and 40 windowed layers hold together {right:.3f}."


def _two_quarters(answer):
    names = ("longest, computed again", "longest, truncated", "unfinished, again", "unfinished")
    given = [number(part) for part in parts(answer, *names)]
    again = wavelengths(inverse_frequencies(DIM // 4, THETA))
    truncated = wavelengths(inverse_frequencies(DIM, THETA))[: DIM // 8]
    for tokens, spectrum, how in zip(
        given[:2], (again, truncated), ("computed again", "truncated"), strict=True
    ):
        if abs(tokens / spectrum[-1] - 1) > 0.01:
            return (
                f"{how}: the slowest of the {len(spectrum)} pairs turns at "
                f"{2 * np.pi / spectrum[-1]:.3g} radians a token, so its wavelength is not "
                f"{tokens:.4g} tokens."
            )
    for pairs, spectrum, how in zip(
        given[2:], (again, truncated), ("computed again", "truncated"), strict=True
    ):
        right = int(np.sum(spectrum > TRAINED))
        if pairs != right:
            return (
                f"{how}: {right} of {len(spectrum)} wavelengths are longer than {TRAINED} tokens, "
                f"not {pairs:g}."
            )
    return None


def _windows_in_a_budget(answer):
    if not isinstance(answer, (list, tuple)) or len(answer) != LAYERS:
        return f"the answer must be a list of {LAYERS} windows, one a layer, None for a full layer."
    windows = [w if w is None else validate.count(w, "a window") for w in answer]
    full = sum(w is None or w >= MILLION for w in windows)
    if full < FULL:
        return f"only {full} layers see everything, {FULL} are asked for."
    row = 0
    for layer, window in enumerate(windows):
        row = 0 if window is None or window >= MILLION else row + 1
        if row > BETWEEN:
            return f"layer {layer} is windowed number {row} in a row, more than {BETWEEN}."
    used = _cache(MILLION, windows)
    if used > BUDGET:
        over = used - BUDGET
        return f"the cache takes {used / 2**30:.2f} GiB, {over} bytes more than {BUDGET // 2**30}."
    if used < 0.99 * BUDGET:
        return f"the cache takes {used / 2**30:.2f} GiB of {BUDGET // 2**30}: wider windows fit."
    return None


LAWS = {
    "10.1": _share_of_all_full,
    "10.2": _two_quarters,
    "10.3": _windows_in_a_budget,
}
