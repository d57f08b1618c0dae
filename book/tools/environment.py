"""The virtual environment `.venv`: made once, filled from the pins and the lock."""

import re
import sys

import place
import stages
from stages import (
    BUILD,
    ROOT,
    VENV,
    StageFailed,
    files_under,
    fingerprint,
    run,
    stamped,
    write_stamp,
)

PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "book" / "locks" / "lock.txt"
# How pip's releases say that an answer did not come, or not to its end.
CUT_OFF = re.compile(
    "after connection broken|Connection broken|IncompleteRead|[Rr]ead timed out|ReadTimeoutError"
    "|Max retries exceeded|ProtocolError|incomplete-download|Connection reset|SSLEOFError"
)
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
# Compiling every module of every package takes longer than unpacking them; most are never
# imported, and Python compiles those that are by itself.
PIP_INSTALL = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
# Of what is installed, whatever the user's own mask: when root grades, student code becomes a user
# without rights, who must be able to read the packages.
READABLE = 0o022


def create(note):
    """Make `.venv` if it is not there, or not whole; refuse one that came from another folder."""
    pip = VENV / "bin" / "pip"
    if PYTHON.exists() and pip.exists():
        # Each program there names its Python by the whole path, and would not start.
        if not VENV.is_symlink() and f"{VENV}/bin/" not in pip.read_text("utf8")[:2000]:
            raise StageFailed(
                "The folder .venv was made in another place, so its programs do not start: "
                "remove it (rm -r .venv) and give the command again."
            )
        note("already there")
        return
    if told := place.refusal(ROOT):
        raise StageFailed(told)
    run(
        [sys.executable, "-m", "venv", VENV],
        "venv.log",
        "The virtual environment could not be made; on Debian: apt-get install python3-venv.",
        umask=READABLE,
    )


def install(note, extras=None):
    """Install the book's packages (or extras of ours), unless the same lists were installed.

    extras: names from `pyproject.toml`, as "test,peers".
    """
    name = extras.split(",")[0] if extras else "book"
    stamp = VENV / f".installed-{name}"
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    lists = files_under("requirements.txt", "pyproject.toml", "book/locks/lock.txt")
    wanted = fingerprint(lists, version, str(ROOT))
    if stamped(stamp, wanted):
        note("nothing new")
        return
    if extras:
        what = ["-e", f".[{extras}]"]
    else:
        what = ["-r", "requirements.txt"]
        install_torch()
    log = f"install-{name}.log"
    try:
        sentence = f"The {name} packages could not be installed."
        run([*PIP_INSTALL, *what, "-c", LOCK], log, sentence, umask=READABLE)
    except StageFailed as failure:
        # Without a network pip ends with a riddle: versions that conflict, or none to be found.
        if CUT_OFF.search((stages.LOGS / log).read_text("utf8", "replace")):
            told = (
                "pip could not fetch everything from its index: is there a network? Then give "
                "the command again; it goes on with what has come."
            )
            raise StageFailed(f"{failure}\n{told}") from None
        raise
    write_stamp(stamp, wanted)


def install_torch():
    """Torch first and alone: PyPI's Linux file brings gigabytes of CUDA that a book never uses.

    Its own index is asked for this one package only: an unreachable extra index would be
    retried for every package of the list. Where it fails, the plain list brings torch.
    """
    if not sys.platform.startswith("linux"):
        return
    pin = re.search(r"^torch==\S+", (ROOT / "requirements.txt").read_text("utf8"), re.M)[0]
    index = ["--index-url", TORCH_INDEX, "--retries", "1", "--timeout", "15"]
    try:
        run(
            [*PIP_INSTALL, *index, "--no-deps", pin],
            "install-torch.log",
            "No torch from its own index.",
            umask=READABLE,
        )
    except StageFailed:
        (BUILD / "logs" / "install-torch.log").rename(BUILD / "logs" / "install-torch-failed.log")
