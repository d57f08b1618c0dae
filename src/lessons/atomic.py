"""Files that are whole or not there: neither a reader nor a run cut off meets half of one."""

import contextlib
import os
import socket


@contextlib.contextmanager
def replacing(path):
    """A path beside ``path`` to write to, which takes its place once everything is written.

    path: a pathlib.Path.  If the writing fails, what was there before stays.
    """
    written = beside(path)
    yield written
    os.replace(written, path)


def beside(path):
    """A hidden name in the folder of ``path`` that is this process's own.

    path: a pathlib.Path.  Several machines may share the folder.
    """
    return path.with_name(f".{path.name}-{socket.gethostname()}-{os.getpid()}")
