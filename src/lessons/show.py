"""Show a helper's code beside its formula: ``show(sinusoidal.encode)`` as a cell's last line."""

import ast
import inspect
import re

from IPython.display import Markdown


def show(obj):
    """The source of a function, class or method as a Markdown code block, without docstrings.

    Comments and decorators stay: they belong to the code; docstrings are on the API page.

    obj: a function, class, method, property, classmethod or staticmethod written in Python.
    Returns an ``IPython.display.Markdown``. TypeError: nothing of that kind, or no source to read.
    """
    code = without_docstrings(_source(obj))
    # A fence longer than any run of backticks inside cannot be closed by the code.
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown(f"{fence}python\n{code}\n{fence}")


def without_docstrings(source):
    """Python source of one definition, moved to the left margin, without any docstring in it.

    The docstrings are found in the syntax tree, so no other string is taken for one.
    """
    margin = len(source) - len(source.lstrip(" \t"))
    # An indented definition does not parse by itself; below `if 1:` it does, one line further down.
    tree = ast.parse("if 1:\n" + source if margin else source)
    first = 2 if margin else 1
    lines = source.splitlines()
    inside_strings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            end = node.end_lineno or node.lineno
            inside_strings.update(range(node.lineno + 1 - first, end + 1 - first))
    # From the last to the first, so that a cut does not move the ones before it.
    for node in sorted(_documented(tree), key=lambda node: node.lineno, reverse=True):
        _cut(lines, node, first)
    kept = [
        line if number in inside_strings or line[:margin].strip() else line[margin:]
        for number, line in enumerate(lines)
        if line is not None
    ]
    return "\n".join(kept).strip("\n")


def _documented(tree):
    """Every definition below ``tree`` that begins with a docstring."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [n for n in ast.walk(tree) if isinstance(n, kinds) and ast.get_docstring(n) is not None]


def _cut(lines, node, first):
    """Take a definition's docstring out of ``lines``; lines that vanish become None."""
    text = node.body[0]
    start, end = text.lineno - first, text.end_lineno - first
    # The tree counts columns in UTF-8 bytes.
    before = lines[start].encode()[: text.col_offset].decode()
    after = lines[end].encode()[text.end_col_offset :].decode()
    if len(node.body) == 1:
        # A docstring can be the whole body; without it there would be no definition left.
        kept = before + "..." + after
    elif after.lstrip().startswith(";"):
        kept = before + after.lstrip()[1:].lstrip()
    else:
        kept = before + after.lstrip() if before.strip() or after.strip() else None
    lines[start : end + 1] = [kept] + [None] * (end - start)
    following = end + 1
    while kept is None and following < len(lines) and not (lines[following] or "").strip():
        lines[following] = None
        following += 1


def _source(obj):
    if isinstance(obj, property):
        obj = obj.fget
    obj = getattr(obj, "__func__", obj)
    if not (inspect.isfunction(obj) or inspect.isclass(obj)):
        raise TypeError(f"obj must be a function, class or method written in Python, got {obj!r}")
    if inspect.isfunction(obj) and obj.__name__ == "<lambda>":
        raise TypeError("obj must have a name of its own, got a lambda")
    try:
        return inspect.getsource(obj)
    except (OSError, TypeError):
        raise TypeError(f"obj has no Python source to show, got {obj!r}") from None
