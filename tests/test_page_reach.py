"""Every page at 200 % and on the narrowest screen, by the Tab key, and on paper.

One visit a page; each test asks one thing of it.
"""

from itertools import pairwise

import pytest
from conftest import Watched, lesson_pages

PAGES = [*lesson_pages(), "search.html?q=rope", "genindex.html", "404.html"]
DOUBLE, NARROW = (640, 450), (320, 640)  # a laptop's window at 200 %; WCAG 1.4.10
A4 = (660, 950)  # between the margins

# What reaches over the edge of the page, or of a box that neither scrolls nor shows it. Of formulas
# only the sides: MathJax keeps an unseen copy in them, which is higher, and cuts its own parts.
CUT = """() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > width + 1) found.push('the page scrolls sideways');
  const cuts = (overflow, held, shown) => /hidden|clip/.test(overflow) && held > shown + 1;
  for (const part of document.querySelectorAll('article *, .lessons-figure *')) {
    if (part.closest('svg, mjx-assistive-mml, .visually-hidden')) continue;
    if (!part.checkVisibility()) continue;
    const { overflowX, overflowY } = getComputedStyle(part);
    const isFormula = part.closest('.math, .still-math');
    if ((!part.closest('mjx-math') && cuts(overflowX, part.scrollWidth, part.clientWidth))
        || (!isFormula && cuts(overflowY, part.scrollHeight, part.clientHeight))) {
      found.push(`cut: ${part.outerHTML.slice(0, 100)}`);
    }
    const box = part.getBoundingClientRect();
    if (!box.width || (box.left >= -1 && box.right <= width + 1)) continue;
    let around = part.parentElement;
    while (around && !/auto|scroll/.test(getComputedStyle(around).overflowX)) {
      around = around.parentElement;
    }
    if (!around) found.push(part.outerHTML.slice(0, 100));
  }
  return found.slice(0, 5);
}"""
# WCAG 1.4.12: what a reader may set.
SPACING = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }"""
# One heading over all, and none that skips a level.
HEADINGS = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter((heading) => heading.checkVisibility()).map((heading) => Number(heading.tagName[1]))"""

# Whether a reader sees where the focus is. A script may move it for the keyboard: after one press
# of Tab the browser shows the focus as it would for the next press.
SEEN = """
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  const isSeen = one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0
    && box.left < innerWidth;
  const hasRing = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0)
    || style.boxShadow !== 'none';
  const what = `${isSeen ? 'no ring' : 'unseen'}: ${one.outerHTML.slice(0, 90)}`;
"""
STOPS = """[...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({
    visibilityProperty: true }) && one.getBoundingClientRect().width > 0)"""
UNSEEN = f"""() => {STOPS}.flatMap((one) => {{
  one.focus();
  {SEEN}
  return document.activeElement === one && isSeen && hasRing ? [] : [what];
}})"""
NEXT = f"""() => {{
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  window.stops ??= [];
  if (window.stops.includes(one)) return null;
  window.stops.push(one);
  {SEEN}
  return {{ what, isFine: isSeen && hasRing }};
}}"""
UNREACHED = f"""() => {STOPS}.filter((one) => !window.stops.includes(one))
  .map((one) => one.outerHTML.slice(0, 90))"""
STILL = "*, ::before, ::after { transition: none !important; animation: none !important; }"

ON_PAPER = """() => {
  const found = [];
  const dead = 'button, input, select, .headerlink, .bd-sidebar, .prev-next-area, .bd-header';
  for (const one of document.querySelectorAll(dead)) {
    if (one.checkVisibility() && one.getBoundingClientRect().height > 1) {
      found.push(`of no use on paper: ${one.outerHTML.slice(0, 80)}`);
    }
  }
  for (const one of document.querySelectorAll('article :is(pre, table, img, .math)')) {
    if (one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth
        && !/visible/.test(getComputedStyle(one).overflowX)) {
      found.push(`cut: ${one.tagName} ${one.textContent.slice(0, 60)}`);
    }
  }
  if (document.querySelector('article details:not([open])')) found.push('a closed answer');
  if (document.documentElement.dataset.theme === 'dark') found.push('light letters on paper');
  return found.slice(0, 5);
}"""


@pytest.fixture(scope="module", params=PAGES)
def page(request, chromium, site):
    watched = Watched(chromium, site, DOUBLE, "dark")
    opened = watched.open(request.param)
    opened.name = request.param
    opened.add_style_tag(content=STILL)
    opened.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    opened.wait_for_timeout(250)  # what scrolls has become a stop of the Tab key
    yield opened
    watched.context.close()


def resize(page, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.wait_for_timeout(60)


def test_nothing_is_cut_at_200_percent_and_on_the_narrowest_screen(page):
    for size in (DOUBLE, NARROW):
        resize(page, size)
        assert page.evaluate(CUT) == [], size


def test_headings_make_an_outline(page):
    levels = page.evaluate(HEADINGS)
    assert levels.count(1) == 1 and levels[0] == 1
    skipped = [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1]
    assert skipped == []


def test_focus_is_seen_wherever_it_can_be(page):
    resize(page, DOUBLE)
    page.keyboard.press("Tab")
    assert page.evaluate(UNSEEN) == []
    # Hundreds of formulas are no stops; those that scroll may be.
    stops = page.locator('article mjx-container[tabindex="0"]').count()
    assert stops <= page.locator('mjx-container[display="true"]').count()


def test_paper_is_light_and_whole(page):
    if page.name not in lesson_pages():
        return  # nobody prints what a search found
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = false))")
    resize(page, A4)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ON_PAPER) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    opened = page.locator("article details[open]").count()
    assert opened == 0 and page.evaluate("document.documentElement.dataset.theme") != "light"


def test_wider_letters_cut_nothing(page):
    """Last, for it changes the page."""
    resize(page, (375, 800))
    page.add_style_tag(content=SPACING)
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize(
    ("name", "size"),
    [("notebooks/11_grids.html", (375, 800)), ("book/intro.html", (1280, 900))],
)
def test_tab_reaches_everything(watch, name, size):
    """Pressed as a reader does; nothing keeps the focus, and nothing unseen gets it."""
    page = watch(size).open(name)
    page.add_style_tag(content=STILL)
    page.wait_for_timeout(250)
    for _ in range(600):
        page.keyboard.press("Tab")
        stop = page.evaluate(NEXT)
        if stop is None:
            break
        assert stop["isFine"], stop["what"]
    assert page.evaluate(UNREACHED) == []


def test_first_stop_leads_to_the_text(watch):
    page = watch().open(PAGES[0])
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main-content"
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('main')")


@pytest.mark.parametrize(
    ("opener", "opened"),
    [
        (".primary-toggle", "#pst-primary-sidebar-modal"),
        (".secondary-toggle", "#pst-secondary-sidebar-modal"),
        (".search-button", "#pst-search-dialog"),
        (".dropdown-download-buttons > button", ".dropdown-download-buttons > .dropdown-menu"),
    ],
)
def test_escape_closes_what_enter_opened(watch, opener, opened):
    """And the focus is back where it was."""
    page = watch((375, 800)).open(lesson_pages()[-1])
    inside = "selector => !!document.activeElement.closest(selector)"
    page.locator(opener).first.focus()
    page.keyboard.press("Enter")
    page.locator(opened).wait_for(state="visible")
    if "menu" in opened:
        page.keyboard.press("Tab")  # a dialog takes the focus itself
    page.wait_for_function(inside, arg=opened)
    page.keyboard.press("Escape")
    page.locator(opened).wait_for(state="hidden")
    page.wait_for_function(inside, arg=opener)
