"""What students hand in: the files, and the code cells of a notebook in any shape.

Nothing here runs or parses student code; that is done in the sandbox.
"""

import hashlib
import json
import os
import stat
from pathlib import Path

from lessons import grade_names

LARGEST = 100 * 2**20  # bytes: a notebook with its pictures is a few


class Unreadable(Exception):
    """A file that is no notebook; the text says why, in a few words."""


def files(paths):
    """(notebooks, others): the files to grade in the folders and files given, sorted by name.

    Of folders inside a folder, those are looked into that a platform makes for what one student
    handed in, and the whole of Gradescope's export.
    """
    found, others = [], []
    for path in dict.fromkeys(map(Path, paths)):
        for file in _inside(path) if path.is_dir() else [path]:
            (found if file.suffix.lower() == ".ipynb" else others).append(file)
    return found, others


def _inside(folder):
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == grade_names.METADATA:
            continue
        looked_into = grade_names.FOLDER.fullmatch(path.name) or _is_export(path)
        if looked_into and path.is_dir() and not path.is_symlink():
            yield from _inside(path)
        else:
            yield path


def _is_export(path):
    try:
        return (path / grade_names.METADATA).is_file()
    except OSError:  # not a folder, or one that may not be looked into
        return False


def read(path):
    """The code of a notebook of any version, whatever metadata it has or lacks: one text a cell.

    Raises Unreadable.
    """
    try:
        notebook = json.loads(_text(path))
    except (ValueError, RecursionError):
        raise Unreadable("the file is cut off, or no notebook") from None
    return [_source(cell) for cell in _cells(notebook) if _is_code(cell)]


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
        sheets = sheets if isinstance(sheets, list) else []
        parts = [part for part in (notebook, *sheets) if isinstance(part, dict)]
        lists = [part["cells"] for part in parts if isinstance(part.get("cells"), list)]
        if lists:
            return [cell for cells in lists for cell in cells if isinstance(cell, dict)]
    raise Unreadable("the file has no cells")


def _is_code(cell):
    # Lost metadata: a cell that does not say what it is, but has outputs, was code.
    kind = cell.get("cell_type")
    return kind == "code" or (kind is None and "outputs" in cell)


def _source(cell):
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return ""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
