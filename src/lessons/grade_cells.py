"""Runs inside the sandbox: the statements of a notebook's cells.

They run one by one, so that one that fails, or is skipped because it hung, costs no other.
"""

import ast
import codeop
import inspect
import resource
import sys
import types

# Who speaks of these is the setup cell, which nobody but the book has written.
SETUP = {"find_spec", "invalidate_caches", "metadata", "subprocess"}


def allow_seconds(seconds):
    """Computing time for what comes next; a process that takes more is ended by the system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(used.ru_utime + used.ru_stime + seconds + 1)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def is_stub(node):
    """Whether a statement is a function that only says it is not written."""
    if not isinstance(node, ast.FunctionDef):
        return False
    texts = (ast.Expr, ast.Constant)  # docstring, and ``...``
    body = [part for part in node.body if not _is(part, *texts) and not isinstance(part, ast.Pass)]
    return all(isinstance(p, ast.Raise) and "NotImplementedError" in ast.dump(p) for p in body)


def _is(statement, kind, value):
    return isinstance(statement, kind) and isinstance(statement.value, value)


def is_setup(node):
    """Whether a statement is of the setup cell: how it ends in the sandbox concerns nobody."""
    parts = ast.walk(node)
    return any({getattr(p, "id", None), getattr(p, "attr", None)} & SETUP for p in parts)


class Notebook:
    """The names that a notebook's cells define, run once from top to bottom.

    given: makes of these names what a notebook finds there.  torch: what stands for torch where
    statements only import it; None leaves the import as it is.
    """

    def __init__(self, wire_, job, given, torch=None):
        self.wire, self.seconds, self.torch = wire_, job["cell_seconds"], torch
        self.skip, self.failed = set(job["skip"]), []
        self.compile = codeop.Compile()  # remembers `from __future__` from cell to cell
        self.compile.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        # Student code is the program: dataclasses and pickle look its names up there.
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names = vars(module)
        self.names.update(given(self.names))
        self.shell = self.names["get_ipython"]
        self.stubs, self.loop = {}, None

    def run(self, blocks):
        waiting, step = [], 0
        for cell, nodes, line, _ in blocks:
            if nodes is None:
                self.failed.append((cell, line, "SyntaxError"))
                continue
            allow_seconds(self.seconds)
            for node in nodes:
                step += 1
                if not self.run_statement(cell, node, step, last=False):
                    waiting.append((cell, node, step))
        # Cells in another order: what a name was missing for may run now, and bring another.
        before = None
        while waiting:
            last, before, now = before == len(waiting), len(waiting), waiting
            waiting = []
            for cell, node, step in now:
                allow_seconds(self.seconds)
                if not self.run_statement(cell, node, step, last=last):
                    waiting.append((cell, node, step))

    def run_statement(self, cell, node, step, *, last):
        """False if a name was missing that another cell may bring; then nothing is noted yet."""
        if step in self.skip:
            return True
        stub = is_stub(node)
        if stub and self.names.get(node.name) is not self.stubs.get(node.name):
            return True  # a stub pasted behind the answer
        self.wire.send(at=step, cell=cell, line=node.lineno)
        # Magics ask for it by this name, whatever the notebook has imported.
        self.names["get_ipython"] = self.shell
        try:
            if (node := self._without_torch(node)) is not None:
                code = self.compile(ast.Module([node], []), f"<cell {cell}>", "exec")
                self._execute(code)
        except NameError as error:
            if not last:
                return False
            self.note(cell, error)
        except BaseException as error:
            if not is_setup(node):
                self.note(cell, error)
        else:
            if stub:
                self.stubs[node.name] = self.names.get(node.name)
        return True

    def _without_torch(self, node):
        """The statement without a plain ``import torch``, where something else stands for it."""
        if self.torch is None or not isinstance(node, ast.Import):
            return node
        others = [alias for alias in node.names if alias.name != "torch" or alias.asname]
        if len(others) == len(node.names):
            return node
        self.names["torch"] = self.torch
        return ast.copy_location(ast.Import(others), node) if others else None

    def _execute(self, code):
        awaits = bool(code.co_flags & inspect.CO_COROUTINE)
        if not awaits and "asyncio" not in sys.modules:
            exec(code, self.names)
            return
        # In Jupyter every cell runs inside a loop, the same for all.
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()

        async def inside():
            value = eval(code, self.names)
            if awaits:
                await value

        self.loop.run_until_complete(inside())

    def note(self, cell, error):
        kind, (place, line) = kind_of(error), line_of(error)
        self.failed.append((cell if place is None else place, line, kind))


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
