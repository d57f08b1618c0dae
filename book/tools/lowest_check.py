"""`make lowest`: the package's tests on the lowest versions that `pyproject.toml` admits.

`book/locks/lowest.txt` holds them, with what they need beside them.
"""

import sys

import make_book
import make_test
import oldest
from stages import (
    BUILD,
    ROOT,
    StageFailed,
    Stages,
    command_line,
    fingerprint,
    run,
    stamped,
    write_stamp,
)

FOLDER = BUILD / "lowest"
PYTHON = FOLDER / "bin" / "python"
LOCK = ROOT / "book" / "locks" / "lowest.txt"
# What needs a browser, the built book, other people's libraries, or the book's own versions.
LEFT_OUT = (
    *("page", "site", "build", "grade", "assignments", "instructors", "colab", "workflows"),
    *("papers", "bootstrap", "notebooks", "claims", "peers", "configs", "pretrained", "mutants"),
    *("orderings", "workers", "experiments", "editions", "lock", "oldest"),
)


def chosen():
    """The tests that any versions must pass."""
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        if "playwright" in path.read_text("utf8") or path.stem.endswith("_widget"):
            continue
        if not any(path.stem.startswith(f"test_{part}") for part in LEFT_OUT):
            yield path


def main():
    if sys.version_info[:2] != oldest.OLDEST:
        name = oldest.dotted(oldest.OLDEST)
        raise StageFailed(
            f"The lowest versions are those of Python {name}; newer ones find no wheels for some "
            f"of them: name it, as in `make lowest PYTHON=python{name}`."
        )
    stages = Stages(2)
    with stages.stage("lowest versions (minutes, the first time)") as note:
        wanted = fingerprint([LOCK])
        if stamped(FOLDER / ".stamp", wanted):
            note("nothing new")
        else:
            run(
                [sys.executable, "-m", "venv", "--clear", FOLDER],
                "lowest.log",
                "The virtual environment could not be made.",
            )
            pip = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-r", LOCK]
            run(pip, "lowest.log", "The lowest versions could not be installed.")
            write_stamp(FOLDER / ".stamp", wanted)
    with stages.stage("tests") as note:
        env = make_book.ONE_THREAD | {"PYTHONPATH": str(ROOT / "src")}
        # Old releases call what newer ones beside them have deprecated, and that is not ours.
        arguments = [*make_test.WORKERS, "-W", "default::DeprecationWarning", *chosen()]
        _, summary = make_test.pytest("lowest", arguments, python=PYTHON, env=env)
        note(summary)


if __name__ == "__main__":
    command_line(main)
