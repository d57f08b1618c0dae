"""The walls, tried from inside: system, network, files, users, memory, processes, the package."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lessons import grade_marks, grade_process, grade_sandbox, tasks, wire


@pytest.fixture(scope="module")
def inside(bubblewrap):
    """inside(body) -> what a function with this body returns, or the name of its error."""
    examples = grade_marks.examples(tasks.assignment("a2"))
    bench = grade_process.Bench(bubblewrap, ("attention",), examples)

    def run(body):
        lines = "\n    ".join(body.splitlines())
        code = f"import os, sys, resource, socket\nimport numpy as np\ndef f():\n    {lines}"
        with bench.start([code], (), time.monotonic() + 60) as process:
            process.run_cells()
            reply = process.call("f", [], None)
        return wire.decode(reply["answer"]) if "answer" in reply else reply["error"]

    yield run
    bench.close()


def test_nothing_outside_is_to_be_seen(inside, tmp_path):
    needed = [Path(path) for path in (sys.base_prefix, *grade_sandbox.libraries())]
    places = (tmp_path, grade_sandbox.PACKAGE, os.getcwd(), "/var", "/mnt", "/home", "/root")
    for place in map(Path, places):
        # No more than the way to the packages, if they lie below it.
        way = [path.relative_to(place).parts[0] for path in needed if place in path.parents]
        listed = f"os.path.isdir({str(place)!r}) and os.listdir({str(place)!r})"
        assert inside(f"return len(set({listed} or ()) - set({way}))") == 0, place
    assert inside("return os.path.exists('/etc/passwd')") == 0
    # Packages may lie below /tmp themselves, as they do where this repository does.
    seen = inside("return len(os.listdir('/tmp'))")
    assert seen == any(path.startswith("/tmp/") for path in grade_sandbox.libraries())
    assert inside("return len([p for p in os.listdir('/proc') if p.isdigit()])") <= 3


def test_no_copy_of_the_package_can_be_imported_or_found(inside):
    found = inside("return sum(os.path.exists(f'{p}/lessons/rope.py') for p in sys.path)")
    assert found == 0
    assert inside("from importlib import import_module as i\ni('lessons.rope')") == "ImportError"
    assert inside("sys.meta_path.pop(0)\nimport lessons.rope") == "ModuleNotFoundError"


def test_an_installed_package_is_covered(bubblewrap, monkeypatch):
    folder = grade_sandbox.libraries()[0]
    monkeypatch.setattr(grade_sandbox, "PACKAGE", grade_sandbox.Path(folder) / "numpy")
    command = grade_sandbox._bubblewrap(bubblewrap, [])
    seen = subprocess.run(
        [*command, "--", "/bin/ls", f"{folder}/numpy"], capture_output=True, text=True, check=True
    )
    assert seen.stdout == ""


@pytest.mark.parametrize(
    "path", ["/x", "/usr/x", "/etc/x", "/dev/x", "/dev/shm/x", "/grade/x", "/proc/x", "/home/x"]
)
def test_nothing_can_be_written_but_in_tmp(inside, path):
    assert inside(f"open({path!r}, 'w').write('x')") in (
        "OSError", "PermissionError", "FileNotFoundError",
    )  # fmt: skip


def test_tmp_takes_little(inside):
    body = "for i in range(9):\n    open(f'/tmp/{i}', 'wb').write(b'x' * 2**24)"
    assert inside(f"open('/tmp/a', 'w').write('x')\n{body}") == "OSError"


def test_there_is_no_network(inside):
    for address in ("('127.0.0.1', 80)", "('9.9.9.9', 53)"):
        assert inside(f"socket.create_connection({address}, 1)") in (
            "OSError", "PermissionError", "ConnectionRefusedError",
        )  # fmt: skip
    assert inside("return len(socket.if_nameindex())") == 1


def test_it_is_a_user_without_rights(inside):
    # In a namespace of its own, as without root, there is no such user at all.
    assert inside("os.setuid(0)") in ("PermissionError", "OSError")
    assert inside("os.mkdir('/tmp/m')\nos.chroot('/tmp/m')") == "PermissionError"
    status = "[line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')]"
    assert inside(f"return sum(int(word, 16) for word in {status}[1:3])") == 0
    if os.geteuid() == 0:
        assert inside("return os.getuid()") >= 61184


def test_memory_processes_and_files_are_limited(inside):
    assert inside("np.ones(20 * 2**27)") == "MemoryError"
    assert inside("np.ones(4 * 2**27)") == "MemoryError"
    assert inside("return np.ones(2**24).sum()") == 2**24
    assert inside("while True: os.fork()") == "BlockingIOError"
    assert inside("x = [open('/dev/null') for _ in range(999)]") == "OSError"


def test_the_environment_is_the_sandbox_s_own(inside, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert inside("return 'SECRET_TOKEN' in os.environ") == 0
    assert inside("return len(os.environ)") <= len(grade_sandbox.environment()) + 2


def test_files_of_a_closed_mask_are_open_to_the_student(bubblewrap):
    """Root's mask may keep everybody from what root makes; the worker is nobody."""
    before = os.umask(0o077)
    try:
        examples = grade_marks.examples(tasks.assignment("a2"))
        bench = grade_process.Bench(bubblewrap, ("attention",), examples)
    finally:
        os.umask(before)
    with bench.start(["def f():\n    return 7"], (), time.monotonic() + 60) as process:
        process.run_cells()
        assert wire.decode(process.call("f", [], None)["answer"]) == 7
    bench.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="student code keeps the user that started it")
@pytest.mark.parametrize("closed", ["numpy", "numpy/__init__.py", "."])
def test_packages_that_a_student_cannot_read_are_named_with_the_cure(
    closed, bubblewrap, tmp_path, monkeypatch
):
    """Else every notebook of a class would end without a NumPy, and without a point."""
    folder = tmp_path / "the packages"
    (folder / "numpy").mkdir(parents=True)
    (folder / "numpy" / "__init__.py").touch()
    monkeypatch.setattr(grade_sandbox, "libraries", lambda python=None: [str(folder)])
    assert grade_sandbox.require() == bubblewrap
    (folder / closed).chmod(0o600)
    with pytest.raises(grade_sandbox.NoSandbox) as told:
        grade_sandbox.require()
    assert str(folder / closed) in str(told.value)
    assert str(told.value).endswith(f": chmod -R a+rX '{folder}'")


def test_without_bubblewrap_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(grade_sandbox.shutil, "which", lambda name: None)
    with pytest.raises(grade_sandbox.NoSandbox, match="apt-get install bubblewrap"):
        grade_sandbox.require()


def test_a_bubblewrap_that_does_not_work_is_told_in_its_own_words(tmp_path, monkeypatch):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(grade_sandbox.shutil, "which", lambda name: str(fake))
    if not sys.platform.startswith("linux"):
        pytest.skip("for Linux only")
    with pytest.raises(grade_sandbox.NoSandbox, match=r"setting up uid map.*AppArmor"):
        grade_sandbox.require()
