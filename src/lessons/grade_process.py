"""A process for one notebook's code, and the talk with it over a socket.

Everything it sends is taken for anybody's: lines of JSON of bounded length, that must come in time.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from lessons import grade_layout, grade_python, grade_sandbox

PACKAGE = grade_sandbox.PACKAGE
MODULES = {path.name for path in PACKAGE.glob("*.py")}
MESSAGE = 8 * 2**20  # bytes
MESSAGES = 5000  # in one call: the questions to black boxes
READING, TORCH = -1, 0  # where the worker is before it runs the first statement


class Broken(Exception):
    """The process could not even begin: no fault of the student's."""


class Stopped(Exception):
    """The process ended, or was ended, while student code ran; the text says how.

    at: the statement it was at, None if it was in a call.
    """

    def __init__(self, how, at=None, place=(None, 0)):
        super().__init__(how)
        self.at, self.place = at, place


class Limits(NamedTuple):
    """What a notebook may use up: seconds of computing for a cell, a call, the import of torch.

    memory: bytes of each process.  patience: waiting, as a multiple of computing.
    notebook: seconds for the whole of it, waiting too.
    """

    cell: float = 10
    call: float = 5
    torch: float = 60
    memory: int = 3 * 2**30
    patience: float = 4
    notebook: float = 300


LIMITS = Limits()


class Bench:
    """What all notebooks of a run share: the worker's files, laid out once.

    bwrap None: no walls.  python: a ``grade_python.Python``, by default the one that runs this.
    """

    def __init__(self, bwrap, allowed, examples, limits=LIMITS, python=None):
        self.examples, self.python = examples, python or grade_python.own()
        self.bwrap, self.allowed, self.limits = bwrap, tuple(allowed), limits
        self.folder = Path(tempfile.mkdtemp(prefix="grade-"))
        self.running, self.stopped, self.aside = set(), False, grade_layout.aside()
        grade_layout.lay_out(self.folder, self.allowed)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """End the processes that are running, and start no more; nobody is graded by that."""
        self.stopped = True
        for process in list(self.running):
            process.kill()

    def start(self, cells, skip, until):
        """A Process that has been told the notebook's cells, and what of them to leave out.

        cells: None for a process that only reads, and runs nothing.
        until: the time by which it must be done with everything.
        Raises Broken after ``stop``.
        """
        if self.stopped:
            raise Broken("stopped")
        return Process(self, cells, skip, until)


class Reading:
    """One process that reads notebooks and runs none; where one of them ends it, another."""

    def __init__(self, bench):
        self.bench, self.process = bench, None

    def too_new(self, cells):
        """The numbers of the cells that only a later Python than the sandbox's could read."""
        until = time.monotonic() + self.bench.limits.notebook
        if self.process is None:
            self.process = self.bench.start(None, (), until)
        self.process.until = until
        try:
            return self.process.too_new(cells)
        except (Stopped, Broken):  # then the grading of this notebook will say what it is
            self.close()
            return []

    def close(self):
        if self.process is not None:
            self.process.close()
            self.process = None


class Process:
    """One process with a notebook's functions; a context manager that leaves nothing running."""

    def __init__(self, bench, cells, skip, until):
        self.bench, self.limits, self.flags, self.failed = bench, bench.limits, set(), []
        self.socket, theirs = socket.socketpair()
        with theirs:
            arguments = [str(theirs.fileno()), str(self.limits.memory)]
            python = bench.python
            self.process = subprocess.Popen(
                grade_sandbox.command(bench.bwrap, str(bench.folder), arguments, python),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # 40 MB of print cost nothing
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                # Without walls, what %%writefile leaves is still in nobody else's way.
                cwd=bench.folder if bench.bwrap else tempfile.mkdtemp(dir=bench.folder),
                env=grade_sandbox.environment(python),
                start_new_session=True,
            )
        bench.running.add(self)
        self.buffer, self.calls, self.begun = bytearray(), 0, False
        self.at, self.place, self.until = None, (None, 0), until
        self._send(
            cells=cells,
            skip=sorted(skip),
            allowed=[grade_layout.NEEDED, "tasks", *bench.allowed],
            aside=bench.aside,
            examples=bench.examples.arguments,
            cell_seconds=self.limits.cell,
            call_seconds=self.limits.call,
            import_seconds=self.limits.torch,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.kill()
        self.process.wait()
        self.socket.close()
        self.bench.running.discard(self)

    def kill(self):
        # bubblewrap's end is the end of all processes in its namespace.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def run_cells(self):
        """Wait until the notebook has run from top to bottom."""
        seconds = self.limits.torch
        while True:
            message = self._receive(seconds)
            self.begun = True
            if "ask" in message:
                self._send(**self.bench.examples.answer(message))
                continue
            if "ready" in message:
                self.at = None
                self.failed = message.get("failed")
                return
            if "hello" in message:
                continue
            at = message.get("at")
            # What comes before all statements is told by the worker alone; later on, a message
            # of that kind could only be student code's.
            early = self.at in (None, READING, TORCH)
            if early and message.get("lacks") == "torch":
                raise Broken(f"it uses torch, and {self.bench.python.executable} has none")
            if type(at) is not int or (at <= TORCH and not early):
                raise self._stopped("wrote to the grader by itself")
            self.at, self.place = at, (message.get("cell"), message.get("line"))
            seconds = self.limits.torch if at == TORCH else self.limits.cell

    def too_new(self, cells):
        """The numbers of the cells that only a later Python than the sandbox's could read."""
        self._send(read=cells)
        numbers = self._receive(self.limits.cell).get("too_new")
        self.begun = True
        return [n for n in numbers if type(n) is int] if isinstance(numbers, list) else []

    def call(self, function, arguments, answer):
        """The message with what the student's function made of encoded arguments.

        answer: what a black box among them says to a message that asks it.
        """
        self.calls += 1
        self._send(call=self.calls, function=function, arguments=arguments)
        until = time.monotonic() + self.limits.call * self.limits.patience
        for _ in range(MESSAGES):
            message = self._receive(None, until)
            if "ask" in message:
                self._send(**answer(message))
            elif message.get("call") == self.calls:
                return message
            # Else student code wrote to the socket in an earlier call: that costs this one nothing.
        raise self._stopped("wrote to the grader by itself")

    def _send(self, **message):
        self.socket.settimeout(self.limits.call * self.limits.patience)
        with contextlib.suppress(OSError):  # a dead process: the next _receive says how it died
            self.socket.sendall(json.dumps(message).encode() + b"\n")

    def _receive(self, seconds, until=None):
        until = until or time.monotonic() + seconds * self.limits.patience
        until = min(until, self.until)
        while b"\n" not in self.buffer:
            if len(self.buffer) > MESSAGE:
                raise self._stopped("sent more than a task can ask for")
            self.socket.settimeout(max(0.01, until - time.monotonic()))
            try:
                part = self.socket.recv(2**16)
            except TimeoutError:
                raise self._stopped("took too long") from None
            except OSError:
                part = b""
            if not part:
                raise self._stopped(self._death())
            self.buffer += part
        line, _, rest = self.buffer.partition(b"\n")
        self.buffer = rest
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise self._stopped("wrote to the grader by itself")
        flags = message.get("flags")
        for flag in flags[:20] if isinstance(flags, list) else ():
            name = flag.partition(".")[0] if isinstance(flag, str) else ""
            if f"{name}.py" in MODULES:
                self.flags.add(f"imported lessons.{name}")
        return message

    def _stopped(self, how):
        if self.bench.stopped:
            return Broken("stopped")
        if not self.begun:
            return Broken(f"the sandbox did not start: {how}")
        return Stopped(how, self.at, self.place)

    def _death(self):
        try:
            code = self.process.wait(self.limits.call * self.limits.patience)
        except subprocess.TimeoutExpired:
            return "closed the connection"
        number = -code if code < 0 else code - 128
        if number == signal.SIGXCPU:
            return "took too long"
        return "ended the program" if number <= 0 else "crashed the program"
