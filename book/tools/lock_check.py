"""`make lock-check`: does each admitted Python find a wheel for every locked version, everywhere?

The answer is a table, made by `lock_table.py` in an environment of its own with the locked pip:
older ones would download every wheel to read what it says of itself.
"""

import sys
from pathlib import Path

from environment import LOCK, PIP_INSTALL
from stages import BUILD, LOGS, Stages, command_line, fingerprint, run, stamped, write_stamp

FOLDER = BUILD / "tools" / "pip"
PYTHON = FOLDER / "bin" / "python"
SENTENCE = "Some Python or machine that the book admits cannot install the lists as they are."


def provide(note):
    """A Python with the locked pip, and with `packaging` to read what pip finds."""
    stamp, wanted = FOLDER / ".stamp", fingerprint([LOCK], sys.version)
    if stamped(stamp, wanted):
        note("nothing new")
        return
    sentence = "The locked pip could not be installed."
    run([sys.executable, "-m", "venv", "--clear", FOLDER], "lock-pip.log", sentence)
    run([PYTHON, *PIP_INSTALL[1:], "pip", "packaging", "-c", LOCK], "lock-pip.log", sentence)
    write_stamp(stamp, wanted)


def main():
    stages = Stages(2)
    with stages.stage("the locked pip") as note:
        provide(note)
    with stages.stage("wheels of every list for every Python and machine (minutes)"):
        run([PYTHON, Path(__file__).with_name("lock_table.py")], "lock.log", SENTENCE)
    print((LOGS / "lock.log").read_text("utf8"), end="")


if __name__ == "__main__":
    command_line(main)
