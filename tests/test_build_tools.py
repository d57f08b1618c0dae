"""The tools of a build: an environment, packages and stages that end with a sentence."""

import sys
import threading
from pathlib import Path

import environment
import pytest
import stages
import vendor


def test_no_registry_is_a_warning_not_an_end(monkeypatch, tmp_path):
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(vendor, "TEX_IN_NODE", tmp_path / "mathjax")
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    said = []
    vendor.fetch_pages(said.append)
    assert "using the default CDNs" in said[0]
    assert not (tmp_path / "vendor").exists()


def test_environment_that_is_half_made_is_made_and_one_that_was_moved_is_refused(
    monkeypatch, tmp_path
):
    for module, name, value in (
        (stages, "LOGS", tmp_path),
        (environment, "VENV", tmp_path / "a book" / ".venv"),
        (environment, "PYTHON", tmp_path / "a book" / ".venv/bin/python"),
    ):
        monkeypatch.setattr(module, name, value)
    environment.PYTHON.parent.mkdir(parents=True)
    environment.PYTHON.symlink_to(sys.executable)  # stopped before pip was there
    notes = []
    environment.create(notes.append)
    environment.create(notes.append)
    assert notes == ["already there"]
    moved = (tmp_path / "a book").rename(tmp_path / "elsewhere") / ".venv"
    monkeypatch.setattr(environment, "VENV", moved)
    monkeypatch.setattr(environment, "PYTHON", moved / "bin/python")
    with pytest.raises(stages.StageFailed, match="made in another place"):
        environment.create(notes.append)


@pytest.mark.parametrize(
    "cause", ["WARNING: Retrying (Retry(total=0)) after connection broken", ""]
)
def test_packages_without_a_network_end_with_that_question(cause, monkeypatch, tmp_path):
    """pip's own last line speaks of conflicting versions, or of none that match."""
    pip = tmp_path / "python"
    pip.write_text(f"#!/bin/sh\necho '{cause} by ...'\necho 'ERROR: a riddle'\nexit 1\n", "utf8")
    pip.chmod(0o755)
    for module, name, value in (
        (stages, "LOGS", tmp_path),
        (environment, "VENV", tmp_path),
        (environment, "PIP_INSTALL", [pip]),
    ):
        monkeypatch.setattr(module, name, value)
    with pytest.raises(stages.StageFailed, match="a riddle") as failed:
        environment.install([].append, "test")
    assert ("is there a network?" in str(failed.value).splitlines()[-1]) == bool(cause)


def test_changed_package_is_refused(monkeypatch, tmp_path):
    """A file that is not the pinned one never reaches the site."""
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\necho other > "$4/mathjax-3.2.2.tgz"\n', "utf8")
    npm.chmod(0o755)
    monkeypatch.setattr(vendor, "find_npm", lambda: str(npm))
    with pytest.raises(stages.StageFailed, match="checksum"):
        vendor.fetch(vendor.MATHJAX)


def test_failed_stage_ends_with_its_cause(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    said = "print('WARNING: early'); print('x\\n' * 99, flush=True)"
    loud = f"import sys; {said}; sys.exit('the cause')"
    run = stages.Stages(3)
    with pytest.raises(stages.StageFailed) as failed, run.stage("pages"):
        stages.run([sys.executable, "-c", loud], "loud.log", "The pages failed.")
    lines = str(failed.value).splitlines()
    assert lines[0] == "WARNING: early" and len(lines) < 40
    assert "the cause" in lines[-3] and lines[-1].startswith("The pages failed.")
    assert capsys.readouterr().out.startswith("[1/3] pages … failed after")


def test_what_a_stage_has_compiled_is_kept_for_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    ask = "import sys; sys.exit(sys.dont_write_bytecode)"
    stages.run([sys.executable, "-c", ask], "asked.log", "It would be compiled again.")


def test_when_a_stage_fails_what_has_begun_beside_it_ends_and_the_rest_is_dropped():
    done, begun, dropped = [], threading.Event(), threading.Event()

    def first():
        begun.set()
        dropped.wait(9)
        done.append("first")

    with pytest.raises(ZeroDivisionError), stages.beside() as lane:
        lane.submit(first)
        lane.submit(done.append, "second").add_done_callback(lambda _: dropped.set())
        begun.wait(9)
        _ = 1 / 0
    assert done == ["first"]


LOG = """\
reading sources... [ 50%] notebooks/01_order
/home/x/notebooks/book/notebooks/01_order.ipynb: Executing notebook using local CWD [mystnb]
/home/x/notebooks/book/notebooks/01_order.ipynb: Executed notebook in 0.93 seconds [mystnb]
{name}: Executing notebook using local CWD [mystnb]
nbclient.exceptions.CellExecutionError: An error occurred while executing the following cell:
------------------
assert 1 == 2
------------------
AssertionError: no

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/x/notebooks/book/.venv/lib/python3.11/site-packages/myst_nb/core/read.py", line 1
myst_nb.core.execute.base.ExecutionError: {name}
"""


@pytest.mark.parametrize(
    "name",
    [
        "notebooks/02_sinusoidal.ipynb",
        "notebooks/assignments/a2_rope.ipynb",
        "notebooks/my é 1.ipynb",
    ],
)
def test_a_failed_cell_is_told_with_its_own_notebook(name, monkeypatch, tmp_path):
    """The clone may lie in a folder called notebooks, and another lesson was read before."""
    monkeypatch.setattr(stages, "ROOT", Path("/home/x/notebooks/book"))
    log = tmp_path / "pages.log"
    log.write_text(LOG.format(name=f"/home/x/notebooks/book/{name}"), "utf8")
    assert stages.tail(log).splitlines()[-1] == f"in a cell of {name}"
