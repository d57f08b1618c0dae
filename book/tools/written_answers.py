"""Print what students wrote into their notebooks as text: `written_answers.py a1 SUBMISSIONS/`.

A text cell that is not in the notebook as it was handed out is an answer.
"""

import argparse
import json
import sys
from pathlib import Path

from lessons import grade_names, grade_notebooks

GIVEN = Path(__file__).resolve().parents[2] / "notebooks" / "assignments"


def texts(path):
    """The text cells of a notebook; ValueError if it is none."""
    try:
        cells = json.loads(path.read_text("utf8"))["cells"]
        return ["".join(c["source"]).strip() for c in cells if c["cell_type"] == "markdown"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path.name} has no cells") from error


def main(assignment, folder):
    files, _ = grade_notebooks.files([folder])
    if not files:
        sys.exit(f"written_answers.py: there is no notebook in {folder}")
    given = {text for path in GIVEN.glob(f"{assignment}_*.ipynb") for text in texts(path)}
    for path in files:
        print(f"===== {grade_names.shown(path)}\n")
        try:
            answers = [text for text in texts(path) if text and text not in given]
        except ValueError:
            print("(unreadable)\n")
            continue
        print("\n\n".join(answers) or "(nothing written)", end="\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print what students wrote as text.")
    parser.add_argument("assignment", choices=sorted(p.name[:2] for p in GIVEN.glob("a*_*.ipynb")))
    parser.add_argument("folder", help="the folder of their notebooks")
    main(**vars(parser.parse_args()))
