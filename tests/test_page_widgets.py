"""Every moving figure on every page moves, by keyboard and by its button, and is seen to move."""

import io

import pytest
from conftest import DESKTOP, PHONE, SITE, Watched, widget_pages
from PIL import Image, ImageChops

PAGES = widget_pages()


def picture(root):
    """The pixels of a figure's drawing, without its controls."""
    drawing = root.locator("img, canvas, svg[role=img]").first
    return Image.open(io.BytesIO(drawing.screenshot(animations="disabled"))).convert("RGB")


def differ(first, second):
    """How many pixels of two pictures of one size are visibly different."""
    assert first.size == second.size, "the figure changed its size while moving"
    change = ImageChops.difference(first, second).convert("L")
    return sum(change.histogram()[16:])


@pytest.fixture(scope="module", params=PAGES)
def visit(request, chromium, site):
    """One page, opened once for its tests, on a phone; the file below is opened on a desktop."""
    watched = Watched(chromium, site, PHONE, "light")
    watched.open(request.param)
    yield watched
    watched.context.close()


def figures(visit, size):
    visit.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    roots = visit.page.locator(".lessons-figure")
    assert roots.count() >= 1, "the page says it has a figure and shows none"
    return [roots.nth(place) for place in range(roots.count())]


def words(root):
    """What a figure says it shows: its label and its picture's text."""
    return root.evaluate(
        """(root) => [...root.querySelectorAll('output')].map((one) => one.textContent).join(' ')
        + '|' + [...root.querySelectorAll('img, [role=img]')].map((one) =>
          one.alt ?? one.getAttribute('aria-label')).join(' ')"""
    )


def test_figures_fit_a_phone(visit):
    for root in figures(visit, PHONE):
        box = root.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0]
        target = root.locator("input[type=range]").first.bounding_box()
        assert target["height"] >= 16, "a slider too thin for a thumb"


def play(root):
    """Press Play, wait, press it again; then the figure stands still and can be photographed."""
    button = root.locator("button.lessons-play").first
    for wait in (1800, 300):
        button.click()
        root.page.wait_for_timeout(wait)


def test_play_button_moves_each_figure(visit):
    for root in figures(visit, DESKTOP):
        if not root.locator("button.lessons-play").count():
            continue
        root.scroll_into_view_if_needed()
        before, said = picture(root), words(root)
        play(root)
        held = picture(root)
        assert differ(before, held) > 20, "play was pressed and nothing moved"
        assert words(root) != said
        visit.page.wait_for_timeout(1200)
        assert differ(held, picture(root)) == 0, "the figure moves on after the second press"
    assert visit.complaints == []


def test_keyboard_moves_each_slider(visit):
    for root in figures(visit, DESKTOP):
        sliders = root.locator("input[type=range]")
        assert sliders.count() >= 1
        for place in range(sliders.count()):
            slider = sliders.nth(place)
            slider.scroll_into_view_if_needed()
            slider.focus()
            seen, said = [], []
            steps = slider.evaluate("(s) => Math.round((s.max - s.min) / (Number(s.step) || 1))")
            for keys in (["Home"], ["ArrowRight"] * min(steps // 2, 40), ["End"]):
                for key in keys:
                    slider.press(key)
                seen.append(picture(root))
                said.append(words(root))
            first, middle, last = seen
            assert differ(first, middle) > 20, "first and middle step look the same"
            assert differ(middle, last) > 20, "middle and last step look the same"
            assert differ(first, last) > 20, "first and last step look the same"
            assert len(set(said)) == 3, f"the words stay as they were: {said}"
            assert steps >= 23, "a moving figure has 24 steps at least"
    assert visit.complaints == visit.bad == visit.outside == []


def test_some_page_has_a_figure():
    """The lists above are made from the site: an empty one would pass unseen."""
    assert len(PAGES) >= 2


@pytest.mark.parametrize("name", PAGES)
def test_figures_move_on_a_page_opened_as_a_file(chromium, name):
    page = chromium.new_page()
    page.goto((SITE / name).as_uri())
    slider = page.locator(".lessons-figure input[type=range]").first
    slider.focus()
    slider.press("Home")
    before = words(page.locator(".lessons-figure").first)
    slider.press("ArrowRight")
    assert words(page.locator(".lessons-figure").first) != before
    page.close()
