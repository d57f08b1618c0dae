"""What lies in the sandbox: readable to its user, and nothing of the package that has answers."""

import ast
import importlib.util
import os

import pytest

from lessons import grade_layout, grade_sandbox, tasks

WIDGETS = {"anywidget", "ipywidgets"}


def imported(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else node.module.partition(".")[0])
            found |= {alias.name for alias in node.names} if node.level else set()
    return found


def test_every_module_with_a_widget_is_set_aside_and_none_with_a_formula():
    aside = set(grade_layout.aside())
    drawing = {p.stem for p in grade_layout.PACKAGE.rglob("*.py") if imported(p) & WIDGETS}
    assert len(drawing) >= 8 and drawing <= aside
    assert {"exercises", "plots", "show", "widgets"} <= aside
    formulas = "alibi attention configs frequencies layers model rope scaling sinusoidal variants"
    assert not aside & set(formulas.split())
    assert not [name for name in aside if name.startswith(("tasks", "grade", "laws"))]


@pytest.mark.parametrize(
    ("file", "line", "name"),
    [
        ("new_widget.py", "from anywidget import AnyWidget", "new_widget"),
        ("widgets/clock.py", "import anywidget", "widgets"),
        ("one.py", "from .widgets import Frames", "one"),
        ("two.py", "from lessons.widgets.clock import Clock", "two"),
        ("three.py", "def f():\n    import matplotlib.pyplot as plt", "three"),
    ],
)
def test_a_new_module_with_a_figure_is_set_aside_by_itself(file, line, name, tmp_path, monkeypatch):
    monkeypatch.setattr(grade_layout, "PACKAGE", tmp_path)
    (tmp_path / "formula.py").write_text("import numpy as np\n# import anywidget")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{line}\n")
    assert grade_layout.aside() == sorted({"exercises", name})


def test_everything_can_be_read_whatever_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        folder = tmp_path / "new"
        folder.mkdir()
        grade_layout.lay_out(folder, tasks.assignment("a2").allowed)
    finally:
        os.umask(before)
    for path in [folder, *folder.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


def test_without_ipython_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(grade_sandbox.NoSandbox, match="pip install ipython"):
        grade_layout.lay_out(tmp_path, ())
    assert list(tmp_path.iterdir()) == []
