"""Files that are whole or not there: neither a reader nor a run cut off meets half of one."""

import contextlib
import os


@contextlib.contextmanager
def replacing(path):
    """A path beside ``path`` to write to, which takes its place once everything is written.

    path: a pathlib.Path.  If the writing fails, what was there before stays.
    """
    written = path.with_name(f".{path.name}.{os.getpid()}")
    yield written
    os.replace(written, path)
