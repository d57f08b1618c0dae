"""Other ways to write an answer: functions of its code and of the name of its function."""

import re
import textwrap


def below(template):
    """The code, and more below it; {f} is the function's name."""
    return lambda code, f: f"{code}\n\n{template.replace('{f}', f)}\n"


def inside(head, foot=""):
    """The code inside a statement."""

    def change(code, f):
        end = foot.replace("{f}", f)
        return f"{head.replace('{f}', f)}\n{textwrap.indent(code, '    ')}\n{end}".rstrip() + "\n"

    return change


def renamed(template):
    """The function under another name, _{f}, and {f} made of it below."""
    more = below(template)
    return lambda code, f: more(re.sub(rf"\b{f}\b", f"_{f}", code), f)


def hints(code, f):
    return re.sub(
        r"^def (\w+)\(([^)]*)\):",
        lambda found: f"def {found[1]}({_hinted(found[2])}) -> 'np.ndarray | tuple | None':",
        code,
        flags=re.M,
    )


def _hinted(arguments):
    return ", ".join(f"{name.strip()}: object" for name in arguments.split(","))


def _signature(change):
    return lambda code, f: re.sub(rf"^def {f}\(([^)]*)\):", change, code, count=1, flags=re.M)


def docstring(code, f):
    return re.sub(
        rf"^(def {f}\(.*\):\n)(?: +\"\"\".*\"\"\"\n)?",
        lambda found: (
            f'{found[1]}    r"""Turns it.\n\n    >>> {f}(1)\n%time\n    !ls \\alpha\n    """\n'
        ),
        code,
        count=1,
        flags=re.M,
    )


ANSWERS = {
    "type hints": hints,
    "defaults": _signature(
        lambda m: "def {}({}):".format(
            m[0][4:].partition("(")[0], ", ".join(f"{a.strip()}=None" for a in m[1].split(","))
        )
    ),
    "arguments on lines of their own": _signature(
        lambda m: m[0].replace("(", "(\n    ").replace(", ", ",\n    ").replace("):", ",\n):")
    ),
    "more arguments": _signature(lambda m: m[0].replace("):", ", *more, verbose=False, **rest):")),
    "positional only": _signature(lambda m: m[0].replace("):", ", /):")),
    "docstring": docstring,
    "in if": inside("if True:"),
    "in else": inside("if False:\n    pass\nelse:"),
    "in try": inside("try:", "except ImportError:\n    {f} = None\nfinally:\n    done = True"),
    "in except": inside("try:\n    raise ValueError\nexcept ValueError:"),
    "in with": inside("import contextlib\nwith contextlib.suppress(ValueError):"),
    "in for": inside("for number in range(2):"),
    "in while": inside("while True:", "    break"),
    "in match": lambda code, f: "match 3:\n    case 3:\n" + textwrap.indent(code, "        "),
    "in a function that makes it": inside("def make_{f}():", "    return {f}\n\n{f} = make_{f}()"),
    "in a function, global": inside("def define():\n    global {f}", "define()"),
    "in a class": inside(
        "class Answers_{f}:",
        "globals().update({k: v for k, v in vars(Answers_{f}).items() if callable(v)})",
    ),
    "lambda": renamed("{f} = lambda *a, **k: _{f}(*a, **k)"),
    "lambda over lines": renamed("{f} = (\n    lambda *a:\n    _{f}(*a)\n)"),
    "another name for it": renamed("{f} = _{f}\ndel _{f}"),
    "partial": renamed("import functools\n{f} = functools.partial(_{f})"),
    "decorator": lambda code, f: (
        "import functools\ndef loud(g):\n    @functools.wraps(g)\n    def said(*a, **k):\n"
        f"        print(g.__name__)\n        return g(*a, **k)\n    return said\n@loud\n{code}"
    ),
    "class with call": renamed(
        "class Turner:\n    def __call__(self, *a):\n        return _{f}(*a)\n\n{f} = Turner()"
    ),
    "class made by its call": renamed(
        "class {f}:\n    def __new__(cls, *a):\n        return _{f}(*a)"
    ),
    "bound method": renamed(
        "class Holder_{f}:\n    def run(self, *a):\n        return _{f}(*a)\n"
        "    @staticmethod\n    def still(*a):\n        return _{f}(*a)\n"
        "{f} = Holder_{f}().run\n{f} = Holder_{f}.still"
    ),
    "closure": renamed(
        "def closing(factor):\n    def {f}(*a):\n        assert factor == 2\n"
        "        return _{f}(*a)\n    return {f}\n{f} = closing(2)"
    ),
    "helper below": renamed(
        "def {f}(*a):\n    return helper_{f}(*a)\n\ndef helper_{f}(*a):\n    return _{f}(*a)"
    ),
    "wrong first, right below": lambda code, f: f"def {f}(*a):\n    return 0\n\n{code}",
    "global": renamed(
        "count = 0\ndef {f}(*a):\n    global count\n    count += 1\n    return _{f}(*a)"
    ),
    "walrus": renamed("def {f}(*a):\n    if (n := len(a)) >= 0:\n        return _{f}(*a[:n])"),
    "Unicode names": renamed(
        "θ_ᵢ, Δ, größe = 1, 2, 3\ndef 回転(*a):\n    ω = Δ\n    return _{f}(*a)\n{f} = 回転"
    ),
    "line continuation": renamed("def {f} \\\n    (*a): \\\n    return \\\n        _{f}(*a)"),
    "on one line": renamed("def {f}(*a): x = 1; return _{f}(*a)"),
    "through globals": renamed("globals()['{f}'] = _{f}"),
    "through exec": renamed("exec('def {f}(*a):\\n    return _{f}(*a)')"),
    "through setattr": renamed("import sys\nsetattr(sys.modules['__main__'], '{f}', _{f})"),
    "through import": renamed("from __main__ import _{f} as {f}"),
    "dataclass": renamed(
        "from dataclasses import dataclass\n@dataclass\nclass Data:\n    scale: float = 1.0\n"
        "    def __call__(self, *a):\n        return _{f}(*a)\n{f} = Data(scale=2.0)"
    ),
    "cached": renamed(
        "import functools\n@functools.lru_cache\ndef kept_{f}(n):\n    return n\n"
        "def {f}(*a):\n    kept_{f}(3)\n    return _{f}(*a)"
    ),
    "match inside": renamed(
        "def {f}(*a):\n    match len(a):\n        case n if n >= 0:\n            return _{f}(*a)"
    ),
    "a loop that runs asyncio": renamed(
        "import asyncio\nasync def soon(*a):\n    await asyncio.sleep(0)\n    return _{f}(*a)\n"
        "def {f}(*a):\n    loop = asyncio.new_event_loop()\n    try:\n"
        "        return next(iter([_{f}(*a)]))\n    finally:\n        loop.close()"
    ),
    "a generator inside": renamed("def {f}(*a):\n    return next(_{f}(*a) for _ in range(1))"),
    "a thread": renamed(
        "from concurrent.futures import ThreadPoolExecutor\ndef {f}(*a):\n"
        "    with ThreadPoolExecutor(1) as pool:\n        return pool.submit(_{f}, *a).result()"
    ),
    "assertions and prints": renamed(
        "def {f}(*a):\n    assert a, 'nothing'\n    print(f'{f} {len(a)=}')\n    return _{f}(*a)"
    ),
    "tuple assignment": renamed("{f}, other = _{f}, 3"),
    "with a type": renamed("from collections.abc import Callable\n{f}: Callable = _{f}"),
}
