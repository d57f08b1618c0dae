"""The worker by itself holds nothing that could be stolen, and student code cannot disarm it."""

import ast
import time

import bootstrap
import pytest
from conftest import ROOT
from student_code import RIGHT
from test_imports import imports

from lessons import (
    grade_layout,
    grade_marks,
    grade_notebooks,
    grade_process,
    grade_reading,
    tasks,
)

A2 = tasks.assignment("a2")


@pytest.mark.parametrize("name", grade_layout.FILES)
def test_what_runs_inside_imports_nothing_of_the_package(name):
    tree = ast.parse((grade_process.PACKAGE / f"{name}.py").read_text("utf8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not [module for module in modules if module.startswith("lessons")]


def test_what_lies_inside_holds_no_answer():
    bench = grade_process.Bench(None, A2.allowed, grade_marks.examples(A2))
    names = {path.relative_to(bench.folder).as_posix() for path in bench.folder.rglob("*.py")}
    content = b"".join(path.read_bytes() for path in bench.folder.rglob("*.py"))
    bench.close()
    modules = {f"lessons/{name}.py" for name in ("__init__", "validate", "tasks", *A2.allowed)}
    own = {f"{name}.py" for name in ("worker", "cells", "newer", "reading", "shell", "wire")}
    ipython = {name for name in names if name.startswith("shell/IPython/")}
    assert names - ipython == modules | own and len(ipython) == 5
    assert b"def rotation_matrix" not in content and not bench.folder.exists()


@pytest.mark.parametrize("name", tasks.NAMES)
def test_allowed_modules_import_nothing_but_what_is_copied_with_them(name):
    allowed = {grade_layout.NEEDED, *tasks.assignment(name).allowed}
    for module in sorted(allowed):
        own, _ = imports(grade_process.PACKAGE / f"{module}.py")
        assert own <= allowed, f"{module} imports {own - allowed}"


@pytest.mark.parametrize("name", tasks.NAMES)
def test_allowed_modules_work_inside(name):
    """They are imported as they lie in the sandbox, with nothing of the package beside them."""
    found = tasks.assignment(name)
    bench = grade_process.Bench(None, found.allowed, grade_marks.examples(found))
    code = "".join(f"import lessons.{module}\n" for module in found.allowed)
    with bench.start([code], (), time.monotonic() + 60) as process:
        process.run_cells()
        assert process.failed == [] and not process.flags
    bench.close()


@pytest.mark.parametrize(
    "spoiled",
    [
        "import json\njson.dumps = json.loads = json.JSONEncoder.encode = None",
        "import builtins\nbuiltins.print = builtins.open = None",
        "import sys\nsys.meta_path.clear()\nsys.stdout = sys.stderr = None",
        "import os\nos.closerange(0, 3)",
        "import warnings\nwarnings.simplefilter('error')",
        "import numpy as np\nnp.allclose = np.testing.assert_allclose = lambda *a, **k: True",
        "import gc\ngc.disable()\nimport threading\nthreading.Thread(target=print).start()",
        "import random\nrandom.seed = None\ndel __name__",
        "def answer(*a):\n    return 7\nboxes = wire = cells = answer",
    ],
)
def test_what_a_notebook_spoils_for_itself_costs_it_nothing(spoiled):
    bench = grade_process.Bench(None, A2.allowed, grade_marks.examples(A2))
    code = ["import numpy as np\n" + RIGHT["a2.1"], spoiled]
    planned = grade_marks.plan(A2, 5)[:1]
    marks = grade_marks.mark(bench, code, planned)
    bench.close()
    assert marks.total == 4 and marks.notes == []


def test_randomness_is_the_same_in_every_run():
    bench = grade_process.Bench(None, A2.allowed, grade_marks.examples(A2))
    code = "import random, numpy as np\ndef f():\n"
    code += "    return [random.random(), np.random.rand(), hash('a')]"
    seen = []
    for _ in range(2):
        with bench.start([code], (), time.monotonic() + 60) as process:
            process.run_cells()
            seen.append(process.call("f", [], None)["answer"])
    bench.close()
    assert seen[0] == seen[1]


# The setup cell as it was, as it is, and as others might write it.
SETUPS = {
    "given": bootstrap.source(),
    "one import": 'import importlib.metadata, importlib.util, subprocess, sys, torch\nbook = ""\n'
    'if importlib.util.find_spec("lessons") is None:\n'
    '    told = subprocess.getoutput("git remote get-url origin; curl -sm 5 http://x")\n'
    '    raise RuntimeError("Write the address")\n'
    'device = "cuda" if torch.cuda.is_available() else "cpu"\n'
    'names = ("positional-encoding-lessons", "numpy", "torch")\n'
    "print(*(f'{n} {importlib.metadata.version(n)},' for n in names), device)",
    "asked before": "import importlib.util, re, subprocess, sys\nimport torch, importlib.metadata\n"
    'told = subprocess.getoutput("git remote get-url origin")\n'
    "found = re.search('github', told)\n"
    'helpers = f"https://github.com/{found[1]}" if found else subprocess.check_output("false")\n'
    'importlib.invalidate_caches()\ndevice = torch.device("cpu").type',
    "torch in its own way": "import sys, importlib, subprocess\ntry:\n    import torch\n"
    '    device = "cuda" if torch.cuda.is_available() else "cpu"\n'
    'except ImportError:\n    device = "cpu"',
}


@pytest.mark.parametrize("name", SETUPS)
@pytest.mark.parametrize("cut", [0, 3])
def test_names_of_any_setup_cell_are_there_and_nothing_is_told_of_it(name, cut):
    bench = grade_process.Bench(None, A2.allowed, grade_marks.examples(A2))
    lines = SETUPS[name].split("\n")
    if cut:  # the first statements stand in a cell of their own
        nodes = ast.parse(SETUPS[name]).body
        cut = nodes[len(nodes) // 2 - 1].end_lineno
    names = "    assert device == 'cpu' and sys and subprocess and importlib\n"
    answer = "import numpy as np\n" + RIGHT["a2.1"].replace("    matrix =", f"{names}    matrix =")
    cells = ["\n".join(lines[:cut]), "\n".join([*lines[cut:], answer])]
    marks = grade_marks.mark(bench, cells, grade_marks.plan(A2, 5)[:1])
    bench.close()
    assert (marks.total, marks.notes, marks.flags) == (4, [], [])


def test_every_assignment_s_own_first_cell_runs_and_asks_nothing_of_torch():
    for path in sorted((ROOT / "notebooks" / "assignments").glob("*.ipynb")):
        first = grade_notebooks.read(path)[0]
        blocks = grade_reading.Reader([first]).blocks()
        assert "find_spec" in first and blocks[0].nodes
        assert not grade_reading.asks_for_torch(blocks)
