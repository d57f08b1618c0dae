"""Runs inside the sandbox: the code cells of a notebook, in whatever shape they were handed in.

Statements run one by one, so that one that fails, or is skipped because it hung, costs no other.
"""

import ast
import codeop
import re
import resource
import sys
import types

CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
LINE_MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)\w[\w.]*\s*\?\??$")
PYTHON_MAGICS = {"time", "timeit", "capture", "prun"}


def allow_seconds(seconds):
    """Computing time for what comes next; a process that takes more is ended by the system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(used.ru_utime + used.ru_stime + seconds + 1)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def parsed(cells):
    """[(cell, nodes)]: a cell that is no Python by itself may be half of one that was split."""
    # A line of Python may begin with %, so only what is none is searched for magics.
    cells = [source if _nodes(source) else without_magics(source) for source in cells]
    blocks = []
    number = 0
    while number < len(cells):
        source, cell, nodes = cells[number], number, _nodes(cells[number])
        before = f"{blocks[-1][2]}\n{source}" if blocks else ""
        behind = f"{source}\n{cells[number + 1]}" if number + 1 < len(cells) else ""
        if nodes is None and (joined := _nodes(before)):
            cell, source, nodes = blocks.pop()[0], before, joined
        elif nodes is None and (joined := _nodes(behind)):
            source, nodes, number = behind, joined, number + 1
        blocks.append((cell, nodes, source))
        number += 1
    return [(cell, nodes) for cell, nodes, _ in blocks]


def without_magics(source):
    """The cell as plain Python with as many lines: IPython's own commands become ``pass``."""
    if magic := CELL_MAGIC.match(source):
        if magic[1] not in PYTHON_MAGICS:
            return ""
        source = re.sub(r"^[^\n]*", "", source)
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if found := LINE_MAGIC.match(line):
            lines[number] = f"{found[1] or found[2] or ''}pass"
    return "\n".join(lines)


def _nodes(source):
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def unread_line(source):
    """The line at which Python gives a cell up; 0 if it names none."""
    try:
        ast.parse(without_magics(source))
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        pass
    return 0


def is_stub(node):
    """Whether a statement is a function that only says it is not written."""
    if not isinstance(node, ast.FunctionDef):
        return False
    texts = (ast.Expr, ast.Constant)  # docstring, and ``...``
    body = [part for part in node.body if not _is(part, *texts) and not isinstance(part, ast.Pass)]
    return all(isinstance(p, ast.Raise) and "NotImplementedError" in ast.dump(p) for p in body)


def _is(statement, kind, value):
    return isinstance(statement, kind) and isinstance(statement.value, value)


class Notebook:
    """The names that a notebook's cells define, run once from top to bottom."""

    def __init__(self, wire_, job):
        self.wire, self.seconds = wire_, job["cell_seconds"]
        self.skip, self.failed = set(job["skip"]), []
        self.compile = codeop.Compile()  # remembers `from __future__` from cell to cell
        # Student code is the program: dataclasses and pickle look its names up there.
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names = vars(module)
        self.names.update(display=_nothing, get_ipython=_Shell)
        self.written = set()

    def run(self, cells):
        later = []
        step = 0
        allow_seconds(self.seconds)
        self.wire.send(at=-1, cell=None, line=0)
        for cell, nodes in parsed(cells):
            if nodes is None:
                self.failed.append((cell, unread_line(cells[cell]), "SyntaxError"))
                continue
            allow_seconds(self.seconds)
            for node in nodes:
                step += 1
                if not self.run_statement(cell, node, step, first=True):
                    later.append((cell, node, step))
        # Cells in another order: what a name was missing for may run now.
        for cell, node, step in later:
            allow_seconds(self.seconds)
            self.run_statement(cell, node, step, first=False)

    def run_statement(self, cell, node, step, *, first):
        """False if a name was missing that a later cell may bring."""
        if step in self.skip:
            return True
        name = getattr(node, "name", None)
        if is_stub(node) and name in self.written:
            return True  # a stub pasted behind the answer
        self.wire.send(at=step, cell=cell, line=node.lineno)
        try:
            exec(self.compile(ast.Module([node], []), f"<cell {cell}>", "exec"), self.names)
        except NameError as error:
            if first:
                return False
            self.note(cell, error)
        except BaseException as error:
            self.note(cell, error)
        else:
            if name and not is_stub(node):
                self.written.add(name)
        return True

    def note(self, cell, error):
        kind, (place, line) = kind_of(error), line_of(error)
        self.failed.append((cell if place is None else place, line, kind))


class _Shell:
    """Stands for IPython: whatever is asked of it does nothing."""

    def __getattr__(self, name):
        return _nothing


def _nothing(*arguments, **options):
    return None


def kind_of(error):
    """The name of a built-in error; of any other, that of the built-in one it descends from."""
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")


def line_of(error):
    """(cell, line) of student code where an error was raised, as numbers."""
    cell, line = None, 0
    trace = error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith("<cell "):
            cell, line = int(file[6:-1]), trace.tb_lineno
        trace = trace.tb_next
    return cell, line
