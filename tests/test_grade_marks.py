"""From outcomes to marks: what hangs costs its task, and a sentence shows no number of a case."""

import pytest
import submissions
from student_code import IMPORTS, RIGHT

from lessons import grade_marks, grade_process, tasks

A1 = tasks.assignment("a1")
QUICK = grade_process.Limits(cell=5, call=1, patience=5)


@pytest.fixture(scope="module")
def bench():
    made = grade_process.Bench(None, A1.allowed, grade_marks.examples(A1), QUICK)
    yield made
    made.close()


def marked(bench, *cells):
    return grade_marks.mark(bench, [IMPORTS, *cells], grade_marks.plan(A1, 3))


def earned(marks):
    return {task.id: task.points for task in marks.tasks}


ANSWERS = [RIGHT[task.id] for task in submissions.CODED["a1"]]


def test_right_answers_earn_every_point(bench):
    marks = marked(bench, *ANSWERS)
    assert marks.total == 26 and (marks.flags, marks.notes) == ([], [])
    assert all(case.sentence is None for task in marks.tasks for case in task.cases)


def test_a_call_that_ends_the_process_costs_its_task_alone(bench):
    dies = "import os\ndef shift_matrix(*a):\n    os._exit(0)\nposition_table = shift_matrix"
    marks = marked(bench, *ANSWERS, dies)
    assert earned(marks) == {"a1.1": 4, "a1.2": 0, "a1.3": 0, "a1.4": 5, "a1.5": 4}
    assert marks.flags == ["a1.2 ended the program", "a1.3 ended the program"]
    assert marks.tasks[1].cases[0].sentence == "the function ended the program"


def test_points_earned_before_it_died_stay(bench):
    tired = "seen = []\n" + RIGHT["a1.2"].replace(
        "    i =",
        "    seen.append(1)\n    if len(seen) > 2:\n        __import__('os')._exit(0)\n    i =",
    )
    assert earned(marked(bench, *ANSWERS, tired))["a1.2"] == 5


def test_cells_that_end_the_process_cost_their_statement(bench):
    marks = marked(bench, "import os\nos._exit(1)", *ANSWERS, "x = 1; os.abort()")
    assert marks.total == 26
    assert marks.flags == ["a cell crashed the program", "a cell ended the program"]
    assert "a cell ended the program in code cell 2, at “os._exit(1)”" in marks.notes


def test_a_notebook_that_never_stops_dying_is_given_up(bench):
    marks = marked(bench, "import os", *["os._exit(1)"] * (grade_marks.STARTS + 3), *ANSWERS)
    assert marks.total == 0
    assert {case.sentence for task in marks.tasks for case in task.cases} == {grade_marks.NO_TIME}


FORGE = """import os
for i in range(3, 99):
    try: os.write(i, {!r})
    except OSError: pass
os._exit(0)"""


@pytest.mark.parametrize(
    "line", [b'{"at": 0}', b'{"at": []}', b'{"at": -1}', b'{"at": 10}', b'{"ready": 1}', b"no"]
)
def test_a_cell_that_forges_where_it_is_ends_like_one_that_dies(bench, line):
    marks = marked(bench, *ANSWERS, FORGE.format(line + b"\n"))
    assert 0 <= marks.total <= 26 and marks.flags


def test_source_that_breaks_the_parser_costs_its_notebook_alone(bench):
    marks = marked(bench, *ANSWERS, "x = " + "(" * 100_000, "y = " + "-" * 100_000 + "1")
    assert marks.total in (0, 26)


def test_an_error_is_told_by_its_kind_and_the_student_s_own_line_alone(bench):
    secret = (
        "class Leak(ValueError):\n    pass\ndef position_table(p, d, t):\n"
        "    raise Leak(str(p))  # my line"
    )
    marks = marked(bench, *ANSWERS, secret)
    assert {case.sentence for case in marks.tasks[1].cases} == {
        "it raised ValueError in code cell 7, at “raise Leak(str(p))  # my line”"
    }


def test_a_function_whose_cell_stopped_is_told_so_with_the_line(bench):
    broken = "def shift_matrix(offset, d_model, theta):\n    return np.eye((d_model"
    marks = marked(bench, *ANSWERS[:2], broken)
    assert {case.sentence for case in marks.tasks[2].cases} == {
        "no function shift_matrix was found: its cell stopped, see below"
    }
    assert marks.notes == ["SyntaxError in code cell 4, at “return np.eye((d_model”"]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ({"missing": True}, "no function shift_matrix was found"),
        ({"no_numbers": True}, "numbers are asked for, and something else came back"),
        ({"error": "NotImplementedError"}, "not written yet"),
        ({"error": "<b>secret 3.14</b>"}, "it raised an error"),
        ({"error": ["KeyError"]}, "it raised an error"),
        ({"error": "KeyError", "cell": 99, "line": 1}, "it raised KeyError"),
        ({"error": "KeyError", "cell": "0", "line": 1}, "it raised KeyError"),
        ({"error": "KeyError", "cell": 0, "line": -1}, "it raised KeyError"),
        ({"error": "KeyError", "cell": -1, "line": 1}, "it raised KeyError"),
        ({"error": "KeyError", "cell": 0, "line": 0}, "it raised KeyError"),
        ({"error": "KeyError", "cell": 0, "line": 1.0}, "it raised KeyError"),
        ({"error": "KeyError", "cell": 0, "line": 4}, "it raised KeyError"),
        ({"error": "KeyError", "cell": 0, "line": 1}, "it raised KeyError in code cell 1, at “a”"),
        ({"error": "KeyError", "cell": 0, "line": 2}, "it raised KeyError in code cell 1, at “b”"),
        # A statement may have been put together from two cells, and never from three.
        ({"error": "KeyError", "cell": 0, "line": 3}, "it raised KeyError in code cell 1, at “c”"),
        ({"error": "KeyError", "cell": 1, "line": 1}, "it raised KeyError in code cell 2, at “c”"),
        ({}, "it raised an error"),
    ],
)
def test_a_reply_may_be_forged_and_says_nothing_of_its_own(reply, sentence):
    assert grade_marks._reason(["a\nb", "c", "d"], A1.tasks[2], reply) == sentence


def test_the_cell_before_the_first_is_not_the_last():
    reply = {"error": "KeyError", "cell": -1, "line": 1}
    assert grade_marks._reason(["the only one"], A1.tasks[2], reply) == "it raised KeyError"


def test_every_task_with_code_has_examples():
    assert set(grade_marks.examples(A1).arguments) == {task.id for task in submissions.CODED["a1"]}


@pytest.mark.parametrize(
    "failed",
    [
        None,
        3,
        [3],
        [[]],
        [[0, 1]],
        [[0, 1, "KeyError", 0]],
        [["a", "b", "c"]],
        [[0, 1, "Secret"]],
        [["a", 0, "KeyError"]],
        [[0, 1, []]],
        [[None, None, None]],
        [[1.5, 1, "KeyError"]],
    ],
)
def test_a_forged_list_of_failed_cells_is_no_list(failed):
    assert grade_marks._notes(["a"], failed) == []


def test_forged_numbers_of_boxes_are_refused():
    inputs = grade_marks.Inputs([], [lambda x: x, lambda x: -x])
    for message in ({}, {"ask": -1}, {"ask": 2}, {"ask": 3}, {"ask": True}, {"ask": "0"}):
        assert inputs.answer(message) == {"error": "there is no such box"}
    assert inputs.answer({"ask": 0, "x": 3}) == {"answer": 3}
    assert inputs.answer({"ask": 1, "x": 3}) == {"answer": -3}
    assert "error" in inputs.answer({"ask": 0, "x": {"text": "a"}})


def test_a_box_that_cannot_take_what_it_is_asked_says_so():
    inputs = grade_marks.Inputs([], [lambda x: -x])
    nested = 0
    for _ in range(100_000):
        nested = {"list": [nested]}
    for x in (None, nested, {"text": "a"}):
        assert set(inputs.answer({"ask": 0, "x": x})) == {"error"}


def test_every_notebook_gets_the_same_cases_and_another_seed_others():
    one, same, other = (
        [
            call.arguments
            for _, cases in grade_marks.plan(A1, seed)[1:4]
            for _, c in cases
            for call in c
        ]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_the_sentence_tells_law_and_size_and_never_the_place():
    finding = tasks.Finding("the law", 0.123456, "at [3] it is 7")
    assert grade_marks.told(finding) == "the law (off by up to 0.12)"
    assert grade_marks.told(tasks.Finding("the law")) == "the law"
    assert grade_marks.told(None) is None
