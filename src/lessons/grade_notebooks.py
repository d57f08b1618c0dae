"""What students hand in: code cells of a notebook in any shape, and whose it is.

Nothing here runs or parses student code; that is done in the sandbox.
"""

import hashlib
import json
import os
import re
import stat
import unicodedata
from pathlib import Path

LARGEST = 100 * 2**20  # bytes: a notebook with its pictures is a few
BOOTSTRAP = 'importlib.util.find_spec("lessons")'
COPY_OF = re.compile(r"^(?:copy of|kopie von|copie de|copia de|kopia)\s+", re.I)
COPY_NUMBER = re.compile(r"(?:\s*\(\d+\)|\s+copy|-\d{1,2})$", re.I)
# Moodle writes NAME_ID_assignsubmission_file_FILE, Canvas NAME_[LATE_]ID_SUBMISSION_FILE.
MOODLE = re.compile(r"^(?P<who>.+_\d+)_assignsubmission_file_?(?P<file>.*)$")
CANVAS = re.compile(r"^(?P<who>[^_]+)(?:_late)?_(?P<id>\d+)_\d+_(?P<file>.+)$", re.I)
# What may stand behind the assignment's number in the name of its notebook.
TOPICS = "order|sinusoids|rope|layouts|scores|length|capstone|context|cache"


class Unreadable(Exception):
    """A file that is no notebook; the text says why, in a few words."""


def files(paths):
    """(notebooks, others): the files to grade in the folders and files given, sorted by name."""
    found, others = [], []
    for path in dict.fromkeys(map(Path, paths)):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        for file in inside:
            if file.name.startswith("."):
                continue
            (found if file.suffix.lower() == ".ipynb" else others).append(file)
    return found, others


def student(path, assignment):
    """Whose file it is: the name that is left without "Copy of", the assignment and numbers.

    A file without a name of its own, such as "Copy of a2 (3).ipynb", is a student of that name.
    """
    stem = unicodedata.normalize("NFC", Path(path).stem).strip()
    name = _bare(stem)
    if moodle := MOODLE.match(name):
        return moodle["who"]
    if canvas := CANVAS.match(name):
        return f"{canvas['who']}_{canvas['id']}"
    title = rf"(?:^|[\s_.\-]+){assignment}(?:_(?:{TOPICS}))*(?=$|[\s_.\-])"
    name = re.sub(title, " ", name, count=1, flags=re.I)
    name = re.sub(r"\s+", " ", name).strip(" _-.")
    return name or stem


def by_student(paths, assignment):
    """[(student, [files])] in the order of names; a student may have handed in several files."""
    groups = {}
    for path in paths:
        groups.setdefault(student(path, assignment), []).append(path)
    return sorted(groups.items())


def read(path):
    """The code of a notebook of any version, whatever metadata it has or lacks: one text a cell.

    The book's bootstrap is taken out: it would load torch.
    Raises Unreadable.
    """
    try:
        notebook = json.loads(_text(path))
    except (ValueError, RecursionError):
        raise Unreadable("the file is cut off, or no notebook") from None
    cells = _cells(notebook)
    sources = [_source(cell) for cell in cells if _is_code(cell)]
    return ["" if BOOTSTRAP in source else source for source in sources]


def _bare(stem):
    while True:
        shorter = COPY_NUMBER.sub("", COPY_OF.sub("", stem)).strip()
        if shorter == stem:
            return stem
        stem = shorter


def digest(path):
    """A digest of the file, "" if it cannot be opened."""
    try:
        return hashlib.sha256(_text(path).encode()).hexdigest()
    except Unreadable:
        return ""


def _text(path):
    # A link, a pipe or a device among the submissions must not be followed.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"the file cannot be opened: {error.strerror}") from None
    kind = os.fstat(handle)
    if not stat.S_ISREG(kind.st_mode):
        os.close(handle)
        raise Unreadable("it is no plain file")
    with open(handle, "rb") as file:
        if kind.st_size > LARGEST:
            raise Unreadable(f"the file has more than {LARGEST >> 20} MB")
        return file.read().decode("utf-8-sig", "replace")


def _cells(notebook):
    if isinstance(notebook, dict):
        # Version 3 keeps its cells in worksheets.
        sheets = notebook.get("worksheets")
        if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict):
            notebook = sheets[0]
        cells = notebook.get("cells")
        if isinstance(cells, list):
            return [cell for cell in cells if isinstance(cell, dict)]
    raise Unreadable("the file has no cells")


def _is_code(cell):
    # Lost metadata: a cell that does not say what it is, but has outputs, was code.
    kind = cell.get("cell_type")
    return kind == "code" or (kind is None and "outputs" in cell)


def _source(cell):
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
