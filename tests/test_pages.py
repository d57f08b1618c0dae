"""The built pages in a real Chromium: quiet, light, readable, accessible, on their own host."""

import gzip

import pytest
from conftest import DESKTOP, PHONE, SITE, Watched, lesson_pages, widget_pages

PAGES = lesson_pages()
LOOKS = [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")]
KILOBYTE = 1000

SIDEWAYS = """() => {
  const width = document.documentElement.clientWidth;
  return document.documentElement.scrollWidth > width ? [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > width + 1)
    .slice(0, 5).map((element) => element.outerHTML.slice(0, 120)) : [];
}"""
RAW_MATH = """() => {
  const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest('pre, code, script, style, mjx-container')) continue;
    if (/\\$|\\\\\\(|\\\\\\[/.test(node.data)) found.push(node.data.trim().slice(0, 80));
  }
  return found;
}"""
PICTURES = """() => [...document.querySelectorAll('article img, article svg, article canvas')]
  .filter((picture) => !picture.closest('mjx-container, [aria-hidden=true]'))
  .map((picture) => picture.tagName === 'IMG' ? picture.getAttribute('alt')
    : picture.getAttribute('aria-label') ?? picture.querySelector('title')?.textContent)"""
# axe reads no MathML and takes a header that is only a formula for an empty one.
AXE = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .flatMap((rule) => rule.nodes
    .filter(({target}) => rule.id !== 'empty-table-header'
      || !document.querySelector(target[0]).querySelector('math'))
    .map((node) => `${rule.id}: ${node.html.slice(0, 160)}`))"""
BARE_ICONS = """() => [...document.querySelectorAll('[class*=" fa-"]')]
  .filter((icon) => !getComputedStyle(icon, '::before').maskImage.includes('url('))
  .map((icon) => icon.className)"""


@pytest.fixture(scope="module", params=PAGES)
def visit(request, chromium, site):
    """One page, opened once for all the tests that only look at it."""
    watched = Watched(chromium, site, DESKTOP, "light")
    watched.name = request.param
    watched.open(request.param)
    yield watched
    watched.context.close()


def test_page_is_quiet_and_asks_its_own_host_only(visit):
    assert visit.outside == [], "the page asked another host"
    assert visit.bad == []
    assert visit.complaints == []


def test_maths_is_shown(visit):
    source = (SITE / visit.name).read_text("utf8")
    written = source.count('class="math notranslate')
    # The whole page, for a heading's formula stands in the list of contents too.
    shown = visit.page.locator("mjx-container").count()
    assert shown >= written, f"{written} formulas in the source, {shown} on the page"
    assert visit.page.locator("article :is(mjx-merror, [data-mml-node=merror])").count() == 0
    assert visit.page.evaluate(RAW_MATH) == [], "maths that nobody rendered"
    shown_backslashes = visit.page.locator("article mjx-c.mjx-c5C")
    assert shown_backslashes.count() == 0, "a command inside \\text or \\texttt is shown as written"


def test_pictures_say_what_they_show(visit):
    for words in visit.page.evaluate(PICTURES):
        assert words and len(words) > 9 and " " in words, f"no alt text: {words!r}"
        assert "/" not in words.split()[0], f"a path for alt text: {words!r}"


def test_icons_are_drawn(visit):
    """Every icon that the theme puts on a page has its drawing in icons.css."""
    assert visit.page.evaluate(BARE_ICONS) == []


def test_page_is_light(visit):
    """What a first visit loads, each file gzipped as a host would send it."""
    sizes = {}
    for path in visit.asked:
        content = (SITE / path).read_bytes()
        packed = path.endswith((".png", ".woff", ".woff2"))
        sizes[path] = len(content if packed else gzip.compress(content)) / KILOBYTE
    total = sum(sizes.values())
    print(f"{visit.name}: {total:.0f} kB gzip, {len(sizes)} requests")
    limit = 2000 if visit.name in widget_pages() else 1000
    assert total <= limit, sorted(sizes.items(), key=lambda item: -item[1])[:6]
    assert len(sizes) <= 25, sorted(sizes)


def test_page_has_its_ways_on(visit):
    """Edit this page, Colab for a notebook, licence, next or previous."""
    links = visit.page.locator("a").evaluate_all("all => all.map((a) => a.href)")
    is_notebook = visit.name.startswith("notebooks")
    source = visit.name.replace(".html", ".ipynb" if is_notebook else ".md")
    assert any(f"/edit/main/{source}" in link for link in links)
    if is_notebook:
        assert any("colab.research.google.com" in link and source in link for link in links)
    assert "CC BY 4.0" in visit.page.locator(".extra_footer").inner_text()
    assert visit.page.locator(".prev-next-area a").count() >= 1


def test_page_fits_its_window(visit):
    """Also with every answer open; in the dark nothing may be wider than in the light."""
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for size, theme in LOOKS:
        look(page, size, theme)
        assert page.evaluate(SIDEWAYS) == [], f"sideways scroll at {size}, {theme}"


def test_axe_finds_nothing(visit):
    import vendor

    visit.page.evaluate(vendor.AXE.read_text("utf8"))
    told = set()
    for theme in ("light", "dark"):
        look(visit.page, DESKTOP, theme)
        told |= {f"{theme}, {one}" for one in visit.page.evaluate(AXE)}
    assert told == set()


def look(page, size, theme):
    """Change a page's window and colours, as a reader's machine would."""
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
    # Colours fade into each other; a colour half way has no contrast to measure.
    page.wait_for_timeout(400)


def test_search_finds_a_word(watch):
    watched = watch()
    page = watched.open("search.html?q=sinusoidal")
    page.wait_for_selector("ul.search li a")
    found = page.locator("ul.search li a").evaluate_all("links => links.map((a) => a.href)")
    assert any("02_sinusoidal" in link for link in found), found
    assert watched.outside == watched.bad == watched.complaints == []


def test_search_opens_by_keyboard(watch):
    page = watch().open(PAGES[0])
    page.keyboard.press("Control+k")
    box = page.locator("#pst-search-dialog input[type=search]")
    box.wait_for(state="visible")
    box.fill("sinusoidal")
    box.press("Enter")
    page.wait_for_url("**/search.html?q=sinusoidal*")
    page.wait_for_selector("ul.search li a")


def test_theme_switch_changes_the_page(watch):
    page = watch().open(PAGES[0])
    seen = set()
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        seen.add(page.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}
