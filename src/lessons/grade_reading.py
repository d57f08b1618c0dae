"""Runs inside the sandbox: from the text of code cells to statements, read as Jupyter reads them.

A cell that is no plain Python goes through IPython's own transformer, whose calls of magics and of
the shell ``grade_shell`` answers.  Beyond Jupyter, a cell that was split is put together again.
"""

import ast
import contextlib
import difflib
import re
import signal
import time
from typing import NamedTuple

SECONDS = 5  # of computing, for all cells of a notebook that are no plain Python
PARTS = 8  # cells that one statement may have been split into
# Plain Python all the same, but not what was meant.
PROMPT = re.compile(r"\s*(?:In \[\d+\]: |>>> )")
# Without one of these the transformer has nothing to do.
SPECIAL = re.compile(r"[%!?]|^[ \t]*(?:[/,;]|>>>|In \[)|\A\s*\n?[ \t]", re.M)
# What IPython takes for a magic where it is all of a cell.
AUTOMAGIC = re.compile(
    r"(?:cat|cd|conda|config|cp|env|history|less|load|load_ext|ls|lsmagic|mamba|man|matplotlib|"
    r"mkdir|more|mv|pinfo|pip|precision|prun|pwd|pylab|reload_ext|rm|rmdir|run|set_env|time|"
    r"timeit|uv|who|whos)(?!\.|[^\S\n]*[=(,:\[])(?:[^\S\n].*)?\Z"
)
LISTS = re.compile(r"(?:ls|pwd)(?: +-\w+)*\Z")  # is Python too, with names that nobody has
RUN = ("time", "capture", "prun", "debug")  # magics whose cell is Python, run where it stands
BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)


class Unread(Exception):
    """Text that is no cell; line: where it was given up, 0 if nothing says so."""

    def __init__(self, line=0):
        super().__init__(line)
        self.line = line


class TooSlow(Exception):
    """The time for cells that are no plain Python is used up."""


class Block(NamedTuple):
    """cell: the number of the first cell.  nodes: its statements, None if it cannot be read.

    line: where it was given up.  source: its text, of all cells that were put together.
    """

    cell: int
    nodes: list | None
    line: int
    source: str


class Reader:
    """Reads the cells of one notebook, within a time."""

    def __init__(self, cells, seconds=SECONDS):
        self.cells, self.seconds = cells, seconds
        self.found, self.transform, self.alone = [], None, {}

    def blocks(self):
        """[Block]: the cells in their order; those that stand for one statement are one."""
        number = 0
        while number < len(self.cells):
            number = self._read_one(number)
        return self.found

    def _read_one(self, number):
        """Add the block that begins at a cell; returns the number of the next."""
        source, line = self.cells[number], 0
        goes_on = self._goes_on(number)
        if not goes_on:
            try:
                self.found.append(Block(number, self.statements(source), 0, source))
                return number + 1
            except Unread as unread:
                line = unread.line
        for first, text, following in self._joined(number, goes_on or _is_indented(source)):
            with contextlib.suppress(Unread):
                nodes = self.statements(text)
                if first < number:
                    self.found.pop()
                self.found.append(Block(first, nodes, 0, text))
                return following
        self.found.append(Block(number, None, line, source))
        return number + 1

    def _joined(self, number, backwards):
        """(first cell, text, next cell) of what a cell may be a part of, likeliest first."""
        behind = [self.cells[number : number + more] for more in range(1, PARTS)]
        alone = [(number, parts) for parts in behind[1:]]
        before = self.found[-1] if self.found else None
        after = [(before.cell, [before.source, *parts]) for parts in behind] if before else []
        seen = set()
        for first, parts in after + alone if backwards else alone + after:
            text = "\n".join(parts)
            if text not in seen:  # at the end there is nothing more to join
                seen.add(text)
                yield first, text, number + len(parts) - (first < number)

    def _goes_on(self, number):
        """Whether a cell that begins with spaces goes on with the statement before it.

        IPython takes the spaces off, so it may be whole.  It is a part where the two make sense
        together, and it, or a cell like it right below, makes none alone.
        """
        if not self.found or not _is_indented(self.cells[number]):
            return False
        before = self.found[-1]
        if not self._reads(f"{before.source}\n{self.cells[number]}"):
            return False
        for source in self.cells[number:]:
            if not _is_indented(source):
                return False
            if source not in self.alone:  # once, however many cells are indented
                self.alone[source] = self._reads(source, compiled=True)
            if not self.alone[source]:
                return True
        return False

    def _reads(self, text, *, compiled=False):
        try:
            nodes = self.statements(text)
            if compiled:  # `return` is no statement of a cell, and parses
                flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
                compile(ast.Module(nodes, []), "", "exec", flags)
        except (Unread, *BROKEN):
            return False
        return True

    def statements(self, source):
        """The statements of a cell, at the lines where they stand in it.

        Raises Unread.
        """
        line = 0
        if not PROMPT.match(source) and not LISTS.match(source.strip()):
            try:
                return self._expanded(ast.parse(source).body)
            except BROKEN as error:
                line = getattr(error, "lineno", 0) or 0
        if not SPECIAL.search(source) and not AUTOMAGIC.match(source.strip()):
            raise Unread(line)
        for text in self._plain(source, line):
            try:
                return self._expanded(ast.parse(text).body)
            except BROKEN as error:
                line = line or getattr(error, "lineno", 0) or 0
        raise Unread(line)

    def _plain(self, source, line):
        """(text, plain): a cell after IPython's transformer, first with its lines where they were.

        Raises Unread with the line given if the transformer fails, or takes too long.
        """
        lines = source.split("\n")
        empty = next((n for n, text in enumerate(lines) if text.strip()), 0)
        rest = "\n".join(lines[empty:])
        if AUTOMAGIC.match(rest.strip()):
            rest = f"%{rest.strip()}"
        try:
            with self._in_time():
                plain = self._transformed(rest)
                lines = _at_their_lines(rest.split("\n"), plain.rstrip("\n").split("\n"))
        except Exception:
            raise Unread(line) from None
        return "\n".join([""] * empty + lines), plain

    def _transformed(self, source):
        if self.transform is None:
            from IPython.core.inputtransformer2 import TransformerManager

            self.transform = TransformerManager().transform_cell
        return self.transform(source)

    @contextlib.contextmanager
    def _in_time(self):
        """TooSlow where the notebook's cells have taken more computing than they may."""

        def stop(number, frame):
            raise TooSlow

        start = time.process_time()
        if self.seconds <= 0:
            raise TooSlow
        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            self.seconds -= time.process_time() - start

    def _expanded(self, nodes):
        """The statements, with the cell below %%time and its like in place of the magic's call."""
        found = []
        for node in nodes:
            magic = _cell_magic(node)
            if magic is None or magic[0] not in RUN:
                found.append(node)
                continue
            name, words, body = magic
            try:
                inner = self.statements(body)
            except Unread as unread:
                raise Unread(node.lineno + unread.line) from None
            found += [ast.increment_lineno(part, node.lineno) for part in inner]
            kept = [word for word in words.split() if word.isidentifier()]
            if name == "capture" and kept:
                (keep,) = ast.parse(f"{kept[0]} = get_ipython().getoutput('')").body
                found.append(ast.increment_lineno(keep, node.lineno - 1))
        return found


def _is_indented(source):
    first = next((line for line in source.split("\n") if line.strip()), "")
    return first[:1] in (" ", "\t")


def _at_their_lines(before, after):
    """The lines after the transformer, with empty ones where it made one line of several."""
    if len(before) == len(after):
        return after
    lines = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for _, start, end, first, last in matcher.get_opcodes():
        lines += after[first:last] + [""] * (end - start - last + first)
    return lines


def _cell_magic(node):
    """[name, words, body] of a statement that calls a cell magic with texts; else None."""
    if not isinstance(node, ast.Expr) or not isinstance(call := node.value, ast.Call):
        return None
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "run_cell_magic"
    texts = [part.value for part in call.args if isinstance(part, ast.Constant)]
    if named and len(texts) == len(call.args) == 3 and all(isinstance(t, str) for t in texts):
        return texts
    return None


def asks_for_torch(found):
    """Whether the statements of blocks need torch, and not only what the setup cell asks of it.

    Its import takes seconds: where nothing more is asked, ``grade_shell.Torch`` stands for it.
    """
    for node in (node for block in found for node in block.nodes or ()):
        parts = list(ast.walk(node))
        little = {id(_asked_little(part)) for part in parts}
        if isinstance(node, ast.Import):
            little |= {id(a) for a in node.names if a.name == "torch" and a.asname is None}
        if any(id(part) not in little and _names_torch(part) for part in parts):
            return True
    return False


def _asked_little(node):
    """What stands for torch in ``torch.cuda.is_available`` and ``torch.__version__``, or None."""
    if not isinstance(node, ast.Attribute):
        return None
    inner = node.value
    if node.attr == "is_available" and isinstance(inner, ast.Attribute) and inner.attr == "cuda":
        return inner.value
    return inner if node.attr == "__version__" else None


def _names_torch(node):
    if isinstance(node, ast.Name):
        return node.id == "torch"
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] == "torch"
    if isinstance(node, ast.alias):
        return node.name.partition(".")[0] == "torch"
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        called = name in ("__import__", "import_module")
        return called and any(getattr(part, "value", "") == "torch" for part in node.args)
    return False
