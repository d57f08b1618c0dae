"""Stages of a build: one progress line each, logs in files, stamps of what was already done.

Standard library only: this runs before the virtual environment exists.
"""

import hashlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "_build"
LOGS = BUILD / "logs"
SITE = BUILD / "html"
VENV = ROOT / ".venv"
TAIL = 25  # lines of a failed stage's log that are repeated on the terminal
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
PROGRESS = re.compile(r"^\S.*\.\.\. \[ *\d+%\]|\[IPKernelApp\]")
CELL_FAILED = "An error occurred while executing the following cell"
FRAMES = ("The above exception", "Traceback (most recent call last)", "During handling")
NOTEBOOK = re.compile(r"notebooks/[^:'\"\n]+?\.ipynb")
COMPLAINT = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")


class StageFailed(Exception):
    """A stage that cannot go on; its text is the one sentence the reader sees last."""


class Stages:
    """Numbers the stages of one command and prints `[2/5] packages … 3.1 s` for each."""

    def __init__(self, total):
        self.total, self.done = total, 0

    @contextmanager
    def stage(self, name):
        self.done += 1
        label = f"[{self.done}/{self.total}] {name} …"
        print(label, end=" ", flush=True)
        note, start = [], time.monotonic()
        try:
            yield note.append
        except BaseException:
            print(f"failed after {time.monotonic() - start:.1f} s", flush=True)
            raise
        seconds = f"{time.monotonic() - start:.1f} s"
        print(" ".join([seconds, *(f"({text})" for text in note)]), flush=True)


@contextmanager
def beside():
    """A lane for work that goes on beside the stages, one piece after the other.

    When a stage fails, what has begun there ends first, and what has not is dropped.
    """
    lane = ThreadPoolExecutor(1)
    try:
        yield lane
    finally:
        lane.shutdown(cancel_futures=True)


def surroundings():
    """What the programs of every stage find, beside what they inherit.

    Settings and caches of their own: a home may be read-only or full, and what lies in it, a
    kernel or a style of plots, is nobody else's. pip's cache and settings stay where they are.
    """
    home = BUILD / "home"
    return {
        # On a machine whose Python keeps no compiled files, each of a hundred processes would
        # compile torch afresh, for nothing is compiled when it is installed (environment.py).
        "PYTHONDONTWRITEBYTECODE": "",
        # What a program prints and what it complains of stand in a log in their order.
        "PYTHONUNBUFFERED": "1",
        # Torch on Python 3.13.0 alone, about speed; what a cell complains of fails the build.
        "PYTHONWARNINGS": "ignore:Guards may run slower on Python 3.13.0:RuntimeWarning",
        "PATH": os.environ.get("PATH", os.defpath),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "jupyter" / "config"),
        "JUPYTER_DATA_DIR": str(home / "jupyter"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "npm_config_cache": str(home / "npm"),
    }


def run(command, log, sentence, *, env=None, cwd=None, umask=-1):
    """Run `command` into `_build/logs/<log>`; a failure prints the log's last lines and raises.

    umask: of the files that it makes; -1: the caller's own.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / log
    with path.open("w", encoding="utf8") as out:
        code = subprocess.call(
            [str(part) for part in command],
            cwd=cwd or ROOT,
            env=os.environ | surroundings() | (env or {}),
            umask=umask,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    if code:
        raise StageFailed(f"{tail(path)}\n\n{sentence} (exit {code}; the whole log: {path})")


def tail(path):
    """What a log says of its failure: the cell that failed, or else complaints and last lines."""
    lines = ANSI.sub("", path.read_text("utf8", "replace")).replace("\r", "\n").splitlines()
    kept = [line.rstrip() for line in lines if line.strip() and not PROGRESS.match(line)]
    if cell := failed_cell(kept):
        return "\n".join(cell)
    last = kept[-TAIL:]
    earlier = [line for line in kept[:-TAIL] if COMPLAINT.search(line)]
    # Sphinx goes on after a warning and then says only how many there were.
    return "\n".join([*earlier[:TAIL], *last])


def failed_cell(lines):
    """The code of the cell that ended the build, its error, and its notebook; none: no such cell.

    Behind them a log holds a page of frames of the programs that ran the cell.
    """
    begins = [place for place, line in enumerate(lines) if CELL_FAILED in line]
    if not begins:
        return []
    begin = begins[-1]
    rest = range(begin + 1, len(lines))
    end = next((place for place in rest if lines[place].startswith(FRAMES)), len(lines))
    told = lines[begin + 1 : end]
    # Without the path of the clone, in which a folder may be called notebooks too.
    around = [line.replace(f"{ROOT}/", "") for line in lines[end:] + lines[:begin][::-1]]
    names = [found[0] for line in around if (found := NOTEBOOK.search(line))]
    return [*told[: TAIL // 2], *told[TAIL // 2 :][-TAIL:], f"in a cell of {(names or ['?'])[0]}"]


def command_line(main):
    """Run a command of the Makefile; a failed stage ends it with its cause on the last lines."""
    try:
        sys.exit(main())
    except StageFailed as failure:
        sys.exit(f"\n{failure}")
    except KeyboardInterrupt:
        sys.exit("\nstopped")


def files_under(*names):
    """Every input file below the given paths of the repository, in a fixed order."""
    skip = {"__pycache__", "vendor", ".ipynb_checkpoints"}
    found = []
    for name in names:
        path = ROOT / name
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [file for file in inside if file.is_file() and not skip & set(file.parts)]
    return found


def fingerprint(files, *more):
    """A digest of the files' names and contents, and of any further strings."""
    digest = hashlib.sha256(repr(more).encode())
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(ROOT)} {content}\n".encode())
    return digest.hexdigest()


def stamped(stamp, value):
    return stamp.is_file() and stamp.read_text("utf8") == value


def write_stamp(stamp, value):
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(value, "utf8")
