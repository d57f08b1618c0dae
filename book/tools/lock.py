"""The lock: its lines, what the book asks of it, and where the two do not fit.

For a Python that has `packaging`. What a distribution says of itself comes as the JSON form of its
metadata, from pip's report or from `importlib.metadata`.
"""

import re
import tomllib
from collections import namedtuple

import colab_check
import oldest
import vendor
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from stages import ROOT

LOCKS = ROOT / "book" / "locks"
RECORD = LOCKS / "requires_python.txt"
PYTHONS = [(oldest.OLDEST[0], minor) for minor in range(oldest.OLDEST[1], oldest.NEWEST[1] + 1)]
# Each list of versions, and the Pythons that it is installed on.
LISTS = {
    "lock": PYTHONS,
    "lowest": [oldest.OLDEST],
    "colab": [python for python in PYTHONS if python <= colab_check.NEWEST],
    "kaggle": [python for python in PYTHONS if python <= colab_check.NEWEST],
}
# They are installed with --no-deps, for they leave out what serves those sites' own pages alone.
WITHOUT_NEEDS = ("colab", "kaggle")
# Published as source alone; pure Python, so any machine can build it. `make mutants` needs it.
SOURCE_ALONE = ("yattag",)
LAST_PATCH = 40  # more than any Python has had

# A machine that is admitted: its tags of wheels, and what markers are told there.
Machine = namedtuple("Machine", "name tags markers")


def linux(kind):
    """Tags of every glibc up to the oldest that is admitted, with the names of before PEP 600."""
    glibc = [f"manylinux_2_{minor}" for minor in range(oldest.GLIBC[1], 4, -1)]
    tags = [f"{tag}_{kind}" for tag in (*glibc, "manylinux2014", "manylinux2010", "manylinux1")]
    return Machine(f"Linux {kind}", tags, markers("linux", "Linux", kind))


def mac(kind):
    """pip itself adds the tags of every older macOS."""
    name = f"macOS {oldest.dotted(oldest.MACOS)} {kind}"
    return Machine(name, [f"macosx_{oldest.MACOS[0]}_0_{kind}"], markers("darwin", "Darwin", kind))


def markers(sys_platform, system, kind):
    return {"sys_platform": sys_platform, "platform_system": system, "platform_machine": kind}


MACHINES = [linux(kind) for kind in oldest.MACHINES["linux"]]
MACHINES += [mac(kind) for kind in oldest.MACHINES["darwin"]]


def environment(python, machine):
    """What markers see on the lowest patch of a Python: pip asks the Python that runs it."""
    version, full = oldest.dotted(python), f"{oldest.dotted(python)}.0"
    return {
        "os_name": "posix",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "implementation_version": full,
        "python_version": version,
        "python_full_version": full,
        "platform_release": "",
        "platform_version": "",
        **machine.markers,
    }


def requirements(text):
    """The lines of a list of requirements, without comments, options and our own `-e .`."""
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def pins(text):
    """A lock's lines by plain name; each must be one exact version, given once."""
    found = {}
    for line in requirements(text):
        name = canonicalize_name(line.name)
        if not re.fullmatch(r"==[^,*]+", str(line.specifier)) or line.extras or line.url:
            raise ValueError(f"{line} is not a name with one exact version")
        if name in found:
            raise ValueError(f"{name} is locked twice: {found[name]} and {line}")
        found[name] = line
    return found


def version(pin):
    """The version that a line of a lock names."""
    return str(pin.specifier).removeprefix("==")


def read(name):
    """The pins of one of `LISTS`."""
    return pins((LOCKS / f"{name}.txt").read_text("utf8"))


def asked(name):
    """What is installed from a list, with all that it needs; the other lists are whole."""
    if name != "lock":
        return [] if name in WITHOUT_NEEDS else list(read(name).values())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    listed = requirements((ROOT / "requirements.txt").read_text("utf8"))
    # The last is what `make lock-check` asks with.
    return [*listed, *map(Requirement, [*lines, vendor.NODE_WHEEL, "pip"])]


def needed(wanted, known, surroundings):
    """Follow requirements to all that they bring there: (who asks, requirement).

    wanted: requirements to begin with; known: plain name -> metadata, whose lists are followed;
    surroundings: as from `environment`. A name that is not known leads no further.
    """
    waiting = [("the book", one) for one in wanted if holds(one, surroundings, ("",))]
    seen = set()
    while waiting:
        who, one = waiting.pop()
        yield who, one
        name = canonicalize_name(one.name)
        extras = {"", *one.extras} - {extra for n, extra in seen if n == name}
        seen |= {(name, extra) for extra in extras}
        if name not in known or not extras:
            continue
        inner = map(Requirement, known[name].get("requires_dist") or [])
        waiting += [(name, part) for part in inner if holds(part, surroundings, extras)]


def holds(one, surroundings, extras):
    """Is a requirement asked for there, with one of these extras?"""
    if one.marker is None:
        return "" in extras
    return any(one.marker.evaluate(surroundings | {"extra": extra}) for extra in extras)


def unlocked(asked_for, locked):
    """Complaints: what (who, requirement) ask for and the lock has not, or at another version."""
    found = set()
    for who, one in asked_for:
        pin = locked.get(canonicalize_name(one.name))
        if pin is None:
            found.add(f"{who} needs {one}, and there is no line for it")
        elif not one.specifier.contains(version(pin), prereleases=True):
            found.add(f"{who} needs {one}, and the line is {pin}")
    return sorted(found)


def excluded(line, requires_python, pythons):
    """The patches of these Pythons on which a locked release refuses to be installed."""
    admits = SpecifierSet(requires_python)
    releases = [
        oldest.dotted((*python, patch))
        for python in pythons
        if any(holds(line, environment(python, machine), ("",)) for machine in MACHINES)
        for patch in range(LAST_PATCH)
        if (*python, patch) not in oldest.REFUSED
    ]
    return [release for release in releases if not admits.contains(release)]


def recorded():
    """The record: plain name and version -> what that release says of Python ("": nothing)."""
    lines = RECORD.read_text("utf8").splitlines()
    split = [line.partition("  ") for line in lines if not line.startswith("#")]
    return {name: says.strip() for name, _, says in split}


def key(pin):
    """A line's place in the record."""
    return f"{canonicalize_name(pin.name)}=={version(pin)}"
