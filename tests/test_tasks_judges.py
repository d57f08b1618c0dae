"""Judges: what is right passes, the likeliest slip is named, and its name holds no number."""

import numpy as np
import pytest

from lessons import tasks
from lessons import tasks_judges as judges

RIGHT = np.array([[1.0, 2.0], [3.0, 4.0]])


def test_values_pass_within_the_tolerance_and_fail_beyond():
    judge = judges.values(RIGHT)
    for good in (RIGHT, RIGHT.tolist(), RIGHT.astype("f4"), RIGHT + 3.9e-4):
        assert judge(good) is None
    finding = judge(RIGHT + np.array([[0, 0], [4.1e-4, 0]]))
    assert finding.law == "a value is not right" and finding.off == pytest.approx(4.1e-4)
    assert finding.where == "at [1, 0] it is 3 and should be 3"
    assert judges.values(1.0)(1.5).where == "it is 1.5 and should be 1"
    assert judges.values(-1.0)(np.array([[0.5]])).where == "it is 0.5 and should be −1"


@pytest.mark.parametrize(
    ("answer", "law"),
    [
        (None, "nothing came back"),
        (RIGHT[0], "the shape"),
        (3.0, "the shape"),
        ([[1, 2], [3]], "numbers"),
        ([RIGHT, None], "numbers"),
        (RIGHT * np.nan, "NaN"),
        (RIGHT * np.inf, "NaN"),
    ],
)
def test_what_is_no_such_array_is_said(answer, law):
    finding = judges.values(RIGHT)(answer)
    assert finding.law.startswith(law) and not set("0123456789") & set(finding.law)


def test_the_first_slip_that_agrees_is_named():
    judge = judges.values(RIGHT, {"turned": RIGHT.T, "halved": RIGHT / 2, "short": RIGHT[0]})
    assert judge(RIGHT.T).law == "turned" and judge(RIGHT / 2).law == "halved"
    assert judge(RIGHT * 7).law == "a value is not right"


def test_parts_are_judged_apart_and_named():
    judge = judges.parts(("curve", "first"), [judges.values(RIGHT[0]), judges.values(3)])
    assert judge([RIGHT[0], 3]) is None
    assert judge([RIGHT[0], 4]).law == "first: a value is not right"
    for answer in (None, 3.0, [1], [1, 2, 3], RIGHT[0][0]):
        assert judge(answer).law == "2 results are asked for: curve, first"
    numbers = judges.parts(("a", "b"), [judges.values(1), judges.values(2)])
    assert numbers(np.array([1, 2])) is None


def test_a_case_of_several_calls_fails_where_the_first_one_does():
    found = judges.several("two", 3, [((1,), judges.values(1)), ((2,), judges.values(2))])
    assert found.calls == ((1,), (2,)) and found.judge([1, 2]) is None
    assert found.judge([1, 5]).where == "it is 5 and should be 2"


def test_a_judge_that_fails_fails_the_answer_not_the_grader():
    def judge(answer):
        raise IndexError("out of range")

    finding = tasks.judged(judges.case("x", 1, (), judge), [0])
    assert finding == tasks.Finding("what came back could not be used")
