"""`make colab-check`: every notebook as a student meets it on Colab and on Kaggle.

A virtual environment has the versions that those ship and nothing of the book. Each notebook is
copied alone into an empty folder and run from top to bottom, without a GPU and without a network
but for one thing: the wheel that its first cell asks for is served from this machine.
`pip freeze` must be the same before and after, but for the book's own line.

A notebook is run as readers open it, from the branch `colab`, with the book's address in it; where
the book has none yet, with one made up. On Colab the first is run as it stands on `main`: its
first cell has to ask what is asked of Colab there, whose answer this machine gives.

    make colab-check                    all notebooks on both sets of versions
    make colab-check SET=kaggle ONLY="01_order a1_order"
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import addressed
import environment
import make_book
import repository
from stages import (
    BUILD,
    ROOT,
    StageFailed,
    Stages,
    command_line,
    fingerprint,
    run,
    stamped,
    write_stamp,
)

FOLDER = BUILD / "colab"
PINS = {name: ROOT / "book" / "locks" / f"{name}.txt" for name in ("colab", "kaggle")}
RUNNER = Path(__file__).with_name("colab_run.py")
NOTEBOOKS = ("notebooks/[0-9]*.ipynb", "notebooks/assignments/*.ipynb")
# The first lesson, the one that looks at devices and compilers, and the first assignment.
FEW = ("01_order", "05_rotate_half", "a1_order")
TORCH = ("torch", "torchgen", "functorch", "torch-*.dist-info", "nvidia", "triton")
# Colab's own Python: for a newer one there are no wheels of the NumPy and Matplotlib that it has.
NEWEST = (3, 13)
TOO_NEW = f"Colab and Kaggle run Python {NEWEST[0]}.{NEWEST[1]}, and this one is newer"
NOWHERE = "http://127.0.0.1:9"  # a proxy that nobody serves: no other host can be reached
PACKAGE = "positional-encoding-lessons"
MADE_UP = "someone/their-book"

# pip asks for the wheel at the address of the book's site, which need not be published yet; and
# for the repository, from which it would build that wheel.
REDIRECT = """\
import sys
if "pip" in sys.argv or "-m" in sys.argv:
    for address, local in {moved!r}.items():
        sys.argv[:] = [part.replace(address, local) for part in sys.argv]
"""


def address():
    """Where the emulated book is."""
    given = repository.for_site()
    return given if repository.known(given) else MADE_UP


class Emulation:
    """One set of versions: its virtual environment, and the notebooks run in it."""

    def __init__(self, name):
        self.name, self.pins = name, PINS[name]
        self.root = FOLDER / name
        self.python = self.root / "venv" / "bin" / "python"

    def build(self, note):
        """Make the environment, unless it was made from these pins; see what is in it."""
        stamp = self.root / "stamp"
        wanted = fingerprint([self.pins, ROOT / "requirements.txt"], sys.version)
        if stamped(stamp, wanted):
            note("nothing new")
        else:
            shutil.rmtree(self.root, ignore_errors=True)
            (self.root / "home").mkdir(parents=True)
            self.install(note)
            write_stamp(stamp, wanted)
        self.untouched = self.freeze()

    def install(self, note):
        """The pins and nothing else; torch from its own index, or else that of `.venv`."""
        log = f"colab-{self.name}.log"
        sentence = f"The versions of {self.pins.name} could not be installed."
        run([environment.PYTHON, "-m", "venv", self.root / "venv"], log, sentence)
        torch, others = split_torch(self.pins.read_text("utf8"))
        list_ = self.root / "pins.txt"
        list_.write_text(others, "utf8")
        # The list is whole, so nothing has to be resolved; what runs once needs no compiled files.
        pip = [self.python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile"]
        run([*pip, "-r", list_], log, sentence)
        index = ["--index-url", environment.TORCH_INDEX, "--retries", "0", "--timeout", "15"]
        try:
            run([*pip, *(index if sys.platform == "linux" else []), torch], log, sentence)
        except StageFailed:
            note(f"{borrow_torch(self.root)} in place of {torch}, which could not be had")

    def freeze(self):
        command = [self.python, "-m", "pip", "freeze", "--all"]
        return subprocess.check_output(command, text=True, env=self.surroundings({})).splitlines()

    def surroundings(self, local):
        """What a process sees: no settings of this machine, no GPU, no index, no other host."""
        return {
            "PATH": f"{self.python.parent}{os.pathsep}{os.defpath}",
            "HOME": str(self.root / "home"),
            "JUPYTER_PREFER_ENV_PATH": "1",
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "CUDA_VISIBLE_DEVICES": "",
            "HTTPS_PROXY": NOWHERE,
            "HTTP_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "LC_ALL": "C.UTF-8",
            **make_book.ONE_THREAD,
            **local,
        }

    def execute(self, notebook, text, local, note):
        """One notebook, alone in an empty folder; afterwards the environment is as before."""
        with tempfile.TemporaryDirectory() as empty:
            copy = Path(empty) / notebook.name
            copy.write_text(text, "utf8")
            log = f"colab-{self.name}-{notebook.stem}.log"
            done = subprocess.run(
                [self.python, RUNNER, copy],
                cwd=empty,
                env=self.surroundings(local),
                capture_output=True,
                text=True,
            )
        after = self.freeze()
        remove = [self.python, "-m", "pip", "uninstall", "-q", "-y", PACKAGE]
        run(remove, log, "The book's wheel could not be removed again.")
        if done.returncode:
            raise StageFailed(f"{done.stdout}{done.stderr}".strip())
        if complaint := changed(self.untouched, after):
            (self.root / "stamp").unlink()  # the next check makes the environment afresh
            raise StageFailed(complaint)
        widgets, said = done.stdout.splitlines()[-2:]
        note(f"{widgets} moving")
        return said


def split_torch(pins):
    """The line of torch, and the rest of a list of versions."""
    line = re.search(r"^torch==\S+$", pins, re.M)[0]
    return line, pins.replace(line + "\n", "")


def borrow_torch(root):
    """Let an environment see the torch of `.venv` and nothing else of it; returns its version."""
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own, other = (
        Path(subprocess.check_output([python, "-c", ask], text=True).strip())
        for python in (environment.PYTHON, root / "venv" / "bin" / "python")
    )
    # A folder of its own, named in a .pth file: pip never removes what lies outside its own.
    borrowed = root / "borrowed"
    borrowed.mkdir()
    for pattern in TORCH:
        for path in own.glob(pattern):
            (borrowed / path.name).symlink_to(path)
    (other / "borrowed.pth").write_text(f"{borrowed}\n", "utf8")
    record = next(borrowed.glob("torch-*.dist-info"))
    return record.name.removesuffix(".dist-info").replace("-", " ", 1)


def changed(before, after):
    """What a notebook did to the environment beside installing the book: nothing, or a sentence."""
    ours = [line for line in after if line.startswith(PACKAGE)]
    others = [line for line in after if not line.startswith(PACKAGE)]
    if len(ours) != 1:
        return f"The first cell did not install the book's wheel: {ours}."
    if others != before:
        difference = sorted(set(before) ^ set(others))
        return f"The notebook changed the environment: {difference}."
    return ""


class Here(http.server.SimpleHTTPRequestHandler):
    """The folder with the wheel, and what Colab's server says of the notebook that it opened."""

    def do_GET(self):
        if self.path != "/api/sessions":
            super().do_GET()
            return
        opened = f"https://github.com/{address()}/blob/main/notebooks/a_notebook.ipynb"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps([{"path": f"fileId={quote(opened)}"}]).encode())

    def log_message(self, *arguments):
        pass


@contextmanager
def served():
    """What processes have to see (environment) while pip is sent to the local wheel."""
    handler = functools.partial(Here, directory=BUILD / "wheel")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    local = f"http://127.0.0.1:{server.server_port}"
    moved = {repository.pages_url(address()): local}
    for wheel in (BUILD / "wheel").glob("*.whl"):
        named = f"{PACKAGE} @ https://github.com/{address()}/archive/refs/heads/main.zip"
        moved[named] = f"{PACKAGE} @ {local}/{wheel.name}"
    try:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text(REDIRECT.format(moved=moved), "utf8")
            port = str(server.server_port)
            yield {
                "PYTHONPATH": folder,
                "COLAB_JUPYTER_IP": "127.0.0.1",
                "KMP_TARGET_PORT": port,
            }
    finally:
        server.shutdown()
        server.server_close()


def as_opened(notebook, on_main):
    """The text of a notebook as it stands on `main`, or on the branch `colab`."""
    name = notebook.relative_to(ROOT / addressed.FOLDER).with_suffix("").as_posix()
    text = notebook.read_text("utf8")
    return text if on_main else addressed.addressed(text, name, address())


def chosen(only=()):
    """The notebooks to run: all of them, or those whose names are given."""
    found = [path for pattern in NOTEBOOKS for path in sorted(ROOT.glob(pattern))]
    known = {path.stem for path in found}
    if unknown := set(only) - known:
        raise StageFailed(f"There is no notebook named {', '.join(sorted(unknown))}.")
    return [path for path in found if not only or path.stem in only]


def few(python=sys.version_info[:2]):
    """What `make test` runs, on Colab's versions; none where this Python is too new for them."""
    return [path for path in chosen() if path.stem in FEW and python <= NEWEST]


def check(stages, sets, notebooks):
    """Run the notebooks on the sets; every one is tried before the failures are told."""
    failures = []
    asks = shutil.which("curl", path=os.defpath)  # with it the first cell on `main` asks Colab
    with served() as local:
        for name in sets:
            emulation = Emulation(name)
            with stages.stage(f"{name}: its versions") as note:
                if notebooks:
                    emulation.build(note)
                else:
                    note(f"LEFT OUT: {TOO_NEW}")
            for notebook in notebooks:
                on_main = bool(asks) and name == "colab" and notebook == notebooks[0]
                try:
                    with stages.stage(f"{name}: {notebook.stem}") as note:
                        emulation.execute(notebook, as_opened(notebook, on_main), local, note)
                        note(f"as on {'main' if on_main else repository.BRANCH}")
                except StageFailed as failure:
                    failures.append(f"{notebook.stem} on {name}: {failure}")
    if failures:
        told = "\n\n".join(failures)
        raise StageFailed(f"{told}\n\n{len(failures)} notebooks fail as a student meets them.")


def main():
    if sys.version_info[:2] > NEWEST:
        name = "python" + ".".join(map(str, NEWEST))
        raise StageFailed(f"{TOO_NEW}: name theirs, as in `make colab-check PYTHON={name}`.")
    named = sys.argv[1:]
    sets = [name for name in PINS if name in named] or list(PINS)
    notebooks = chosen([name for name in named if name not in PINS])
    stages = Stages(3 + len(sets) * (1 + len(notebooks)))
    make_book.packages(stages)
    with stages.stage("wheel") as note:
        make_book.wheel(note)
    check(stages, sets, notebooks)
    print(f"Notebooks that run on {' and '.join(sets)}: {len(notebooks)} of {len(notebooks)}.")


if __name__ == "__main__":
    command_line(main)
