"""Grade the notebooks of an assignment: ``python -m lessons.grade a2 SUBMISSIONS/ -o OUT/``.

One command, offline: a folder of notebooks as a learning platform exports them goes in; grades.csv
and a page of feedback for each student come out.  An interrupted run goes on where it stopped, and
the same folder gives the same grades: the seed of the cases is kept in OUT.
"""

import argparse
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from lessons import (
    grade_marks,
    grade_names,
    grade_notebooks,
    grade_process,
    grade_python,
    grade_sandbox,
    tasks,
)
from lessons.grade_results import Results

BAR = 30


def main(arguments=None):
    """Run the command; returns its exit status: 0, or 1 if something was not graded."""
    options = _options(arguments)
    try:
        return run(
            options.assignment,
            options.submissions,
            options.out,
            jobs=options.jobs,
            sandboxed=not options.unsandboxed,
            python=options.python,
        )
    except (grade_sandbox.NoSandbox, grade_process.Broken, ValueError, OSError) as error:
        print(f"lessons.grade: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped: the same command goes on from here", file=sys.stderr)
        return 1


def run(name, submissions, out, *, jobs, sandboxed=True, python=None, limits=grade_process.LIMITS):
    """Grade all notebooks of the folders and files in submissions into the folder out.

    python: the path of the Python that runs student code, by default this one.
    """
    assignment = tasks.assignment(name)
    python = grade_python.own() if python is None else grade_python.at(python)
    bwrap = grade_sandbox.require(python) if sandboxed else None
    for path in map(Path, submissions):
        if not path.exists():
            raise ValueError(f"there is no {path}")
    notebooks, others = grade_notebooks.files(submissions)
    results = Results(out, assignment, sandboxed=sandboxed, python=python.version)
    planned = grade_marks.plan(assignment, results.seed)
    examples = grade_marks.examples(assignment)
    bench = grade_process.Bench(bwrap, assignment.allowed, examples, limits, python)
    progress, broken = Progress(), []
    try:
        students = grade_names.by_student(notebooks, name)
        refused = _too_new(students, results, bench)
        students = [each for each in students if each.student not in refused]
        broken = [*refused.items(), *_grade_all(students, results, planned, bench, jobs, progress)]
    finally:
        bench.close()
        rows = results.finish()
        progress.end()
    print(f"{rows} students in {Path(out) / 'grades.csv'}, a page for each in {results.pages}")
    if results.waiting:
        print(f"points by hand are missing in {results.written}: {results.waiting}")
    if results.strangers:
        names = ", ".join(results.strangers)
        print(f"points in {results.written} for names without a notebook: {names}", file=sys.stderr)
    if others:
        print(f"left alone, for they are no notebooks: {', '.join(file.name for file in others)}")
    if not notebooks:
        print(f"there is no notebook in {', '.join(map(str, submissions))}")
    for student, error in broken:
        print(f"not graded: {student}: {error}", file=sys.stderr)
    return int(bool(broken))


def _too_new(students, results, bench):
    """{student: why} of those whose code only a later Python can read; they are not graded.

    It is said before the first is graded: another Python would grade all of them anew.
    """
    refused, reading = {}, grade_process.Reading(bench)
    try:
        for student, files, last in students:
            for file in last if not results.kept(student, results.digest(files)) else ():
                if numbers := reading.too_new(_cells(file)):
                    refused[student] = (
                        f"{grade_names.shown(file)}, code cell {numbers[0] + 1}, is Python of a "
                        f"later version than {bench.python.version}"
                    )
                    results.drop(student)
    finally:
        reading.close()
    if refused:
        print(
            f"not to be graded with Python {bench.python.version}, for they are written in a later "
            f"one (Colab runs {grade_python.dotted(grade_python.COLAB)}): {', '.join(refused)}. "
            "Give a newer Python with --python.",
            file=sys.stderr,
        )
    return refused


def _cells(file):
    try:
        return grade_notebooks.read(file)
    except grade_notebooks.Unreadable:
        return []


def _grade_all(students, results, planned, bench, jobs, progress):
    """Grade the students, jobs at a time; returns [(student, why)] of those that were not.

    Only those that are being graded are in memory.
    """
    progress.begin(len(students))
    broken = []
    with ThreadPoolExecutor(jobs) as pool:
        running = set()
        try:
            for attempts in students:
                running.add(pool.submit(_grade, attempts, results, planned, bench))
                while len(running) >= jobs:
                    running = _collect(running, progress, broken)
            while running:
                running = _collect(running, progress, broken)
        except BaseException:
            bench.stop()
            raise
    return broken


def _collect(running, progress, broken):
    done, running = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        student, error = future.result()
        progress.step(student)
        broken += [(student, error)] if error else []
    return running


def _grade(attempts, results, planned, bench):
    """Grade one student, unless that was done already; returns (student, why not or None)."""
    start = time.monotonic()
    student, files, last = attempts
    try:
        digest = results.digest(files)
        if results.kept(student, digest):
            return student, None
        marked = [(file, _marks(file, planned, bench)) for file in last]
    except grade_process.Broken as error:
        return student, error
    except Exception as error:  # of the grader itself: it must not cost the others their grades
        return student, f"a fault of the grader, {type(error).__name__}: {error}"
    file, marks = max(marked, key=lambda pair: pair[1].total)
    flags = [*marks.flags, *_which(files, last, file)]
    if bench.bwrap is None:
        flags.append("unsandboxed")
    results.keep(
        {
            "student": student,
            "files": [grade_names.shown(file) for file in files],
            "digest": digest,
            "total": marks.total,
            "tasks": [
                {**task._asdict(), "cases": [case._asdict() for case in task.cases]}
                for task in marks.tasks
            ],
            "flags": flags,
            "notes": marks.notes,
            "seconds": round(time.monotonic() - start, 1),
        }
    )
    return student, None


def _which(files, last, file):
    """The flag that says which of several files counts; [] if there is one."""
    if len(files) == 1:
        return []
    name = grade_names.shown(file)
    if len(last) == 1:
        return [f"{len(files)} attempts, the later one counts: {name}"]
    if len(last) == len(files):
        return [f"{len(files)} files, the better one counts: {name}"]
    return [f"{len(files)} files, the better of the last {len(last)} counts: {name}"]


def _marks(file, planned, bench):
    try:
        cells = grade_notebooks.read(file)
    except grade_notebooks.Unreadable as error:
        return grade_marks.no_marks(planned, f"unreadable: {error}")
    return grade_marks.mark(bench, cells, planned)


class Progress:
    """A bar on a terminal, a line for every tenth elsewhere."""

    def begin(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()

    def step(self, name):
        self.done += 1
        full = BAR * self.done // self.total
        bar = f"[{'#' * full}{'.' * (BAR - full)}] {self.done}/{self.total}"
        if sys.stderr.isatty():
            print(f"\r{bar} {name[:30]:30}", end="", file=sys.stderr, flush=True)
        elif 10 * self.done // self.total > 10 * (self.done - 1) // self.total:
            print(f"{bar} {time.monotonic() - self.start:.0f} s", file=sys.stderr)

    def end(self):
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m lessons.grade", description="Grade the notebooks of an assignment."
    )
    parser.add_argument("assignment", choices=tasks.NAMES)
    parser.add_argument("submissions", nargs="+", help="a folder of notebooks, or notebooks")
    parser.add_argument("-o", "--out", required=True, help="the folder of results")
    parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument(
        "--python", metavar="PATH", help="the Python that runs student code, by default this one"
    )
    parser.add_argument(
        "--unsandboxed", action="store_true", help="run student code with all your rights"
    )
    return parser.parse_args(arguments)


def _jobs(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1, got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
