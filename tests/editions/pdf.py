"""The PDF of `make pdf`: every chapter is in it, with outline, contents, figures and answers."""

import re

import check_address
import make_pdf
import pytest
import repository
from conftest import SITE, VIEW, lesson_pages
from editions import PDF
from pypdf import PdfReader


@pytest.fixture(scope="module")
def reader():
    return PdfReader(PDF)


@pytest.fixture(scope="module")
def texts(reader):
    return [page.extract_text() for page in reader.pages]


def test_outline_and_contents_say_where_each_chapter_begins(reader, texts):
    begins = make_pdf.sheets(reader)
    assert len(begins) == len(lesson_pages()) and begins == sorted(begins)
    printed = [int(number) for number in re.findall(r"(\d+)\s*$", texts[1], re.M)]
    assert printed[: len(begins)] == begins
    entries = [entry for entry in reader.outline if not isinstance(entry, list)]
    for sheet, entry in zip(begins, entries, strict=True):
        words = re.sub(r"\W+", "", entry.title)[:12]  # a long title is two lines
        assert words in re.sub(r"\W+", "", texts[sheet - 1]), entry.title


def test_every_sheet_has_its_number(texts):
    for sheet, text in enumerate(texts, 1):
        assert re.search(rf"(^|\D){sheet}\s*$", text.strip()), f"sheet {sheet}: {text[-80:]!r}"


def test_each_moving_figure_stands_still_with_its_address(texts):
    views = sum((SITE / name).read_text("utf8").count(VIEW) for name in lesson_pages())
    assert views > 5
    assert sum(text.count("moves on the web page: http") for text in texts) == views


def test_maths_is_set_not_written(texts):
    for sheet, text in enumerate(texts, 1):
        assert not re.search(r"\\\(|\\\[|\\frac|\\begin", text), f"sheet {sheet}"


def test_neither_words_nor_links_name_the_book_that_it_was_copied_from(reader, texts):
    """A search of the file's bytes misses them: there each sign of an address is escaped."""
    own, here = repository.configured(), repository.for_site()
    notes = (note.get_object() for page in reader.pages for note in page.get("/Annots") or ())
    links = [note.get("/A", {}).get("/URI", "") for note in notes]
    assert any(link.startswith(f"{repository.pages_url(here)}/") for link in links)
    named = check_address.former(own)
    assert own == here or not [said for said in (*links, *texts) if named.search(said.encode())]


def test_links_lead_inside_the_book_or_to_the_web(reader):
    inside = outside = 0
    for page in reader.pages:
        for note in page.get("/Annots") or ():
            action = note.get_object().get("/A", {})
            if "/URI" in action:
                outside += 1
                assert action["/URI"].startswith(("http://", "https://", "mailto:")), action["/URI"]
            else:
                inside += 1
    assert inside > 100 and outside > 100
