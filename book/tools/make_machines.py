"""`make machines`: the two commands on every machine that a newcomer might have.

Clones what is committed, gives `make book` and the quick part of `make test` (the whole with
FULL=1), and prints a table. A machine fails if a command fails, or says something that is neither
a stage nor a notice: a newcomer could not act on it. Where something cannot work, the machine must
be refused in one sentence, before anything is installed.

    make machines
    make machines ONLY="path umask"
    make machines FULL=1
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import machines
from stages import LOGS, ROOT, StageFailed, command_line

# What the two commands print when all is well: stages, where the book is, the count, and the
# framed notice of tests that could not run.
EXPECTED = re.compile(
    r"\[\d+/\d+\] .* … [\d.]+ s( \(.*\))*|The book: .*"
    r"|\d+ passed, 0 failed(, \d+ skipped)?|#.*#|#+|"
)
PATIENCE = 3600  # seconds for one command


class Row(NamedTuple):
    """One line of the table; bad: the machine fails with it."""

    machine: str
    stage: str
    seconds: float
    verdict: str
    bad: bool = False


def try_machine(machine, scratch, bundle, full):
    """The rows of one machine, up to the first bad one."""
    place = scratch / (machine.place or machine.name)
    place.mkdir(parents=True)
    if machine.user and not machine.refused:
        os.chown(place, machines.NOBODY, machines.NOBODY)
    clones = [place / f"book{n or ''}" for n in range(machine.twins)]
    rows = [get(machine, scratch, bundle, clone) for clone in clones]
    if not any(row.bad for row in rows):
        with ThreadPoolExecutor(machine.twins) as pool:
            for made in pool.map(lambda clone: commands(machine, scratch, clone, full), clones):
                rows += made
    for clone in clones:
        if rows[-1].bad and (clone / "_build/logs").exists():
            kept = LOGS / f"machine-{machine.name}-{clone.name}"
            shutil.copytree(clone / "_build/logs", kept, dirs_exist_ok=True)
    machines.forget(machine, scratch)
    return rows


def get(machine, scratch, bundle, clone):
    """The files, by that machine's user: a clone, or what a ZIP holds."""
    if machine.zipped:
        whole = scratch / "book.zip"
        command = [sys.executable, "-m", "zipfile", "-e", whole, clone]
    else:
        command = ["git", "-c", "advice.detachedHead=false", "clone", "-q", bundle, clone]
    return run(machine, scratch, "clone", command, scratch, plain=bool(machine.refused))


def commands(machine, scratch, clone, full):
    """make book, make test: the rows up to the first bad one."""
    python = f"PYTHON={machines.python_of(machine)}"
    test = ["make", "test", python, *([] if full else ["QUICK=1"])]
    plan = [("make book", ["make", "book", python]), ("make test", test)]
    if machine.offline:
        again = "import shutil; shutil.rmtree('_build/html'); shutil.rmtree('_build/stamps')"
        plan = [
            *((f"{stage}, online", [*words], True) for stage, words in plan),
            ("forget the pages", [sys.executable, "-c", again], True),
            *plan,
        ]
    rows = []
    for stage, words, *online in plan:
        row = run(machine, scratch, stage, words, clone, plain=bool(online))
        if machine.refused:
            return [refusal(machine, row, clone)]
        rows.append(row)
        if row.bad:
            break
    return rows


def run(machine, scratch, stage, words, folder, *, plain=False):
    """One command as that machine's user gives it; plain: as this machine's own."""
    through = [] if plain else machine.through
    log = LOGS / f"machine-{machine.name}-{stage.replace(' ', '-')}-{folder.name}.log"
    start = time.monotonic()
    # The folder is entered behind the walls, for some of them are mounts.
    enter = ["sh", "-c", 'cd "$0" && exec "$@"', folder]
    done = subprocess.run(
        [str(part) for part in (*through, *enter, *words)],
        env=machines.environment(machine, scratch),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=PATIENCE,
    )
    log.write_text(done.stdout, "utf8")
    seconds = time.monotonic() - start
    lines = done.stdout.strip().splitlines()
    if done.returncode:
        return Row(machine.name, stage, seconds, "\n".join(lines[-30:]), True)
    if odd := [line for line in lines if not EXPECTED.fullmatch(line.strip())]:
        return Row(machine.name, stage, seconds, f"said: {odd[0]}", True)
    return Row(machine.name, stage, seconds, lines[-1] if lines else "")


def refusal(machine, row, clone):
    """The row of a machine that must be refused: in a sentence, and with nothing installed."""
    said = [line for line in row.verdict.splitlines() if machine.refused in line]
    if row.bad and said and not (clone / ".venv").exists():
        return row._replace(verdict=f"refused: {said[0]}", bad=False)
    return row._replace(verdict=f"{row.verdict}\nnot refused before it was installed", bad=True)


def table(rows):
    """The rows as text, in columns."""
    lines = [("machine", "stage", "seconds", "verdict")]
    lines += [(r.machine, r.stage, f"{r.seconds:.0f}", first_words(r)) for r in rows]
    widths = [max(len(line[n]) for line in lines) for n in range(3)]
    return "\n".join(
        f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in lines
    )


def first_words(row):
    last = row.verdict.splitlines()[-1:] or [""]
    return ("FAILED: " if row.bad else "") + last[0]


def main():
    only, full = sys.argv[1:], os.environ.get("FULL") == "1"
    LOGS.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="machines-", dir=os.environ.get("MACHINES_IN")))
    rows = []
    try:
        machines.prepare(scratch)
        found = machines.all_machines(scratch)
        if unknown := set(only) - {machine.name for machine in found}:
            known = ", ".join(machine.name for machine in found)
            raise StageFailed(f"There is no machine {', '.join(unknown)} here; there are: {known}.")
        bundle = scratch / "book.bundle"
        git = ["git", "-C", ROOT]
        subprocess.run([*git, "bundle", "create", "-q", bundle, "HEAD"], check=True)
        subprocess.run([*git, "archive", "-o", scratch / "book.zip", "HEAD"], check=True)
        for machine in found:
            if only and machine.name not in only:
                continue
            if machine.root and not machines.AS_ROOT:
                rows.append(Row(machine.name, "-", 0, "not tried: needs root"))
            else:
                rows += try_machine(machine, scratch, bundle, full)
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    bad = [row for row in rows if row.bad]
    print("\n" + table(rows))
    for row in bad:
        print(f"\n{row.machine}, {row.stage}:\n{row.verdict}")
    return f"\n{len(bad)} failed" if bad else 0


if __name__ == "__main__":
    command_line(main)
