"""Another Python for student code: what is asked of it, and that it is the one that runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import submissions
from conftest import ROOT
from submissions import Graded, few

from lessons import grade, grade_marks, grade_process, grade_python, tasks

NEW = 'def f(d):\n    return f"{d["a"]}"\n'


def fake(folder, said, status=0):
    """A Python that answers the question about itself with said."""
    path = folder / "python"
    text = said if isinstance(said, str) else json.dumps(said)
    path.write_text(f"#!/bin/sh\ncat <<'EOF'\n{text}\nEOF\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


def answer(folder, version=(3, 13, 2), numpy="2.4.0", lessons=None):
    origin = str(folder / "site" / "numpy" / "__init__.py") if numpy else None
    origins = {"numpy": origin, "torch": None, "lessons": lessons}
    return [version, sys.executable, sys.base_prefix, [str(folder)],
            origins | ({"numpy version": numpy} if numpy else {})]  # fmt: skip


def test_colab_s_python_stands_in_its_lock():
    text = (ROOT / "book" / "locks" / "colab.txt").read_text("utf8")
    (version,) = re.findall(r"Colab runs Python (\d+\.\d+)", text)
    assert version == grade_python.dotted(grade_python.COLAB)
    page = (ROOT / "book" / "instructors.md").read_text("utf8")
    assert f"Colab runs Python {version}," in page and f"python{version} -m venv" in page


def test_a_python_that_is_good_is_taken_as_it_says(tmp_path):
    (tmp_path / "site").mkdir()
    found = grade_python.at(fake(tmp_path, answer(tmp_path)))
    assert found == grade_python.Python(
        "3.13.2", sys.executable, sys.base_prefix, (str(tmp_path), str(tmp_path / "site"))
    )
    assert grade_python.at(fake(tmp_path, answer(tmp_path, version=(4, 0, 0)))).version == "4.0.0"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"version": (3, 12, 9)}, "is Python 3.12.9: it must be as new as Colab's, 3.13"),
        ({"version": (2, 7, 18)}, "is Python 2.7.18"),
        ({"numpy": None}, "has no NumPy, and student code needs NumPy 2 or newer: "),
        ({"numpy": "1.26.4"}, "has NumPy 1.26.4, and student code needs"),
        ({"lessons": "/x/lessons/__init__.py"}, "finds this package in /x/lessons, and with it"),
    ],
)
def test_a_python_that_lacks_something_is_refused_by_name(given, words, tmp_path):
    path = fake(tmp_path, answer(tmp_path, **given))
    with pytest.raises(ValueError, match=f"^--python {re.escape(path)} {re.escape(words)}"):
        grade_python.at(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: "/nowhere/python", "No such file"),
        (lambda folder: str(folder), "Permission denied"),
        (lambda folder: fake(folder, "hello"), "is no Python that runs"),
        (lambda folder: fake(folder, "", 3), "is no Python that runs"),
        (lambda folder: "/bin/true", "is no Python that runs"),
    ],
)
def test_what_is_no_python_is_refused(make, words, tmp_path, capsys):
    folder, out = few(tmp_path, 1), tmp_path / "out"
    status = grade.main(["a1", str(folder), "-o", str(out), "--python", make(tmp_path)])
    said = capsys.readouterr().err
    assert status == 1 and words in said and said.startswith("lessons.grade: --python ")
    assert not out.exists()


def test_the_python_that_runs_this_finds_the_answers_and_is_refused():
    """It has the package itself, so as an argument it would hold the answer key."""
    with pytest.raises(ValueError, match=r"it must be as new as|with it the answers"):
        grade_python.at(sys.executable)


def newest():
    """A Python on this machine that is as new as Colab's, or None."""
    names = [f"python3.{minor}" for minor in range(grade_python.COLAB[1], 20)]
    places = [*os.environ["PATH"].split(os.pathsep), *_pyenv()]
    for folder in places:
        for name in names:
            if os.access(Path(folder) / name, os.X_OK):
                found = subprocess.run([Path(folder) / name, "-V"], capture_output=True)
                if found.returncode == 0:
                    return str(Path(folder) / name)
    return None


def _pyenv():
    return sorted(map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin")))


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """An environment of a Python as new as Colab's, with NumPy and nothing else."""
    python = newest()
    if python is None:
        pytest.skip("no Python as new as Colab's is installed here")
    folder = tmp_path_factory.mktemp("other")
    subprocess.run([python, "-m", "venv", folder], check=True)
    got = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "-q", "numpy"], capture_output=True
    )
    if got.returncode:
        pytest.skip("NumPy cannot be had for it: no network")
    return str(folder / "bin" / "python")


def test_newer_syntax_earns_its_points_with_another_python_and_is_refused_without(
    other, bubblewrap, tmp_path, capsys
):
    cells = [*submissions.cells_of("a1"), submissions.cell(NEW)]
    folder, out = few(tmp_path, 1, cells=cells), tmp_path / "out"
    (folder / "plain_a1.ipynb").write_text(
        json.dumps(submissions.notebook(*submissions.cells_of("a1"))), "utf8"
    )
    first = grade.run("a1", [folder], out, jobs=2)
    if sys.version_info < (3, 12):
        assert first == 1 and set(Graded(out).rows) == {"plain"}
        said = capsys.readouterr().err
        assert "s0. Give a newer Python with --python" in said and "Colab runs 3.13" in said
    assert grade.run("a1", [folder], out, jobs=2, python=other) == 0
    rows = Graded(out).rows
    assert {name: row["total"] for name, row in rows.items()} == {"s0": "26", "plain": "26"}
    assert {row["flags"] for row in rows.values()} == {""}


def test_student_code_runs_on_the_other_python_behind_the_same_walls(other, bubblewrap):
    python = grade_python.at(other)
    a1 = tasks.assignment("a1")
    bench = grade_process.Bench(bubblewrap, (), grade_marks.examples(a1), python=python)
    code = (
        "import sys, os, numpy as np\ndef f():\n"
        "    here = [os.path.exists(p) for p in ('/etc/passwd', '/var', '/mnt')]\n"
        "    return [*sys.version_info[:2], *here, os.getuid() == 0]"
    )
    with bench.start([f"%time x = 1\n{code}"], (), grade_process.time.monotonic() + 60) as process:
        process.run_cells()
        found = process.call("f", [], None)["answer"]["array"]
    bench.close()
    assert ".".join(map(str, found[:2])) == ".".join(python.version.split(".")[:2])
    assert not any(found[2:])


def test_a_notebook_that_needs_torch_is_not_graded_where_there_is_none(
    other, bubblewrap, tmp_path, capsys
):
    cells = [*submissions.cells_of("a1"), submissions.cell("x = torch.ones(2)")]
    folder, out = few(tmp_path, 1, cells=cells), tmp_path / "out"
    assert grade.run("a1", [folder], out, jobs=1, python=other) == 1
    assert "not graded: s0: it uses torch, and " in capsys.readouterr().err
    assert Graded(out).rows == {}
