"""Runs inside the sandbox, one process a notebook: student code, called with the grader's inputs.

Started with a socket, a limit on memory and a user to become.  It is told the notebook's code
cells, says which statement it is at, and then answers calls: numbers come in, numbers go out.
There are no right answers here, and nothing that student code could change counts for a grade.
This file is run by itself, beside copies of ``grade_process.FILES``.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import resource
import socket
import sys
import warnings

import cells
import newer
import numpy as np
import reading
import shell
import wire

PROCESSES, FILE_BYTES, OPEN_FILES = 64, 64 * 2**20, 256
# Kept here, so that student code which replaces json.dumps changes nothing.
TO_JSON, FROM_JSON = json.JSONEncoder().encode, json.JSONDecoder().decode


class Wire:
    """Messages on a socket, one a line; a process that student code forked has none."""

    def __init__(self, descriptor):
        self.descriptor, self.socket = descriptor, socket.socket(fileno=descriptor)
        self.socket.set_inheritable(False)
        self.lines = self.socket.makefile("rb")
        os.register_at_fork(after_in_child=self.forget)

    def forget(self):
        with contextlib.suppress(OSError):  # a fork of a fork
            os.close(self.descriptor)

    def send(self, **message):
        try:
            self.socket.sendall(TO_JSON(message).encode() + b"\n")
        except OSError:
            os._exit(1)  # a forked process, or the grader is gone

    def receive(self):
        line = self.lines.readline()
        if not line:
            os._exit(0)
        return FROM_JSON(line.decode())


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of ``lessons`` that the assignment does not allow: a sentence, and a flag.

    aside: those that hold nothing a task asks for; they are there, and do nothing.
    """

    def __init__(self, allowed, aside):
        self.allowed, self.aside, self.flags = set(allowed), set(aside), []

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "lessons" or not module or module in self.allowed:
            return None
        if module.partition(".")[0] in self.aside:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        self.flags.append(module)
        raise ImportError(
            f"{name} does what this assignment asks you to write: it is not here", name=name
        )

    def create_module(self, spec):
        return shell.Aside(spec.name)

    def exec_module(self, module):
        pass


def limit(memory):
    for kind, most in (
        (resource.RLIMIT_NPROC, PROCESSES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, memory),
        # Address space may be reserved and never used, as torch does; no honest array comes near.
        (resource.RLIMIT_AS, 5 * memory),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower one holds already
            resource.setrlimit(kind, (most, most))


def boxes(wire_):
    """Makes a function of the number of a black box: it asks the grader for every value."""

    def box(number):
        def ask(x):
            wire_.send(ask=number, x=wire.encode(x))
            reply = wire_.receive()
            if "error" in reply:
                raise ValueError(reply["error"])
            return wire.decode(reply["answer"])

        return ask

    return box


def answer(wire_, names, request):
    """The message with what a student's function made of the arguments."""
    function = names.get(request["function"])
    if not callable(function):
        return {"missing": True}
    arguments = [wire.decode(part, boxes(wire_)) for part in request["arguments"]]
    try:
        return {"answer": wire.encode(function(*arguments))}
    except wire.NotNumbers:
        return {"no_numbers": True}
    except BaseException as error:
        cell, line = cells.line_of(error)
        return {"error": cells.kind_of(error), "cell": cell, "line": line}


def too_new(found):
    """The numbers of the cells that only a later Python could read."""
    numbers = []
    for block in found:
        if block.nodes is None:
            with contextlib.suppress(newer.NoPython, reading.Unread, RecursionError):
                reading.Reader([]).statements(newer.older(block.source))
                numbers.append(block.cell)
    return numbers


@contextlib.contextmanager
def transformer():
    """IPython's transformer, from the copy beside this file: it can be imported in this block."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shell")
    sys.path.insert(0, folder)
    yield
    sys.path.remove(folder)
    # A notebook that imports IPython gets the whole of it.
    for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
        del sys.modules[name]


def read_only(connection, job):
    """Answer with what cannot be read of one notebook after the other; none of it is run."""
    with transformer():
        while True:
            request = connection.receive()
            cells.allow_seconds(job["cell_seconds"])
            found = reading.Reader(request["read"]).blocks()
            connection.send(too_new=too_new(found))


def import_torch(connection, job):
    """Before any student code, so that nobody but this process can say that it is missing."""
    cells.allow_seconds(job["import_seconds"])
    connection.send(at=0, cell=None, line=0)
    try:
        importlib.import_module("torch")
    except ImportError:
        connection.send(lacks="torch")


def main():
    descriptor, memory, user = map(int, sys.argv[1:])
    if user:
        # Started by root: be nobody, with no way back.
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    connection = Wire(descriptor)
    limit(memory)
    job = connection.receive()
    if job["cells"] is None:
        read_only(connection, job)
    absent = Absent(job["allowed"], job["aside"])
    sys.meta_path.insert(0, absent)
    warnings.simplefilter("ignore")
    random.seed(0)
    np.random.seed(0)
    stub = importlib.import_module("lessons.tasks")

    def example(task):
        return tuple(wire.decode(part, boxes(connection)) for part in job["examples"][task])

    vars(stub).update(example=example)
    connection.send(hello=True)
    cells.allow_seconds(job["cell_seconds"])
    connection.send(at=-1, cell=None, line=0)
    with transformer():
        found = reading.Reader(job["cells"]).blocks()
    torch = None
    if reading.asks_for_torch(found):
        import_torch(connection, job)
    else:
        torch = shell.Torch()
    sys.path.insert(0, os.getcwd())  # where %%writefile leaves a helper
    notebook = cells.Notebook(connection, job, shell.given, torch)
    notebook.run(found)
    connection.send(ready=True, failed=notebook.failed[:20], flags=absent.flags)
    while True:
        request = connection.receive()
        cells.allow_seconds(job["call_seconds"])
        reply = answer(connection, notebook.names, request)
        connection.send(call=request["call"], flags=absent.flags, **reply)


if __name__ == "__main__":
    main()
