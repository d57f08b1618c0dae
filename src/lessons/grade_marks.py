"""From a notebook to points: every case is called in the sandbox and judged here.

A call that hangs, or ends its process, costs its own task; the others go on in a new process.
"""

import builtins
import re
import time
from typing import NamedTuple

from lessons import tasks, wire
from lessons.grade_process import TORCH, Broken, Stopped

STARTS = 16  # processes that one notebook may use up
NOT_WRITTEN = "not written yet"
NO_TIME = "not tried: this notebook stopped the grader too often"
BUILT_IN = {name for name, kind in vars(builtins).items() if isinstance(kind, type)}


class CaseMark(NamedTuple):
    """What one case earned; sentence is None where it is right, and shows no number of the case."""

    about: str
    points: float
    of: float
    sentence: str | None


class TaskMark(NamedTuple):
    """What one task earned, case by case."""

    id: str
    title: str
    points: float
    of: int
    cases: list


class Marks(NamedTuple):
    """A notebook's marks; flags for the instructor, notes for the student: cells that failed."""

    tasks: list
    flags: list
    notes: list

    @property
    def total(self):
        return round(sum(task.points for task in self.tasks), 2)


class Inputs(NamedTuple):
    """Encoded arguments, and the black boxes among them, which stay on this side."""

    arguments: list | dict
    boxes: list

    def answer(self, message):
        """What one of the boxes says to a message that asks it for a value."""
        number = message.get("ask")
        if type(number) is not int or not 0 <= number < len(self.boxes):
            return {"error": "there is no such box"}
        try:
            return {"answer": wire.encode(self.boxes[number](wire.decode(message.get("x"))))}
        except (ValueError, TypeError, RecursionError) as error:
            return {"error": str(error)}


class Failure(NamedTuple):
    """Why there are no answers to judge."""

    sentence: str


def plan(assignment, seed):
    """[(task, [(case, [Inputs])])]: the cases that a seed draws, the same for every notebook."""
    planned = []
    for task in assignment.tasks:
        if task.function:
            drawn = tasks.cases(task, seed)
            planned.append((task, [(case, list(map(_encoded, case.calls))) for case in drawn]))
    return planned


def examples(assignment):
    """The Inputs of the public examples: task -> arguments."""
    boxes, given = [], {}
    for task in assignment.tasks:
        if task.function:
            given[task.id] = [wire.encode(part, boxes) for part in tasks.example(task.id)]
    return Inputs(given, boxes)


def mark(bench, cells, planned):
    """The Marks of a notebook.

    cells: its code, as ``grade_notebooks.read`` returns it.  planned: what ``plan`` returned.
    Raises Broken if the sandbox does not work, which is nobody's mark.
    """
    outcomes, flags, notes = _run(bench, cells, planned)
    marked = [
        _task_mark(task, [(case, outcomes[task.id, i]) for i, (case, _) in enumerate(cases)])
        for task, cases in planned
    ]
    return Marks(marked, sorted(flags), notes)


def no_marks(planned, flag):
    """The Marks of a file that cannot be read."""
    failure = Failure("the notebook could not be read")
    marked = [_task_mark(task, [(case, failure) for case, _ in cases]) for task, cases in planned]
    return Marks(marked, [flag], [])


def _run(bench, cells, planned):
    outcomes, flags, notes, skip = {}, set(), [], set()
    waiting = list(planned)
    until = time.monotonic() + bench.limits.notebook
    for _ in range(STARTS):
        if time.monotonic() > until:
            break  # what waits gets no time
        process = bench.start(cells, skip, until)
        try:
            process.run_cells()
            failed = process.failed
            while waiting:
                task, cases = waiting[0]
                for number, (_, calls) in enumerate(cases):
                    outcomes[task.id, number] = _answers(process, cells, task, calls)
                waiting.pop(0)
            notes += _notes(cells, failed)
            break
        except Stopped as stopped:
            if stopped.at == TORCH:
                raise Broken("torch could not be imported in the sandbox") from None
            if stopped.at is not None:
                flags.add(f"a cell {stopped}")
                notes.append(f"a cell {stopped}{_line(cells, *stopped.place)}")
                if stopped.at in skip:
                    break  # it is not there that it stops
                skip.add(stopped.at)
                continue
            task, cases = waiting.pop(0)
            flags.add(f"{task.id} {stopped}")
            for number in range(len(cases)):
                outcomes.setdefault((task.id, number), Failure(f"the function {stopped}"))
        finally:
            flags |= process.flags
            process.close()
    for task, cases in waiting:
        for number in range(len(cases)):
            outcomes.setdefault((task.id, number), Failure(NO_TIME))
    return outcomes, flags, notes


def _answers(process, cells, task, calls):
    """What the calls of a case gave, or a Failure."""
    answers = []
    for call in calls:
        reply = process.call(task.function, call.arguments, call.answer)
        if "answer" in reply:
            try:
                answers.append(wire.decode(reply["answer"]))
                continue
            except (ValueError, RecursionError):
                return Failure("numbers are asked for")
        return Failure(_reason(cells, task, reply))
    return answers


def _reason(cells, task, reply):
    if "missing" in reply:
        missing = f"no function {task.function} was found"
        if any(re.search(rf"^def {task.function}\b", cell, re.M) for cell in cells):
            missing += ": its cell stopped, see below"
        return missing
    if "no_numbers" in reply:
        return "numbers are asked for, and something else came back"
    kind = reply.get("error")
    if kind == "NotImplementedError":
        return NOT_WRITTEN
    kind = kind if isinstance(kind, str) and kind in BUILT_IN else "an error"
    return f"it raised {kind}{_line(cells, reply.get('cell'), reply.get('line'))}"


def _line(cells, cell, line):
    """The student's own line with this number, in quotes; "" if the numbers are none."""
    if type(cell) is int and type(line) is int and cell >= 0 and line > 0:
        lines = "\n".join(cells[cell : cell + 2]).split("\n")
        if line <= len(lines) and (text := lines[line - 1].strip()):
            return f" in code cell {cell + 1}, at “{text[:80]}”"
    return ""


def _notes(cells, failed):
    found = []
    for entry in failed[:20] if isinstance(failed, list) else ():
        cell, line, kind = entry if isinstance(entry, list) and len(entry) == 3 else [None] * 3
        if type(cell) is int and isinstance(kind, str) and kind in BUILT_IN:
            place = _line(cells, cell, line) or f" in code cell {cell + 1}"
            found.append(f"{kind}{place}")
    return found


def _encoded(arguments):
    boxes = []
    return Inputs([wire.encode(argument, boxes) for argument in arguments], boxes)


def _task_mark(task, outcomes):
    cases = []
    for case, outcome in outcomes:
        if isinstance(outcome, Failure):
            sentence = outcome.sentence
        else:
            sentence = told(tasks.judged(case, outcome))
        points = 0 if sentence else case.points
        cases.append(CaseMark(case.about, points, case.points, sentence))
    earned = round(sum(case.points for case in cases), 2)
    return TaskMark(task.id, task.title, earned, task.points, cases)


def told(finding):
    """A Finding in words that show no number of the case; None if there is none."""
    if finding is None:
        return None
    off = "" if finding.off is None else f" (off by up to {finding.off:.2g})"
    return f"{finding.law}{off}"
