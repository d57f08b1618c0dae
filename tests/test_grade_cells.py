"""Cells as students leave them: split, repeated, reordered, half written."""

from types import SimpleNamespace

import pytest

from lessons import grade_cells

ALLOW_SECONDS = grade_cells.allow_seconds


class NoWire:
    def __init__(self):
        self.sent = []

    def send(self, **message):
        self.sent.append(message)


def run(*cells, skip=()):
    wire = NoWire()
    notebook = grade_cells.Notebook(wire, {"cell_seconds": 100_000, "skip": list(skip)})
    notebook.run(list(cells))
    return notebook


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """The limit on computing is for a process of its own; and pytest stays the main module."""
    import sys

    monkeypatch.setattr(grade_cells, "allow_seconds", lambda seconds: None)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def test_a_statement_that_fails_stops_no_other():
    notebook = run("1 / 0\ndef f():\n    return 1", "assert False\ny = 2", "import sys; sys.exit()")
    assert notebook.names["f"]() == 1 and notebook.names["y"] == 2
    kinds = [kind for _, _, kind in notebook.failed]
    assert kinds == ["ZeroDivisionError", "AssertionError", "SystemExit"]
    assert notebook.failed[0][:2] == (0, 1)


@pytest.mark.parametrize(
    "cells",
    [
        ("def f(x):", "    return x + 1"),
        ("def f(x):\n    y = x", "    return y + 1"),
        ("z = 1\ndef f(x):\n    y = x", "    return y + 1\nw = 2"),
        ("f = (lambda x:", "x + 1)"),
        ("def f(x):", "    y = x", "    return y + 1"),
        ("import functools\n@functools.cache", "def f(x):\n    return x + 1"),
    ],
)
def test_a_cell_that_was_split_is_put_together(cells):
    notebook = run(*cells)
    assert notebook.names["f"](1) == 2 and notebook.failed == []


def test_what_was_put_together_counts_as_the_first_of_its_cells():
    notebook = run("a = 1", "def f(x):", "    y = x", "    return y", "b = (", "2)", "c = f(3)")
    sent = [(message["at"], message["cell"], message["line"]) for message in notebook.wire.sent]
    assert sent == [(-1, None, 0), (1, 0, 1), (2, 1, 1), (3, 4, 1), (4, 6, 1)]
    assert run("def f(x):", "    y = x", "    return 1 / y", "f(0)").failed == [
        (0, 3, "ZeroDivisionError")
    ]


def test_a_cell_that_is_no_python_costs_only_itself():
    notebook = run("x = 1", "so here I am (", "y = 2")
    assert notebook.names["x"] == 1 and notebook.names["y"] == 2
    assert notebook.failed == [(1, 1, "SyntaxError")]
    assert run("%%time\nx = 1\ny = (2").failed == [(0, 3, "SyntaxError")]


@pytest.mark.parametrize("error", [SyntaxError, ValueError, RecursionError, MemoryError])
def test_a_cell_that_breaks_the_parser_costs_only_itself(error, monkeypatch):
    parse = grade_cells.ast.parse

    def breaks(source):
        if "deep" in source:
            raise error
        return parse(source)

    monkeypatch.setattr(grade_cells.ast, "parse", breaks)
    notebook = run("x = 1", "deep", "y = 2")
    assert notebook.failed == [(1, 0, "SyntaxError")] and notebook.names["y"] == 2


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
    assert given == [100_000] * (1 + 3 + 1)  # before all, three cells, and one again


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
    assert not grade_cells.is_stub(grade_cells.parsed([f"def f(x):\n    {body}"])[0][1][0])


def test_a_step_that_is_skipped_is_the_same_one_in_every_run():
    cells = ("a = 1\nb = 2", "c = 3")
    steps = [message["at"] for message in run(*cells).wire.sent]
    assert steps == [-1, 1, 2, 3]
    notebook = run(*cells, skip=[2])
    assert "b" not in notebook.names and notebook.names["c"] == 3
    assert [message["at"] for message in notebook.wire.sent] == [-1, 1, 3]


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
    ("source", "plain"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if a:\n    !ls\nx = 5 % 3", "if a:\n    pass\nx = 5 % 3"),
        ("np.cos?\nhelp??\n?x", "pass\npass\npass"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%bash\nrm -rf x", ""),
        ("%%html\n<b>", ""),
        ("text = 'why?'", "text = 'why?'"),
    ],
)
def test_magics_go_and_lines_stay_where_they_are(source, plain):
    assert grade_cells.without_magics(source) == plain


def test_a_line_of_python_that_begins_with_a_percent_sign_is_no_magic():
    notebook = run("%matplotlib inline\n!pip install x\nimport math", "a = (7\n     % 4)")
    assert notebook.names["a"] == 3 and "math" in notebook.names and notebook.failed == []
