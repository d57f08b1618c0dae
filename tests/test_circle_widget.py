"""lessons.circle_widget: the browser rounds as torch does, and the figure says its numbers."""

import numpy as np
import pytest
import torch

from lessons import circle_widget, frequencies
from lessons.circle_widget import FORMATS, Circle

OMEGA = frequencies.inverse_frequencies(128)[16]


def angles(start, name):
    """What torch computes for the sixteen positions in a format."""
    n, w = torch.arange(start, start + 16), torch.tensor(OMEGA)
    if name == "positions in bf16":
        n = n.to(torch.bfloat16)
    if name == "frequencies in bf16":
        w = w.to(torch.bfloat16)
    return (n.float() * w.float()).numpy()


def numbers(page):
    return page.inner_text(".lessons-numbers")


def check(page, start, name):
    expected = angles(start, name)
    right = np.arange(start, start + 16) * OMEGA
    drawn = page.locator(".lessons-dot").evaluate_all(
        "dots => dots.map(d => [Number(d.getAttribute('cx')), Number(d.getAttribute('cy'))])"
    )
    x, y = np.array(drawn).T
    np.testing.assert_allclose(x, 170 + 132 * np.cos(np.float64(expected)), atol=0.006)
    np.testing.assert_allclose(y, 170 - 132 * np.sin(np.float64(expected)), atol=0.006)
    tokens = np.abs(expected - right).max() / OMEGA
    error = "below 0.05" if tokens < 0.05 else f"{tokens:.1f}"
    different = len(np.unique(expected))
    assert f"different dots: {different} of 16" in numbers(page)
    assert f"largest error: {error} tokens" in numbers(page)
    spoken = page.get_attribute("svg", "aria-label")
    assert f"Positions {start} to {start + 15}, {name}: {different} different dots" in spoken
    assert f"{error} tokens" in spoken
    return different, error


STARTS = [0, 3, 96, 255, 256, 257, 511, 1000, 1024, 2049, 4096, 12_345, 32_768]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_rounds_as_torch_does(open_widget, name):
    page = open_widget(Circle(format=name))
    for start in STARTS:
        page.evaluate(f"model.set('start', {start})")
        check(page, start, name)


def test_the_numbers_that_the_lesson_names(open_widget):
    page = open_widget(Circle(format=FORMATS[1]))
    seen = []
    for start in (128, 256, 512, 1024, 2048, 4096, 32_768):
        page.evaluate(f"model.set('start', {start})")
        seen.append(check(page, start, FORMATS[1])[0])
    assert seen == [16, 9, 5, 3, 2, 1, 1]
    page.evaluate(f"model.set('format', '{FORMATS[2]}')")
    different, error = check(page, 32_768, FORMATS[2])
    assert different == 16 and 30 < float(error) < 35
    page.evaluate(f"model.set('format', '{FORMATS[0]}')")
    assert check(page, 32_768, FORMATS[0]) == (16, "below 0.05")


def test_keys_and_buttons_move_it(open_widget):
    page = open_widget(Circle())
    slider = page.locator("input")
    slider.focus()
    page.keyboard.press("End")
    assert page.evaluate("model.get('start')") == 32_768
    steps = int(slider.get_attribute("max"))
    assert steps >= 23 and slider.get_attribute("aria-valuetext") == "32\u202f768"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("model.get('start')") == 28_672
    page.keyboard.press("Home")
    check(page, 0, FORMATS[0])
    for name in reversed(FORMATS):
        page.get_by_role("button", name=name).click()
        assert page.evaluate("model.get('format')") == name
        pressed = page.locator("[aria-pressed=true]").all_inner_texts()
        assert pressed == [name]
    page.click(".lessons-play")
    page.clock.run_for(2000)
    page.click(".lessons-play")
    check(page, 5, FORMATS[0])
    assert page.evaluate("saves") > 5


def test_powers_of_two_are_among_the_starts(open_widget):
    page = open_widget(Circle())
    page.focus("input")
    seen = {0}
    for _ in range(int(page.get_attribute("input", "max"))):
        page.keyboard.press("ArrowRight")
        seen.add(page.evaluate("model.get('start')"))
    assert {2**k for k in range(16)} <= seen and len(seen) >= 24


def test_a_view_that_was_taken_away_stops(open_widget):
    page = open_widget(Circle())
    page.click(".lessons-play")
    page.evaluate("cleanup()")
    page.clock.run_for(2000)
    assert page.evaluate("[model.get('start'), listeners()]") == [0, 0]


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_its_targets_are_large(open_widget, width):
    page = open_widget(Circle(32_768, FORMATS[2]), width)
    root = page.locator(".lessons-circle")
    assert root.evaluate("(e) => e.style.maxWidth") == "420px"  # the theme overrules a class
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for target in page.locator("button, input").all():
        assert target.bounding_box()["height"] >= 44
    sizes = set()
    for start in (0, 4096, 32_768):
        page.evaluate(f"model.set('start', {start})")
        sizes.add(page.locator(".lessons-figure").bounding_box()["height"])
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"start": -1}, ValueError, "start"),
        ({"start": 32_769}, ValueError, "start"),
        ({"start": 0.5}, ValueError, "start"),
        ({"start": True}, TypeError, "start"),
        ({"format": "fp8"}, ValueError, "format"),
        ({"format": None}, TypeError, "format"),
    ],
)
def test_refusals(arguments, error, named):
    with pytest.raises(error, match=named):
        Circle(**arguments)


def test_a_kernel_reads_and_sets_it_within_its_range():
    circle = Circle(5)
    circle.start = 12
    circle.format = FORMATS[1]
    assert repr(circle) == "Circle(start=12, format='positions in bf16')"
    with pytest.raises(ValueError, match="start"):
        circle.start = circle_widget.MAX_START + 1
    with pytest.raises(ValueError, match="format"):
        circle.format = "fp8"
