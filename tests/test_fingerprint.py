"""The hash of code: what works the same hashes the same, what works otherwise does not."""

import importlib.util

import pytest

from lessons import alibi, layers, studies, training
from lessons.fingerprint import code_hash

BASE = """
def f(x, n=2):
    if n:
        x = x + 1
    return [x * n, -1.5, f"{n:.2f} tokens"]
"""
SAME = {
    "a docstring": BASE.replace("n=2):", 'n=2):\n    """What it does."""'),
    "a docstring of many lines": BASE.replace(
        "n=2):", 'n=2):\n    """What it does.\n\n    x: a number.\n    """\n'
    ),
    "comments": """
# Before.
def f(x, n=2):  # beside
    # within
    if n:
        x = x + 1
    return [x * n, -1.5, f"{n:.2f} tokens"]
    # after
""",
    "line breaks, spaces, quotes and brackets": """
def f(
    x,
    n = 2):


    if (n):
     x = x+1
    return [
        x*n,
        -1.5,
        f'{n:.2f} ' 'tokens',
    ]
""",
}
OTHER = {
    "a constant": BASE.replace("1.5", "1.6"),
    "a default": BASE.replace("n=2", "n=3"),
    "an operator": BASE.replace("x * n", "x / n"),
    "a name": BASE.replace("x", "y"),
    "a sign": BASE.replace("-1.5", "1.5"),
    "a string that is used": BASE.replace("tokens", "token"),
    "a space in a string": BASE.replace(" tokens", "  tokens"),
    "a format": BASE.replace(".2f", ".3f"),
    "a statement more": BASE.replace("    return", "    n = n + 1\n    return"),
    "an indent": BASE.replace("    return", "        return"),
    "a decorator": "import functools\n@functools.cache" + BASE,
}


@pytest.fixture
def loaded(tmp_path):
    """The function f, and its module, from a source."""

    def load(source):
        path = tmp_path / f"m{len(list(tmp_path.iterdir()))}.py"
        path.write_text(source, "utf8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f, module

    return load


@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_what_works_the_same_hashes_the_same(source, loaded):
    for one, other in zip(loaded(BASE), loaded(source), strict=True):
        assert code_hash(one) == code_hash(other)


@pytest.mark.parametrize("source", OTHER.values(), ids=OTHER)
def test_what_works_otherwise_hashes_otherwise(source, loaded):
    for one, other in zip(loaded(BASE), loaded(source), strict=True):
        assert code_hash(one) != code_hash(other)


def test_order_and_number_count():
    assert (
        len({code_hash(*of) for of in ([alibi], [training], [alibi, training], [training, alibi])})
        == 4
    )


def test_functions_methods_classes_and_modules_have_one():
    found = {code_hash(of) for of in (alibi.bias, layers.Alibi.bias, layers.Alibi, layers)}
    assert len(found) == 4 and all(len(each) == 64 for each in found)


@pytest.mark.parametrize("thing", [3, "text", len, None])
def test_what_has_no_source_is_refused(thing):
    with pytest.raises(TypeError):
        code_hash(alibi, thing)


@pytest.mark.parametrize("name", studies.STUDIES)
def test_every_study_has_a_hash_of_its_own(name):
    others = [s for other, s in studies.STUDIES.items() if other != name]
    assert code_hash(*studies.STUDIES[name].code) not in [code_hash(*s.code) for s in others]
