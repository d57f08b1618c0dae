"""Building: fresh numbers, failures that are seen, and forks."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stages
from conftest import ROOT
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TOC = "format: jb-book\nroot: book/intro\nchapters:\n  - file: notebooks/01_small\n"


class Book:
    """A copy of the book with one small notebook, built by the same settings and extension."""

    def __init__(self, root):
        self.root = root
        for name in ("_config.yml", "pyproject.toml", "book/_ext", "book/_assets", "book/tools"):
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
            # Where the pages of the repository are that runs these tests is of no concern.
            env={**os.environ, "NO_COLOR": "1", "PAGES_URL": "", **environment},
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

    link = f"[Open in Colab](https://colab.research.google.com/github/{configured()}/blob/colab/x)"
    site = pages_url(configured())
    (book.root / ".github").mkdir()
    (book.root / ".github" / "TEMPLATE.md").write_text("# A form\n")
    book.notebook(f"print({site!r})", text=f"{link}, [the book]({site}/book/intro.html)")
    assert book.build(GITHUB_REPOSITORY="someone/their-fork").returncode == 0
    page = book.page()
    assert "github.com/someone/their-fork" in page
    assert "colab.research.google.com/github/someone/their-fork/blob/colab/x" in page
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
