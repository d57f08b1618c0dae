"""`make assignments`: cut the students' notebooks out of the sources in notebooks/solutions.

A source is MyST Markdown as jupytext reads it, in nbgrader's format. What lies between BEGIN and
END SOLUTION becomes a stub that says it is not written, hidden tests go, an answer in words
becomes a line to write in; then come the line of links and the first cell of every notebook.
"""

import os
import re
import sys

from environment import PYTHON
from stages import ROOT, StageFailed, Stages, command_line

SOURCES, FOLDER = ROOT / "notebooks" / "solutions", ROOT / "notebooks" / "assignments"
CODE_STUB = 'raise NotImplementedError("not written yet")'
TEXT_STUB = "*Write your answer here, in place of this line.*"
REGION = r"^(?P<indent>[ ]*)### BEGIN {0}\n.*?^[ ]*### END {0}\n?"
SOLUTION = re.compile(REGION.format("SOLUTION"), re.M | re.S)
HIDDEN = re.compile(REGION.format("HIDDEN TESTS"), re.M | re.S)
# The line below a task's heading; its lesson becomes a link as soon as that lesson is there.
LESSON = re.compile(r"^Lesson (?P<lesson>\d\d) · about (?P<minutes>\d+) minutes · (?P<points>\d+)")


def sources():
    """The sources, in the order of the assignments."""
    return sorted(SOURCES.glob("a[0-9]_*.md"))


def read(path):
    """A source as a notebook, with its solutions."""
    # The book's own reader of such files, so that no more than `make book` is needed here.
    from myst_nb.core.read import read_myst_markdown_notebook

    return read_myst_markdown_notebook(path.read_text("utf8"))


def without_solutions(notebook):
    """[(kind, source)]: the cells as students get them, before `finish` dresses them."""
    return [(cell.cell_type, _stripped(cell)) for cell in notebook.cells]


def _stripped(cell):
    grading = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "markdown":
        return TEXT_STUB if grading.get("solution") else cell.source
    source = SOLUTION.sub(rf"\g<indent>{CODE_STUB}\n", cell.source + "\n")
    return HIDDEN.sub("", source).rstrip("\n")


def student(path):
    """The student's notebook of a source."""
    import bootstrap
    from make_notebooks import METADATA
    from nbformat import from_dict, v4

    whole = read(path)
    notebook = v4.new_notebook(metadata=from_dict(METADATA))
    for cell, (kind, source) in zip(whole.cells, without_solutions(whole), strict=True):
        new = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
        notebook.cells.append(new(source if kind == "code" else linked(source)))
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        notebook.cells[-1].id = name.replace("_", "-") if name else f"cell-{len(notebook.cells)}"
    bootstrap.apply(notebook, f"assignments/{path.stem}", v4.new_code_cell)
    return notebook


def linked(source):
    """A task's lesson as a link, if there is such a lesson."""
    lines = source.split("\n")
    for place, line in enumerate(lines):
        if found := LESSON.match(line):
            for path in sorted((ROOT / "notebooks").glob(f"{found['lesson']}_*.ipynb")):
                name = f"Lesson {found['lesson']}"
                lines[place] = line.replace(name, f"[{name}](../{path.name})", 1)
    return "\n".join(lines)


def written(notebook):
    """The bytes of a notebook's file."""
    import nbformat

    nbformat.validate(notebook)
    return (nbformat.writes(notebook, indent=1) + "\n").encode()


def main():
    found = sources()
    if not found:
        raise StageFailed(f"There is no source in {SOURCES.relative_to(ROOT)}.")
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.ipynb"):
        if path.stem not in {source.stem for source in found}:
            path.unlink()
    stages = Stages(len(found))
    for path in found:
        with stages.stage(path.stem):
            (FOLDER / f"{path.stem}.ipynb").write_bytes(written(student(path)))


if __name__ == "__main__":
    if os.path.realpath(sys.prefix) != os.path.realpath(PYTHON.parents[1]):
        if not PYTHON.exists():
            sys.exit("There is no environment yet: run `make book` first.")
        os.execv(PYTHON, [str(PYTHON), __file__, *sys.argv[1:]])
    command_line(main)
