"""What lies in the sandbox beside other people's packages: the worker, and what may be imported.

There is no right answer among it, and of this package nothing but what an assignment allows.
"""

import importlib.metadata
import importlib.util
import re
from pathlib import Path

from lessons.grade_sandbox import PACKAGE, NoSandbox

NAME = "positional-encoding-lessons"
# Who imports one of these draws, shows or asks, and holds nothing that a task asks for.
DRAWING = re.compile(
    r"^\s*(?:from|import) (?:anywidget|ipywidgets|matplotlib|IPython|(?:\.+|lessons\.)widgets)\b",
    re.M,
)
# What allowed modules import themselves.
NEEDED = "validate"
# The package's files that run in the sandbox, and their names there.
FILES = {
    "grade_worker": "worker.py",
    "grade_cells": "cells.py",
    "grade_newer": "newer.py",
    "grade_reading": "reading.py",
    "grade_shell": "shell.py",
    "wire": "wire.py",
    "grade_stub": "lessons/tasks.py",
}
# Of IPython, what its transformer needs: it runs beside student text, and loads in no time.
TRANSFORMER = ("core/inputtransformer2.py", "utils/tokenutil.py")


def _version():
    try:
        return importlib.metadata.version(NAME)
    except importlib.metadata.PackageNotFoundError:  # run from a folder, not installed
        return "0"


def aside():
    """The package's modules, or folders of modules, that draw, show or ask: not of the grader."""
    found = {"exercises"}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if not name.startswith("grade") and DRAWING.search(path.read_text("utf8")):
            found.add(name)
    return sorted(found)


def lay_out(folder, allowed):
    """Write all of it into a folder, readable to the sandbox's user whatever the umask.

    allowed: the modules of this package that notebooks may import.
    Raises NoSandbox if there is no IPython.
    """
    ipython = importlib.util.find_spec("IPython")
    if ipython is None or ipython.origin is None:
        raise NoSandbox("IPython, which reads the cells, is missing: pip install ipython")
    modules = {name: f"lessons/{name}.py" for name in ("__init__", NEEDED, *allowed)}
    for name, copy in {**FILES, **modules}.items():
        _write(folder, copy, (PACKAGE / f"{name}.py").read_bytes())
    for name in ("__init__.py", "core/__init__.py", "utils/__init__.py"):
        _write(folder, f"shell/IPython/{name}", b"")
    for name in TRANSFORMER:
        content = (Path(ipython.origin).parent / name).read_bytes()
        _write(folder, f"shell/IPython/{name}", content)
    # The setup cell prints the version of the package.
    about = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {_version()}\n"
    _write(folder, f"{NAME.replace('-', '_')}.dist-info/METADATA", about.encode())


def _write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o644)
    for parent in path.relative_to(folder).parents:
        (folder / parent).chmod(0o755)
