"""Refuse a folder in which the book cannot be made, before anything is put into it."""

import os

NEEDED = 3 * 10**9  # bytes: the packages, and what is built
# PATH could not name a program below the first, and venv refuses it. Setuptools takes the second
# for the name of a variable, and so does alembic, which nbgrader needs, the third. Jupyter Book
# takes the others for patterns of names.
UNFIT = os.pathsep + "$%*?["


def refusal(folder, needed=NEEDED):
    """The sentence that refuses a folder for a fresh environment, or None.

    needed: bytes that must be free.
    """
    path, disk = str(folder), os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if unfit := [letter for letter in path if letter in UNFIT or not letter.isprintable()]:
        return f"The path of this folder, {path!r}, has {unfit[0]!r} in it, and Python's own " + (
            "tools, or those that build the pages, cannot read such a path: rename the folder and "
            "give the command again."
        )
    if disk.f_flag & getattr(os, "ST_NOEXEC", 0):
        return f"No program may be run from the disk that {path} lies on (it is mounted " + (
            "noexec), so no package could be used: clone the book onto another one, for example "
            "into your home."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"The folder {path} cannot be written to: clone the book into one of your own, " + (
            "and give the command there."
        )
    if free < needed:
        return f"The book takes about {needed / 1e9:.0f} GB of disk, and where {path} lies " + (
            f"{free / 1e9:.1f} GB are free: make room there, or clone the book onto another disk, "
            "and give the command again."
        )
    return None
