"""The exercises of lesson 09: right answers pass, wrong ideas get a sentence with a number."""

import numpy as np

from lessons import attention, laws_09, positions, rope

MASK = laws_09.MASK
COUNTED = positions.from_padding_mask(MASK)
NEXT = [2, 5, 6]


def evict(factor=1, direction=-1):
    """Kept keys turned by ``factor`` times the gap, with the faults that people make."""

    def answer(k, keep, inv_freq):
        gap = keep - np.arange(len(keep))
        return rope.rotate(k[:, keep], direction * factor * gap, inv_freq)

    return answer


def turned_again(k, keep, inv_freq):
    return rope.rotate(k[:, keep], np.arange(len(keep)), inv_freq)


def shared(turn_values=True, back=-1):
    """One tensor as key and value."""

    def answer(q, c, n, inv_freq):
        k = rope.rotate(c, n, inv_freq)
        mask = attention.causal_mask(n, n)
        v = k if turn_values else c
        out = attention.attend(rope.rotate(q, n, inv_freq), k, v, mask=mask)[0]
        return rope.rotate(out, back * n, inv_freq)

    return answer


def not_causal(q, c, n, inv_freq):
    k = rope.rotate(c, n, inv_freq)
    return rope.rotate(attention.attend(rope.rotate(q, n, inv_freq), k, k)[0], -n, inv_freq)


def without_positions(q, c, n, inv_freq):
    return attention.attend(q, c, c, mask=attention.causal_mask(n, n))[0]


RIGHT = [
    ("9.1", (COUNTED, NEXT)),
    ("9.1", ([[5, 5, 5, 5, 0, 1], [0, 0, 1, 2, 3, 4], range(6)], (2.0, 5.0, 6.0))),
    ("9.2", evict()),
    ("9.3", shared()),
]
WRONG = [
    ("9.1", (np.tile(np.arange(6), (3, 1)), NEXT), "row 1, column 5: token 1 of 2 stands at 0, n"),
    ("9.1", (MASK.cumsum(-1), NEXT), "row 1, column 5: token 1 of 2 stands at 0, not 1"),
    ("9.1", (MASK.cumsum(-1) - 1, NEXT), "row 1: a table of 6 rows has no position -1 for a pad"),
    ("9.1", (COUNTED, [6, 6, 6]), "row 1: with 2 real tokens at 0 … 1, the next one stands at 2"),
    ("9.1", (COUNTED, [1, 4, 5]), "not 1"),
    ("9.1", (np.where(MASK, COUNTED, 6), NEXT), "no position 6"),
    ("9.2", evict(direction=1), "position 6 belongs at 4 now and is off by"),
    ("9.2", evict(direction=1), "it stands at 8"),
    ("9.2", evict(factor=2), "it stands at 2"),
    ("9.2", evict(factor=0), "it stands at 6"),
    ("9.2", turned_again, "the key of position 1 belongs at 1 now and is off by"),
    ("9.2", turned_again, "it stands at 2"),
    ("9.2", lambda k, keep, w: 2 * evict()(k, keep, w), "the key of position 0 belongs at 0 now"),
    ("9.3", shared(back=0), "a shift of all positions by 37 changes the output by"),
    ("9.3", shared(back=1), "a shift of all positions by 37 changes the output by"),
    ("9.3", shared(turn_values=False, back=0), "values unturned, which needs a second tensor"),
    ("9.3", not_causal, "the output is off by"),
    ("9.3", without_positions, "the output is off by"),
]
UNUSABLE = [
    12,
    (MASK, NEXT),
    (COUNTED, [NEXT]),
    (COUNTED[:, 1:], NEXT),
    lambda *arguments: arguments,
    lambda x, *others: x * np.nan,
    lambda k, keep, inv_freq: k[:, keep[1:]],
]


def test_a_key_that_stands_at_its_new_place_is_where_a_fresh_one_would_be():
    k = np.random.default_rng(0).normal(size=(2, 9, 8))
    inv_freq, keep = np.array([1.0, 0.3, 0.1, 0.01]), np.array(laws_09.KEPT)
    closed = evict()(rope.rotate(k, np.arange(9), inv_freq), keep, inv_freq)
    fresh = rope.rotate(k[:, keep], np.arange(7), inv_freq)
    assert np.abs(closed - fresh).max() < 1e-12
