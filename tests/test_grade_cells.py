"""Statements as students leave them: repeated, reordered, failing, waiting for each other."""

import sys
from types import SimpleNamespace

import pytest

from lessons import grade_cells, grade_reading, grade_shell

ALLOW_SECONDS = grade_cells.allow_seconds


class NoWire:
    def __init__(self):
        self.sent = []

    def send(self, **message):
        self.sent.append(message)


def run(*cells, skip=()):
    wire = NoWire()
    job = {"cell_seconds": 100_000, "skip": list(skip)}
    notebook = grade_cells.Notebook(wire, job, grade_shell.given, grade_shell.Torch())
    notebook.run(grade_reading.Reader(list(cells)).blocks())
    if notebook.loop is not None:
        notebook.loop.close()
    return notebook


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """The limit on computing is for a process of its own; and pytest stays the main module."""
    monkeypatch.setattr(grade_cells, "allow_seconds", lambda seconds: None)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def test_a_statement_that_fails_stops_no_other():
    notebook = run("1 / 0\ndef f():\n    return 1", "assert False\ny = 2", "import sys; sys.exit()")
    assert notebook.names["f"]() == 1 and notebook.names["y"] == 2
    kinds = [kind for _, _, kind in notebook.failed]
    assert kinds == ["ZeroDivisionError", "AssertionError", "SystemExit"]
    assert notebook.failed[0][:2] == (0, 1)


def test_what_parses_and_does_not_compile_is_told_without_a_line():
    assert run("x = 1\nreturn x").failed == [(0, 0, "SyntaxError")]


def test_seconds_are_for_what_comes_next_and_the_hard_limit_stays(monkeypatch):
    used, given = SimpleNamespace(ru_utime=4.5, ru_stime=2.25), []
    monkeypatch.setattr(grade_cells.resource, "getrusage", lambda who: used)
    monkeypatch.setattr(grade_cells.resource, "getrlimit", lambda what: (1, 999))
    monkeypatch.setattr(grade_cells.resource, "setrlimit", lambda what, pair: given.append(pair))
    ALLOW_SECONDS(5)
    ((soft, hard),) = given
    assert 4.5 + 2.25 + 5 <= soft <= 4.5 + 2.25 + 5 + 1 and hard == 999


def test_each_cell_gets_its_own_seconds(monkeypatch):
    given = []
    monkeypatch.setattr(grade_cells, "allow_seconds", given.append)
    run("a = b", "c = 1\nd = 2", "b = 1")
    assert given == [100_000] * (3 + 1)  # three cells, and a statement again


def test_cells_in_another_order_run_once_more():
    notebook = run("b = a + 1", "a = 1", "def f():\n    return b")
    assert notebook.names["f"]() == 2 and notebook.failed == []
    assert run("b = nowhere").failed == [(0, 1, "NameError")]


STUB = 'def f(x):\n    """Text."""\n    raise NotImplementedError("not written yet")'


def test_a_stub_behind_the_answer_does_not_replace_it():
    assert run("def f(x):\n    return 1", STUB).names["f"](0) == 1
    assert run(STUB, "def f(x):\n    return 1").names["f"](0) == 1
    assert run("def f(x):\n    return 1", "def f(x):\n    return 2").names["f"](0) == 2
    with pytest.raises(NotImplementedError):
        run(STUB).names["f"](0)


def test_only_a_function_is_a_stub():
    assert run("class A:\n    x = 1", "class A:\n    x = 2").names["A"].x == 2
    assert run("def f():\n    return 1", "class f:\n    pass").names["f"].__class__ is type


@pytest.mark.parametrize(
    "body", ["return 0", "return", "raise ValueError", "x = 1", "f(1)", "'a' + x"]
)
def test_what_does_something_is_no_stub(body):
    notebook = run("def f(x):\n    return 1", f"def f(x):\n    {body}")
    assert notebook.names["f"].__code__.co_firstlineno == 1
    (block,) = grade_reading.Reader([f"def f(x):\n    {body}"]).blocks()
    assert not grade_cells.is_stub(block.nodes[0])


def test_a_step_that_is_skipped_is_the_same_one_in_every_run():
    cells = ("a = 1\nb = 2", "c = 3")
    steps = [message["at"] for message in run(*cells).wire.sent]
    assert steps == [1, 2, 3]
    notebook = run(*cells, skip=[2])
    assert "b" not in notebook.names and notebook.names["c"] == 3
    assert [message["at"] for message in notebook.wire.sent] == [1, 3]


def test_future_imports_display_and_ipython_are_there():
    notebook = run(
        "from __future__ import annotations",
        "def f(x: Unknown) -> Nothing:\n    return x",
        "display(f)\nget_ipython().run_line_magic('matplotlib', 'inline')",
    )
    assert notebook.failed == [] and notebook.names["f"](2) == 2


def test_dataclasses_and_main_work():
    cells = (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 1",
        "ok = A().x",
    )
    assert run(*cells).names["ok"] == 1
    assert run("ok = __name__ == '__main__'").names["ok"]


def test_an_error_is_known_by_its_built_in_name_and_its_place_in_student_code():
    notebook = run("class Mine(KeyError):\n    pass\ndef f():\n    raise Mine", "\nf()")
    assert notebook.failed == [(0, 4, "KeyError")]


@pytest.mark.parametrize(
    "answer",
    [
        "f = lambda x: 1",
        "if True:\n    def f(x):\n        return 1",
        "try:\n    def f(x):\n        return 1\nfinally:\n    pass",
        "class f:\n    def __new__(cls, x):\n        return 1",
        "import functools\nf = functools.partial(max, 1)",
        "globals()['f'] = lambda x: 1",
        "for f in (lambda x: 1,):\n    pass",
    ],
)
def test_a_stub_behind_any_kind_of_answer_does_not_replace_it(answer):
    assert run(answer, STUB).names["f"](0) == 1
    assert run(STUB, answer, STUB).names["f"](0) == 1
    assert run(STUB, STUB, answer).names["f"](0) == 1


def test_names_may_come_from_below_in_any_order():
    notebook = run("d = c + 1", "c = b + 1", "b = a + 1", "a = 1")
    assert notebook.names["d"] == 4 and notebook.failed == []
    notebook = run("d = c + 1", "c = nowhere", "b = 2")
    assert notebook.failed == [(0, 1, "NameError"), (1, 1, "NameError")]


def test_await_works_in_a_cell_in_one_loop_for_all():
    notebook = run(
        "import asyncio\nlocked = asyncio.Event()",
        "async def f():\n    await locked.wait()\n    return 3\ntask = asyncio.create_task(f())",
        "locked.set()\nx = await task",
        "async def g():\n    for i in range(3):\n        yield i\ny = [i async for i in g()]",
        "async for i in g():\n    last = i",
        "running = asyncio.get_running_loop().is_running()",
        "await f(1)",
        "raise SystemExit",
        "z = await f()",
    )
    kinds = [(cell, kind) for cell, _, kind in notebook.failed]
    assert kinds == [(6, "TypeError"), (7, "SystemExit")]
    names = notebook.names
    assert (names["x"], names["y"], names["last"], names["z"]) == (3, [0, 1, 2], 2, 3)
    assert names["running"] is True


def test_what_the_setup_cell_asks_of_torch_does_not_import_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # an import raises
    notebook = run(
        "import sys, torch\nimport torch\nimport torch, math",
        'device = "cuda" if torch.cuda.is_available() else "cpu"',
        "import torch as t",
    )
    assert notebook.names["device"] == "cpu" and "math" in notebook.names
    assert notebook.failed == [(2, 1, "ModuleNotFoundError")]


def test_how_the_setup_cell_ends_here_is_not_told():
    notebook = run(
        "import importlib.metadata, importlib.util, subprocess, sys",
        "print(importlib.metadata.version('nowhere'))",
        "subprocess.check_call([sys.executable, '-c', 'raise SystemExit(1)'])",
        "if importlib.util.find_spec('nowhere') is None:\n    raise RuntimeError('no network')",
        "sys.nowhere",
    )
    assert notebook.failed == [(4, 1, "AttributeError")]


def test_magics_find_their_shell_whatever_the_notebook_imports():
    notebook = run("from IPython import get_ipython", "%time x = 3\n%matplotlib inline")
    assert notebook.names["x"] == 3 and notebook.failed == []
