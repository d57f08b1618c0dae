"""Where code stands in a notebook: functions of the cells of a right one, which leave it right."""

import ast
import re
import textwrap
from typing import NamedTuple

from rearranged_code import ANSWERS
from rearranged_magics import ADDED

from lessons import tasks


class Cell(NamedTuple):
    """role: setup, imports, answer, example, check or text.  task: the answer's."""

    kind: str
    source: str
    role: str = "example"
    task: str = ""


def functions(name):
    """{task: the function that it asks for}."""
    return {task.id: task.function for task in tasks.assignment(name).tasks if task.function}


def code(source, role="example"):
    return Cell("code", source, role)


def of(cells, *roles):
    return [cell for cell in cells if cell.role in roles]


def but(cells, *roles):
    return [cell for cell in cells if cell.role not in roles]


def merged(cells):
    return code("\n\n".join(cell.source for cell in cells if cell.kind == "code"))


def each(cells, change, *roles):
    """The cells with the source of those of some roles, or of all code, changed."""
    return [
        cell._replace(source=change(cell.source))
        if cell.kind == "code" and (not roles or cell.role in roles)
        else cell
        for cell in cells
    ]


def statements(source):
    """The top-level statements of a source, each with the comments and blank lines before it."""
    ends = [node.end_lineno for node in ast.parse(source).body]
    lines = source.split("\n")
    starts = [0, *ends[:-1]]
    return ["\n".join(lines[a:b]) for a, b in zip(starts, ends, strict=True)]


def apart(cell):
    return [cell._replace(source=part) for part in statements(cell.source)]


def halves(cell, parts=2):
    lines = cell.source.split("\n")
    size = max(2, -(-len(lines) // parts))
    cuts = [lines[i : i + size] for i in range(0, len(lines), size)]
    return [cell._replace(source="\n".join(cut)) for cut in cuts]


def between(cells, *more):
    """More cells before every code cell."""
    return [part for cell in cells for part in ([*more, cell] if cell.kind == "code" else [cell])]


def prompts(first, second):
    def change(source):
        lines = source.split("\n")
        return "\n".join([first + lines[0], *(second + line for line in lines[1:])])

    return change


def indented(by):
    return lambda source: textwrap.indent(source, by)


STUB = 'def {0}(*arguments):\n    """Text."""\n    raise NotImplementedError("not written yet")'


def stubs(cells, name):
    return [code(STUB.format(function)) for function in functions(name).values()]


def _with_checks(cells):
    groups = []
    for cell in cells:
        if cell.role == "answer" or not groups:
            groups.append([])
        groups[-1].append(cell)
    return [merged(group) for group in groups]


def _two(parts):
    return parts[: len(parts) // 2], parts[len(parts) // 2 :]


def _around(two, cell):
    return [merged(two[0]), cell, merged(two[1])]


def _whole(cells):
    """A prompt of Python takes one statement."""
    return [part for cell in cells for part in (apart(cell) if cell.kind == "code" else [cell])]


def _tabs(source):
    return re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), source, flags=re.M)


def _first_line(source, line):
    """The source with a line put before the first return of its first function."""
    node = ast.parse(source).body[0]
    last = node.body[-1]
    lines = source.split("\n")
    lines.insert(last.lineno - 1, " " * last.col_offset + line)
    return "\n".join(lines)


def _setup_names(cells):
    """Every name that the given setup cell binds is asked for inside the first answer."""
    (setup,) = of(cells, "setup")
    names = set()
    for node in ast.walk(ast.parse(setup.source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
    for node in ast.parse(setup.source).body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
    line = f"assert None not in ({', '.join(sorted(names))})"
    first = of(cells, "answer")[0]
    return [
        cell._replace(source=_first_line(cell.source, line)) if cell is first else cell
        for cell in cells
    ]


def _split(cells, parts):
    return [
        part
        for cell in cells
        for part in (halves(cell, parts) if cell.role == "answer" else [cell])
    ]


def _changed(change):
    """A shape whose answers are written in another way."""

    def shape(cells, name):
        asked = functions(name)
        return [
            cell._replace(source=change(cell.source.rstrip() + "\n", asked[cell.task]))
            if cell.role == "answer"
            else cell
            for cell in cells
        ]

    return shape


def _added(more):
    """A shape with other cells between the given ones; {cell} takes an answer's place."""

    def shape(cells, name):
        if any("{cell}" in source for source in more):
            found = []
            for cell in cells:
                if cell.role == "answer":
                    found += [code(source.replace("{cell}", cell.source)) for source in more]
                else:
                    found.append(cell)
            return found
        setup = [*of(cells, "setup", "imports")]
        extra = [code(source) for source in more]
        return [*setup, *extra, *between(but(cells, "setup", "imports"), *extra)]

    return shape


OWN = {
    "as given": lambda c, n: c,
    "all in one cell": lambda c, n: [merged(c)],
    "all in one cell, below the text": lambda c, n: [*of(c, "text"), merged(c)],
    "setup and imports in one": lambda c, n: [
        merged(of(c, "setup", "imports")), *but(c, "setup", "imports")
    ],
    "setup and the first answer in one": lambda c, n: [
        *of(c, "imports"), merged([*of(c, "setup"), of(c, "answer")[0]]),
        *of(c, "answer")[1:], *of(c, "example", "check"),
    ],
    "the first answer and setup in one": lambda c, n: [
        *of(c, "imports"), merged([of(c, "answer")[0], *of(c, "setup")]),
        *of(c, "answer")[1:], *of(c, "check"),
    ],
    "setup and the answers in one": lambda c, n: [
        merged(of(c, "setup", "imports", "answer")), *of(c, "check")
    ],
    "imports and the answers in one": lambda c, n: [
        *of(c, "setup"), merged(of(c, "imports", "answer")), *of(c, "example", "check")
    ],
    "answers in one": lambda c, n: [
        *of(c, "setup", "imports"), merged(of(c, "answer")), *of(c, "example", "check")
    ],
    "each answer with its checks": lambda c, n: [
        *of(c, "setup", "imports"), *_with_checks(but(c, "setup", "imports", "text"))
    ],
    "each statement a cell": lambda c, n: [p for x in c if x.kind == "code" for p in apart(x)],
    "setup in two cells": lambda c, n: [
        *(merged(p) for p in _two(apart(of(c, "setup")[0]))), *but(c, "setup")
    ],
    "setup in two cells with an answer between": lambda c, n: [
        *of(c, "imports"), *_around(_two(apart(of(c, "setup")[0])), of(c, "answer")[0]),
        *of(c, "answer")[1:], *of(c, "check"),
    ],
    "answers first, checks last": lambda c, n: [
        *of(c, "setup", "imports", "answer"), *of(c, "example", "check")
    ],
    "answers from last to first": lambda c, n: [
        *of(c, "setup", "imports"), *of(c, "answer")[::-1], *of(c, "example", "check")
    ],
    "no checks": lambda c, n: but(c, "check", "example"),
    "no text": lambda c, n: but(c, "text"),
    "text between": lambda c, n: between(c, Cell("markdown", "## My notes\n\n- `x = 1`", "text")),
    "empty cells between": lambda c, n: between(c, code(""), code("  \n\n"), code("# only words")),
    "raw cells between": lambda c, n: between(c, Cell("raw", "def so here (:", "text")),
    "every cell twice": lambda c, n: [x for x in c for _ in range(2)],
    "the whole twice": lambda c, n: [*c, *c],
    "setup twice, second at the end": lambda c, n: [*c, *of(c, "setup")],
    "stubs pasted before": lambda c, n: [*of(c, "setup", "imports"), *stubs(c, n), *c],
    "answers redone below": lambda c, n: [
        *c, *each(of(c, "answer"), lambda s: s + "\n# again"), *of(c, "check")
    ],
    "indented by four": lambda c, n: each(c, indented("    ")),
    "indented by a tab": lambda c, n: each(c, indented("\t")),
    "answers indented": lambda c, n: each(c, indented("  "), "answer"),
    "prompts of Python": lambda c, n: each(c, prompts(">>> ", "... "), "answer", "imports"),
    "prompts of Python everywhere": lambda c, n: each(_whole(c), prompts(">>> ", "... ")),
    "prompts of IPython": lambda c, n: each(c, prompts("In [1]: ", "   ...: ")),
    "prompts of IPython, two digits": lambda c, n: each(c, prompts("In [12]: ", "    ...: ")),
    "prompts before one statement": lambda c, n: [
        *c, code("In [3]: y = 5"), code(">>> z = 6"), code("In [4]: assert y == 5 and z == 6")
    ],
    "Windows line ends in the cells": lambda c, n: each(c, lambda s: s.replace("\n", "\r\n")),
    "old Mac line ends in the cells": lambda c, n: each(c, lambda s: s.replace("\n", "\r")),
    "tabs": lambda c, n: each(c, lambda s: _tabs(s)),
    "blank lines around": lambda c, n: each(c, lambda s: f"\n\n\n{s}\n\n\n"),
    "spaces at the ends of lines": lambda c, n: each(c, lambda s: s.replace("\n", "  \n") + "   "),
    "comments": lambda c, n: each(
        c, lambda s: f"# %% what!\n# ?\n{s}  # done?\n# !ls\n# %time", "answer"
    ),
    "a string of magics": lambda c, n: [
        code('"""\n%matplotlib inline\n!ls\n?x\n%%time\n"""\ntext = """\n!pip\n%cd x\n"""'), *c
    ],
    "a remainder at the start of a line": lambda c, n: [
        *c, code("a = (7\n     % 4)\nassert a == 3")
    ],
    "names of the setup cell": lambda c, n: _setup_names(c),
    "device in an answer": lambda c, n: each(
        c, lambda s: _first_line(s, 'assert device in ("cuda", "cpu") and sys.version'), "answer"
    ),
    "noise": lambda c, n: between(
        c, code("print('x' * 100_000)"), code("import warnings\nwarnings.warn('careful')"),
        code("import sys\nsys.stderr.write('!')\nsys.stdout.flush();"),
        code("import logging;\nlogging.warning('x')"),
    ),
    "plots": lambda c, n: [
        *c, code("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()"),
        code("ax.plot([1, 2])\nplt.show()"),
        code("plt.imshow(np.eye(3)); plt.colorbar(); plt.savefig('figure.png')"),
    ],
    "widgets": lambda c, n: [
        code("import lessons.circle_widget\nfrom lessons import widgets, plots, show\n"
             "from lessons.circle_widget import Circle\nCircle(start=3)\n"
             "plots.heatmap([[1]], x_label='x', y_label='y')\n"
             "from lessons.grid_widget import *\nplots.style()"),
        *c,
    ],
    "wildcards": lambda c, n: [
        *of(c, "setup"),
        code("from math import *\nfrom numpy.linalg import *\nfrom lessons.tasks import *"),
        *but(c, "setup"),
    ],
    "future": lambda c, n: [code("from __future__ import annotations"), *c],
    "future in every answer": lambda c, n: each(
        c, lambda s: f"from __future__ import annotations\n{s}", "answer"
    ),
    "semicolons": lambda c, n: [*each(c, lambda s: f"{s.rstrip()}\nx = 1; y = 2;", "answer")],
    "await": lambda c, n: [
        code("import asyncio\nawait asyncio.sleep(0)"),
        code("async def ready(x):\n    return x\nfour = await ready(4)"),
        code("async def count():\n    for i in range(3):\n        yield i\n"
             "seen = []\nasync for i in count():\n    seen.append(i)\nassert seen == [0, 1, 2]\n"
             "assert [i async for i in count()] == [0, 1, 2] and four == 4"),
        code("import contextlib\n@contextlib.asynccontextmanager\nasync def held():\n    yield 5\n"
             "async with held() as five:\n    pass\nassert five == 5"),
        code("task = asyncio.create_task(ready(7))"), code("assert await task == 7"),
        code("assert asyncio.get_running_loop().is_running()"),
        *each(c, lambda s: f"await asyncio.sleep(0)\n{s}\nawait ready(1)", "answer"),
    ],
    "torch by itself": lambda c, n: [code("import torch\nx = torch.ones(2)"), *c],
    "a cell that fails": lambda c, n: between(c, code("1 / 0"), code("assert False, 'why'")),
    "display": lambda c, n: [
        code("from IPython.display import display, Markdown, HTML, clear_output\nclear_output()\n"
             "display(Markdown('**x**'))\nfrom IPython import get_ipython"),
        code("display(3, 4)\nshell = get_ipython()\nstr(shell)\n%matplotlib inline"),
        code("%time q = 5\nassert q == 5"),
        *c,
    ],
    # What Jupyter would not run from top to bottom.
    "answers below their checks": lambda c, n: [
        *of(c, "setup", "imports", "example", "check"), *of(c, "answer")
    ],
    "from last to first": lambda c, n: c[::-1],
    "setup last": lambda c, n: [*but(c, "setup"), *of(c, "setup")],
    "a byte-order mark in a cell": lambda c, n: each(c, lambda s: f"\ufeff{s}", "answer"),
    "stubs pasted behind": lambda c, n: [*c, *stubs(c, n)],
    "stubs pasted behind in one cell": lambda c, n: [*c, merged(stubs(c, n))],
    "answers in halves": lambda c, n: _split(c, 2),
    "answers in thirds": lambda c, n: _split(c, 3),
    "answers line by line": lambda c, n: _split(c, 99),
    "half a sentence": lambda c, n: between(c, code("and here I got stuck (")),
    "a helper for a decorator below": lambda c, n: [
        *of(c, "setup", "imports"),
        *each(of(c, "answer"), lambda s: f"@same\n{s}"),
        code("same = also_same"), code("also_same = third"), code("def third(f):\n    return f"),
    ],
}  # fmt: skip
# Notes on these are right: something did fail.
FAILING = {"a cell that fails", "half a sentence"}
SHAPES = (
    OWN
    | {f"answer: {key}": _changed(change) for key, change in ANSWERS.items()}
    | {f"added: {key}": _added(more) for key, more in ADDED.items()}
)
LENIENT = {*[*OWN][[*OWN].index("answers below their checks") :]}
LENIENT |= {"added: timed, awaited", "added: pip by itself"}
