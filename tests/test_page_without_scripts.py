"""Every page for a reader without JavaScript: formulas are drawn, and nothing stands there dead."""

import pytest
from conftest import DESKTOP, PHONE, SITE, VIEW, lesson_pages

PAGES = lesson_pages()
FORMULA = 'class="math notranslate'

# Visible TeX, controls that do nothing, text under or over something else, a formula not drawn.
WRONG = """() => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const found = [];
  for (const one of document.querySelectorAll('.math')) {
    if (seen(one)) found.push(`TeX: ${one.textContent.slice(0, 60)}`);
  }
  for (const one of document.querySelectorAll('math')) {
    const box = one.getBoundingClientRect();
    const closed = one.closest('details:not([open])') || !seen(one.parentElement.parentElement);
    if (!closed && !(box.width > 2 && box.height > 4)) found.push(`not drawn: ${one.outerHTML}`);
    if (/\\\\[a-zA-Z]|mathcolor="red"|merror/.test(one.innerHTML)) found.push(one.outerHTML);
  }
  for (const one of document.querySelectorAll('button:not(.dropdown-toggle), input, select')) {
    if (seen(one) && one.getBoundingClientRect().width) found.push(one.outerHTML.slice(0, 90));
  }
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push('the page scrolls sideways');
  const [text, list] = ['.bd-article', '.bd-sidebar-primary'].map((name) =>
    document.querySelector(name).getBoundingClientRect());
  if (list.right > text.left + 1 && list.top < text.bottom - 1) found.push('the menu is over text');
  if (!seen(document.querySelector('.bd-sidebar-primary a'))) found.push('no list of pages');
  return found.slice(0, 5);
}"""


@pytest.fixture(scope="module")
def bare(chromium):
    """One browser page in which no script of a page runs."""
    context = chromium.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_page_reads_without_javascript(bare, site, name):
    bare.goto(site + name)
    source = (SITE / name).read_text("utf8")
    assert bare.locator("math").count() == source.count(FORMULA)
    assert bare.locator("article noscript p:visible").count() == source.count(VIEW)
    for width, height in (DESKTOP, PHONE):
        bare.set_viewport_size({"width": width, "height": height})
        assert bare.evaluate(WRONG) == [], width
    # Its colours are there: without them boxes have no borders.
    assert bare.evaluate("getComputedStyle(document.body).getPropertyValue('--pst-color-border')")


def test_mathml_gives_way_to_mathjax(watch):
    page = watch().open("book/notation.html")
    assert page.locator("mjx-container").count() > 100
    assert page.locator(".still-math").count() == 0
    assert page.locator(".math").first.is_visible()


def test_no_line_moves_when_mathjax_comes(watch):
    """On a page full of formulas; if TeX had stood in their places, the shift would be 0.04."""
    watched = watch((1280, 2000))
    page, held = watched.page, []
    # From here it would come before the first line.
    page.route("**/tex-chtml.js*", lambda route: held.append(route))
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.shift += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });"""
    )
    page.goto(watched.site + "book/notation.html", wait_until="commit")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    page.wait_for_timeout(500)
    held.pop().continue_()
    page.wait_for_function(
        "document.querySelector('mjx-container') && !document.querySelector('.still-math')"
    )
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    assert page.evaluate("window.shift") < 0.02


def test_dark_comes_with_the_first_line(watch):
    """Before the theme's script: a reader in the dark is not shown a white page first."""
    page = watch(theme="dark").page
    page.route("**/*.js", lambda route: route.abort())
    page.goto(watch().site + PAGES[0])
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
