"""A hash of code as it works: neither comments, docstrings nor layout count (lesson 07)."""

import ast
import hashlib
import inspect
import textwrap


def code_hash(*objects):
    """SHA-256 over the syntax trees of functions, classes and modules, in the order given.

    A saved result carries the hash of the code that made it, so that one made by other code is
    noticed.  Raises TypeError for an object without Python source.
    """
    trees = [ast.parse(textwrap.dedent(inspect.getsource(each))) for each in objects]
    return hashlib.sha256(repr([_essence(tree) for tree in trees]).encode()).hexdigest()


def _essence(node):
    """A tree as nested lists, without docstrings and without fields that hold nothing.

    Newer releases of Python add fields that are empty for older code; the hash must not see them.
    """
    if isinstance(node, list):
        return [_essence(each) for each in node if not _is_text_alone(each)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return [type(node).__name__, *((name, _essence(value)) for name, value in fields)]


def _is_text_alone(node):
    """Whether a statement is a string and nothing else: a docstring, or a remark like one."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
