"""Refuse a Python or a machine on which the book cannot be built, before anything is installed.

Every `make` of the book begins here. A reason is a function: from what `found` tells it answers
nothing, or one sentence with the cure. The words are old enough for Python 2.7 to read them: an
older Python could not even parse the other tools, and should be told so.
"""

import os
import platform
import sys
import sysconfig

# The newest is the last for which `make lock-check` finds a wheel for every line of the lock.
OLDEST = (3, 11)
NEWEST = (3, 14)
# Releases between them that some line of the lock refuses: networkx, which torch needs, this one.
REFUSED = ((3, 14, 1),)
# What the wheels of the lock are made for, torch's before all: machines, glibc, macOS.
MACHINES = {"linux": ("x86_64", "aarch64"), "darwin": ("arm64",)}
GLIBC = (2, 28)
MACOS = (14,)


def dotted(version):
    return ".".join(str(part) for part in version)


ADMITTED = "Python %s to %s" % (dotted(OLDEST), dotted(NEWEST))
ANOTHER = "install one of those and name it, as in `make book PYTHON=python%s`." % dotted(NEWEST)


def found():
    """What the reasons judge: facts of this Python and this machine."""
    return {
        "name": os.path.basename(sys.executable or "python"),
        "version": tuple(sys.version_info[:3]),
        "implementation": platform.python_implementation(),
        "without_lock": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "system": "linux" if sys.platform.startswith("linux") else sys.platform,
        "machine": platform.machine(),
        "libc": platform.libc_ver(),
        "macos": platform.mac_ver()[0],
        "missing": [name for name in ("venv", "ensurepip") if not importable(name)],
    }


def importable(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def python_version(here):
    if here["version"] in REFUSED:
        told = (here["name"], dotted(here["version"]), dotted(here["version"][:2]))
        return (
            "`%s` is %s, a release that networkx refuses and PyTorch needs networkx: update it to "
            "a later %s, or name another Python, as in `make book PYTHON=python3.12`." % told
        )
    if OLDEST <= here["version"][:2] <= NEWEST:
        return None
    told = (ADMITTED, here["name"], dotted(here["version"]), ANOTHER)
    return "This book needs %s, and `%s` is %s: %s" % told


def python_kind(here):
    """The lock has wheels for one build of Python alone, the usual one."""
    if here["implementation"] != "CPython":
        kind = here["implementation"]
    elif here["without_lock"]:
        kind = "a free-threaded one"
    elif here["bits"] != 64:
        kind = "a 32-bit one"
    else:
        return None
    told = (ADMITTED, here["name"], kind, ANOTHER)
    return "This book needs the usual 64-bit CPython, %s, and `%s` is %s: %s" % told


def machine(here):
    """PyTorch publishes no wheels for others."""
    system, kind = here["system"], here["machine"]
    if system in ("win32", "cygwin", "msys"):
        return "This book is not built on Windows itself: give the command in WSL, with Ubuntu."
    if kind in MACHINES.get(system, ()):
        return None
    if system == "darwin":
        return (
            "This book needs a Mac with an Apple processor, and this Python is for %s: on such a "
            "Mac install a Python for arm64; on an Intel Mac read the lessons in Colab." % kind
        )
    return (
        "This book needs Linux on x86_64 or aarch64, or a Mac with an Apple processor, and this "
        "is %s on %s: read the lessons in Colab, or build on such a machine." % (system, kind)
    )


def system_version(here):
    """Wheels name the oldest C library, or the oldest macOS, that they run on."""
    if here["system"] == "linux":
        name, version = here["libc"]
        if name == "glibc" and numbers(version) >= GLIBC:
            return None
        what = "glibc %s" % version if name == "glibc" else "another C library, as on Alpine"
        told = (dotted(GLIBC), what)
        return (
            "This book needs a Linux with glibc %s or newer, and this one has %s: use Debian 10, "
            "Ubuntu 20.04 or a newer one, in a container for example." % told
        )
    # A Python made for an old macOS is told 10.16 by each newer one.
    if numbers(here["macos"]) >= MACOS or here["macos"] == "10.16":
        return None
    told = (dotted(MACOS), here["macos"])
    return "This book needs macOS %s or newer, and this is %s: update it, or use Colab." % told


def numbers(version):
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def own_library(here):
    """Debian and Ubuntu have parts of Python's own library in a package of their own."""
    if not here["missing"]:
        return None
    told = (here["name"], " and ".join(here["missing"]), dotted(here["version"][:2]))
    return (
        "`%s` lacks its %s, which make the virtual environment: on Debian or Ubuntu "
        "`sudo apt-get install python%s-venv`." % told
    )


REASONS = (python_version, python_kind, machine, system_version, own_library)


def refusal(here):
    """The first reason against this Python on this machine, as a sentence; or None."""
    for reason in REASONS:
        sentence = reason(here)
        if sentence:
            return sentence
    return None


if __name__ == "__main__":
    sys.exit(refusal(found()))
