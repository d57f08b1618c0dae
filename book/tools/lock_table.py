"""Ask pip's index for a wheel of each line of the locks, for every Python and machine admitted.

Prints a table and writes `book/locks/requires_python.txt`; fails with a sentence for each line that
has no wheel, and for each package that the book needs and the lock lacks. Run by `lock_check.py`.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lock
import oldest
from environment import CUT_OFF

# A wheel or a rule of this machine is none that a reader's pip would find.
KEPT = ("PIP_INDEX_URL", "PIP_CERT", "PIP_PROXY", "PIP_TRUSTED_HOST", "PIP_CACHE_DIR")
AT_ONCE = 4  # pip mostly waits for the index
HEAD = """\
# What each locked release says of the Pythons that it runs on: its Requires-Python.
# `make lock-check` writes this file; tests/test_lock.py holds the locks against it.
"""


def report(lines, python, machine):
    """pip's own choice of files there: plain name -> metadata. ValueError: pip found none.

    Each line is asked for alone, without what it needs: pip would decide about that by the markers
    of the Python that runs it. Torch is PyPI's here; its own index has the same releases.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted, found = Path(folder, "wanted.txt"), Path(folder, "report.json")
        wanted.write_text("".join(f"{lock.key(line)}\n" for line in lines), "utf8")
        pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-q"]
        pip += ["--no-deps", "--only-binary=:all:", "--no-binary", ",".join(lock.SOURCE_ALONE)]
        # Of a wheel, pip fetches what it says of itself, not gigabytes.
        pip += ["--use-feature=fast-deps", "--disable-pip-version-check"]
        pip += ["--implementation", "cp", "--python-version", f"{oldest.dotted(python)}.0"]
        pip += [part for tag in machine.tags for part in ("--platform", tag)]
        pip += ["--target", folder, "--report", found, "-r", wanted]
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        done = subprocess.run(
            pip,
            env=plain | kept | {"PIP_CONFIG_FILE": os.devnull},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if CUT_OFF.search(done.stderr):
            raise ConnectionError("pip could not reach its index: is there a network?")
        if done.returncode:
            raise ValueError(done.stderr.strip().splitlines()[-1].removeprefix("ERROR: "))
        chosen = json.loads(found.read_text("utf8"))["install"]
    return {lock.canonicalize_name(one["metadata"]["name"]): one["metadata"] for one in chosen}


def cell(name, python, machine, record):
    """(what the table says of one list there, complaints, the names that something there needs).

    Adds what each release says of Python to `record`.
    """
    surroundings = lock.environment(python, machine)
    locked = lock.read(name)
    here = {key: pin for key, pin in locked.items() if lock.holds(pin, surroundings, ("",))}
    try:
        known = report(here.values(), python, machine)
    except ValueError as error:
        return "none", [str(error)], set()
    for key, pin in here.items():
        record[lock.key(pin)] = known[key].get("requires_python") or "any"
    followed = list(lock.needed(lock.asked(name), known, surroundings))
    lacking = lock.unlocked(followed, here)
    names = {lock.canonicalize_name(one.name) for _, one in followed}
    return "lacks" if lacking else f"{len(here)}", lacking, names


def rows(record):
    """(list, machine, {Python: its cell}) in the order of the table; all fill the record."""
    lane = ThreadPoolExecutor(AT_ONCE)
    try:
        asked = [
            (name, machine, {one: lane.submit(cell, name, one, machine, record) for one in pythons})
            for name, pythons in lock.LISTS.items()
            for machine in lock.MACHINES
        ]
        for name, machine, cells in asked:
            yield name, machine, {python: one.result() for python, one in cells.items()}
    finally:
        lane.shutdown(cancel_futures=True)


def main():
    record, complaints, unneeded = {}, {}, set(lock.read("lock"))
    print(f"{'':26}", *(f"{oldest.dotted(python):>6}" for python in lock.PYTHONS))
    for name, machine, cells in rows(record):
        print(f"{name:8}{machine.name:18}", *(f"{one[0]:>6}" for one in cells.values()), flush=True)
        for python, (_, lacking, names) in cells.items():
            unneeded -= names
            for complaint in lacking:
                places = complaints.setdefault(f"{name}.txt: {complaint}", [])
                places.append(f"{oldest.dotted(python)} on {machine.name}")
    complaints |= {f"lock.txt: nothing needs {name}": ["any"] for name in sorted(unneeded)}
    if complaints:
        sys.exit("\n".join(f"{what} ({', '.join(where)})" for what, where in complaints.items()))
    lines = (f"{key}  {record[key]}\n" for key in sorted(record))
    lock.RECORD.write_text(HEAD + "".join(lines), "utf8")


if __name__ == "__main__":
    main()
