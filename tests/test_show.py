"""lessons.show: the code without its docstrings, and nothing else changed."""

import ast
import functools
import textwrap

import pytest
from IPython.display import Markdown

from lessons.show import show, without_docstrings


def documented(x, y=2):
    """A docstring.

    With a second paragraph.
    """

    # A comment that says why.
    text = """not a docstring"""
    return x + y, text  # trailing


class Thing:
    """What it is."""

    unit = "token"

    def method(self):
        """What it does."""
        return self.unit

    @classmethod
    def make(cls):
        """Another kind of quotes."""
        return cls()

    @property
    def double(self):
        return 2 * self.unit


class Refusal(ValueError):
    """Nothing but a docstring."""


def code(obj):
    shown = show(obj)
    assert isinstance(shown, Markdown)
    first, *body, last = shown.data.split("\n")
    assert (first, last) == ("```python", "```")
    return "\n".join(body)


def test_function_keeps_comments_and_loses_the_docstring():
    assert code(documented) == textwrap.dedent('''\
        def documented(x, y=2):
            # A comment that says why.
            text = """not a docstring"""
            return x + y, text  # trailing''')


def test_class_and_its_methods_lose_theirs():
    source = code(Thing)
    assert "What it" not in source and "quotes" not in source
    assert source.startswith('class Thing:\n    unit = "token"\n')
    assert "    def method(self):\n        return self.unit\n" in source


@pytest.mark.parametrize("obj", [Thing.method, Thing().method])
def test_methods_are_moved_to_the_margin(obj):
    assert code(obj) == "def method(self):\n    return self.unit"


def test_classmethods_and_properties_keep_their_decorator():
    assert (
        code(Thing.make)
        == code(vars(Thing)["make"])
        == "@classmethod\ndef make(cls):\n    return cls()"
    )
    assert code(vars(Thing)["double"]) == "@property\ndef double(self):\n    return 2 * self.unit"


def test_a_body_that_is_only_a_docstring_still_parses():
    assert code(Refusal) == "class Refusal(ValueError):\n    ..."


@pytest.mark.parametrize(
    "source, expected",
    [
        ('def f(): "doc"', "def f(): ..."),
        ('def f():\n    "doc"; return 1', "def f():\n    return 1"),
        ('def f():\n    "döc" ; return "ü"', 'def f():\n    return "ü"'),
        ('def f():\n    "a" "b"\n    return 1', "def f():\n    return 1"),
        ('def f():\n    ("a"\n     "b")\n    return 1', None),
        ('def f():\n    f"{1}"\n    return 1', 'def f():\n    f"{1}"\n    return 1'),
        (
            '    def f(self):\n        """doc\nat the margin"""\n        return 1',
            "def f(self):\n    return 1",
        ),
        (
            '    def f(self):\n        return """a\n    b"""',
            'def f(self):\n    return """a\n    b"""',
        ),
        ('def f():\n    def g():\n        "inner"\n        return 1\n    return g', None),
    ],
)
def test_awkward_sources(source, expected):
    shown = without_docstrings(source)
    if expected is not None:
        assert shown == expected
    tree = ast.parse(shown)
    assert not any(ast.get_docstring(n) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def test_backticks_in_the_code_do_not_close_the_block():
    def fenced():
        return "```"

    assert show(fenced).data.startswith("````python\n") and show(fenced).data.endswith("\n````")


def test_decorated_functions_show_the_one_inside():
    @functools.wraps(documented)
    def wrapper(*args):
        return documented(*args)

    assert code(wrapper).startswith("def documented")


def test_the_output_is_the_same_on_every_run():
    assert show(documented).data == show(documented).data
    assert " at 0x" not in repr(show(documented))


@pytest.mark.parametrize(
    "obj", [len, int, 3, "text", None, ast, functools.partial(documented), Thing(), lambda x: x]
)
def test_refuses_what_has_no_source(obj):
    with pytest.raises(TypeError, match="obj"):
        show(obj)


def test_refuses_code_that_was_never_in_a_file():
    def ghost():
        return 1

    ghost.__code__ = ghost.__code__.replace(co_filename="<nowhere>")
    with pytest.raises(TypeError, match="no Python source"):
        show(ghost)
