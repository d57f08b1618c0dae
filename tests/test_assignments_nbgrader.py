"""The sources of the assignments in nbgrader's own hands: validated, released, with its points."""

import os
import shutil
import subprocess
import sys

import jupytext
import make_assignments
import nbformat
import pytest
from test_assignments import PATHS, every, graded_cells

from lessons import tasks


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """An nbgrader course with the four sources, as an instructor sets it up."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(make_assignments.SOURCES / "nbgrader_config.py", folder)
    for name, path in PATHS.items():
        target = folder / "source" / name / f"{path.stem}.ipynb"
        target.parent.mkdir(parents=True)
        jupytext.write(jupytext.read(path), target)
    return folder


def nbgrader(course, *arguments):
    here = {name: str(course) for name in ("HOME", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")}
    # It calls a program of the environment by its name.
    here["PATH"] = f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=os.environ | here,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@every
def test_release_version_of_nbgrader_is_the_student_notebook(name, course):
    """But for the links to the lessons, the Colab line and the first cell."""
    nbgrader(course, "generate_assignment", name)
    release = nbformat.read(course / "release" / name / f"{PATHS[name].stem}.ipynb", 4)
    cells = [(cell.cell_type, cell.source) for cell in release.cells]
    assert cells == make_assignments.without_solutions(make_assignments.read(PATHS[name]))
    graded = {each: found["points"] for each, found in graded_cells(release).items()}
    assert sum(graded.values()) == sum(task.points for task in tasks.assignment(name).tasks)


def test_nbgrader_validates_the_sources(course):
    sources = sorted(str(path) for path in course.glob("source/*/*.ipynb"))
    said = nbgrader(course, "validate", *sources)
    assert said.count("Success! Your notebook passes all the tests.") == len(tasks.NAMES), said


def test_nbgrader_rejects_a_source_whose_solution_is_wrong(course):
    path = course / "wrong.ipynb"
    notebook = jupytext.read(PATHS["a1"])
    for cell in notebook.cells:
        cell.source = cell.source.replace("return worst", "return -worst")
    jupytext.write(notebook, path)
    assert "failed" in nbgrader(course, "validate", str(path)).lower()
