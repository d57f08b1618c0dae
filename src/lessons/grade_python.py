"""The Python that runs student code: the grader's own, or another that is as new as Colab's."""

import importlib.util
import json
import os
import site
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

COLAB = (3, 13)  # what Google Colab runs, and so most students; book/locks/colab.txt says it too
NUMPY = 2  # the package asks for it
# What a Python says of itself.
QUESTION = """
import importlib.util, json, os, site, sys
folders = [*site.getsitepackages(), site.getusersitepackages()]
origins = {}
for name in ("numpy", "torch", "matplotlib", "IPython", "lessons"):
    found = importlib.util.find_spec(name)
    origins[name] = found and (found.origin or list(found.submodule_search_locations)[0])
try:
    import numpy
    origins["numpy version"] = numpy.__version__
except ImportError:
    pass
print(json.dumps([list(sys.version_info[:3]), os.path.realpath(sys.executable), sys.base_prefix,
                  folders, origins]))
"""


class Python(NamedTuple):
    """version: as "3.13.2".  prefix: the folder of its own files.  libraries: of its packages."""

    version: str
    executable: str
    prefix: str
    libraries: tuple


def own():
    """The Python that runs this."""
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    for name in ("numpy", "torch", "matplotlib"):
        found = importlib.util.find_spec(name)
        if found and found.origin:
            folders.append(str(Path(found.origin).parents[1]))
    version = ".".join(map(str, sys.version_info[:3]))
    return _python(version, os.path.realpath(sys.executable), sys.base_prefix, folders)


def at(path):
    """The Python of a path, such as that of a virtual environment, which students' code may need.

    Raises ValueError that names the path and what it lacks: it must run, be as new as Colab's, have
    NumPy, and have no copy of this package, which holds the answers.
    """
    try:
        said = subprocess.run(
            [path, "-c", QUESTION], capture_output=True, text=True, timeout=60, check=True
        )
        version, executable, prefix, folders, origins = json.loads(said.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        told = getattr(error, "stderr", None) or error
        words = str(told).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"--python {path} is no Python that runs: {words[-1]}") from None
    name = ".".join(map(str, version))
    if tuple(version[:2]) < COLAB:
        raise ValueError(
            f"--python {path} is Python {name}: it must be as new as Colab's, {dotted(COLAB)}"
        )
    numpy = origins.pop("numpy version", None)
    if numpy is None or int(numpy.partition(".")[0]) < NUMPY:
        has = f"NumPy {numpy}" if numpy else "no NumPy"
        raise ValueError(
            f"--python {path} has {has}, and student code needs NumPy {NUMPY} or newer: "
            f"{path} -m pip install numpy torch matplotlib ipython"
        )
    if origins["lessons"]:
        raise ValueError(
            f"--python {path} finds this package in {Path(origins['lessons']).parent}, and with "
            "it the answers: give an environment without it"
        )
    return _python(name, executable, prefix, [*folders, *_above(origins.values())])


def dotted(version):
    """3.13 of (3, 13)."""
    return ".".join(map(str, version))


def _above(origins):
    return [str(Path(origin).parents[1]) for origin in origins if origin]


def _python(version, executable, prefix, folders):
    """The Python with those of its folders of packages that are there, each once."""
    there = tuple(folder for folder in dict.fromkeys(folders) if os.path.isdir(folder))
    return Python(version, executable, prefix, there)
