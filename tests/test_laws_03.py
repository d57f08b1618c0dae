"""The laws of lesson 03's exercises: right answers pass, wrong ideas get a number."""

import numpy as np
import torch

from lessons import exercises, pretrained

TABLE = pretrained.position_table("minilm").rows


def stretch(table):
    longer = np.repeat(table, 2, axis=0)[:-1]
    longer[1::2] = (table[:-1] + table[1:]) / 2
    return longer


def with_odd_rows(odd):
    longer = np.repeat(TABLE, 2, axis=0)[:-1]
    longer[1::2] = odd
    return longer


def roberta(ids):
    real = np.asarray(ids) != 1
    return np.cumsum(real) * real + 1


def rotated_about_the_mean():
    """Odd rows of the right norm that are no midpoints: the midpoint mirrored."""
    return with_odd_rows(-(TABLE[:-1] + TABLE[1:]) / 2)


def one_by_one(table):
    return [np.interp(np.arange(2 * len(table) - 1) / 2, np.arange(len(table)), c) for c in table.T]


RIGHT = [
    ("3.1", 1024 * 768),
    ("3.1", np.int64(786_432)),
    ("3.2", [2, 3, 4, 1, 1]),
    ("3.2", np.array([2, 3, 4, 1, 1])),
    ("3.2", roberta),
    ("3.2", lambda ids: roberta(ids).tolist()),
    ("3.3", stretch(TABLE)),
    ("3.3", stretch),
    ("3.3", lambda table: np.transpose(one_by_one(table))),
    ("3.3", np.float32(stretch(TABLE))),
]

WRONG = [
    ("3.1", 512 * 768, "not 393216: that is 0.5 times"),
    ("3.1", 4 * 1024 * 768, "that is 4 times"),
    ("3.1", 1024 * 768 + 768, "that is 1.001 times"),
    ("3.2", [0, 1, 2, 3, 4], "index 0 is real token number 1 and does not look up row 0"),
    ("3.2", [2, 3, 4, 5, 6], "index 3 is padding and does not look up row 5"),
    ("3.2", [2, 3, 4, 0, 0], "index 3 is padding and does not look up row 0"),
    ("3.2", [1, 2, 3, 1, 1], "index 0 is real token number 1 and does not look up row 1"),
    ("3.2", [2, 3, 4], "need 5 rows, got 3"),
    ("3.2", lambda ids: np.arange(len(ids)) + 2, "index 3 is padding"),
    (
        "3.2",
        lambda ids: np.where(np.array(ids) != 1, np.arange(len(ids)) + 2, 1),
        "in [1, 1, 8, 9], index 2 is real token number 1 and does not look up row 4",
    ),
    ("3.2", lambda ids: np.cumsum(np.array(ids) != 1) + 1, "index 3 is padding"),
    ("3.3", TABLE, "must become (1023, 384), got (512, 384)"),
    ("3.3", np.repeat(TABLE, 2, axis=0), "got (1024, 384)"),
    ("3.3", np.repeat(TABLE, 2, axis=0)[:-1], "row 1 has the squared norm 5.5778"),
    ("3.3", with_odd_rows(TABLE[:-1] + TABLE[1:]), "has the squared norm"),
    ("3.3", with_odd_rows(0), "has the squared norm 0.0000"),
    ("3.3", rotated_about_the_mean(), "away from its left neighbour"),
    ("3.3", 1.001 * stretch(TABLE), "row 0 must be the old row 0, and is off by"),
    ("3.3", lambda table: stretch(TABLE), "a table of (5, 3) must become (9, 3)"),
]

UNUSABLE = [
    [2, 3, 4, 1, np.nan],
    [2, 3, 4, 1.5, 1],
    np.full((1023, 384), np.nan),
    [[1, 2], [3]],
    torch.ones(1023, 384),
    lambda ids: None,
    lambda: 3,
]


def test_an_answer_and_the_table_are_left_as_they_were():
    def spoil(table):
        longer = stretch(table)
        table[:] = 0
        return longer

    assert exercises.verdict("3.3", spoil)[0]
    answer = stretch(TABLE)
    before = answer.copy()
    exercises.verdict("3.3", answer)
    np.testing.assert_array_equal(answer, before)
