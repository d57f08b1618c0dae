"""lessons.exercises: right answers pass, wrong ideas get a number, and nothing gets a trace."""

import importlib
import itertools
import pkgutil

import numpy as np
import pytest
import torch
from answers import assert_a_sentence_and_no_trace, assert_right, assert_wrong

import lessons
from lessons import attention, exercises, sinusoidal

EXERCISES = [
    exercise
    for module in pkgutil.iter_modules(lessons.__path__)
    if module.name.startswith("laws_")
    for exercise in importlib.import_module(f"lessons.{module.name}").LAWS
]
ZERO, EYE = np.zeros((4, 4)), np.eye(4)
ONLY_FROM_0 = np.outer(sinusoidal.encode([7], 10), sinusoidal.encode([0], 10)) / 5
FIRST = np.diag([1.0, 0, 0, 0])

RIGHT = [
    ("1.1", 1),
    ("1.1", np.array([1.0])),
    ("1.2", ([0, 1, 2, 3], [1, 0, 2, 3])),
    ("1.2", np.array([[2, 0, 3, 1], [3, 2, 0, 1]])),
    ("1.2", ([0.0, 1, 2, 3], [1, 0, 2, 3])),
    ("1.3", (ZERO, ZERO, EYE, EYE)),
    ("1.3", attention.Weights(ZERO, EYE, FIRST, FIRST)),
    ("1.3", [ZERO, ZERO, 4 * EYE, EYE / 4]),
    ("2.1", (16, 35.4)),
    ("2.1", [np.sqrt(256), np.float64(35.355)]),
    ("2.2", sinusoidal.shift_matrix(-7, 10)),
    ("2.2", sinusoidal.shift_matrix(7, 10).T.tolist()),
    ("2.3", 3.17e6),
    ("2.3", np.exp((np.log(1000) + np.euler_gamma) * 2)),
]

# An idea that is wrong, and the number in the sentence that it gets.
WRONG = [
    ("1.1", 120, "not 120: the pooled outputs of all 120 orders"),
    ("1.1", 5, "differ by at most"),
    ("1.1", 0, "not 0"),
    ("1.2", ([0, 1, 2, 3], [0, 1, 3, 2]), "one layer already tells them apart at the last row, by"),
    ("1.2", ([0, 1, 2, 3], [3, 2, 1, 0]), "one layer already"),
    ("1.2", ([1, 0, 2, 3], [1, 0, 2, 3]), "two layers do not tell them apart either"),
    ("1.2", ([0, 1, 2], [1, 0, 2]), "must hold 0, 1, 2, 3 once, got [0, 1, 2]"),
    ("1.2", ([1, 2, 3, 4], [2, 1, 3, 4]), "got [1, 2, 3, 4]"),
    ("1.2", ([0, 0, 2, 3], [0, 1, 2, 3]), "got [0, 0, 2, 3]"),
    (
        "1.3",
        (EYE, EYE, EYE, EYE),
        "channel 0 at position 3 is 0.0192, off from 1/(n+1) = 0.2500 by 0.23",
    ),
    ("1.3", (ZERO, ZERO, ZERO, EYE), "position 0 is 0.0000, off from 1/(n+1) = 1.0000 by 1."),
    ("1.3", (ZERO, ZERO, 2 * EYE, EYE), "position 0 is 2.0000, off from 1/(n+1) = 1.0000 by 1."),
    ("1.3", (ZERO, ZERO, EYE, np.roll(EYE, 1, 1)), "channel 0"),
    ("1.3", (ZERO, ZERO, EYE, EYE * (1 + 1e-9)), "by 1e-09."),
    ("2.1", (256, 35.4), "the norm is not 256"),
    ("2.1", (np.sqrt(512), 35.4), "the norm is not 22.627417"),
    ("2.1", (16, 800), "the ratio is not 800: 512 entries of std 0.02 have norm 0.4525"),
    ("2.1", (16, 1 / 35.4), "the ratio is not 0.02824858757"),
    ("2.1", (16, 35.3), "the ratio is not 35.3"),
    ("2.1", (16.00001, 35.4), "the norm is not 16.00001"),
    ("2.2", sinusoidal.shift_matrix(7, 10), "misses p("),
    ("2.2", sinusoidal.shift_matrix(-1, 10), "misses p("),
    ("2.2", np.eye(10), "R p("),
    ("2.2", ONLY_FROM_0, "misses p("),
    ("2.2", np.zeros((10, 10)), "by 1."),
    ("2.2", np.float32(sinusoidal.shift_matrix(-7, 10)), "e-0"),
    ("2.2", np.eye(8), "must be (10, 10), got (8, 8)"),
    ("2.2", sinusoidal.encode(range(10), 10), "misses p("),
    ("2.3", 10_000, "with θ = 10000 the mean similarity over distances 600 … 1600 is 0.179"),
    ("2.3", 1e9, "with θ = 1000000000 the mean similarity over distances 600 … 1600 is 0.634"),
    ("2.3", 1_000, "with θ = 1000"),
]

# For every exercise of every lesson; test_laws_NN has what only its own could take for an answer.
UNUSABLE = [
    None,
    "three",
    "1",
    "",
    True,
    (None, None),
    (1, 2, 3),
    (True, False),
    [1, [2, 3]],
    (1, 2, 3, 4, 5),
    {"a": 1},
    {1, 2, 3, 4},
    1j,
    object(),
    len,
    float("nan"),
    (float("nan"), float("nan")),
    float("inf"),
    10**400,
    np.full(12, np.nan),
    np.full(8, np.inf),
    np.full(8, 1e300),
    np.full((10, 10), np.nan),
    np.full((10, 10), np.inf),
    np.full((10, 10), 1e300),
    [[None] * 10] * 10,
    4 * [np.full((4, 4), np.nan)],
    4 * [np.zeros((3, 3))],
    4 * ["w"],
    np.zeros((0, 10)),
    np.zeros((0, 12)),
    np.array([1, 2], object),
    torch.ones(10, 10, requires_grad=True),
    [torch.ones(1), torch.ones(1, requires_grad=True)],
    (print, print),
    print,
    lambda: 1,
    lambda *arguments: None,
    lambda *arguments: (1, 2),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_right_answers_pass(exercise, answer):
    assert_right(exercise, answer)


@pytest.mark.parametrize(("exercise", "answer", "number"), WRONG)
def test_wrong_ideas_get_a_sentence_with_a_number(exercise, answer, number):
    assert_wrong(exercise, answer, number)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_what_cannot_be_used_gets_a_sentence_and_never_a_trace(exercise):
    for answer in UNUSABLE:
        assert_a_sentence_and_no_trace(exercise, answer)


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("answer", [..., (..., ...), [..., 3], (ZERO, ..., EYE, EYE)])
def test_dots_are_no_answer_yet(exercise, answer):
    assert exercises.verdict(exercise, answer) == (False, f"{exercise}: not answered yet.")


def test_every_exercise_of_the_first_lessons_is_tried_with_right_and_wrong_answers():
    first = {exercise for exercise in EXERCISES if exercise.partition(".")[0] in ("1", "2")}
    assert {case[0] for case in RIGHT} == {case[0] for case in WRONG} == first


def test_every_lesson_has_three_exercises_numbered_after_it():
    lessons_with = {exercise.partition(".")[0] for exercise in EXERCISES}
    assert len(EXERCISES) == 3 * len(lessons_with)
    assert all(f"{lesson}.{n}" in EXERCISES for lesson in lessons_with for n in (1, 2, 3))


def test_the_sentence_says_what_is_asked_for():
    for exercise, answer, asked in [
        ("1.1", [1, 2], "one number is asked for, got shape (2,)"),
        ("1.1", "1", "the number must hold real numbers, got '1' (str)"),
        ("1.2", 3, "2 parts are asked for (one order, another order), got 1."),
        ("1.3", [ZERO, ZERO], "4 parts are asked for (w_q, w_k, w_v, w_o), got 2."),
        ("2.1", 16, "2 parts are asked for (a norm, a ratio), got 1."),
        ("2.2", [[None]], "the matrix must hold real numbers"),
        ("2.3", 0.5, "theta must be at least 1, got 0.5"),
    ]:
        assert (
            f"{exercise}: the answer could not be used: {asked}"
            in exercises.verdict(exercise, answer)[1]
        )


def test_two_orders_are_right_exactly_when_the_last_token_stays_and_the_rest_moves():
    orders = list(itertools.permutations(range(4)))
    for one in orders[::5]:
        for two in orders:
            right = exercises.verdict("1.2", (one, two))[0]
            assert right == (one[-1] == two[-1] and one != two), (one, two)


def test_half_at_a_thousand_takes_a_band_around_one_half():
    for theta, right in [(2.0e6, False), (2.2e6, True), (7.0e6, True), (7.4e6, False)]:
        assert exercises.verdict("2.3", theta)[0] == right, theta


def test_check_prints_the_sentence_and_gives_nothing_back(capsys):
    assert exercises.check("1.1", 1) is None
    assert exercises.check("1.1", ...) is None
    assert capsys.readouterr().out == "1.1: right.\n1.1: not answered yet.\n"


def test_an_answer_is_left_as_it_was():
    answer = 4 * [np.eye(4)]
    exercises.verdict("1.3", answer)
    np.testing.assert_array_equal(answer, 4 * [np.eye(4)])
