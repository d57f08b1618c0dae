"""The worker by itself holds nothing that could be stolen, and student code cannot disarm it."""

import ast
import time

import pytest
from student_code import RIGHT
from test_imports import imports

from lessons import grade_marks, grade_process, tasks

A2 = tasks.assignment("a2")


@pytest.mark.parametrize("name", grade_process.FILES)
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
    names = sorted(path.stem for path in bench.folder.rglob("*.py"))
    bench.close()
    expected = {"worker", "cells", "wire", "__init__", "validate", "tasks", *A2.allowed}
    assert set(names) == expected and not bench.folder.exists()


@pytest.mark.parametrize("name", tasks.NAMES)
def test_allowed_modules_import_nothing_but_what_is_copied_with_them(name):
    allowed = {grade_process.NEEDED, *tasks.assignment(name).allowed}
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
