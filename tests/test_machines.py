"""`make machines`: what it acts out, what it lets pass, and what it calls a failure."""

import os
import shutil
import subprocess
import sys

import machines
import make_machines
import pytest
import stages
from make_machines import Row


@pytest.fixture
def every(tmp_path):
    return {machine.name: machine for machine in machines.all_machines(tmp_path)}


def odd(**more):
    return machines.Machine("odd", "a machine of a test", **more)


@pytest.fixture
def give(monkeypatch, tmp_path):
    """give(code, ...) -> the row of a Python program as a machine's command."""
    monkeypatch.setattr(make_machines, "LOGS", tmp_path)

    def run(code, machine=None):
        words = [sys.executable, "-c", code]
        return make_machines.run(machine or odd(), tmp_path, "make book", words, tmp_path)

    return run


def test_every_machine_that_a_newcomer_may_have_is_there(every):
    named = {"path", "var", "tmp", "user", "umask", "zip", "empty", "home", "compiler"}
    assert named | {"network", "core", "twins"} <= set(every)
    versions = [machine.python for name, machine in every.items() if name.startswith("python-")]
    assert any(os.path.samefile(path, sys._base_executable) for path in versions)
    assert set(" é'") <= set(every["path"].place)


GOOD = """[1/5] virtual environment … 2.0 s
[2/5] packages (minutes, the first time) … 22.1 s (nothing new)
The book: /tmp/a book/_build/html/index.html

##########
#  THE BROWSER TESTS DID NOT RUN  #
467 passed, 0 failed, 3 skipped"""


def test_what_the_commands_print_when_all_is_well_passes(give):
    row = give(f"print({GOOD!r})")
    assert not row.bad and row.verdict.endswith("3 skipped")


@pytest.mark.parametrize(
    "line",
    [
        "fatal: not a git repository",
        "/bin/sh: 1: g++: not found",
        "Traceback (most recent call last):",
        "WARNING: Retrying (Retry(total=4)) after connection broken",
        "make: warning: Clock skew detected.",
        "2 passed, 1 failed",
    ],
)
def test_a_line_that_nobody_can_act_on_fails_the_machine(line, give):
    row = give(f"import sys; print({GOOD!r}); print({line!r}, file=sys.stderr)")
    assert row.bad and line in row.verdict


def test_a_command_that_fails_is_told_by_its_last_lines(give):
    row = give("import sys; sys.exit('x\\n' * 99 + 'the cause')")
    assert row.bad and "the cause" in row.verdict and len(row.verdict) < 200


def test_a_refusal_is_a_sentence_before_anything_is_installed(give, tmp_path):
    machine = odd(refused="rename the folder")
    row = give("import sys; sys.exit('No: rename the folder.')", machine)
    assert make_machines.refusal(machine, row, tmp_path) == row._replace(
        verdict="refused: No: rename the folder.", bad=False
    )
    other = give("import sys; sys.exit('KeyError: 3')", machine)
    works = give("print('The book: here')", machine)
    assert make_machines.refusal(machine, other, tmp_path).bad
    assert make_machines.refusal(machine, works, tmp_path).bad
    (tmp_path / ".venv").mkdir()
    assert make_machines.refusal(machine, row, tmp_path).bad


def test_a_machine_lacks_what_it_is_said_to_lack(give, tmp_path):
    assert not give(
        "import os; assert not {'PATH', 'HOME', 'LANG'} & {*os.environ}", odd(env=None)
    ).bad
    bare = odd(hidden=("sh", "git*"))
    path = machines.environment(bare, tmp_path)["PATH"]
    assert shutil.which("sh") and shutil.which("make", path=path)
    assert shutil.which("sh", path=path) is None and shutil.which("git", path=path) is None
    closed = odd(through=("sh", "-c", 'umask 077; exec "$@"', "sh"))
    assert not give("import os; assert os.umask(0) == 0o077", closed).bad


def test_what_needs_root_is_really_without_its_rights_and_its_network(every, give, tmp_path):
    if not machines.AS_ROOT or not all(map(shutil.which, ("setpriv", "unshare", "ip"))):
        pytest.skip("only root can act these out")
    through = every["user"].through
    done = subprocess.run([*through, "id", "-u"], capture_output=True, text=True, check=True)
    assert int(done.stdout) == machines.NOBODY
    ask = "import socket; assert len(socket.if_nameindex()) == 1; socket.create_server(('', 0))"
    assert not give(ask, every["network"]).bad


def test_a_name_that_is_no_machine_is_told_with_those_that_are(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_machines.py", "pth"])
    with pytest.raises(stages.StageFailed, match=r"no machine pth here; there are: .*umask"):
        make_machines.main()


def test_the_table_has_a_line_for_each_row_and_marks_what_failed():
    rows = [
        Row("path", "make book", 61.4, "The book: x"),
        Row("umask", "make test", 2, "a\nb", True),
    ]
    lines = make_machines.table(rows).splitlines()
    assert [line.split()[0] for line in lines] == ["machine", "path", "umask"]
    assert "61" in lines[1] and lines[2].endswith("FAILED: b")
