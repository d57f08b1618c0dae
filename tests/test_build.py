"""Building: fresh numbers, failures that are seen, forks, and machines without a network."""

import ast
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import environment
import oldest
import pytest
import stages
import vendor
from conftest import ROOT
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TOC = "format: jb-book\nroot: book/intro\nchapters:\n  - file: notebooks/01_small\n"


class Book:
    """A copy of the book with one small notebook, built by the same settings and extension."""

    def __init__(self, root):
        self.root = root
        for name in ("_config.yml", "book/_ext", "book/_assets"):
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, target)
        (root / "_toc.yml").write_text(TOC, "utf8")
        (root / "book/intro.md").write_text("# Small\n", "utf8")
        (root / "book/references.bib").write_text("", "utf8")
        self.helper("value = 41")

    def helper(self, source):
        path = self.root / "src" / "lessons" / "small.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source + "\n", "utf8")

    def notebook(self, source, text="Text."):
        cells = [new_markdown_cell(f"# Title\n\n{text}"), new_code_cell(source)]
        (self.root / "notebooks").mkdir(exist_ok=True)
        write(new_notebook(cells=cells), self.root / "notebooks" / "01_small.ipynb")

    def build(self, **environment):
        command = [Path(sys.executable).parent / "jupyter-book", "build", self.root]
        return subprocess.run(
            [*map(str, command), "-W", "-n", "--keep-going"],
            env={**os.environ, "NO_COLOR": "1", **environment},
            capture_output=True,
            text=True,
        )

    def page(self):
        return (self.root / "_build/html/notebooks/01_small.html").read_text("utf8")


# Not `import lessons`: the environment's own copy would answer.
READ_HELPER = "exec(open('../src/lessons/small.py').read())\nprint(f'value {value}')"


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path)


def test_change_of_a_helper_changes_the_page(book):
    """The second build is incremental and the notebook is the same: only the helper changed."""
    book.notebook(READ_HELPER)
    assert book.build().returncode == 0
    assert "value 41" in book.page()
    book.helper("value = 42")
    assert book.build().returncode == 0
    assert "value 42" in book.page() and "value 41" not in book.page()


def test_warning_of_a_cell_fails_the_build(book):
    book.notebook("import warnings\nwarnings.warn('look here')")
    assert book.build().returncode != 0


def test_site_of_a_fork_names_the_fork_everywhere_and_the_original_nowhere(book):
    """Pages, downloads, search index, everything that is written: no file has the old address."""
    from repository import configured, pages_url

    link = f"[Open in Colab](https://colab.research.google.com/github/{configured()}/blob/main/x)"
    site = pages_url(configured())
    (book.root / ".github").mkdir()
    (book.root / ".github" / "TEMPLATE.md").write_text("# A form\n")
    book.notebook(f"print({site!r})", text=f"{link}, [the book]({site}/book/intro.html)")
    assert book.build(GITHUB_REPOSITORY="someone/their-fork").returncode == 0
    page = book.page()
    assert "github.com/someone/their-fork" in page
    assert "colab.research.google.com/github/someone/their-fork/blob/main/x" in page
    assert "https://someone.github.io/their-fork/book/intro.html" in page
    old = [address.encode() for address in (configured(), site.removeprefix("https://"))]
    written = [path for path in (book.root / "_build/html").rglob("*") if path.is_file()]
    named = [path.name for path in written if any(one in path.read_bytes() for one in old)]
    assert len(written) > 20 and named == []
    # Sphinx takes a form for pull requests for a page, unless it is told not to.
    assert not [path for path in written if ".github" in path.parts]


def test_page_without_vendored_maths_uses_the_default_host(book):
    shutil.rmtree(book.root / "book/_assets/vendor", ignore_errors=True)
    book.notebook("1", text="$x$")
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert "No vendored MathJax" in done.stdout
    assert re.search(r'src="https://cdn[^"]+mathjax', book.page())


def test_no_line_ends_inside_a_number_or_before_a_comma(book):
    text = "## 62 832\n\nBy 15 % of 1 000 000 in 12 2017.\n\nLet $x$, ($y$) and $z$ be."
    book.notebook("print('62 832')", text=text)
    assert book.build().returncode == 0
    page = book.page()
    assert "<h2>62\u00a0832<" in page and "By 15\u00a0% of 1\u00a0000\u00a0000 in 12 2017." in page
    assert ">62 832\n" in page, "what a program printed stays as it is"
    whole = re.findall(r'<span class="whole"><span class="math.*?</span>(\W+)</span>', page)
    assert whole == [",", ")"] and " and <" in page and " be.<" in page


def test_widget_that_would_not_move_fails_the_build(book):
    book.notebook("import ipywidgets\nipywidgets.IntSlider()")
    done = book.build()
    assert done.returncode != 0
    assert "would not move" in done.stdout + done.stderr


def test_no_registry_is_a_warning_not_an_end(monkeypatch, tmp_path):
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(vendor, "TEX_IN_NODE", tmp_path / "mathjax")
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    said = []
    vendor.fetch_pages(said.append)
    assert "using the default CDNs" in said[0]
    assert not (tmp_path / "vendor").exists()


def test_python_that_is_too_old_is_told_so_before_it_meets_the_other_tools(monkeypatch):
    """They are in newer words: an old Python would end with a syntax error."""
    ast.parse((ROOT / "book/tools/oldest.py").read_text("utf8"), feature_version=(3, 6))
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["requires-python"]
    assert asked == ">=" + ".".join(map(str, oldest.OLDEST))
    assert oldest.refusal() is None
    monkeypatch.setattr(oldest, "OLDEST", (99, 0))
    assert "needs Python 99.0 or newer" in oldest.refusal()
    script = re.compile(r"book/tools/\w+\.py")
    rules = (ROOT / "Makefile").read_text("utf8")
    for target in set(re.findall(r"^([\w-]+):\n\t@\$\(PYTHON\)", rules, re.M)):
        plan = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert script.findall(plan.stdout)[0] == "book/tools/oldest.py", target


def test_environment_that_is_half_made_is_made_and_one_that_was_moved_is_refused(
    monkeypatch, tmp_path
):
    for module, name, value in (
        (stages, "LOGS", tmp_path),
        (environment, "VENV", tmp_path / "a book" / ".venv"),
        (environment, "PYTHON", tmp_path / "a book" / ".venv/bin/python"),
    ):
        monkeypatch.setattr(module, name, value)
    environment.PYTHON.parent.mkdir(parents=True)
    environment.PYTHON.symlink_to(sys.executable)  # stopped before pip was there
    notes = []
    environment.create(notes.append)
    environment.create(notes.append)
    assert notes == ["already there"]
    moved = (tmp_path / "a book").rename(tmp_path / "elsewhere") / ".venv"
    monkeypatch.setattr(environment, "VENV", moved)
    monkeypatch.setattr(environment, "PYTHON", moved / "bin/python")
    with pytest.raises(stages.StageFailed, match="made in another place"):
        environment.create(notes.append)


@pytest.mark.parametrize(
    "cause", ["WARNING: Retrying (Retry(total=0)) after connection broken", ""]
)
def test_packages_without_a_network_end_with_that_question(cause, monkeypatch, tmp_path):
    """pip's own last line speaks of conflicting versions, or of none that match."""
    pip = tmp_path / "python"
    pip.write_text(f"#!/bin/sh\necho '{cause} by ...'\necho 'ERROR: a riddle'\nexit 1\n", "utf8")
    pip.chmod(0o755)
    for module, name, value in (
        (stages, "LOGS", tmp_path),
        (environment, "VENV", tmp_path),
        (environment, "PIP_INSTALL", [pip]),
    ):
        monkeypatch.setattr(module, name, value)
    with pytest.raises(stages.StageFailed, match="a riddle") as failed:
        environment.install([].append, "test")
    assert ("is there a network?" in str(failed.value).splitlines()[-1]) == bool(cause)


def test_changed_package_is_refused(monkeypatch, tmp_path):
    """A file that is not the pinned one never reaches the site."""
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\necho other > "$4/mathjax-3.2.2.tgz"\n', "utf8")
    npm.chmod(0o755)
    monkeypatch.setattr(vendor, "find_npm", lambda: str(npm))
    with pytest.raises(stages.StageFailed, match="checksum"):
        vendor.fetch(vendor.MATHJAX)


def test_failed_stage_ends_with_its_cause(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    loud = "import sys; print('WARNING: early'); print('x\\n' * 99); sys.exit('the cause')"
    run = stages.Stages(3)
    with pytest.raises(stages.StageFailed) as failed, run.stage("pages"):
        stages.run([sys.executable, "-c", loud], "loud.log", "The pages failed.")
    lines = str(failed.value).splitlines()
    assert lines[0] == "WARNING: early" and len(lines) < 40
    assert "the cause" in lines[-3] and lines[-1].startswith("The pages failed.")
    assert capsys.readouterr().out.startswith("[1/3] pages … failed after")


def test_what_a_stage_has_compiled_is_kept_for_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(stages, "LOGS", tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    ask = "import sys; sys.exit(sys.dont_write_bytecode)"
    stages.run([sys.executable, "-c", ask], "asked.log", "It would be compiled again.")


def test_when_a_stage_fails_what_has_begun_beside_it_ends_and_the_rest_is_dropped():
    done, begun, dropped = [], threading.Event(), threading.Event()

    def first():
        begun.set()
        dropped.wait(9)
        done.append("first")

    with pytest.raises(ZeroDivisionError), stages.beside() as lane:
        lane.submit(first)
        lane.submit(done.append, "second").add_done_callback(lambda _: dropped.set())
        begun.wait(9)
        _ = 1 / 0
    assert done == ["first"]


def test_failing_cell_fails_the_build_and_is_told_without_the_frames_around_it(book):
    book.notebook("x = 1\nassert x == 2, 'not so'")
    done = book.build()
    assert done.returncode != 0
    log = book.root / "pages.log"
    log.write_text(done.stdout + done.stderr, "utf8")
    told = stages.tail(log).splitlines()
    assert "assert x == 2, 'not so'" in "\n".join(told[:4])
    assert "AssertionError: not so" in told[-2] and re.search(r"a cell of \S+\.ipynb", told[-1])
    assert not [line for line in told if "click" in line or "jupyter_book" in line]


def test_second_build_does_nothing_and_a_failed_one_is_forgotten(monkeypatch, tmp_path):
    """Sphinx would not repeat the warning of a page that it kept from a failed build."""
    import make_book

    site, doctrees = tmp_path / "html", tmp_path / ".doctrees"
    monkeypatch.setattr(make_book, "BUILD", tmp_path)
    monkeypatch.setattr(make_book, "SITE", site)
    calls = []

    def build(*arguments, **more):
        calls.append(1)
        for folder in (site, doctrees):
            folder.mkdir(exist_ok=True)
        (site / "index.html").touch()
        if len(calls) == 2:
            raise stages.StageFailed("a page warned")

    monkeypatch.setattr(make_book, "run", build)
    notes = []
    monkeypatch.setattr(make_book, "landing", lambda: None)
    make_book.pages(notes.append)
    make_book.pages(notes.append)
    assert len(calls) == 1 and notes == ["nothing new"]
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/their-fork")
    with pytest.raises(stages.StageFailed):
        make_book.pages(notes.append)
    assert not doctrees.exists()
    make_book.pages(notes.append)
    assert len(calls) == 3


def test_a_failed_build_forgets_what_it_read_and_keeps_the_pages_before_it(monkeypatch, tmp_path):
    """A slip in one cell costs one page, not the book; and its page is read again."""
    import make_book

    monkeypatch.setattr(make_book, "BUILD", tmp_path)
    monkeypatch.setattr(make_book, "SITE", tmp_path / "html")
    monkeypatch.setattr(make_book, "CONTENT", ())
    monkeypatch.setattr(make_book, "landing", lambda: None)
    read, index = tmp_path / ".doctrees" / "read", tmp_path / "html" / "index.html"
    found = []

    def build(*arguments, **more):
        found.append(read.read_text("utf8") if read.exists() else "nothing")
        for path in (read, index):
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"by build {len(found)}", "utf8")
        if len(found) == 2:
            raise stages.StageFailed("a cell failed")

    monkeypatch.setattr(make_book, "run", build)
    make_book.pages([].append)
    (tmp_path / "stamps" / "pages").write_text("a page was changed", "utf8")
    with pytest.raises(stages.StageFailed):
        make_book.pages([].append)
    assert index.exists() and read.read_text("utf8") == "by build 1"
    make_book.pages([].append)
    assert found == ["nothing", "by build 1", "by build 1"]
