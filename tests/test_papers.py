"""The files for whoever carries on say what is true: versions, targets, forms, hooks."""

import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml
from conftest import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf8")
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[0-9]*.yml"))
CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf8"))
HOOKS = {hook["id"]: hook for repo in CONFIG["repos"] for hook in repo["hooks"]}


def section(title):
    """The text below a heading of CONTRIBUTING.md, up to the next of its kind."""
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", CONTRIBUTING, re.M | re.S)[1]


def test_a_lesson_is_added_in_ten_steps():
    steps = re.findall(r"^(\d+)\. \*\*", section("To add a lesson, in ten steps"), re.M)
    assert steps == [str(n) for n in range(1, 11)]


def test_every_rule_has_its_reason():
    rules = re.split(r"^- ", section("The rules, and why"), flags=re.M)[1:]
    assert len(rules) > 15
    assert [rule for rule in rules if rule.count("\n  *Why:* ") != 1] == []


def test_a_release_has_one_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf8"), re.M)[1]
    assert version == cited == newest
    assert "CITATION.cff" in section("To make a release")


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md"]
)
def test_commands_and_files_that_are_named_exist(name):
    text = (ROOT / name).read_text("utf8")
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf8"), re.M)
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= set(targets)
    places = re.findall(r"`((?:tests|book|src|\.github|\.ci)/[\w./*-]+)`", text)
    patterns = [place.rstrip("/").replace("NN", "*") for place in places]
    assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []


@pytest.mark.parametrize("name", ["README.md", "book/instructors.md"])
def test_a_fork_is_told_what_to_switch_on_and_to_edit_nothing(name):
    text = (ROOT / name).read_text("utf8")
    said = text[text.index("allow the workflows under *Actions*") :].split("\n## ")[0]
    for told in ("*Settings → Pages → GitHub Actions*", "Nothing has to be edited", "`colab`"):
        assert told in said, told
    publish = (ROOT / ".github/workflows/publish.yml").read_text("utf8")
    assert "Nothing has to be edited" in publish and "publish_colab.py" in publish


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_form_is_one_that_github_shows(path):
    form = yaml.safe_load(path.read_text("utf8"))
    assert form["name"] and form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    names = [field["id"] for field in fields]
    assert len(names) == len(set(names)) >= 1
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown"}
    assert all(field["attributes"]["label"] for field in fields)


def test_hooks_need_no_network():
    assert {repo["repo"] for repo in CONFIG["repos"]} == {"local"}
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}
    assert set(HOOKS) == {"ruff", "ruff-format", "notebook-form"}


FAULTS = {"ruff": "import os\n", "ruff-format": "x = {  }\n"}


@pytest.mark.parametrize("name", FAULTS)
def test_hook_passes_our_files_and_stops_a_fault(name, tmp_path):
    entry = HOOKS[name]["entry"].replace(".venv/bin/python", shlex.quote(sys.executable))
    entry += " --config pyproject.toml --no-cache"
    entry += " --check" if name == "ruff-format" else ""
    fault = tmp_path / "fault.py"
    fault.write_text(FAULTS[name])
    for path, good in ((__file__, True), (str(fault), False)):
        done = subprocess.run([*shlex.split(entry), path], cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode == 0) == good, done.stdout + done.stderr


def test_notebook_hook_picks_the_tests_of_the_form():
    words = shlex.split(HOOKS["notebook-form"]["entry"])
    written = re.findall(r"^def test_(\w+)", (ROOT / words[-3]).read_text("utf8"), re.M)
    picked = [name for name in written if any(w in name for w in words[-1].split(" or "))]
    assert picked == [
        "notebook_keeps",
        "notebook_starts_as_the_template",
        "notebook_is_saved_in_the_one_form",
    ]
