"""Where the book cannot be made it is refused in a sentence, before anything is put there."""

import os
import sys
from types import SimpleNamespace

import environment
import place
import pytest
import stages

EVERYTHING = 10**15  # bytes that no disk of a test has


@pytest.mark.parametrize("name", ["a book", "é's", "a#b c &e f] (g);h=i,j", "書", "x" * 200])
def test_any_letters_will_do_that_an_environment_can_have(name, tmp_path):
    (tmp_path / name).mkdir()
    assert place.refusal(tmp_path / name, needed=1) is None


@pytest.mark.parametrize(
    "name", ["9:00", "US$", "100%", "a[b]", "why?", "a*", "two\nlines", "tab\there", "caf\udce9"]
)
def test_letters_that_no_environment_can_have_are_named_with_the_path(name, tmp_path):
    (tmp_path / name).mkdir()
    told = place.refusal(tmp_path / name)
    assert repr(str(tmp_path / name)) in told and "rename the folder" in told
    assert told.isprintable()


def test_a_full_disk_is_refused_with_what_is_needed_and_what_is_there(tmp_path):
    told = place.refusal(tmp_path, needed=EVERYTHING)
    assert "1000000 GB" in told and str(tmp_path) in told and "make room" in told
    assert place.refusal(tmp_path, needed=1) is None


@pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="this system does not tell")
def test_a_disk_from_which_nothing_may_be_run_is_refused(monkeypatch, tmp_path):
    told = os.statvfs(tmp_path)
    sizes = {"f_bavail": told.f_bavail, "f_frsize": told.f_frsize}
    flags = SimpleNamespace(**sizes, f_flag=told.f_flag | os.ST_NOEXEC)
    monkeypatch.setattr(os, "statvfs", lambda folder: told)
    assert place.refusal(tmp_path, needed=1) is None
    monkeypatch.setattr(os, "statvfs", lambda folder: flags)
    assert "noexec" in place.refusal(tmp_path, needed=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_somebody_elses_folder_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    assert "one of your own" in place.refusal(tmp_path)


def test_a_refusal_comes_before_the_environment(monkeypatch, tmp_path):
    for name, value in (("VENV", tmp_path / ".venv"), ("PYTHON", tmp_path / ".venv/bin/python")):
        monkeypatch.setattr(environment, name, value)
    monkeypatch.setattr(place.refusal, "__defaults__", (EVERYTHING,))
    with pytest.raises(stages.StageFailed, match="make room"):
        environment.create([].append)
    assert list(tmp_path.iterdir()) == []


def test_a_home_reaches_no_stage_and_none_writes_there(monkeypatch, tmp_path):
    """A style of plots, a kernel or a profile of the user's own would change the pages."""
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("MPLCONFIGDIR", "/nowhere")
    ask = (
        "import matplotlib, IPython.paths as i, jupyter_core.paths as j\n"
        "print(matplotlib.get_configdir(), matplotlib.get_cachedir(), i.get_ipython_dir(),"
        " j.jupyter_runtime_dir(), j.jupyter_config_dir(), j.jupyter_data_dir(), sep='\\n')"
    )
    stages.run([sys.executable, "-W", "error", "-c", ask], "asked.log", "A home is needed.")
    folders = (tmp_path / "asked.log").read_text("utf8").splitlines()
    assert len(folders) == 6
    assert all(folder.startswith(str(stages.BUILD)) for folder in folders)


def test_without_a_path_programs_of_the_system_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.delenv("PATH")
    stages.run([sys.executable, "-c", "import shutil; assert shutil.which('sh')"], "a.log", "None.")


def test_what_is_installed_can_be_read_by_everybody(monkeypatch, tmp_path):
    """Root's graded code becomes a user without rights, whatever root's mask is."""
    monkeypatch.setattr(stages, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(environment, "VENV", tmp_path / "own" / ".venv")
    monkeypatch.setattr(environment, "PYTHON", tmp_path / "own" / ".venv/bin/python")
    monkeypatch.setattr(place.refusal, "__defaults__", (1,))
    before = os.umask(0o077)
    try:
        environment.create([].append)
    finally:
        os.umask(before)
    made = [path for path in environment.VENV.rglob("*") if not path.is_symlink()]
    closed = [path for path in made if path.stat().st_mode & 0o004 == 0]
    assert len(made) > 100 and closed == []
