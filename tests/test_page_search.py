"""What a reader's words find: the right lesson is among the first, and a summary reads.

That words typed into the box come to this page is tested in test_pages.py.
"""

from urllib.parse import quote_plus

import pytest

ASKED = {
    "rope": "04_rope",
    "alibi slopes": "06_alibi",
    "ntk": "08_longer",
    "yarn": "08_longer",
    "length extrapolation": "07_train",
    "kv cache": "09_kv_cache",
    "rotate_half": "05_rotate_half",
    "sinusoidal": "02_sinusoidal",
    "relative position bias": "06_alibi",
    "attention sink": "09_kv_cache",
    "perplexity": "07_train",
    "wavelength": "02_sinusoidal",
    "permutation": "01_order",
    "2d rope": "11_grids",
    "learned position embedding": "03_learned",
}

MENU = "02 · Sinusoids: an address"  # stands in the list of pages, beside every page


@pytest.fixture(scope="module")
def page(chromium, site):
    opened = chromium.new_page()
    opened.search = f"{site}search.html?q="
    yield opened
    opened.close()


def results(page, words):
    page.goto(page.search + quote_plus(words))
    page.wait_for_load_state("networkidle")
    page.wait_for_function(
        "() => /found|No page/.test(document.querySelector('#search-results')?.innerText)"
    )
    page.wait_for_timeout(200)  # summaries come after their titles
    return page.locator("#search-results ul.search > li").evaluate_all(
        """rows => rows.slice(0, 20).map((row) => [row.querySelector('a').getAttribute('href'),
          row.querySelector('.context')?.textContent ?? ''])"""
    )


@pytest.mark.parametrize("words", ASKED)
def test_search_finds_the_lesson(page, words):
    found = results(page, words)
    places = [link for link, _ in found[:5]]
    lesson = next((n for n, link in enumerate(places) if ASKED[words] in link), None)
    assert lesson is not None, places
    assert not any("book/api" in link for link in places[:lesson]), places
    for link, summary in found:
        assert MENU not in summary and "\\(" not in summary, (link, summary)
        assert "Open in Colab" not in summary and "import numpy" not in summary
        assert "RoPERoPE" not in summary, "a term and what it means run into each other"
        assert not summary.strip().endswith(":"), "a term without what it means"


def test_finding_nothing_leads_on(page):
    assert results(page, "xyzzyq") == []
    assert "Try fewer" in page.locator("#search-results").inner_text()
    assert page.get_by_role("link", name="glossary", exact=True).is_visible()
