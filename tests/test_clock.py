"""widgets.Clock: the browser computes what NumPy computes, and moves in every way it says."""

import re

import numpy as np
import pytest

from lessons import frequencies, widgets


def check_clock(page, position, theta, d_model=512):
    """The page's numbers and hands are NumPy's."""
    inv_freq = frequencies.inverse_frequencies(d_model, theta)
    printed = dict(re.findall(r"K\((\d+)\) = (\S+?\.\d{3})", page.text_content(".lessons-numbers")))
    similarity = {
        n: f"{np.cos(inv_freq * n).mean():.3f}".replace("-", "−") for n in (10, 100, 1000)
    }
    assert {int(n): value for n, value in printed.items()} == similarity
    hands_said, curve_said = [
        svg.get_attribute("aria-label") for svg in page.locator("svg[role=img]").all()
    ]
    assert all(f"{value} at" in curve_said for value in similarity.values())
    degrees = np.degrees(inv_freq[[0, 7 * d_model // 16]] * position) % 360
    assert hands_said.startswith(f"Position {position}: ")
    assert hands_said.endswith(
        "The fastest stands at {:.0f} degrees, the slowest at {:.0f}.".format(*degrees)
    )
    hands = page.eval_on_selector_all(
        ".lessons-hand",
        "lines => lines.map(l => ['x1', 'y1', 'x2', 'y2'].map(n => Number(l.getAttribute(n))))",
    )
    x1, y1, x2, y2 = np.array(hands).T
    angle = inv_freq[:: d_model // 16] * position
    radius = np.hypot(x2 - x1, y2 - y1)
    np.testing.assert_allclose((x2 - x1) / radius, np.cos(angle), atol=1e-9)
    np.testing.assert_allclose((y1 - y2) / radius, np.sin(angle), atol=1e-9)
    turns = [
        float(re.sub(r"\s", "", text))
        for text in page.locator(".lessons-wavelength").all_text_contents()
    ]
    np.testing.assert_allclose(turns, 2 * np.pi / inv_freq[:: d_model // 16], rtol=5e-3)


@pytest.mark.parametrize(
    "position, theta, d_model", [(0, 10_000, 512), (1, 10, 64), (37, 500, 512), (2000, 1e6, 16)]
)
def test_clock_computes_what_numpy_computes(open_widget, position, theta, d_model):
    page = open_widget(widgets.Clock(position, theta, d_model=d_model))
    check_clock(page, position, theta, d_model)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("(-2 * i) / dim", "(-1 * i) / dim"),
        ("Math.cos(w * distance)", "Math.sin(w * distance)"),
        ("y - RADIUS * Math.sin(w * tokens)", "y + RADIUS * Math.sin(w * tokens)"),
        ("(2 * Math.PI) / shown", "Math.PI / shown"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, right, wrong):
    widget = widgets.Clock(37)
    assert widget._esm.count(right) == 1
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check_clock(page, 37, 10_000)


def test_the_log_law_is_drawn_where_numpy_puts_it(open_widget):
    page = open_widget(widgets.Clock(theta=1000))
    # Known places: (1, 0) on the axis line and the two grid lines give the scale.
    left, zero = map(float, re.findall(r"M(\S+) (\S+)H", page.inner_html("svg >> nth=1"))[0])
    one = float(re.findall(r"M(\S+) (\S+)H", page.inner_html("svg >> nth=1"))[2][1])
    (x0, y0), (_, y1) = [
        map(float, pair.split()) for pair in page.get_attribute(".lessons-law", "d")[1:].split("L")
    ]
    assert x0 == left and abs(y1 - zero) < 0.1
    assert abs((zero - y0) / (zero - one) - (1 - np.euler_gamma / np.log(1000))) < 1e-3
    spoken = page.locator("[role=img]").nth(1).get_attribute("aria-label")
    assert "reaches 0 at distance 561." in spoken
    curve = re.findall(r"[ML](\S+) (\S+?)(?=L|$)", page.get_attribute(".lessons-curve", "d"))
    x, y = np.array(curve, dtype=float).T
    inv_freq = frequencies.inverse_frequencies(512, 1000)
    # The axis runs over six decades up to the right end of the curve.
    distance = np.rint(10 ** (6 * (x[:12] - left) / (x[-1] - left)))
    measured = np.cos(np.multiply.outer(distance, inv_freq)).mean(axis=1)
    np.testing.assert_allclose((zero - y[:12]) / (zero - one), measured, atol=1e-3)


def test_clock_moves_by_keyboard_and_by_play_and_tells_the_kernel(open_widget):
    page = open_widget(widgets.Clock(3))
    position, theta = page.locator("input").all()
    before = page.locator(".lessons-card").screenshot()
    position.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.get('position')") == 4
    check_clock(page, 4, 10_000)
    theta.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("model.get('theta')") == 8910
    assert theta.get_attribute("aria-valuetext") == "8\u202f910"
    check_clock(page, 4, 8910)
    page.keyboard.press("Home")
    check_clock(page, 4, 10)
    page.keyboard.press("End")
    check_clock(page, 4, 1e6)
    saved = page.evaluate("saves")
    page.click(".lessons-play")
    page.clock.run_for(500)
    page.click(".lessons-play")
    check_clock(page, 14, 1e6)
    assert page.evaluate("saves") > saved
    assert page.locator(".lessons-card").screenshot() != before


def test_clock_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(widgets.Clock(), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(1000)
    assert page.evaluate("model.get('position')") == 2


@pytest.mark.parametrize("width, below", [(375, True), (1280, False)])
def test_clock_stacks_on_a_phone_with_legible_text_inside(open_widget, width, below):
    page = open_widget(widgets.Clock(2000, 1e6), width)
    hands, curve = [svg.bounding_box() for svg in page.locator("svg").all()]
    assert (curve["y"] >= hands["y"] + hands["height"]) == below
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = """() => [...document.querySelectorAll('svg text')].every((t) => {
      if (!t.textContent) return true;
      const text = t.getBoundingClientRect();
      const frame = t.closest('svg').getBoundingClientRect();
      return text.left >= frame.left && text.right <= frame.right + 0.5 && text.height >= 11;
    })"""
    for key in ("Home", "End"):
        page.locator("input").nth(1).press(key)
        assert page.evaluate(inside)
        assert page.locator(".lessons-numbers").bounding_box()["height"] < 24


@pytest.mark.parametrize(
    "arguments, error, named",
    [
        ({"position": -1}, ValueError, "position"),
        ({"position": 2001}, ValueError, "position"),
        ({"position": 0.5}, ValueError, "position"),
        ({"theta": 9}, ValueError, "theta"),
        ({"theta": float("inf")}, ValueError, "theta"),
        ({"theta": "10"}, TypeError, "theta"),
        ({"d_model": 24}, ValueError, "d_model"),
        ({"d_model": True}, TypeError, "d_model"),
        ({"max_position": 0}, ValueError, "max_position"),
    ],
)
def test_clock_refuses(arguments, error, named):
    with pytest.raises(error, match=named):
        widgets.Clock(**arguments)


def test_a_kernel_reads_and_sets_the_clock_within_its_range():
    clock = widgets.Clock(5, 100.0)
    clock.position = 12
    assert (clock.position, clock.theta) == (12, 100.0)
    with pytest.raises(ValueError, match="theta"):
        clock.theta = 1.0
