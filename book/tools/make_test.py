"""`make test`: the book, then every test but the long ones; for each a line with its summary."""

import os
import re
from collections import Counter

import browser
import colab_check
import environment
import lint_workflows
import make_book
import sandbox
import vendor
from stages import LOGS, ROOT, Stages, beside, command_line, run

STAGES = make_book.STAGES + 11 + len(colab_check.few())
PYTEST = ["-m", "pytest", "-q", "--color=no", "--tb=short", "--durations=20"]
PYTEST += ["-m", "not long"]  # `make test-long` has those
# A file belongs to one worker; on two processors the third fills the gaps in which tests wait, for
# a browser, for student code to run out of its time, for processes of their own.
WORKERS = ["-n", "3", "--dist", "loadfile"]
# The longest files of the unit tests begin first, or one worker would be left alone with them.
LONGEST = ("length_widget", "widgets", "laws_07", "notebooks", "workers", "experiments", "variants")
# What depends on the machine rather than on the code: files, paths, compilers, walls, a browser.
QUICK = (
    *("place", "build_tools", "papers", "variants", "grade_sandbox", "grade_command", "bootstrap"),
    *("instructors_page", "checkpoint", "results", "workers", "circle_widget", "page_links"),
)
NO_BROWSER = """
################################################################################
#                                                                              #
#   THE BROWSER TESTS DID NOT RUN: no Chromium or Chrome was found, and none   #
#   could be installed. Widgets, maths and accessibility are NOT tested.       #
#   Install one (apt-get install chromium) and run `make test` again.          #
#                                                                              #
################################################################################"""

NO_SANDBOX = """
################################################################################
#                                                                              #
#   THE TESTS OF THE GRADER'S SANDBOX DID NOT RUN: there is no bubblewrap, and #
#   it could not be installed. Whether student code is held is NOT tested.     #
#   Install it (apt-get install bubblewrap) and run `make test` again.         #
#                                                                              #
################################################################################"""


def tests(stages, name, arguments):
    """One pytest run as a stage; returns how many passed and how many were skipped."""
    with stages.stage(name) as note:
        counts, summary = pytest(name, arguments)
        note(summary)
    return counts


def pytest(name, arguments, *, python=environment.PYTHON, env=make_book.ONE_THREAD):
    """One pytest run: (counts as from ``tests``, its last line)."""
    log = f"test-{name.replace(' ', '-')}.log"
    run([python, *PYTEST, *arguments], log, f"The stage “{name}” failed.", env=env)
    summary = (LOGS / log).read_text("utf8").strip().splitlines()[-1].strip("= ")
    found = re.findall(r"(\d+) (passed|skipped)", summary)
    return Counter({word: int(n) for n, word in found}), summary


def tools(stages):
    """What tests need beside the book; returns notices of what could not be had."""
    make_book.packages(stages)
    make_book.test_packages(stages)
    with stages.stage("browser and axe") as note:
        found = browser.provide(note)
        vendor.fetch_axe(note)
    with stages.stage("bubblewrap") as note:
        walls = sandbox.provide(note)
    return [notice for got, notice in ((found, NO_BROWSER), (walls, NO_SANDBOX)) if got is None]


def quick():
    """The tests that `make machines` runs, on the built book."""
    stages = Stages(make_book.STAGES + 4)
    notices = tools(stages)
    make_book.site(stages)
    files = [ROOT / "tests" / f"test_{name}.py" for name in QUICK]
    end(tests(stages, "quick tests", [*files, *WORKERS]), notices)


def end(total, notices):
    """The last lines; a failed test has stopped the run before them."""
    for notice in notices:
        print(notice)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, 0 failed{skipped}")


def main():
    stages = Stages(STAGES)
    notices = tools(stages)
    with stages.stage("ruff"):
        run(
            [environment.PYTHON, "-m", "ruff", "check", "-q", "--output-format", "concise", "."],
            "ruff.log",
            "Ruff has complaints.",
        )
    with stages.stage("mypy"):
        run([environment.PYTHON, "-m", "mypy"], "mypy.log", "Mypy has complaints.")
    with stages.stage("workflows") as note:
        lint_workflows.lint(note)
    every = sorted((ROOT / "tests").glob("test_*.py"))

    def named(*starts):
        return [path for start in starts for path in every if path.stem.startswith(f"test_{start}")]

    # These open the built book or build small ones, and take their time; the rest comes first.
    slow = named("page", "build", "site")
    # Each of these grades a class once for all its tests, so a file belongs to one worker.
    graded = named("grade", "assignments", "instructors_page")
    rest = [path for path in every if path not in {*slow, *graded, *named(*LONGEST)}]
    # Before the pages: a fault in src/lessons is named here in a minute.
    in_order = [*WORKERS, "--no-loadscope-reorder"]
    total = tests(stages, "unit tests", [*named(*LONGEST), *rest, *in_order])
    nbval = ["--nbval", "notebooks", "--nbval-cell-timeout", "300"]
    nbval += ["--ignore=notebooks/assignments"]  # saved without outputs; their own tests run them
    make_book.parts(stages)
    # The build runs one notebook after the other, and so does nbval behind it: that keeps one
    # processor busy, and the stages keep the other.
    with beside() as lane:
        notes = []
        built = lane.submit(make_book.pages, notes.append)
        again = lane.submit(pytest, "notebooks again", nbval)
        total += tests(stages, "assignments", [*graded, *WORKERS])
        colab_check.check(stages, ["colab"], colab_check.few())
        with stages.stage("notebooks and pages, begun with the assignments") as note:
            built.result()
            for told in notes:
                note(told)
        total += tests(stages, "pages", [*slow, *WORKERS])
        with stages.stage("notebooks again, begun behind the pages") as note:
            counts, summary = again.result()
            note(summary)
    end(total + counts, notices)


if __name__ == "__main__":
    command_line(quick if os.environ.get("QUICK") == "1" else main)
