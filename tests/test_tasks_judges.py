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
    assert judges.values(np.zeros((0, 2)))(np.zeros((0, 2))) is None
    finding = judge(RIGHT + np.array([[0, 0], [4.1e-4, 0]]))
    assert finding.law == "a value is not right" and finding.off == pytest.approx(4.1e-4)
    assert finding.where == "at [1, 0] it is 3 and should be 3"
    assert judges.values(1.0)(1.5).where == "it is 1.5 and should be 1"
    assert judges.values(-1.0)(np.array([[0.5]])).where == "it is 0.5 and should be −1"


@pytest.mark.parametrize(("right", "bound"), [(0.0, 0.5), (0.25, 0.5), (1.0, 0.5), (-4.0, 2.0)])
def test_the_tolerance_is_a_share_of_the_largest_number_and_of_1_below_that(right, bound):
    judge = judges.values([right, 0.0], {"the slip": [right, 7.0]}, tolerance=0.5)
    assert judge([right + bound, -bound]) is None  # the bound itself is right
    finding = judge([right + bound, bound * 1.25])
    assert finding.off == bound * 1.25 and finding.where.startswith("at [1] it is ")
    assert judge([right, 7.0 + bound]).law == judge([right - bound, 7.0]).law == "the slip"
    assert judge([right, 7.0 + bound * 1.25]).law == "a value is not right"


def test_the_first_wrong_value_is_told():
    finding = judges.values(RIGHT)(RIGHT + np.array([0, 1]))
    assert finding.where == "at [0, 1] it is 3 and should be 2"


def test_a_shape_is_told_where_another_came_back():
    table, number = judges.values(RIGHT), judges.values(1)
    assert table(3.0).where == "shape (2, 2) should come back, and one number did"
    assert number(RIGHT).where == "one number should come back, and shape (2, 2) did"
    assert number(np.zeros(0)).where == "one number should come back, and shape (0,) did"
    assert judges.values([1.0])([[1.0]]).law == "the shape is not the one asked for"


@pytest.mark.parametrize(
    ("answer", "law"),
    [
        (None, "nothing came back"),
        (RIGHT[0], "the shape"),
        (3.0, "the shape"),
        ([[1, 2], [3]], "numbers"),
        ([RIGHT, None], "numbers"),
        ({"a": 1}, "numbers"),
        (object(), "numbers"),
        (RIGHT * np.nan, "NaN"),
        (RIGHT * np.inf, "NaN"),
    ],
)
def test_what_is_no_such_array_is_said(answer, law):
    finding = judges.values(RIGHT)(answer)
    assert finding.law.startswith(law) and not set("0123456789") & set(finding.law)


def test_the_first_slip_that_agrees_is_named():
    # A slip of another shape agrees with nothing, not even where its numbers do.
    other = {"short": RIGHT[0], "one": RIGHT.T[:1, :1], "long": np.ones((3, 2)), "turned": RIGHT.T}
    judge = judges.values(RIGHT, {**other, "halved": RIGHT / 2, "again": RIGHT / 2})
    assert judge(RIGHT.T).law == "turned" and judge(RIGHT / 2).law == "halved"
    assert judge(RIGHT * 7).law == "a value is not right"
    assert judge(np.ones((2, 2))).law == judge(np.tile(RIGHT[0], (2, 1))).law
    assert judge(np.ones((2, 2))).law == "a value is not right"


def test_parts_are_judged_apart_and_named():
    judge = judges.parts(("curve", "first"), [judges.values(RIGHT[0]), judges.values(3)])
    assert judge([RIGHT[0], 3]) is None
    assert judge([RIGHT[0], 4]).law == "first: a value is not right"
    for answer in (None, 3.0, [1], [1, 2, 3], RIGHT[0][0]):
        assert judge(answer).law == "2 results are asked for: curve, first"
    numbers = judges.parts(("a", "b"), [judges.values(1), judges.values(2)])
    assert numbers(np.array([1, 2])) is None
    assert numbers(np.array(1)).law == "2 results are asked for: a, b"


def test_a_case_of_several_calls_fails_where_the_first_one_does():
    found = judges.several("two", 3, [((1,), judges.values(1)), ((2,), judges.values(2))])
    assert found.calls == ((1,), (2,)) and found.judge([1, 2]) is None
    assert found.judge([1, 5]).where == "it is 5 and should be 2"


@pytest.mark.parametrize("error", [ValueError, TypeError, IndexError, KeyError, ZeroDivisionError])
def test_a_judge_that_fails_fails_the_answer_not_the_grader(error):
    def judge(answer):
        raise error("not thought of")

    assert judges.case("x", 1, (7,), judge).calls == ((7,),)
    assert judges.case("x", 1, (7,), judges.values(7)).judge([7]) is None
    finding = tasks.judged(judges.case("x", 1, (), judge), [0])
    assert finding == tasks.Finding("what came back could not be used")
