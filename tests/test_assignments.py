"""The assignments: one source each, and the student notebooks that are cut from it."""

import re

import jupytext
import make_assignments
import nbformat
import notebook_rules as rules
import pytest
import yaml
from conftest import ROOT
from nbclient import NotebookClient

from lessons import tasks

PATHS = {path.stem[:2]: path for path in make_assignments.sources()}
# What the small examples of a source print, as its text works them out by hand.
BY_HAND = {
    "a1": [
        "7.0\n0.0",
        "[ 0.9093 -0.4161  0.1987  0.9801]",
        "[ 0.1411 -0.99  ]",
        "-0.4161, ",
        ", 2)",
    ],
    "a2": ["0.0998  0.995 ]", "-1.1426  1.9221  2.9599  4.0298", "-1.9841  1.9599  2.4624  4.0198"],
    "a3": ["[0.0625 0.0039 0.25  ]", "[-1.  -0.5  0. ]", "[7 7 6 5 4 3 0 0]", "0.6931]), 2.0"],
    "a4": [
        "[0.25  0.025]",
        "[1.    0.025]",
        "[1.   , 0.011]",
        "[1.    0.1   0.    0.   ]",
        "[2.3333 2.3333]",
        "[[0.  0.1 0.2 0.3 0.4]]",
        "206.2 GB",
    ],
}
# The rules of a lesson's form that a notebook without outputs can keep.
FORM = (
    rules.code_is_short,
    rules.text_is_commonmark,
    rules.answers_are_closed,
    rules.nothing_of_a_machine,
)
every = pytest.mark.parametrize("name", tasks.NAMES)


def committed(name):
    return ROOT / "notebooks" / "assignments" / f"{PATHS[name].stem}.ipynb"


def text(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def graded_cells(notebook):
    """{grade_id: nbgrader's metadata} of the cells that carry points."""
    grading = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return {each["grade_id"]: each for each in grading if each.get("grade")}


def test_every_assignment_has_a_source_a_notebook_and_a_page():
    assert tuple(PATHS) == tasks.NAMES
    stems = [path.stem for path in PATHS.values()]
    folder = ROOT / "notebooks" / "assignments"
    assert sorted(path.stem for path in folder.glob("*.ipynb")) == stems
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    part = next(part for part in toc["parts"] if part["caption"] == "Assignments")
    assert [page["file"] for page in part["chapters"]] == [
        f"notebooks/assignments/{stem}" for stem in stems
    ]


@every
def test_student_notebook_is_not_stale(name):
    """If this fails: `make assignments`."""
    fresh = make_assignments.written(make_assignments.student(PATHS[name]))
    assert committed(name).read_bytes() == fresh


def test_a_changed_source_makes_its_notebook_stale(tmp_path):
    path = tmp_path / PATHS["a1"].name
    path.write_text(PATHS["a1"].read_text("utf8").replace("warm-up", "start"), "utf8")
    assert make_assignments.written(make_assignments.student(path)) != committed("a1").read_bytes()


@every
def test_jupytext_reads_a_source_as_the_book_does(name):
    ours, theirs = make_assignments.read(PATHS[name]), jupytext.read(PATHS[name])
    assert [(cell.cell_type, cell.source, cell.metadata) for cell in ours.cells] == [
        (cell.cell_type, cell.source, cell.metadata) for cell in theirs.cells
    ]


@every
def test_no_solution_reaches_a_student(name):
    source, student = PATHS[name].read_text("utf8"), text(nbformat.read(committed(name), 4))
    for word in ("BEGIN", "END SOLUTION", "HIDDEN", "tasks.verdict", "Rubric", "model answer"):
        assert word not in student
    written = {
        cell.source
        for cell in make_assignments.read(PATHS[name]).cells
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata
    }
    hidden = make_assignments.SOLUTION.findall(source)
    assert len(hidden) == sum(task.function is not None for task in tasks.assignment(name).tasks)
    regions = [found[0] for found in make_assignments.SOLUTION.finditer(source)] + [*written]
    lines = {line.strip() for region in regions for line in region.splitlines()}
    leaked = {line for line in lines if len(line) > 20 and line in student}
    assert leaked == set()


@every
def test_points_titles_lessons_and_minutes_are_those_of_the_tasks(name):
    assignment, notebook = tasks.assignment(name), make_assignments.read(PATHS[name])
    points = {each: found["points"] for each, found in graded_cells(notebook).items()}
    assert points == {task.id.replace(".", "_"): task.points for task in assignment.tasks}
    said = re.findall(r"^## A(\d\.\d) · (.+)\n\n(.*)$", text(notebook), re.M)
    assert said == [
        (
            task.id[1:],
            task.title,
            f"Lesson {task.lesson} · about {task.minutes} minutes · {task.points} points",
        )
        for task in assignment.tasks
    ]
    title = notebook.cells[0].source
    total = sum(task.points for task in assignment.tasks)
    minutes = sum(task.minutes for task in assignment.tasks)
    assert title.startswith(f"# {name.upper()} · {assignment.title}\n")
    assert f"About {minutes} minutes, {total} points;" in title
    helpers = [f"`lessons.{module}`" for module in assignment.allowed]
    assert f"{', '.join(['NumPy', *helpers[:-1]])} and {helpers[-1]} are there" in title


@every
def test_checks_and_answers_are_those_of_the_tasks(name):
    cells = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in make_assignments.read(PATHS[name]).cells
        if "nbgrader" in cell.metadata
    }
    for task in tasks.assignment(name).tasks:
        number = task.id.replace(".", "_")
        check = cells.pop(number)
        if task.function is None:
            assert check.cell_type == "markdown" and check.metadata.nbgrader.solution
            assert check.source.startswith(f"**Rubric, {task.points} points.**")
            assert check.source.count("\n- 1 point: ") == task.points
            continue
        assert check.source.startswith(f'tasks.check("{task.id}", {task.function})\n### BEGIN HID')
        assert f'assert tasks.verdict("{task.id}", {task.function})[0]' in check.source
        assert cells.pop(f"{number}_answer").source.startswith(f"def {task.function}(")
    assert not cells


@every
@pytest.mark.parametrize("rule", FORM, ids=lambda rule: rule.__name__)
def test_student_notebook_keeps(name, rule):
    assert rule(nbformat.read(committed(name), 4)) == []


@every
def test_lessons_are_linked_as_soon_as_they_are_there(name):
    notebook = nbformat.read(committed(name), 4)
    for link in re.findall(r"\]\((\.\./[^)#]+)", text(notebook)):
        assert (committed(name).parent / link).is_file(), link
    there = {path.name[:2] for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    for lesson in {task.lesson for task in tasks.assignment(name).tasks} & there:
        assert f"[Lesson {lesson}](../{lesson}_" in text(notebook)


def executed(notebook, folder):
    """What the code cells print, joined, after a run from top to bottom in an empty folder."""
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return "".join(
        output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )


def coded(name):
    return [task.id for task in tasks.assignment(name).tasks if task.function]


@every
def test_student_notebook_runs_unchanged_and_says_not_written_yet(name, tmp_path):
    said = executed(nbformat.read(committed(name), 4), tmp_path)
    checks = [line for line in said.splitlines() if re.match(r"a\d\.\d:", line)]
    assert checks == [f"{task}: {tasks.NOT_WRITTEN}" for task in coded(name)]
    assert list(tmp_path.iterdir()) == []


@every
def test_solution_runs_and_every_check_is_right(name, tmp_path):
    said = executed(make_assignments.read(PATHS[name]), tmp_path)
    checks = [line for line in said.splitlines() if re.match(r"a\d\.\d:", line)]
    assert checks == [f"{task}: {tasks.RIGHT}" for task in coded(name)]
    assert [printed for printed in BY_HAND[name] if printed not in said] == []
