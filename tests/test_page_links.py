"""Links inside the built book: every page and every anchor that is named exists. No browser."""

from functools import cache
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from conftest import SITE

WRITTEN = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
PAGES = sorted(name for name in WRITTEN if not name.startswith("_"))  # _static holds templates


class Collector(HTMLParser):
    """The ids of a page, and the addresses that it links to or loads."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids |= {named[key] for key in ("id", "name") if named.get(key)}
        self.links += [named[key] for key in ("href", "src") if named.get(key)]


@cache
def read(path):
    collector = Collector()
    collector.feed(path.read_text("utf8"))
    return collector


def broken(page):
    """Addresses of one page that lead nowhere inside the book."""
    path = SITE / page
    found = []
    for link in read(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or page == "404.html":  # test_site.py has that one
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file() or (
            target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids | {""}
        ):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_book_resolve(page):
    assert broken(page) == []


def test_there_are_pages():
    assert len(PAGES) > 5


def test_no_page_loads_from_another_host():
    """Also what a browser asks for late: scripts, styles and pictures with an outside address."""
    for page in PAGES:
        text = (SITE / page).read_text("utf8")
        for tag in ("script", "img", "link", "iframe"):
            for piece in text.split(f"<{tag} ")[1:]:
                start = piece.split(">")[0]
                is_outside = 'src="http' in start or 'href="http' in start
                assert not is_outside or 'rel="canonical"' in start, f"{page}: <{tag} {start}>"


def test_wheel_lies_on_the_site():
    """The notebooks' first cell installs this file from here."""
    import bootstrap

    wheel = bootstrap.source("someone/their-book").split('f"{site}/')[1].split('"')[0]
    assert (SITE / wheel).is_file()


def test_student_notebooks_lie_on_the_site():
    """Without outputs, and with the address of the site in them, if it has one."""
    import addressed
    import repository

    names = [name for name in addressed.names() if name.startswith("assignments/")]
    assert len(names) == 4
    for name in names:
        text = addressed.given_out(name, repository.for_site())
        assert (SITE / f"{name}.ipynb").read_text("utf8") == text
