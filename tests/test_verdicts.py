"""The verdict on every answer that the tests of a lesson's exercises list.

``test_laws_NN`` holds the lists: RIGHT, WRONG with the words that must be said, and
UNUSABLE, what its own exercises alone could take for an answer.
"""

import importlib

import pytest
from answers import assert_a_sentence_and_no_trace, assert_right, assert_wrong

from lessons import exercises

NUMBERS = ("03", "04", "06", "07", "08", "09", "10", "11")
TESTS = {number: importlib.import_module(f"test_laws_{number}") for number in NUMBERS}
LAWS = {number: importlib.import_module(f"lessons.laws_{number}").LAWS for number in NUMBERS}


def listed(name):
    return [case for tests in TESTS.values() for case in getattr(tests, name, [])]


EVERY = pytest.mark.parametrize(
    ("number", "exercise"), [(number, exercise) for number in NUMBERS for exercise in LAWS[number]]
)


@pytest.mark.parametrize(("exercise", "answer"), listed("RIGHT"))
def test_right_answers_pass(exercise, answer):
    assert_right(exercise, answer)


@pytest.mark.parametrize(("exercise", "answer", "words"), listed("WRONG"))
def test_wrong_ideas_get_a_sentence_that_names_where(exercise, answer, words):
    assert_wrong(exercise, answer, words)


@EVERY
def test_what_cannot_be_used_gets_a_sentence_and_never_a_trace(number, exercise):
    for answer in TESTS[number].UNUSABLE:
        assert_a_sentence_and_no_trace(exercise, answer)


@EVERY
def test_dots_are_no_answer_yet(number, exercise):
    assert exercises.verdict(exercise, ...) == (False, f"{exercise}: not answered yet.")


@EVERY
def test_each_exercise_is_tried_with_right_and_wrong_answers(number, exercise):
    tried = ["WRONG"] if number == "07" else ["RIGHT", "WRONG"]  # 07 computes its right answers
    for name in tried:
        assert exercise in {case[0] for case in getattr(TESTS[number], name)}
