"""The exercises of lesson 06: right answers pass, wrong ideas get a sentence with a number."""

import numpy as np

from lessons import alibi

TEXT_RULE = 2.0 ** (-8 * np.arange(1, 13) / 12)
NEXT_POWER = 2.0 ** (-np.arange(1, 13) / 2)
SPANS = [6, 12, 24, 48, 96, 192, 384, 767]


def channels(factor=1.0, extra=None, sign=1.0, swap=False):
    """The extra channels, with the faults that people make."""

    def answer(q, k, slopes, positions):
        d = q.shape[-1]
        size = np.sqrt(d + 2) if extra is None else extra
        m = slopes[:, None] * np.ones(len(positions))
        i, one = positions * np.ones_like(m), np.ones_like(m)
        more_q = size * np.stack([-m * i, sign * m], axis=-1)
        more_k = np.stack([i, one] if swap else [one, i], axis=-1)
        q = np.sqrt((d + 2) / d) ** factor * q
        return np.concatenate([q, more_q], -1), np.concatenate([k, more_k], -1)

    return answer


def by_the_key(q, k, slopes, positions):
    """The same two products, with the slope on the key's side."""
    d = q.shape[-1]
    root = np.sqrt(d + 2)
    m = slopes[:, None] * np.ones(len(positions))
    more_q = np.stack([positions * np.ones_like(m), np.ones_like(m)], -1)
    more_k = root * np.stack([-m, m * positions], -1)
    return np.concatenate([q, more_q], -1), np.concatenate([k * root / np.sqrt(d), more_k], -1)


RIGHT = [
    ("6.1", alibi.slopes(12)),
    ("6.1", [2.0**-h for h in range(1, 9)] + [0.7071, 0.3536, 0.1768, 0.0884]),
    ("6.2", SPANS),
    ("6.2", np.ceil(np.log(20) / alibi.slopes(8))),
    ("6.3", channels()),
    ("6.3", by_the_key),
]
WRONG = [
    ("6.1", TEXT_RULE, "head 1 has not 0.6300: the code takes it from the run of 8 heads"),
    ("6.1", NEXT_POWER, "head 1 has not 0.7071"),
    ("6.1", np.sort(alibi.slopes(12))[::-1], "in another order: head 1 has 0.5000, not 0.7071"),
    ("6.1", [*alibi.slopes(8), *NEXT_POWER[:4]], "head 10 has not 0.5000: the code takes it from"),
    ("6.1", [*alibi.slopes(8), *alibi.slopes(8)[:4]], "every other slope of the run of 16"),
    ("6.1", -alibi.slopes(12), "head 1 has not -0.5000"),
    ("6.2", [5, *SPANS[1:]], "in head 1 the nearest 5 tokens hold only 0.9179"),
    ("6.2", [*SPANS[:7], 768], "in head 8 fewer than 768 tokens are enough: the nearest 767 hold"),
    ("6.2", np.log(20) / alibi.slopes(8), "must be a whole number of tokens, not 5.99146"),
    ("6.2", [0, *SPANS[1:]], "not 0"),
    ("6.2", SPANS[::-1], "fewer than 767"),
    ("6.3", channels(factor=0), "misses the biased one by"),
    ("6.3", channels(factor=2), "misses the biased one by"),
    ("6.3", channels(extra=1.0), "misses the biased one by"),
    ("6.3", channels(sign=-1), "misses the biased one by"),
    ("6.3", channels(swap=True), "misses the biased one by"),
    ("6.3", lambda q, k, slopes, positions: (q, k), "shape (8, 12, 66), got (8, 12, 64)"),
    ("6.3", 12, "must be a function of q, k, slopes and positions"),
    (
        "6.3",
        lambda q, k, slopes, positions: channels()(q, k, slopes, np.arange(len(positions))),
        "query at ",
    ),
]
UNUSABLE = [
    lambda *arguments: arguments,
    lambda q, k, slopes, positions: (q * np.nan, k),
]
