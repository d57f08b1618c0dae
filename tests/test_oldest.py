"""What the book cannot be built with is refused in one sentence, before anything is installed."""

import ast
import re
import subprocess
import tomllib

import lock
import oldest
import pytest
import yaml
from conftest import ROOT

# Debian 12's own Python.
HERE = {
    "name": "python3",
    "version": (3, 11, 2),
    "implementation": "CPython",
    "without_lock": False,
    "bits": 64,
    "system": "linux",
    "machine": "x86_64",
    "libc": ("glibc", "2.36"),
    "macos": "",
    "missing": [],
}
MAC = HERE | {"system": "darwin", "machine": "arm64", "libc": ("", ""), "macos": "15.7.2"}


def test_this_python_is_judged_by_what_is_found_and_admitted():
    found = oldest.found()
    assert found.keys() == HERE.keys() and oldest.refusal(found) is None
    assert not oldest.importable("no_such_module")


@pytest.mark.parametrize(
    "here",
    [
        HERE,
        HERE | {"machine": "aarch64", "libc": ("glibc", "2.28")},
        HERE | {"version": (3, 11, 0)},
        HERE | {"version": (3, 14, 10), "libc": ("glibc", "3.0")},
        MAC,
        MAC | {"macos": "14.0"},
        MAC | {"macos": "26.1"},
        MAC | {"macos": "10.16"},
    ],
)
def test_every_python_and_machine_of_the_readme_is_admitted(here):
    assert oldest.refusal(here) is None


REFUSED = {
    "too old": (HERE | {"version": (3, 10, 13)}, "Python 3.11 to 3.14, and `python3` is 3.10.13"),
    "much too old": (HERE | {"version": (2, 7, 18)}, "PYTHON=python3.14"),
    "too new": (HERE | {"version": (3, 15, 0)}, "Python 3.11 to 3.14, and `python3` is 3.15.0"),
    "one that a line refuses": (HERE | {"version": (3, 14, 1)}, "networkx.*a later 3.14, or name"),
    "another major": (HERE | {"version": (4, 0, 0)}, "PYTHON=python3.14"),
    "PyPy": (HERE | {"implementation": "PyPy"}, "`python3` is PyPy"),
    "GraalPy": (HERE | {"implementation": "GraalVM"}, "`python3` is GraalVM"),
    "free-threaded": (HERE | {"without_lock": True}, "free-threaded"),
    "32 bits": (HERE | {"bits": 32}, "a 32-bit one"),
    "Windows": (HERE | {"system": "win32", "machine": "AMD64"}, "in WSL, with Ubuntu"),
    "Windows on Arm": (HERE | {"system": "win32", "machine": "ARM64"}, "in WSL, with Ubuntu"),
    "Cygwin": (HERE | {"system": "cygwin"}, "in WSL, with Ubuntu"),
    "MSYS": (HERE | {"system": "msys"}, "in WSL, with Ubuntu"),
    "Intel Mac": (MAC | {"machine": "x86_64"}, "Apple processor.*on an Intel Mac.*Colab"),
    "POWER": (HERE | {"machine": "ppc64le"}, "linux on ppc64le.*Colab"),
    "RISC-V": (HERE | {"machine": "riscv64"}, "linux on riscv64.*Colab"),
    "32-bit Arm": (HERE | {"machine": "armv7l"}, "linux on armv7l.*Colab"),
    "BSD": (HERE | {"system": "freebsd14", "machine": "amd64"}, "freebsd14 on amd64.*Colab"),
    "Alpine": (HERE | {"libc": ("", "")}, "glibc 2.28 or newer.*Alpine.*Debian 10"),
    "Alpine, named": (HERE | {"libc": ("musl", "1.2.5")}, "glibc 2.28 or newer.*Alpine"),
    "CentOS 7": (HERE | {"libc": ("glibc", "2.17")}, "has glibc 2.17: use Debian 10"),
    "old macOS": (MAC | {"macos": "13.7.8"}, "macOS 14 or newer, and this is 13.7.8: update"),
    "no ensurepip": (HERE | {"missing": ["ensurepip"]}, "apt-get install python3.11-venv`"),
    "no venv": (HERE | {"missing": ["venv", "ensurepip"]}, "lacks its venv and ensurepip"),
}


@pytest.mark.parametrize(("here", "told"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_wheels_is_refused_in_one_sentence_with_the_cure(here, told):
    sentence = oldest.refusal(here)
    assert re.search(told, sentence)
    assert "\n" not in sentence and len(re.findall(r"\.(?: |$)", sentence)) == 1
    assert re.search(r"install|use |update|Colab|WSL", sentence), "no cure is named"


def test_the_two_ends_stand_in_every_place_that_names_them():
    """README, the page for instructors, the package, and the workflows that build with one."""
    first, last = oldest.dotted(oldest.OLDEST), oldest.dotted(oldest.NEWEST)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    assert project["requires-python"] == f">={first}"  # no upper end: Colab installs it as well
    said = [one.rpartition(" :: ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    assert said == [oldest.dotted(python) for python in lock.PYTHONS]
    assert (said[0], said[-1]) == (first, last)
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "book").glob("*.md")]
    end = re.compile(r"(?<!Colab runs )Python 3\.\d+(?: [a-z]+)*(?: 3\.\d+)?")
    named = {page.name: end.findall(page.read_text("utf8")) for page in pages}
    assert named.pop("README.md") == named.pop("instructors.md") == [f"Python {first} to {last}"]
    assert not any(named.values()), named
    setup = yaml.safe_load((ROOT / ".github/actions/setup/action.yml").read_text("utf8"))
    used = {setup["inputs"]["python-version"]["default"]}
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        used |= set(re.findall(r'python-version: "([\d.]+)"', path.read_text("utf8")))
    assert used <= set(said)


def test_readme_names_the_oldest_systems_that_are_admitted():
    text = (ROOT / "README.md").read_text("utf8")
    assert f"glibc {oldest.dotted(oldest.GLIBC)} or newer" in text
    assert f"macOS {oldest.dotted(oldest.MACOS)} or newer" in text


NEWER_WORDS = (ast.JoinedStr, ast.Starred, ast.Nonlocal, ast.YieldFrom)


def too_new_for_python_2(text):
    """What Python 2.7 could not read in a script."""
    try:
        tree = ast.parse(text, feature_version=(3, 4))
    except SyntaxError as error:
        return [error.msg]
    found = [letter for letter in text if not letter.isascii()]
    for node in ast.walk(tree):
        found += [node] * isinstance(node, NEWER_WORDS)
        found += [node] * bool(getattr(node, "annotation", None) or getattr(node, "returns", None))
        found += getattr(node, "kwonlyargs", []) + [node] * bool(getattr(node, "cause", None))
    return found


def test_an_old_python_can_read_what_refuses_it():
    """The other tools are in newer words: an old Python would end with a syntax error."""
    assert too_new_for_python_2((ROOT / "book/tools/oldest.py").read_text("utf8")) == []
    for words in ('f"{1}"', "x: int = 1", "def f(x: int): 1", "[*a, 1]", "'…'", "def f(*, a): 1"):
        assert too_new_for_python_2(words), words


def test_every_command_of_the_makefile_begins_with_the_refusals():
    script = re.compile(r"book/tools/\w+\.py")
    rules = (ROOT / "Makefile").read_text("utf8")
    targets = set(re.findall(r'^([\w-]+):\n\t@.*"\$\(PYTHON\)"', rules, re.M))
    assert {"book", "test", "lock-check"} <= targets
    for target in targets:
        plan = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert script.findall(plan.stdout)[0] == "book/tools/oldest.py", target


def test_a_python_that_is_not_there_is_told_so():
    done = subprocess.run(
        ["make", "book", "PYTHON=python-of-nobody"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode
    assert done.stderr.startswith("There is no `python-of-nobody` here: install Python")
