"""What the grader makes of a process that is only acted: who pays for what, and what is said."""

import time

import pytest

from lessons import grade_marks, grade_process, tasks
from lessons.grade_process import Stopped
from lessons.tasks_judges import several, values

CELLS = ["import os", "a = 1\nos.abort()"]


def cases(points):
    """Two cases: one call of 2, then calls of 3 and 4; a right answer is the argument."""

    def drawn(rng):
        one = several("alone", points, [((2,), values(2))])
        return [one, several("together", points, [((3,), values(3)), ((4,), values(4))])]

    return drawn


TASKS = tuple(
    tasks.Task(f"a9.{n}", f"Task {n}", 2 * n, name, "01", 5, cases(n))
    for n, name in enumerate(("one", "two", "three"), 1)
)
QUESTION = tasks.Task("a9.4", "Say why", 3, None, "01", 5)
PLANNED = grade_marks.plan(tasks.Assignment("a9", "Acted", (), (*TASKS, QUESTION)), 0)


class Acted:
    """A bench and its processes in one: a function does what it is told, by default right.

    functions: name -> a function of the argument that returns a reply, or raises Stopped.
    dies: the steps at which the cells end the process, unless they are left out.
    """

    def __init__(self, functions=None, dies=(), limit=300.0, failed=()):
        self.functions, self.dies, self.failed = functions or {}, dies, list(failed)
        self.limits = grade_process.Limits(notebook=limit)
        self.flags, self.called, self.skipped, self.until, self.open = set(), [], [], [], 0

    def start(self, cells, skip, until):
        self.skipped.append(set(skip))
        self.until.append(until)
        self.open += 1
        return self

    def run_cells(self):
        for step in self.dies:
            if step not in self.skipped[-1]:
                raise Stopped("ended the program", step, (1, 2))

    def call(self, function, arguments, answer):
        self.called.append((function, arguments[0]))
        return self.functions.get(function, lambda x: {"answer": x})(arguments[0])

    def close(self):
        self.open -= 1


def mark(bench):
    marks = grade_marks.mark(bench, CELLS, PLANNED)
    assert bench.open == 0  # whatever happened, nothing is left running
    return marks, {task.id: task.points for task in marks.tasks}


def hangs(x):
    raise Stopped("took too long")


def test_a_good_notebook_takes_one_process_and_one_call_for_each_case():
    bench = Acted()
    bench.flags = {"imported lessons.rope"}
    marks, earned = mark(bench)
    assert earned == {"a9.1": 2, "a9.2": 4, "a9.3": 6} and marks.total == 12
    assert (marks.flags, marks.notes) == (["imported lessons.rope"], [])
    assert bench.called == [(name, x) for name in ("one", "two", "three") for x in (2, 3, 4)]
    assert bench.skipped == [set()]
    assert 0 < bench.until[0] - time.monotonic() <= 300


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_call_that_hangs_costs_its_task_alone_and_no_other_is_asked_twice(number):
    name = TASKS[number - 1].function
    bench = Acted({name: hangs}, failed=[[0, 1, "KeyError"]])
    marks, earned = mark(bench)
    assert earned == {"a9.1": 2, "a9.2": 4, "a9.3": 6} | {f"a9.{number}": 0}
    assert marks.flags == [f"a9.{number} took too long"]
    assert marks.notes == ["KeyError in code cell 1, at “import os”"]
    assert len(bench.skipped) == 2
    assert len(bench.called) == len(set(bench.called)) == 3 + 3 + 1
    assert {case.sentence for case in marks.tasks[number - 1].cases} == {
        "the function took too long"
    }


def test_what_was_right_before_a_call_hung_keeps_its_points():
    marks, earned = mark(Acted({"two": lambda x: hangs(x) if x == 4 else {"answer": x}}))
    assert earned == {"a9.1": 2, "a9.2": 2, "a9.3": 6}
    assert [case.sentence for case in marks.tasks[1].cases] == [None, "the function took too long"]


def test_each_call_of_a_case_is_judged():
    for wrong in (3, 4):
        _, earned = mark(Acted({"two": lambda x, w=wrong: {"answer": 7 if x == w else x}}))
        assert earned["a9.2"] == 2


@pytest.mark.parametrize("step", [grade_process.READING, 1, 5])
def test_a_cell_that_ends_the_process_is_left_out_of_the_next(step):
    bench = Acted(dies=[step])
    marks, _ = mark(bench)
    assert marks.total == 12 and bench.skipped == [set(), {step}]
    assert marks.flags == ["a cell ended the program"]
    assert marks.notes == ["a cell ended the program in code cell 2, at “os.abort()”"]


def test_a_process_that_ends_where_nothing_runs_any_more_is_not_started_a_third_time():
    class Again(Acted):
        def run_cells(self):
            raise Stopped("ended the program", 3, (None, 0))

    marks, _ = mark(bench := Again())
    assert marks.total == 0 and bench.skipped == [set(), {3}]
    assert {case.sentence for task in marks.tasks for case in task.cases} == {grade_marks.NO_TIME}


def test_fifteen_statements_may_end_the_process_and_no_more():
    assert mark(Acted(dies=range(1, 16)))[0].total == 12
    bench = Acted(dies=range(1, 17))
    assert mark(bench)[0].total == 0 and len(bench.skipped) == 16


def test_after_the_time_for_a_notebook_nothing_is_started():
    bench = Acted(limit=-1.0)
    marks, _ = mark(bench)
    assert bench.skipped == [] and marks.total == 0
    assert {case.sentence for task in marks.tasks for case in task.cases} == {grade_marks.NO_TIME}


def test_torch_that_is_missing_in_the_sandbox_is_nobodys_mark():
    bench = Acted(dies=[grade_process.TORCH])
    with pytest.raises(grade_process.Broken, match="torch could not be imported"):
        mark(bench)
    assert bench.open == 0


@pytest.mark.parametrize("answer", [{"text": "2"}, "nested", 2**70])
def test_an_answer_that_is_no_number_costs_its_case(answer):
    if answer == "nested":  # deeper than it can be read
        answer = 0
        for _ in range(100_000):
            answer = {"list": [answer]}
    marks, earned = mark(Acted({"two": lambda x: {"answer": answer if x == 2 else x}}))
    assert earned["a9.2"] == 2
    assert marks.tasks[1].cases[0].sentence == "numbers are asked for"


def test_points_have_two_decimals():
    third = [grade_marks.tasks.Case("x", 4 / 3, (), lambda answers: answers[0])] * 3
    task = TASKS[0]._replace(points=4)
    wrong = tasks.Finding("wrong")
    one, two = (
        grade_marks._task_mark(task, list(zip(third, [[a], [b], [c]], strict=True)))
        for a, b, c in ((None, wrong, wrong), (None, None, wrong))
    )
    assert (one.points, two.points, one.of) == (1.33, 2.67, 4)
    assert grade_marks.Marks([one, one], [], []).total == 2.66
    assert grade_marks.Marks([one, two], [], []).total == 4


def test_the_first_twenty_cells_that_failed_are_told():
    failed = [[0, 0, "KeyError"], [1, 2, "ValueError"], *[[1, 1, "OSError"]] * 30]
    notes = mark(Acted(failed=failed))[0].notes
    assert len(notes) == 20
    assert notes[0] == "KeyError in code cell 1"
    assert notes[1] == "ValueError in code cell 2, at “os.abort()”"
    assert notes[2] == notes[19] == "OSError in code cell 2, at “a = 1”"
