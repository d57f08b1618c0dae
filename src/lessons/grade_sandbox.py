"""The walls around student code: bubblewrap's command line.

Inside there is a read-only system without network, an empty /tmp, and no file of this package but
those that the worker brings; nobody's submission, and no home.
"""

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from lessons import grade_python

PACKAGE = Path(__file__).parent
INSIDE = "/grade"  # where the worker lies in the sandbox
TMP = 64 * 2**20  # bytes that may be written there
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "USER": "student",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")},
}
USERS = itertools.cycle(range(61184, 65000))  # numbers that no account has
INSTALL = "apt-get install bubblewrap (Fedora: dnf install bubblewrap)"
# Run inside, as the user that student code becomes: names the first path that it cannot read.
PROBE = """
import os, sys
user = int(sys.argv[1])
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
for path in sys.argv[2:]:
    try:
        if os.path.isdir(path):
            os.listdir(path)
            open(os.path.join(path, "__init__.py")).close()
    except FileNotFoundError:
        pass
    except OSError as error:
        sys.exit(error.filename)
"""


class NoSandbox(Exception):
    """There is no sandbox here; the text says what to do."""


def require(python=None):
    """The path of bubblewrap, once it has shown that it works here.

    python: a ``grade_python.Python`` whose packages must be readable, by default the own one.
    Raises NoSandbox with the command that installs it, or what it says itself.
    """
    bwrap = shutil.which("bwrap")
    if not sys.platform.startswith("linux") or bwrap is None:
        raise NoSandbox(
            "Student code runs in a sandbox, and bubblewrap is not installed "
            f"(it is for Linux only): {INSTALL}. "
            "With --unsandboxed it runs with all your rights, and every row says so."
        )
    probe = subprocess.run(
        [*_bubblewrap(bwrap, []), "--", "/bin/true"], capture_output=True, text=True
    )
    if probe.returncode:
        raise NoSandbox(
            f"bubblewrap is installed, and does not work here: {probe.stderr.strip()}. "
            "Ubuntu 23.10 and later want an AppArmor profile that allows user namespaces; the "
            "book's page for instructors has it, under “What the sandbox does”. "
            "With --unsandboxed student code runs with all your rights, and every row says so."
        )
    python = python or grade_python.own()
    own = f"{python.prefix}/lib/python{'.'.join(python.version.split('.')[:2])}"
    tops = [own, *libraries(python)]
    packages = [folder for top in tops for folder in (top, *_packages(top))]
    look = [*_start(python), "-c", PROBE, str(_user()), *packages]
    walls = _bubblewrap(bwrap, [], python)
    probe = subprocess.run([*walls, "--", *look], capture_output=True, text=True)
    if probe.returncode:
        closed = (probe.stderr.strip().splitlines() or [python.executable])[-1]
        whole = next((top for top in tops if closed.startswith(top)), closed)
        raise NoSandbox(
            "Student code becomes a user without rights, who cannot read what grading needs: "
            f"{closed}. Open it to everybody: chmod -R a+rX {shlex.quote(whole)}"
        )
    return bwrap


def command(bwrap, folder, arguments, python=None):
    """The command that runs the worker of a folder with arguments; bwrap None: without walls.

    python: a ``grade_python.Python``, by default the one that runs this.
    """
    python = python or grade_python.own()
    here = INSIDE if bwrap else folder
    user = str(_user() if bwrap else 0)
    worker = [*_start(python), f"{here}/worker.py", *arguments, user]
    if bwrap is None:
        return worker
    return [*_bubblewrap(bwrap, ["--ro-bind", folder, INSIDE], python), "--", *worker]


def environment(python=None):
    """All that the worker finds in its environment."""
    return {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(libraries(python))}


def libraries(python=None):
    """The folders that hold other people's packages: NumPy, and torch and Matplotlib if there."""
    return (python or grade_python.own()).libraries


def _packages(folder):
    """The packages of a folder that student code may import first of all."""
    found = (os.path.join(folder, name) for name in ("numpy", "torch", "matplotlib"))
    return [path for path in found if os.path.isdir(path)]


def _start(python):
    # -S: site's .pth files may lead to the package itself, so PYTHONPATH names the folders.
    return [python.executable, "-s", "-S", "-B"]


def _user():
    """The user that the worker becomes, where it is started by root; else 0, for none."""
    return next(USERS) if os.geteuid() == 0 else 0


def _bubblewrap(bwrap, more, python=None):
    """The command line of the sandbox, up to the program that runs in it."""
    python = python or grade_python.own()
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    options += ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # No user namespace: in it root would stay root. The worker becomes a user without rights.
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user"]
    for name, value in environment(python).items():
        options += ["--setenv", name, value]
    for path in SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        else:
            options += ["--ro-bind-try", path, path]
    # Before the folders of packages: they may lie in /tmp themselves.
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--perms", "1777", "--size", str(TMP), "--tmpfs", "/tmp"]
    for path in (*SETTINGS, python.prefix, *libraries(python)):
        # Folders on the way are for root alone unless they are made first.
        for parent in [*Path(path).parents][-2::-1]:
            options += ["--perms", "0755", "--dir", str(parent)]
        options += ["--ro-bind-try", path, path]
    # An installed package is the answer key: an empty folder takes its place.
    if any(PACKAGE.is_relative_to(f) for f in (*SYSTEM, python.prefix, *libraries(python))):
        options += ["--tmpfs", str(PACKAGE), "--remount-ro", str(PACKAGE)]
    return [bwrap, *options, *more, "--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/"]
