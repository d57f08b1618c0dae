"""The book as a fork builds it: every page, card, list, download and wheel names the fork alone.

All pages, with the outputs that the notebooks were saved with: what a cell prints comes from no
address, and running them again would take minutes.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from urllib.parse import urlsplit

import addressed
import bootstrap
import check_address
import pytest
import repository
from bs4 import BeautifulSoup
from conftest import ROOT

FORK = "Some-One/their.book"
PAGES = "https://some-one.github.io/their.book"
PARTS = ("_config.yml", "_toc.yml", "pyproject.toml", "LICENSE", "README.md", "requirements.txt")
FOLDERS = ("book", "notebooks", "src")
# What `make book` does once there is an environment.
BUILD = "import make_book; make_book.wheel([].append); make_book.pages([].append)"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("fork") / "their book"
    root.mkdir()
    for name in PARTS:
        shutil.copy2(ROOT / name, root)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    settings = root / "_config.yml"
    text = settings.read_text("utf8").replace("execute_notebooks: force", "execute_notebooks: off")
    settings.write_text(text, "utf8")
    (root / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=root,
        env=os.environ
        | {
            "PYTHONPATH": str(root / "book/tools"),
            "GITHUB_REPOSITORY": FORK,
            "PAGES_URL": "",
            # The environment's own setuptools: nothing has to be fetched.
            "PIP_NO_BUILD_ISOLATION": "0",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return root / "_build/html"


def read(path):
    return BeautifulSoup(path.read_text("utf8"), "html.parser")


def test_nothing_of_the_site_names_the_book_that_it_was_copied_from(site):
    """Every file, also inside the wheel: its metadata and its description."""
    old = repository.configured()
    assert check_address.naming(site, old) == []
    kinds = {path.suffix for path in site.rglob("*") if path.is_file()}
    assert kinds >= {".html", ".js", ".css", ".xml", ".txt", ".ipynb", ".md", ".png", ".whl"}
    # The same search finds it in what the site was made from.
    named = check_address.naming(ROOT / "notebooks", old)
    assert {f"{name}.ipynb" for name in addressed.names()} <= set(named)


def test_every_notebooks_page_leads_to_colab_and_to_kaggle_on_the_branch(site):
    for name in addressed.names():
        page = read(site / f"notebooks/{name}.html")
        links = repository.open_in(FORK, name)
        assert links == {
            "Colab": f"https://colab.research.google.com/github/{FORK}/blob/colab/notebooks/{name}.ipynb",
            "Kaggle": "https://kaggle.com/kernels/welcome?src="
            f"https://github.com/{FORK}/blob/colab/notebooks/{name}.ipynb",
        }
        buttons = page.select(".dropdown-launch-buttons a")
        assert [(each.text.strip(), each["href"]) for each in buttons] == [*links.items()]
        said = {each.text: each["href"] for each in page.select("article p a[href]")}
        assert links.items() <= {k.removeprefix("Open in "): v for k, v in said.items()}.items()
        # A correction still goes to where the notebooks are written.
        assert page.select_one(
            f'a[href="https://github.com/{FORK}/edit/main/notebooks/{name}.ipynb"]'
        )


def test_pages_without_a_notebook_have_no_such_buttons(site):
    assert read(site / "book/notation.html").select(".dropdown-launch-buttons a") == []


def test_cards_lists_and_canonical_addresses_are_those_of_the_forks_pages(site):
    pages = addressed.PAGE.findall((ROOT / "_toc.yml").read_text("utf8"))
    for name in pages:
        head = (site / f"{name}.html").read_text("utf8").split("</head>")[0]
        assert f'href="{PAGES}/{name}.html"' in head
        assert f'property="og:url" content="{PAGES}/{name}.html"' in head
        assert f'property="og:image" content="{PAGES}/' in head
    sitemap = (site / "sitemap.xml").read_text("utf8")
    assert sorted(re.findall("<loc>(.*)</loc>", sitemap)) == sorted(
        f"{PAGES}/{name}.html" for name in pages
    )
    assert f"Sitemap: {PAGES}/sitemap.xml" in (site / "robots.txt").read_text("utf8")
    assert 'href="/their.book/index.html"' in (site / "404.html").read_text("utf8")


def test_every_notebook_to_be_had_installs_the_wheel_that_lies_beside_the_pages(site):
    (wheel,) = site.glob("*.whl")
    assert f'site = "{PAGES}"\n' in bootstrap.source(FORK)
    assert f'f"{{site}}/{wheel.name}"' in bootstrap.source(FORK)
    for name in addressed.names():
        text = addressed.given_out(name, FORK)
        assert (site / f"_sources/notebooks/{name}.ipynb").read_text("utf8") == text
        if name.startswith("assignments/"):
            assert (site / f"{name}.ipynb").read_text("utf8") == text


def test_the_wheels_description_says_where_to_clone_it_from(site):
    (path,) = site.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        said = wheel.read(name).decode()
    assert f"git clone https://github.com/{FORK} " in said and "REPOSITORY_ADDRESS" not in said


def test_links_of_a_notebook_alone_lead_to_places_on_the_pages(site):
    """The page's own name of a heading is not always what the notebook's link says."""
    places = 0
    for name in addressed.names():
        text = addressed.given_out(name, FORK)
        for link in re.findall(rf"\]\({re.escape(PAGES)}/([^)]+)\)", text):
            parts = urlsplit(link)
            page = site / parts.path
            assert page.is_file(), link
            if parts.fragment:
                assert read(page).find(id=parts.fragment), link
                places += 1
    assert places > 3
