"""`make mutants`: small faults put into the package one by one; do the tests see each of them?"""

import subprocess
import sys

import environment
import make_book
from stages import ROOT, StageFailed, Stages, command_line


def main():
    stages = Stages(4)
    make_book.packages(stages)
    make_book.test_packages(stages)
    with stages.stage("cosmic-ray") as note:
        environment.install(note, "mutants")
    tool = ROOT / "book" / "tools" / "mutants.py"
    if subprocess.call([environment.PYTHON, tool, *sys.argv[1:]], cwd=ROOT):
        raise StageFailed("Too many mutants live, or the tests fail without them: see above.")
    return 0


if __name__ == "__main__":
    command_line(main)
