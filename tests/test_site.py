"""The built site as a host serves it: addresses, cards, what crawlers read, what blocks a page.

No browser and no build: the files of `_build/html` are read.
"""

import re
from functools import cache
from pathlib import PurePosixPath
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import repository
from bs4 import BeautifulSoup
from conftest import SITE, lesson_pages, widget_pages
from editions import EDITIONS
from PIL import Image

BASE = f"{repository.pages_url(repository.for_site())}/"
ROOT = urlsplit(BASE).path  # the site lies below its host's root
PAGES = lesson_pages()
EVERY = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if not path.relative_to(SITE).as_posix().startswith("_")
)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


@cache
def read(name):
    return BeautifulSoup((SITE / name).read_text("utf8"), "html.parser")


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    soup = read(request.param)
    soup.path = request.param
    return soup


def meta(soup, name):
    tag = soup.find("meta", attrs={"property": name}) or soup.find("meta", attrs={"name": name})
    return tag["content"] if tag else ""


def test_canonical_address_is_the_pages_own(page):
    (link,) = page.select('link[rel="canonical"]')
    assert link["href"] == meta(page, "og:url") == BASE + page.path


def test_card_says_what_the_page_is(page):
    """Title, first sentence, and a picture that exists, by its whole address."""
    assert meta(page, "og:title") and meta(page, "og:site_name") in page.title.get_text()
    description = meta(page, "description")
    assert len(description) > 40 and "Open in Colab" not in description
    picture = meta(page, "og:image")
    assert picture.startswith(BASE) and meta(page, "og:image:alt")
    with Image.open(SITE / picture.removeprefix(BASE)) as image:
        size = [str(side) for side in image.size]
    assert size == [meta(page, f"og:image:{side}") for side in ("width", "height")]
    assert meta(page, "twitter:card") == "summary_large_image"


def test_nothing_blocks_the_page_but_its_style(page):
    sheets = page.select('link[rel="stylesheet"]')
    assert len(sheets) == 1
    waiting = [one["src"] for one in page.select("script[src]") if "defer" not in one.attrs]
    assert waiting == []
    # The figures' frames, up to half a megabyte, come after the text.
    for state in page.find_all("script", type=WIDGET_STATE):
        assert page.article in state.find_all_previous("article")


def test_code_has_colours_for_light_and_for_dark(page):
    """The theme rewrites its colours after the last page, too late for a file joined before."""
    (link,) = page.select("link[rel=stylesheet]")
    style = (SITE / page.path).parent.joinpath(link["href"]).read_text("utf8")
    for theme in ("light", "dark"):
        assert f'html[data-theme="{theme}"] .highlight .k' in style
    assert "\n.highlight .k" not in style


def test_only_pages_with_figures_load_their_host(page):
    hosts = [one for one in page.select("script[src]") if "widget-host" in one["src"]]
    assert len(hosts) == (page.path in widget_pages())
    assert not re.search(r"require(\.min)?\.js|html-manager|fontawesome", str(page.head))


@pytest.mark.parametrize("name", EVERY)
def test_site_works_below_a_folder(name):
    """Links are relative; those of the 404 page, shown at any depth, start with the folder."""
    soup = read(name)
    found = [tag[key] for key in ("href", "src", "action") for tag in soup.select(f"[{key}]")]
    for link in found:
        parts = urlsplit(link)
        if link.startswith(BASE):
            path = link.removeprefix(BASE)
        elif not parts.scheme and parts.path.startswith("/"):
            assert name == "404.html" and parts.path.startswith(ROOT), f"{name}: {link}"
            path = parts.path.removeprefix(ROOT)
        else:
            assert name != "404.html" or parts.scheme, f"relative on the 404 page: {link}"
            continue
        target = SITE / urlsplit(path).path
        assert target.is_file() or target in EDITIONS or path == "", f"{name}: {link}"


def test_sitemap_has_every_page_once_and_robots_names_it():
    tree = ElementTree.parse(SITE / "sitemap.xml")
    found = [place.text for place in tree.findall("{*}url/{*}loc")]
    assert sorted(found) == sorted(BASE + name for name in PAGES)
    assert f"Sitemap: {BASE}sitemap.xml" in (SITE / "robots.txt").read_text("utf8").splitlines()


def test_404_page_leads_to_every_page():
    links = {tag["href"] for tag in read("404.html").select("a")}
    assert links >= {ROOT + name for name in PAGES}


def test_folders_with_an_underscore_are_served():
    assert (SITE / ".nojekyll").is_file()


def test_first_address_is_shared_with_the_first_pages_card():
    soup = read("index.html")
    first = re.search(r"url=(.+)", soup.find("meta", attrs={"http-equiv": "Refresh"})["content"])[1]
    assert (SITE / first).is_file()
    assert soup.select_one('link[rel="canonical"]')["href"] == BASE + first
    assert meta(soup, "og:image") == meta(read(first), "og:image") != ""


def test_intro_links_to_both_editions():
    links = {tag["href"] for tag in read("book/intro.html").select("a[href]")}
    assert links >= {BASE + path.name for path in EDITIONS}


def test_frames_are_packed():
    """Every drawn frame is a lossless WebP of few colours; a PNG is a third larger."""
    for name in widget_pages():
        text = (SITE / name).read_text("utf8")
        kinds = set(re.findall(r"data:image/(png|webp|jpeg)", text.split(WIDGET_STATE)[1]))
        assert kinds <= {"webp"}, f"{name}: {kinds}"


def test_pictures_are_no_larger_than_they_are_shown():
    """Twice the widest column, for sharp screens, and no more."""
    for name in PAGES:
        for picture in read(name).select("article img"):
            path = SITE / PurePosixPath(name).parent / picture["src"]
            if path.suffix == ".png":
                with Image.open(path) as image:
                    assert image.width <= 2 * 800, f"{name}: {picture['src']} {image.size}"
