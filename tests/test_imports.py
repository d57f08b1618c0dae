"""The arrows between modules point one way; the NumPy half loads neither torch nor matplotlib."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import lessons

SOURCE = Path(lessons.__file__).parent

# module -> what it may import from the package
ARROWS = {
    "validate": set(),
    "frequencies": {"validate"},
    "sinusoidal": {"validate", "frequencies"},
    "validate_rows": {"validate"},
    "rope": {"validate", "validate_rows"},
    "alibi": {"validate"},
    "relative": {"validate"},
    "costs": {"validate"},
    "config_types": set(),
    "config_rotary": {"validate", "config_types"},
    "configs": {"validate", "config_types", "config_rotary"},
    "corpus": set(),
    "atomic": set(),
    "fingerprint": set(),
    "scaling": {"validate", "frequencies"},
    "positions": {"validate"},
    "attention": {"validate"},
    "criteria": {"validate", "attention"},
    "exercises": {"validate", "attention", "frequencies", "sinusoidal"},
    "wire": set(),
    "tasks": {"validate", "wire"},
    "tasks_judges": {"tasks"},
    "tasks_a1": {"tasks", "tasks_judges", "validate", "attention", "frequencies", "sinusoidal"}
    | {"rope", "alibi"},
    "tasks_a2": {"tasks", "tasks_judges", "frequencies", "rope"},
    "tasks_a3": {"tasks", "tasks_judges", "alibi", "relative"},
    "tasks_a4": {"tasks", "tasks_judges", "frequencies", "rope", "alibi", "attention"}
    | {"positions", "scaling"},
}
# The torch half takes tables and refusals from the NumPy half, and nothing of the page.
TORCH = {
    "scheme": set(),
    "turn": set(),
    "per_layer": {"scheme"},
    "layers": {"scheme", "turn", "validate", "sinusoidal", "rope", "alibi", "relative"},
    "attention_layer": {"scheme", "validate"},
    "cache": {"scheme", "validate"},
    "model": {"scheme", "validate", "attention_layer", "cache", "per_layer"},
    # What is trained and measured: each builds on the model, and the model on none of them.
    "training": {"validate", "attention_layer"},
    "recall_task": {"validate", "training"},
    "recipes": {"validate", "layers", "frequencies", "scaling", "model"},
    "checkpoint": {"atomic", "recipes", "model"},
}
HEAVY = {"torch", "matplotlib", "ipywidgets", "anywidget", "IPython", "scipy", "pandas"}


def imports(path):
    """(names of this package's modules, names of other packages) that a file imports anywhere."""
    own, others = set(), set()
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = ".".join(["lessons"] * node.level + [node.module] * bool(node.module))
            inside = [f"lessons.{alias.name}" for alias in node.names]
            names = inside if module == "lessons" else [module]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            (own if first == "lessons" else others).add(rest if first == "lessons" else first)
    return {name.split(".")[0] for name in own}, others


@pytest.mark.parametrize("module", ARROWS)
def test_the_numpy_half_imports_only_along_the_arrows(module):
    own, others = imports(SOURCE / f"{module}.py")
    assert own <= ARROWS[module]
    assert not others & HEAVY


@pytest.mark.parametrize("module", TORCH)
def test_the_torch_half_imports_only_along_the_arrows(module):
    own, others = imports(SOURCE / f"{module}.py")
    assert own <= TORCH[module]
    assert "torch" in others and not others & (HEAVY - {"torch"})


def test_the_package_imports_nothing():
    assert imports(SOURCE / "__init__.py") == (set(), set())


def test_no_module_reaches_back():
    graph = {path.stem: imports(path)[0] for path in SOURCE.glob("*.py")}
    done = set()
    while ready := {name for name, needs in graph.items() if name not in done and needs <= done}:
        done |= ready
    assert done == set(graph), f"these import each other in a circle: {set(graph) - done}"


@pytest.mark.parametrize(
    "statement", ["import lessons", f"from lessons import {', '.join(ARROWS)}"]
)
def test_nothing_heavy_is_loaded(statement):
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-W", "error", "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(answer.stdout)}
    assert not loaded & HEAVY
    if statement == "import lessons":
        assert "numpy" not in loaded
