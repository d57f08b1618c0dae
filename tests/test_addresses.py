"""Where the book is: a fork's pages, links and notebooks name the fork, whatever its name is."""

import json
import re
import zipfile
from urllib.parse import urlsplit

import addressed
import bootstrap
import check_address
import nbformat
import notebook_rules as rules
import pytest
import repository
import stages
from conftest import ROOT

FORK = "Some-One/their.book"
NAMES = addressed.names()
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(autouse=True)
def no_address_of_this_machine(monkeypatch):
    """What GitHub Actions sets, where it runs these tests."""
    for name in ("GITHUB_REPOSITORY", "PAGES_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("someone/their-book", "https://someone.github.io/their-book"),
        (FORK, "https://some-one.github.io/their.book"),
        ("someone/Book", "https://someone.github.io/Book"),
        # A repository of this name has its pages at the host's root.
        ("someone/someone.github.io", "https://someone.github.io"),
        ("SomeOne/SomeOne.github.io", "https://someone.github.io"),
        ("SomeOne/someone.GitHub.io", "https://someone.github.io"),
        ("someone/else.github.io", "https://someone.github.io/else.github.io"),
    ],
)
def test_pages_are_where_github_serves_them(address, url):
    assert repository.pages_url(address) == url


def test_a_domain_of_ones_own_is_that_of_the_repository_that_builds(monkeypatch):
    monkeypatch.setenv("PAGES_URL", "https://book.example.org/")
    assert repository.pages_url(FORK) == "https://some-one.github.io/their.book"
    monkeypatch.setenv("GITHUB_REPOSITORY", FORK)
    assert repository.pages_url(FORK) == "https://book.example.org"
    assert repository.pages_url("a/b") == "https://a.github.io/b"
    assert 'site = "https://book.example.org"' in bootstrap.source(FORK)


@pytest.mark.parametrize("given", ["book", "a/b/c", "a b/c", "https://github.com/a/b", "a/"])
def test_what_is_no_address_is_refused_by_name(given, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", given)
    with pytest.raises(
        stages.StageFailed, match="GITHUB_REPOSITORY has to be ACCOUNT/NAME"
    ) as told:
        repository.for_site()
    assert repr(given) in str(told.value)


def test_without_an_address_nothing_is_published(monkeypatch):
    monkeypatch.setattr(repository, "configured", lambda: "OWNER/a-book")
    with pytest.raises(stages.StageFailed, match="no address yet"):
        repository.required()
    monkeypatch.setenv("GITHUB_REPOSITORY", FORK)
    assert repository.required() == FORK


@pytest.mark.parametrize(
    ("old", "new", "text", "renamed"),
    [
        ("O/b", "p/c", "x/O/b.git, https://o.github.io/b/x", "x/p/c.git, https://p.github.io/c/x"),
        ("O/b", "p/c", "O/b-2 PO/b O/bb o.github.io/b2", "O/b-2 PO/b O/bb o.github.io/b2"),
        # The new address holds the old one, or is below the old one's host.
        (
            "O/b",
            "MO/b",
            "github.com/O/b and github.com/MO/b",
            "github.com/MO/b and github.com/MO/b",
        ),
        ("o/o.github.io", "o/b", "https://o.github.io/x", "https://o.github.io/b/x"),
        ("o/o.github.io", "p/b", "github.com/o/o.github.io/x", "github.com/p/b/x"),
        ("O/b", "p/p.github.io", "o.github.io/b/x O/b", "p.github.io/x p/p.github.io"),
    ],
)
def test_whole_addresses_are_renamed_in_one_pass(old, new, text, renamed):
    assert repository.renamed(text, old, new) == renamed
    assert repository.renamed(text, old, old) == text


@pytest.mark.parametrize("name", NAMES)
def test_notebook_that_is_given_out_names_its_address_alone(name):
    text = addressed.given_out(name, FORK)
    assert not check_address.former(repository.configured()).search(text.encode())
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert rules.codes(notebook)[0].source == bootstrap.source(FORK)
    assert repository.known(FORK) and "git remote" not in text
    first = notebook.cells[0].source
    path = f"{FORK}/blob/colab/notebooks/{name}.ipynb"
    assert f"(https://colab.research.google.com/github/{path})" in first
    assert f"(https://kaggle.com/kernels/welcome?src=https://github.com/{path})" in first
    # Once more is the same, for pages are built on what was built before.
    assert addressed.addressed(text, name, FORK) == text


@pytest.mark.parametrize("name", NAMES)
def test_notebook_that_is_given_out_is_else_the_saved_one(name):
    """Cells, outputs, bytes: but for the first cell and links, not a letter differs."""
    saved = (ROOT / "notebooks" / f"{name}.ipynb").read_text("utf8")
    assert addressed.addressed(saved, name, "OWNER/any") == saved
    before, after = (json.loads(each)["cells"] for each in (saved, addressed.given_out(name, FORK)))
    for old, new in zip(before, after, strict=True):
        if old.get("id") == bootstrap.CELL_ID:
            old["source"] = new["source"] = []
        if old["cell_type"] == "markdown":
            for cell in (old, new):
                cell["source"] = LINK.sub("]()", "".join(cell["source"]))
        assert old == new


@pytest.mark.parametrize("name", NAMES)
def test_links_of_a_notebook_alone_lead_to_pages_or_files_that_are_there(name):
    """Relative links lead nowhere in Colab and Kaggle, and on a branch of notebooks alone."""
    pages = addressed.PAGE.findall((ROOT / "_toc.yml").read_text("utf8"))
    site = repository.pages_url(FORK)
    own = 0
    for cell in rules.texts(nbformat.reads(addressed.given_out(name, FORK), as_version=4)):
        for link in LINK.findall(cell.source):
            assert urlsplit(link).scheme, f"{link} is relative"
            if link.startswith(f"{site}/"):
                assert urlsplit(link.removeprefix(f"{site}/")).path.removesuffix(".html") in pages
                own += 1
    assert own > 0


def test_a_link_to_what_is_no_page_leads_to_the_repository():
    text = "[a](../src/lessons/rope.py#L3) [b](nothing.md) [c](#here) [d](https://x.org/y)"
    whole = addressed.whole_links(text, "01_order", FORK)
    assert whole == (
        f"[a](https://github.com/{FORK}/blob/main/src/lessons/rope.py#L3) "
        "[b](nothing.md) [c](#here) [d](https://x.org/y)"
    )


def test_a_file_that_names_the_former_address_is_found_wherever_it_lies(tmp_path):
    old = "OWNER/a-book"
    faulty = {
        "page.html": "github.com/OWNER/a-book/x",
        "sub/card.html": 'content="https://owner.github.io/a-book/"',
        "quoted.js": "src=github.com%2FOWNER%2Fa-book",
        "word.txt": "the OWNER of it",
        "lower.xml": "OWNER/A-Book",
    }
    fine = {
        "fine.html": "the owner/of a-book, OWNERSHIP, MYOWNER/a-book, owner.github.io/a-book2",
        "empty": "",
    }
    for name, text in (faulty | fine).items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf8")
    with zipfile.ZipFile(tmp_path / "some.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("METADATA", faulty["page.html"] * 9)
        wheel.writestr("fine", fine["fine.html"])
    found = check_address.naming(tmp_path, old)
    assert found == sorted([*faulty, "some.whl: METADATA"])
    assert check_address.naming(tmp_path, "someone/else") == []


def test_a_site_with_the_former_address_is_not_published(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check_address, "SITE", tmp_path)
    monkeypatch.setattr(repository, "configured", lambda: "OWNER/a-book")
    monkeypatch.setenv("GITHUB_REPOSITORY", FORK)
    (tmp_path / "index.html").write_text(f"github.com/{FORK}", "utf8")
    check_address.main()
    assert FORK in capsys.readouterr().out
    (tmp_path / "index.html").write_text("github.com/OWNER/a-book", "utf8")
    with pytest.raises(stages.StageFailed, match=r"index\.html"):
        check_address.main()
