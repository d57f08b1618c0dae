"""Runs the tests on mutants of the package; `make mutants` calls it with names of modules.

Each of two processes has a copy of the repository, in which it imports once what the tests need
and then forks for each mutant: no file of the repository is ever changed, and torch is not
imported a thousand times.
"""

import argparse
import gc
import importlib
import multiprocessing
import os
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from mutant_source import mutants
from stages import ROOT

KEPT = ROOT / "tests" / "mutants"
SHARE = 0.95
COPIED = ("src", "tests", "book", "notebooks", "pyproject.toml", "requirements.txt", "Makefile")
KILLED, SURVIVED = "killed", "survived"
# Without what costs time in each of a thousand runs and changes no verdict.
WITHOUT = ("cacheprovider", "unraisableexception", "logging", "faulthandler", "doctest")
PYTEST = ["-x", "-q", "--tb=no", *(part for name in WITHOUT for part in ("-p", f"no:{name}"))]


def lay_out(folder, files):
    """Begin a process: a copy of the repository, and everything imported that is not of it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    place = Path(folder) / str(os.getpid())
    skip = shutil.ignore_patterns("__pycache__", "vendor", ".ipynb_checkpoints", "_build")
    for name in COPIED:
        path = ROOT / name
        copy = shutil.copytree if path.is_dir() else shutil.copy2
        copy(path, place / name, **({"ignore": skip} if path.is_dir() else {}))
    os.chdir(place)
    sys.path[:0] = [str(place / name) for name in ("src", "tests", "book/tools")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:3])
    os.environ["PYTHONDONTWRITEBYTECODE"] = os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.dont_write_bytecode = False
    in_a_fork(lambda: test(files, "--collect-only"), 600, 600)  # keeps what pytest compiles
    sys.dont_write_bytecode = True  # a mutant's must not be kept: it could be taken for the next
    with open(os.devnull, "w") as nothing:
        out, err = os.dup(1), os.dup(2)
        os.dup2(nothing.fileno(), 1), os.dup2(nothing.fileno(), 2)
        test(files, "--collect-only")
        os.dup2(out, 1), os.dup2(err, 2)
    for name, module in list(sys.modules.items()):
        if str(place) in str(getattr(module, "__file__", None) or ""):
            del sys.modules[name]
    importlib.invalidate_caches()
    gc.freeze()  # or every fork's collector goes through torch


def test(files, *arguments):
    """What pytest says of the files, one after the other, up to the first that fails; 0: passed."""
    import pytest

    for file in files:
        name, *chosen = shlex.split(file)
        if code := pytest.main([*PYTEST, *arguments, *chosen, f"tests/{name}.py"]):
            return int(code)
    return 0


def in_a_fork(work, seconds, patience):
    """(exit status, seconds of computing) of work(); it may compute and wait for so long."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            code = work()
        finally:
            os._exit(code)
    until = time.monotonic() + patience
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    return os.waitstatus_to_exitcode(done[1]), spent


def try_out(job):
    """One mutant under its module's tests: (job's number, whether it was killed, its seconds)."""
    number, module, source, files, seconds = job
    path = Path("src/lessons") / f"{module}.py"
    kept = path.read_bytes(), path.stat()
    path.write_text(source, "utf8")
    try:
        code, spent = in_a_fork(lambda: test(files), seconds, 20 * seconds)
    finally:
        path.write_bytes(kept[0])
        os.utime(path, ns=(kept[1].st_atime_ns, kept[1].st_mtime_ns))
    return number, KILLED if code else SURVIVED, spent


def run_module(pool, module, files, equivalent):
    """Try all mutants of a module; prints what came of them, returns (killed, counted)."""
    source = (ROOT / "src" / "lessons" / f"{module}.py").read_text("utf8")
    _, found, spent = pool.apply(try_out, [(0, module, source, files, 300)])
    if found != SURVIVED:
        sys.exit(
            f"{module}: the tests fail, or there are none, on the module as it stands: {files}"
        )
    start, limit = time.monotonic(), 10 + 5 * spent
    every = mutants(source)
    reasons = {(one["line"], new) for one in equivalent for new in one["mutants"]}
    stale = reasons - {(mutant.old, mutant.new) for mutant in every}
    tried = [mutant for mutant in every if (mutant.old, mutant.new) not in reasons]
    jobs = [(n, module, mutant.source, files, limit) for n, mutant in enumerate(tried)]
    lived = [n for n, said, _ in pool.imap_unordered(try_out, jobs) if said == SURVIVED]
    killed, took = len(tried) - len(lived), time.monotonic() - start
    print(
        f"{module}: {len(every)} mutants, {len(every) - len(tried)} equivalent, {killed} killed, "
        f"{len(lived)} survived, {killed / max(len(tried), 1):.1%}, {took:.0f} s"
    )
    for mutant in (tried[n] for n in sorted(lived)):
        print(f"  {module}.py:{mutant.line}\n  - {mutant.old}\n  + {mutant.new}")
    for old, new in sorted(stale):
        print(f"  no such mutant any more, yet listed as equivalent:\n  - {old}\n  + {new}")
    sys.stdout.flush()
    return killed, len(tried) + len(stale)


def main():
    tests = tomllib.loads((KEPT / "tests.toml").read_text("utf8"))
    equivalent = tomllib.loads((KEPT / "equivalent.toml").read_text("utf8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="names such as rope; none: all")
    names = parser.parse_args().modules or list(tests)
    if unknown := set(names) - set(tests):
        parser.error(f"no tests are named in tests/mutants/tests.toml for {sorted(unknown)}")
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and end the two processes
    files = sorted({file for name in names for file in tests[name]})
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        multiprocessing.Pool(2, lay_out, (folder, files)) as pool,
    ):
        shares = [run_module(pool, n, tests[n], equivalent.get(n, [])) for n in names]
    killed, counted = (sum(part) for part in zip(*shares, strict=True))
    print(f"{killed} of {counted} killed: {killed / counted:.1%}")
    return 0 if killed >= SHARE * counted else 1


if __name__ == "__main__":
    sys.exit(main())
