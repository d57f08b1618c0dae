"""Assignments: what each task asks for, its points, and the checks that a notebook shows.

The tasks of assignment aN stand in ``tasks_aN``.  A task makes its own cases from a random
generator: the notebook's checks use a public one, the grader draws a new seed for each course.
A case holds the arguments of one or more calls, and judges what came back.
"""

import copy
import importlib
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lessons import validate, wire

NAMES = ("a1", "a2", "a3", "a4")
PUBLIC_SEED = 1
NOT_WRITTEN = "not written yet."
RIGHT = "right on the examples; grading uses others."


class Finding(NamedTuple):
    """Why a case failed.  A student who is being graded sees law and off, never where.

    law: the law that does not hold, in words.  off: by how much.  where: a counterexample.
    """

    law: str
    off: float | None = None
    where: str = ""


class Case(NamedTuple):
    """about: what it tries, in words that show no number.  points: its share of the task.

    calls: a tuple of argument tuples.  judge(answers), one answer a call -> Finding, or None.
    """

    about: str
    points: float
    calls: tuple
    judge: Callable


class Task(NamedTuple):
    """One task: function is what the student writes, None for a question graded by hand.

    cases(rng) -> list of Case whose points add up to the task's.
    """

    id: str
    title: str
    points: int
    function: str | None
    lesson: str
    minutes: int
    cases: Callable | None = None


class Assignment(NamedTuple):
    """allowed: the modules of this package that student code may import while it is graded."""

    name: str
    title: str
    allowed: tuple
    tasks: tuple


def assignment(name):
    """An assignment with its tasks.

    name: "a1", "a2", "a3" or "a4".
    Returns Assignment.
    Raises ValueError or TypeError that names name.
    """
    name = validate.choice(name, "name", NAMES)
    return importlib.import_module(f"lessons.tasks_{name}").ASSIGNMENT


def check(task, function):
    """Print one sentence: whether the laws of a task hold for a function on public examples.

    task: its number, such as "a1.2".  function: what the student wrote.
    Raises ValueError or TypeError that names task or function, whatever the function does.
    """
    print(verdict(task, function)[1])


def verdict(task, function):
    """(right, sentence): whether the laws hold on the public examples, and if not, where they fail.

    task: its number, such as "a1.2".  function: what the student wrote.
    Raises ValueError or TypeError that names task or function.
    """
    found = _coded(task)
    validate.function(function, "function")
    for case in cases(found, PUBLIC_SEED):
        try:
            answers = [wire.decode(wire.encode(function(*call))) for call in _copies(case)]
        except NotImplementedError:
            return False, f"{task}: {NOT_WRITTEN}"
        except wire.NotNumbers as error:
            return False, f"{task}: {error}."
        except Exception as error:  # whatever was written, a student reads a sentence
            told = " ".join(str(error).split())
            kind = type(error).__name__
            return False, f"{task}: {found.function} raised {kind}: {told.rstrip('.')}."
        if finding := judged(case, answers):
            where = f": {finding.where}" if finding.where else ""
            return False, f"{task}: {finding.law}{where}."
    return True, f"{task}: {RIGHT}"


def example(task):
    """The arguments of one public example of a task, to try a function on.

    task: its number, such as "a1.2".
    Returns a tuple.
    Raises ValueError or TypeError that names task.
    """
    return _copies(cases(_coded(task), PUBLIC_SEED)[0])[0]


def cases(task, seed):
    """The cases of a Task that a seed draws; each task draws its own, whatever the others do.

    task: a Task with a function.  seed: a whole number, at least 0, of up to 63 bits.
    Returns a list of Case.
    """
    return task.cases(np.random.default_rng([seed, zlib.crc32(task.id.encode())]))


def judged(case, answers):
    """What a case finds against the answers to its calls; None if they are right.

    Returns Finding or None, whatever the answers are.
    """
    try:
        return case.judge(answers)
    except (ValueError, TypeError, LookupError, ArithmeticError):  # what no judge has thought of
        return Finding("what came back could not be used")


def _coded(number):
    """The Task of a number, if there is code to write in it."""
    if not isinstance(number, str):
        got = validate.kind(number)
        raise TypeError(f'task must be a number such as "a1.2", got {got}')
    if re.fullmatch(r"a[1-4]\.\d", number):
        for task in assignment(number[:2]).tasks:
            if task.id == number and task.function:
                return task
    raise ValueError(f'task must be the number of a task with code, such as "a1.2", got {number!r}')


def _copies(case):
    """The arguments of each call, the caller's own: a function may write into what it is given."""
    return [copy.deepcopy(call) for call in case.calls]
