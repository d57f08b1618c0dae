"""`make lock-check`: does each admitted Python find a wheel for every locked version, everywhere?

The answer is a table; what is behind it is in `lock_table.py`, which needs the book's own Python.
"""

from pathlib import Path

import environment
import make_book
from stages import LOGS, Stages, command_line, run

SENTENCE = "Some Python or machine that the book admits cannot install the lists as they are."


def main():
    stages = Stages(3)
    make_book.packages(stages)
    with stages.stage("wheels of every list for every Python and machine (minutes)"):
        run([environment.PYTHON, Path(__file__).with_name("lock_table.py")], "lock.log", SENTENCE)
    print((LOGS / "lock.log").read_text("utf8"), end="")


if __name__ == "__main__":
    command_line(main)
