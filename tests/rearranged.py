"""One right notebook of an assignment, in every shape in which Jupyter runs it.

``right(name)`` has the cells of the student's notebook with the answers of its source.  ``SHAPES``
are functions of such cells, ``FILES`` of the notebook: each leaves one that earns full points.
"""

import copy
import re

import make_assignments
from rearranged_cells import SHAPES, Cell
from rearranged_files import FILES, written

MARKERS = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n?", re.M)


def right(name):
    """The cells of an assignment as it is given out, with the answers of its source."""
    (path,) = (p for p in make_assignments.sources() if p.stem.startswith(name))
    source, student = make_assignments.read(path), make_assignments.student(path)
    answers = {
        cell.metadata["nbgrader"]["grade_id"].replace("_", "-"): MARKERS.sub("", cell.source)
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code"
    }
    found, number = [], 0
    for cell in student.cells:
        role, task, text = "example" if cell.cell_type == "code" else "text", "", cell.source
        if cell.cell_type == "code":
            number += 1
            role = {1: "setup", 2: "imports"}.get(number, role)
        if cell.id in answers:
            role, task = "answer", ".".join(cell.id.split("-")[:2])
            text = answers[cell.id]
        elif text.startswith("tasks.check("):
            role = "check"
        found.append(Cell(cell.cell_type, text, role, task))
    return found


def notebook(cells):
    """The cells as a notebook of version 4.5."""
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}}}
    made["cells"] = [
        {
            "id": f"c{number}",
            "cell_type": cell.kind,
            "metadata": {},
            "source": cell.source.splitlines(True),
            **({"outputs": [], "execution_count": None} if cell.kind == "code" else {}),
        }
        for number, cell in enumerate(cells)
    ]
    return made


def rearranged(name):
    """{what was done: the bytes of the notebook} of an assignment."""
    cells = right(name)
    found = {key: written(notebook(shape(cells, name))) for key, shape in SHAPES.items()}
    return found | {
        f"file: {key}": file(copy.deepcopy(notebook(cells))) for key, file in FILES.items()
    }
