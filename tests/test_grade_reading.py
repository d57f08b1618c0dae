"""From the text of cells to statements: what Jupyter runs, and what was one statement before."""

import ast
import time

import pytest
import rearranged
from rearranged_cells import SHAPES

from lessons import grade_reading
from lessons.grade_reading import Reader


def read(*cells):
    return Reader(list(cells)).blocks()


def text(block):
    return None if block.nodes is None else ast.unparse(ast.Module(block.nodes, []))


def places(*cells):
    """[(cell, line)] of every statement."""
    return [(block.cell, node.lineno) for block in read(*cells) for node in block.nodes or ()]


class Shell:
    def run_line_magic(self, name, line):
        return None


@pytest.mark.parametrize(
    "cells",
    [
        ("def f(x):", "    return x + 1"),
        ("def f(x):\n    y = x", "    return y + 1"),
        ("z = 1\ndef f(x):\n    y = x", "    return y + 1\nw = 2"),
        ("f = (lambda x:", "x + 1)"),
        ("def f(x):", "    y = x", "    return y + 1"),
        ("def f(x):\n    y = x", "    y = y", "    y = y", "    return y + 1"),
        ("def f(x):\n    if x:", "        return x + 1", "    else:", "        return 1"),
        ("def f(x):\n    if x > 5:\n        pass", "    elif x:", "        return x + 1"),
        ("import functools\n@functools.cache", "def f(x):\n    return x + 1"),
        ("def f(x):\n    %matplotlib inline", "    y = x", "    return y + 1"),
        ("def f(x):", "", "    return x + 1"),
    ],
)
def test_a_cell_that_was_split_is_put_together(cells):
    names = {"get_ipython": Shell}
    for block in read(*cells):
        exec(compile(ast.Module(block.nodes, []), "", "exec"), names)
    assert names["f"](1) == 2


def test_what_was_put_together_counts_as_the_first_of_its_cells():
    cells = ("a = 1", "def f(x):", "    y = x", "    return y", "b = (", "2)", "c = f(3)")
    assert places(*cells) == [(0, 1), (1, 1), (4, 1), (6, 1)]


def test_an_indented_cell_stands_alone_where_jupyter_runs_it_alone():
    cells = ("def f(x):\n    return x", "    y = 3\n    z = 4", "  w = 5")
    assert places(*cells) == [(0, 1), (1, 1), (1, 2), (2, 1)]
    assert places("and so (", "    y = 3") == [(1, 1)]
    assert places("if x:\n    pass", "\tif y:\n\t    z = 1") == [(0, 1), (1, 1)]


def test_a_cell_that_is_no_python_costs_only_itself():
    found = read("x = 1", "so here I am (", "y = 2")
    assert [(block.cell, text(block), block.line) for block in found] == [
        (0, "x = 1", 0), (1, None, 1), (2, "y = 2", 0),
    ]  # fmt: skip
    assert [(block.nodes, block.line) for block in read("%%time\nx = 1\ny = (2")] == [(None, 3)]
    assert [(block.nodes, block.line) for block in read("\n\nx = 1\ny = = 2")] == [(None, 4)]


@pytest.mark.parametrize("error", [SyntaxError, ValueError, RecursionError, MemoryError])
def test_a_cell_that_breaks_the_parser_costs_only_itself(error, monkeypatch):
    parse = ast.parse

    def breaks(source):
        if "deep" in source:
            raise error
        return parse(source)

    monkeypatch.setattr(grade_reading.ast, "parse", breaks)
    assert [text(block) for block in read("x = 1", "deep", "y = 2")] == ["x = 1", None, "y = 2"]


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("%config x\ny = 1", "get_ipython().run_line_magic('config', 'x')\ny = 1"),
        ("if a:\n    !ls\nx = 5 % 3", "if a:\n    get_ipython().system('ls')\nx = 5 % 3"),
        ("x = !ls", "x = get_ipython().getoutput('ls')"),
        ("x = %pwd", "x = get_ipython().run_line_magic('pwd', '')"),
        ("np.cos?", "get_ipython().run_line_magic('pinfo', 'np.cos')"),
        ("%%time\nx = 1", "x = 1"),
        ("%%capture out\nx = 1", "x = 1\nout = get_ipython().getoutput('')"),
        ("%%capture --no-stderr\nx = 1", "x = 1"),
        ("%%capture\n%%time\n%%prun\nx = 1", "x = 1"),
        ("%%bash\nrm x", "get_ipython().run_cell_magic('bash', '', 'rm x\\n')"),
        ("%%timeit\nx = 1", "get_ipython().run_cell_magic('timeit', '', 'x = 1\\n')"),
        ("get_ipython().run_cell_magic('time', '', 'x = 1\\n')", "x = 1"),
        ("text = 'why?'", "text = 'why?'"),
        ("a = (7\n   % 4)", "a = 7 % 4"),
        ("x = '''\n!ls\n%time\n'''", "x = '\\n!ls\\n%time\\n'"),
        ("pip install x", "get_ipython().run_line_magic('pip', 'install x')"),
        ("ls -l", "get_ipython().run_line_magic('ls', '-l')"),
        ("cd .", "get_ipython().run_line_magic('cd', '.')"),
        ("time = 3", "time = 3"),
        ("In [3]: x = 4", "x = 4"),
        (">>> x = 4\n... y = 5", "x = 4\ny = 5"),
        ("    x = 4\n    y = 5", "x = 4\ny = 5"),
        ("/len x", "len(x)"),
    ],
)
def test_cells_are_what_ipython_makes_of_them(source, plain):
    (block,) = read(source)
    assert text(block) == plain


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("\n\n%matplotlib inline\nx = 1\n\ny = 2", [3, 4, 6]),
        ("!pip install \\\n  a \\\n  b\nx = 1", [1, 4]),
        ("x = 1\nout = !ls \\\n  -l\ny = 1", [1, 2, 4]),
        ("\n%%time\n\nx = 1\ny = 2", [4, 5]),
        ("%%capture\n%%time\n!ls\nx = 1", [3, 4]),
        ("x?\n\n\ny = 1", [1, 4]),
        (">>> x = 1\n>>> y = 2", [1, 2]),
        ("x = '''\n\n\n'''\n!a \\\nb\ny = '''\n\n'''\nz = 1", [1, 5, 7, 10]),
    ],
)
def test_statements_stay_at_the_lines_where_the_student_sees_them(source, lines):
    assert [line for _, line in places(source)] == lines


@pytest.mark.parametrize(
    "hostile",
    [
        "!" * 300_000,
        "%x\n" * 40_000,
        "x = !" + "(" * 100_000,
        "x?" + "\n(" * 50_000,
        "%%time\n" * 3_000 + "x = (",
        ">>> " + "f(" * 50_000,
        " " * 400_000 + "x = (",
        "%a\n" + "\\\n" * 200_000,
        "!a\n" + "'''" * 100_001,
    ],
)
def test_a_cell_that_would_take_the_transformer_for_ever_costs_only_itself(hostile):
    start = time.process_time()
    found = Reader(["x = 1", hostile, "z = 3"], seconds=0.5).blocks()
    assert time.process_time() - start < 8
    assert {"x = 1", "z = 3"} <= {text(block) for block in found if block.nodes}


def test_the_time_is_for_all_cells_together_and_plain_python_needs_none():
    reader = Reader(["%time x = 1", "y = 2"], seconds=0)
    assert [text(block) for block in reader.blocks()] == [None, "y = 2"]
    reader = Reader(["%time x = 1"] * 3, seconds=5)
    assert None not in [text(block) for block in reader.blocks()] and reader.seconds < 5


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ("import torch", False),
        ("import sys, torch", False),
        ('import torch\ndevice = "cuda" if torch.cuda.is_available() else "cpu"', False),
        ("print(torch.__version__)", False),
        ('names = "numpy", "torch"', False),
        ("x = torch.ones(2)", True),
        ("import torch as t", True),
        ("import torch.nn", True),
        ("from torch import nn", True),
        ("from torch.nn import functional as F", True),
        ("def f(x):\n    return torch.ones(2)", True),
        ("def f(x):\n    import torch", True),
        ("torch.cuda.device_count()", True),
        ("torch.backends.mps.is_available()", True),
        ("t = torch", True),
        ("import importlib\nt = importlib.import_module('torch')", True),
        ("from .torch import x", False),
        ("%%time\nx = torch.ones(2)", True),
    ],
)
def test_torch_is_imported_where_more_is_asked_of_it_than_by_the_setup_cell(source, asks):
    assert grade_reading.asks_for_torch(read(source)) is asks


def test_the_given_notebook_and_its_rearrangements_ask_nothing_of_torch():
    cells = rearranged.right("a1")
    for key, shape in SHAPES.items():
        if key not in ("torch by itself", "names of the setup cell"):
            sources = [cell.source for cell in shape(cells, "a1") if cell.kind == "code"]
            assert not grade_reading.asks_for_torch(read(*sources)), key


def test_a_long_notebook_takes_no_longer_for_each_cell_than_a_short_one():
    def seconds(count):
        cells = [f"    x{n} = {n}\n    %matplotlib inline" for n in range(count)]
        start = time.process_time()
        reader = Reader(cells, seconds=100)
        assert len(reader.blocks()) == count
        return time.process_time() - start

    seconds(2)  # the transformer is imported
    assert seconds(160) < 3 * 8 * seconds(20)
