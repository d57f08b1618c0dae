"""The machines of `make machines`: where a newcomer might clone the book, and how to act it out.

Each is this machine, made as poor or as odd as another one in one respect. What needs the rights of
root to be acted out says so and is left out without them.
"""

import os
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import oldest

BROWSERS = ("chromium*", "google-chrome*", "chrome", "microsoft-edge*")
COMPILERS = ("*g++*", "*gcc*", "c++*", "cc", "c89*", "c99*", "clang*", "cpp*", "*-cpp*")
NOBODY = 54321  # a user without an account, as in many a container
AS_ROOT = os.geteuid() == 0
# What a program inherits of this machine on every other: where packages come from, and the words.
KEPT = ("PATH", "HOME", "LANG", "CI", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
KEPT_BEGIN = ("PIP_", "npm_config_", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class Machine(NamedTuple):
    """One machine.

    name: as ONLY names it.  what: as the table does.  place: the folder that holds the clone, below
    a scratch folder unless it is absolute.  python: its Python; None: that of this command.
    through: what its commands are run by.  env: changes to the environment; None: an empty one.
    hidden: patterns of programs that it lacks.  user: its commands are NOBODY's.
    root: needs root to be acted out.
    zipped: no clone, but the files as a download holds them.  twins: clones built side by side.
    offline: a run with a network comes first, then everything is built again without one.
    refused: a part of the sentence with which it must be refused; None: everything works there.
    """

    name: str
    what: str
    place: str = ""
    python: str | None = None
    user: bool = False
    through: tuple = ()
    env: dict | None = {}  # noqa: RUF012 -- read, never written
    hidden: tuple = ()
    root: bool = False
    zipped: bool = False
    twins: int = 1
    offline: bool = False
    refused: str | None = None


AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
NOBODYS = {"user": True, "root": True, "through": AS_NOBODY}


def all_machines(scratch):
    """Every machine that can be acted out here, in the order of the table."""
    nowhere, own = {"HOME": str(scratch / "locked")}, {"HOME": str(scratch / "reader")}
    return [
        *pythons(),
        Machine("path", "a path with a space, an é and an apostrophe", "My Course's é/a book"),
        Machine("signs", "a path of signs that shells read", "a#b c &e f] (g);h=i,j"),
        Machine("var", "below /var", f"/var/tmp/{scratch.name}"),
        Machine("tmp", "below /tmp", f"/tmp/{scratch.name}-tmp"),
        Machine("user", "a user without root, without an account, without a browser",
                **NOBODYS, env=own, hidden=BROWSERS),
        Machine("home", "a home that cannot be written to",
                **NOBODYS, env=nowhere),
        Machine("umask", "umask 077", through=("sh", "-c", 'umask 077; exec "$@"', "sh")),
        Machine("zip", "no .git, as from a downloaded ZIP", zipped=True),
        Machine("empty", "env -i: no LANG, no HOME, no PATH", env=None),
        Machine("compiler", "no C++ compiler", hidden=COMPILERS),
        Machine("network", "no network, once the packages are there",
                through=without_network(), root=True, offline=True),
        Machine("core", "one core", through=("taskset", "-c", "0")),
        Machine("twins", "two clones that build at the same time, their clocks 14 hours ahead",
                env={"TZ": "Pacific/Kiritimati"}, twins=2),
        Machine("colon", "a path with a colon", "9:00/book", refused="rename the folder"),
        Machine("readonly", "a folder of somebody else's",
                **NOBODYS, env=own, refused="one of your own"),
    ]  # fmt: skip


def pythons():
    """One machine for each Python here: those that are admitted, and the newest that is not."""
    found = {}
    for path in candidates():
        ask = "import sys; print(*sys.version_info[:3])"
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
        if done.returncode == 0 and len(version := tuple(map(int, done.stdout.split()))) == 3:
            found.setdefault(version, path)
    machines, refused = [], []
    for version, path in sorted(found.items()):
        name = ".".join(map(str, version))
        what = f"Python {name}" + (", the system's own" if path.startswith("/usr/bin/") else "")
        if oldest.OLDEST <= version[:2] <= oldest.NEWEST:
            machines.append(Machine(f"python-{name}", what, python=path))
        elif version >= (3, 6):
            sentence = f"`{Path(path).name}` is {name}"
            refused.append(Machine(f"python-{name}", what, python=path, refused=sentence))
    return machines + refused[-1:]


def candidates():
    """Programs that may be a Python, the system's first."""
    folders = ["/usr/bin", *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    folders += [str(path) for path in sorted(Path.home().glob(".pyenv/versions/*/bin"))]
    for folder in map(Path, folders):
        for path in sorted(folder.glob("python3*")):
            minor = path.name.removeprefix("python3").removeprefix(".")
            # A shim of a version manager is whatever it is told to be.
            if (not minor or minor.isdecimal()) and "shims" not in path.parts:
                yield str(path)


def python_of(machine):
    """The Python that a machine's commands name."""
    if machine.user:
        # One that every user may run: not below root's home.
        return next((path for path in candidates() if path.startswith("/usr/")), "python3")
    return machine.python or sys.executable


def without_network():
    return ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def environment(machine, scratch):
    """The whole environment of a machine's commands."""
    if machine.env is None:
        return {}
    env = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(KEPT_BEGIN)
    }
    if machine.hidden:
        env["PATH"] = str(without(machine.hidden, scratch / f"bin-{machine.name}"))
    return env | machine.env


def without(hidden, folder):
    """A folder with a link to every program on the path but those of the patterns."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for program in sorted(Path(place).glob("*")):
            link = folder / program.name
            if not link.is_symlink() and not any(fnmatch(program.name, p) for p in hidden):
                link.symlink_to(program)
    return folder


def prepare(scratch):
    """The folders that machines ask for, which no other user may be kept from entering."""
    scratch.chmod(0o755)
    for name, mode in (("reader", 0o777), ("locked", 0o555)):
        (scratch / name).mkdir()
        (scratch / name).chmod(mode)


def forget(machine, scratch):
    """Remove what a machine left; a gigabyte and a half for each environment."""
    place = scratch / machine.name
    for folder in (place, *([Path(machine.place)] if os.path.isabs(machine.place) else [])):
        shutil.rmtree(folder, ignore_errors=True)
