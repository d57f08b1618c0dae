"""The zip of `make offline`, unpacked into an empty folder and opened as files, with no network."""

import zipfile

import pytest
from conftest import SITE, VIEW, lesson_pages, widget_pages
from editions import ZIP
from test_page_widgets import differ, picture, play, words
from test_pages import RAW_MATH

PAGES = lesson_pages()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    empty = tmp_path_factory.mktemp("offline")
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(empty)
    (inside,) = empty.iterdir()  # one folder, so that unpacking litters nobody's desk
    return inside


@pytest.fixture
def open_file(chromium, folder):
    """open_file(name): that page as a file; what it asked elsewhere or complained about."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.told = []
    page.on("console", lambda said: page.told.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.told.append(str(error)))
    page.on("requestfailed", lambda request: page.told.append(f"failed: {request.url}"))

    def watch(request):
        if not request.url.startswith((folder.as_uri(), "data:", "blob:")):
            page.told.append(request.url)

    page.on("request", watch)

    def open_(name):
        path, _, query = name.partition("?")
        page.goto((folder / path).as_uri() + f"?{query}" * bool(query), wait_until="load")
        return page

    yield open_
    context.close()


def test_every_file_of_the_site_is_in_it(folder):
    from editions import EDITIONS

    site = {path.relative_to(SITE) for path in SITE.rglob("*") if path.is_file()}
    packed = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert packed == site - {path.relative_to(SITE) for path in EDITIONS}


@pytest.mark.parametrize("name", PAGES)
def test_page_stands_without_a_network(open_file, name):
    page = open_file(name)
    page.evaluate("window.MathJax?.startup?.promise")
    views = page.locator(f'script[type="{VIEW}"]').count()
    page.wait_for_function(
        "n => document.querySelectorAll('.lessons-figure').length >= n", arg=views
    )
    assert page.evaluate(RAW_MATH) == []
    missing = "() => [...document.images].filter((i) => i.complete && !i.naturalWidth).length"
    assert page.evaluate(missing) == 0
    fonts = (
        "document.fonts.ready.then(() => [...document.fonts].filter((f) => f.status == 'error'))"
    )
    assert page.evaluate(fonts) == []
    assert page.told == []


@pytest.mark.parametrize("name", widget_pages())
def test_play_moves_each_figure(open_file, name):
    page = open_file(name)
    page.wait_for_selector(".lessons-figure")
    page.evaluate("window.MathJax?.startup?.promise")
    roots = page.locator(".lessons-figure")
    for place in range(roots.count()):
        root = roots.nth(place)
        root.scroll_into_view_if_needed()
        before, said = picture(root), words(root)
        if root.locator("button.lessons-play").count():
            play(root)
        else:
            # One that is dragged instead: an arrow key does the same.
            root.locator("input[type=range]").first.focus()
            for _ in range(9):
                page.keyboard.press("ArrowRight")
        assert differ(before, picture(root)) > 20 and words(root) != said
    assert page.told == []


def test_the_first_file_leads_to_the_first_page(open_file):
    page = open_file("index.html")
    page.wait_for_url("**/book/intro.html")


def test_search_works_without_a_server(open_file):
    page = open_file("search.html?q=sinusoidal")
    page.wait_for_selector("ul.search li a")
    found = page.locator("ul.search li a").evaluate_all("links => links.map((a) => a.href)")
    assert any("02_sinusoidal" in link for link in found)
    assert page.told == []
