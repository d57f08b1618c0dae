"""The tasks themselves: right answers pass, every wrong idea costs its task and is named."""

import contextlib
import re

import numpy as np
import pytest
from student_code import IMPORTS, RIGHT
from wrong_ideas import IDEAS

from lessons import grade_marks, tasks, wire

SEEDS = [0, 7, 2**62]
CODED = [task for name in tasks.NAMES for task in tasks.assignment(name).tasks if task.function]


def function(task, code):
    names = {}
    exec(f"{IMPORTS}\n{code}", names)
    return names[task.function]


def task_of(number):
    return next(task for task in CODED if task.id == number)


def mark(task, written, seed):
    """(points, sentences) of a function, called here: the same way as in the sandbox."""
    points, sentences = 0, []
    for case in tasks.cases(task, seed):
        answers = []
        for arguments in case.calls:
            boxes = []
            sent = [wire.encode(argument, boxes) for argument in arguments]
            given = [wire.decode(part, lambda number, b=boxes: b[number]) for part in sent]
            answers.append(given)
        try:
            answers = [wire.decode(wire.encode(written(*given))) for given in answers]
        except (ValueError, IndexError) as error:
            sentences.append(f"it raised {type(error).__name__}")
            continue
        finding = tasks.judged(case, answers)
        points += 0 if finding else case.points
        sentences += [grade_marks.told(finding)] if finding else []
    return points, sentences


@pytest.mark.parametrize("name", tasks.NAMES)
def test_points_tasks_and_minutes_of_an_assignment(name):
    found = tasks.assignment(name)
    assert (found.name, sum(task.points for task in found.tasks)) == (
        name,
        {"a1": 30, "a2": 40, "a3": 30, "a4": 40}[name],
    )
    assert 4 <= len(found.tasks) <= 6
    assert [task.id for task in found.tasks] == [f"{name}.{i + 1}" for i in range(len(found.tasks))]
    for task in found.tasks:
        assert 5 <= task.minutes <= 60 and len(task.lesson) == 2
        assert (task.function is None) == (task.cases is None)


@pytest.mark.parametrize("task", CODED, ids=lambda task: task.id)
def test_cases_share_the_points_and_differ_with_the_seed(task):
    for seed in SEEDS:
        drawn = tasks.cases(task, seed)
        assert sum(case.points for case in drawn) == task.points
        # What is tried is said in the feedback: it must not tell what was drawn.
        assert [case.about for case in drawn] == [case.about for case in tasks.cases(task, 99)]
    one, same, other = (
        [repr(case.calls) for case in tasks.cases(task, seed)] for seed in (0, 0, 1)
    )
    if "object at" not in one[0]:
        assert one == same
    assert one != other


@pytest.mark.parametrize("task", CODED, ids=lambda task: task.id)
def test_the_right_answer_earns_everything(task):
    written = function(task, RIGHT[task.id])
    for seed in SEEDS:
        assert mark(task, written, seed) == (task.points, [])
    assert tasks.verdict(task.id, written) == (True, f"{task.id}: {tasks.RIGHT}")


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: f"{idea.task} {idea.name}")
def test_a_wrong_idea_costs_its_points_and_is_named(idea):
    task = task_of(idea.task)
    written = function(task, idea.code)
    for seed in SEEDS:
        points, sentences = mark(task, written, seed)
        assert points == idea.left < task.points, sentences
        words = idea.words.split("|")
        assert any(word in said for said in sentences for word in words), sentences
    right, sentence = tasks.verdict(idea.task, written)
    assert not right and sentence.startswith(f"{idea.task}: ") and sentence.endswith(".")


@pytest.mark.parametrize("task", CODED, ids=lambda task: task.id)
@pytest.mark.parametrize(
    "lazy",
    [
        lambda *a: a[0],
        lambda *a: a[-1],
        lambda *a: 0,
        lambda *a: None,
        lambda *a: np.zeros((4, 4)),
        lambda *a: [],
        lambda *a: (a[0], a[0]),
        lambda *a: [True] * 4,
        lambda *a: [[1], [2, 3]],
    ],
    ids=["first", "last", "zero", "none", "zeros", "empty", "pair", "true", "ragged"],
)
def test_what_comes_without_work_earns_nothing(task, lazy):
    with contextlib.suppress(wire.NotNumbers):
        assert mark(task, lazy, 5)[0] == 0
    assert not tasks.verdict(task.id, lazy)[0]


def test_every_wrong_idea_of_the_list_is_about_a_task_and_every_task_has_some():
    assert {idea.task for idea in IDEAS} == {task.id for task in CODED}
    assert len({(idea.task, idea.name) for idea in IDEAS}) == len(IDEAS)


def test_a_stub_is_not_written_and_an_error_is_a_sentence(capsys):
    def stub(positions, d_model, theta):
        raise NotImplementedError("not written yet")

    tasks.check("a1.2", stub)
    assert capsys.readouterr().out == "a1.2: not written yet.\n"
    tasks.check("a1.2", lambda *a: 1 / 0)
    said = capsys.readouterr().out
    assert said == "a1.2: position_table raised ZeroDivisionError: division by zero.\n"
    tasks.check("a1.2", lambda *a: "sin")
    said = capsys.readouterr().out
    assert said == "a1.2: numbers are asked for, and a str came back.\n"
    for wrong in (stub, lambda *a: 1 / 0, lambda *a: "sin", lambda *a: 3.0):
        assert tasks.verdict("a1.2", wrong)[0] is False


@pytest.mark.parametrize("number", ["a1.0", "a1.6", "a1.9", "a2.0", "a5.1", "a1", "a1.22"])
def test_an_example_is_of_a_task_with_code(number):
    with pytest.raises(ValueError, match=f"such as \"a1.2\", got '{number}'$"):
        tasks.example(number)


def test_a_failure_shows_a_small_counterexample():
    written = function(task_of("a2.2"), RIGHT["a2.2"].replace("turned * sin", "turned * sin / 2"))
    sentence = tasks.verdict("a2.2", written)[1]
    assert "keeps the norm" in sentence, sentence
    assert re.search(r"from \d\.\d+ to \d\.?\d* at position \d", sentence), sentence


def test_a_function_may_write_into_its_arguments_and_into_the_example():
    def spoils(positions, d_model, theta):
        table = function(task_of("a1.2"), RIGHT["a1.2"])(positions, d_model, theta)
        positions[:] = 0
        return table

    assert tasks.verdict("a1.2", spoils)[0] and tasks.verdict("a1.2", spoils)[0]
    tasks.example("a1.2")[0][:] = 99
    assert (tasks.example("a1.2")[0] != 99).all()


def test_examples_are_arguments_and_no_graded_case():
    for task in CODED:
        given = tasks.example(task.id)
        assert isinstance(given, tuple)
        first = repr(tasks.cases(task, tasks.PUBLIC_SEED)[0].calls[0])
        assert repr(given) == first or "object at" in first
    boxes, d_model = tasks.example("a1.5")
    assert [box(np.ones((3, d_model))).shape for box in boxes] == [(3, d_model)] * 4
    with pytest.raises(ValueError, match=r"x must be \(1 to 64, 6\)"):
        boxes[0](np.ones((65, 6)))
