"""Syntax that came after 3.11 is told apart from what is no Python at all."""

import ast
import json
import subprocess
import sys

import pytest

from lessons import grade_newer

# (source, the Python that has it)
NEW = [
    ('x = f"{d["a"]}"', 12),
    ('x = f"{f"{f"{1}"}"}"', 12),
    ("x = f\"{'\\n'.join(a)}\"", 12),
    ('x = f"{\n  a + # } c\n b\n}"', 12),
    ("x = f'''{d['''a''']}'''", 12),
    ('print(f"{a["b"]:{c["d"]}} {{}} \\N{EM DASH} {1!=2}", "z")', 12),
    ('x = f"{x["a"]=}"', 12),
    ('x = f"{d["a"]!r:>10}" "b" r"c"', 12),
    ('x = f"{ {"a": 1}["a"] }"', 12),
    ('x = f"{(lambda q: q["a"])(3)}"', 12),
    ('x = rf"\\d{d["a"]}\\w"', 12),
    ('x = f"{a[":"]}{b["}"]}{c["!"]}"', 12),
    ('x = f"{a["b"] if c == 3 else d["e"]:.2f}"', 12),
    ("def f[T](x: T) -> T:\n    return x", 12),
    ("async def f[T: (int, str), *Ts, **P](x: T): pass", 12),
    ("class A[T](B[T]):\n    x: T", 12),
    ("type X = int", 12),
    ("if 1:\n    type X[T] = list[T]", 12),
    ("def f[T = int](x: T): pass", 13),
    ("try:\n    pass\nexcept A, B:\n    pass", 14),
    ("try:\n    pass\nexcept* A, B.c:\n    pass", 14),
    ('x = t"{a}"', 14),
    ('x = rt"{d["a"]!r:>{w["b"]}}"', 14),
    ('%matplotlib inline\n%%time is no magic here: "{d["a"]}"', None),
]
NEVER = [
    "so here I am (", "def f(:", "x = = 2", 'f"{a b}"', 'f"{a["b"}"', "print 'x'", "f'{}'",
    "def f(x)\n    return 1", "if x = 3: pass", 'f"{a["b"]', "x = 'abc", "def f[]():\n    pass",
    "except A, B:", "try:\n    x\nexcept A as b, C: pass", "type = = 3", "return }", "x =",
    "class A[T: pass", 'f"{x!q}"', 'f"{a["b"] c}"', "import", '"""a', 'f"""{a', "[" * 10_000,
    'f"{' * 3_000, "x = f'{a:{b}'", "type X", "type X[T]",
]  # fmt: skip


def reads(source):
    try:
        ast.parse(source)
    except (SyntaxError, MemoryError, RecursionError):
        return False
    return True


def is_newer(source):
    try:
        return reads(grade_newer.older(source))
    except (grade_newer.NoPython, RecursionError):
        return False


@pytest.mark.parametrize(("source", "since"), NEW)
def test_newer_syntax_is_python_in_older_words(source, since):
    assert is_newer(source) == (since is not None)
    assert reads(source) == (since is not None and sys.version_info >= (3, since))


@pytest.mark.parametrize("source", NEVER)
def test_what_no_python_reads_is_none_in_older_words_either(source):
    assert not reads(source) and not is_newer(source)


@pytest.mark.parametrize(
    "source",
    [
        "x = 1  # it's\ny = 'a' \"b\" f'{x!r:>{y}}'\nz = rb'c'",
        "def f(a, *, b=3):\n    '''Text: type X = [1]'''\n    return a if b else {**a, 'x': b}",
        "try:\n    pass\nexcept (A, B) as e:\n    pass\nexcept C:\n    type = 3\n    type(x)[3]",
        "x = y or'a'\nclass A: pass\nclass B(A): x = [1]",
        "x = f'{x:%H:%M}' f'{{}}' f'{x == 3}' f'{x=}' f'{a:{b}.{c}}'",
    ],
)
def test_python_of_today_stays_python(source):
    assert reads(source) and is_newer(source)


def test_ruff_says_the_same_of_every_sample():
    """A parser that knows all versions; for 3.11 it names what came later."""
    for source, since in [*NEW, *((source, None) for source in NEVER if len(source) < 99)]:
        code = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=PLE"]
        code += ["--output-format=json", "--stdin-filename=x.py", "-"]
        said = {}
        for minor in (11, since or 14):
            run = [*code, f"--target-version=py3{minor}"]
            done = subprocess.run(run, input=source, capture_output=True, text=True)
            said[minor] = [m for m in json.loads(done.stdout) if m["code"] == "invalid-syntax"]
        assert said[11] and (since is None) == bool(said[since or 14]), (source, said)
