"""A hash of code as it works: neither comments, docstrings nor line breaks count (lesson 07)."""

import hashlib
import inspect
import io
import tokenize

LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def code_hash(*objects):
    """SHA-256 over the source of functions, classes and modules, in the order given.

    A saved result carries the hash of the code that made it, so that one made by other code is
    noticed.  Raises TypeError for an object without Python source.
    """
    text = "\0".join(_essence(inspect.getsource(each)) for each in objects)
    return hashlib.sha256(text.encode()).hexdigest()


def _essence(source):
    """A source's tokens without layout, and without strings that stand alone as a statement."""
    kept, start = [], True
    for kind, text, *_ in tokenize.generate_tokens(io.StringIO(source).readline):
        if kind in LAYOUT:
            start = start or kind in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            continue
        if not (start and kind == tokenize.STRING):
            kept.append("".join(text.split()))
        start = False
    return "".join(kept)
