"""written.csv: the points that an instructor gives by hand, as spreadsheets save them.

Where commas stand in numbers, a spreadsheet puts semicolons between cells; both are read.
"""

import csv
import io
import re

COLUMNS = ("student", "task", "points", "comment")
START = re.compile("student([,;\t])")


def read(path, most):
    """{(student, task): (points or None, comment)}, in the file's order; {} where it is missing.

    most: {task: its points} of the tasks that are marked by hand.
    Raises ValueError that names the line of what cannot be read.
    """
    if not path.exists():
        return {}
    text = _text(path)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=_between(text))
    if lacking := [name for name in COLUMNS if name not in (table.fieldnames or ())]:
        raise ValueError(
            f"written.csv, line 1: no column {', '.join(lacking)}; "
            f"the columns are {', '.join(COLUMNS)}, with a comma or a semicolon between"
        )
    found = {}
    for row in table:
        student, task, given = (row[name] or "" for name in COLUMNS[:3])
        points = _points(given, table.line_num, task, most)
        # Without locks, runs at the same time may both have added a line to fill.
        if points is not None or (student, task) not in found:
            found[student, task] = points, row["comment"] or ""
    return found


def lines(path, rows):
    """The rows as text to be added to the file, with what stands between the cells of its own."""
    text, out = _text(path), io.StringIO()
    if rows and not text.endswith("\n"):
        out.write("\n")  # an editor may have saved the last line without its end
    csv.writer(out, delimiter=_between(text), lineterminator="\n").writerows(rows)
    return out.getvalue()


def _text(path):
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise ValueError("written.csv is not in UTF-8: save it as “CSV UTF-8”") from None


def _between(text):
    start = START.match(text)
    return start[1] if start else ","


def _points(given, line, task, most):
    """The points as a number, None for an empty cell."""
    given = given.strip()
    try:
        points = float(given.replace(",", ".")) if given else None
    except ValueError:
        points = -1
    if task not in most or (points is not None and not 0 <= points <= most[task]):
        takes = ", ".join(f"{name} up to {points}" for name, points in most.items())
        raise ValueError(
            f"written.csv, line {line}: {given!r} is no number of points for {task!r}; "
            f"it takes {takes}"
        )
    return points
