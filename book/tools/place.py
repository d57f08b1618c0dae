"""Refuse a folder in which the book cannot be made, before anything is put into it."""

import os
import shutil

NEEDED = 3 * 10**9  # bytes: the packages, and what is built
# venv refuses the first, for PATH could not name its programs; the rest would end a line of a
# list, or of a script, in its middle.
UNFIT = os.pathsep + "\n\r\t"


def refusal(folder, needed=NEEDED):
    """The sentence that refuses a folder for a fresh environment, or None.

    needed: bytes that must be free.
    """
    path, status = str(folder), os.statvfs(folder)
    free = shutil.disk_usage(folder).free
    if any(letter in path for letter in UNFIT) or not path.isprintable():
        return f"The path of this folder, {path!r}, has a letter in it that no environment of " + (
            "Python can have in its path (a colon, a line break, bytes that are no letters): "
            "rename the folder and give the command again."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"The folder {path} cannot be written to: clone the book into one of your own, " + (
            "and give the command there."
        )
    if status.f_flag & getattr(os, "ST_NOEXEC", 0):
        return f"No program may be run from the disk that {path} lies on (it is mounted " + (
            "noexec), so no package could be used: clone the book onto another one, for example "
            "into your home."
        )
    if free < needed:
        return f"The book takes about {needed / 1e9:.0f} GB of disk, and where {path} lies " + (
            f"{free / 1e9:.1f} GB are free: make room there, or clone the book onto another disk, "
            "and give the command again."
        )
    return None
