"""lessons.span_widget: the page's spans, shares and curves are those of NumPy's attention."""

import re

import numpy as np
import pytest
from conftest import TEXTS_FIT

from lessons import alibi, attention
from lessons.span_widget import Spans

SLOPES = np.append(alibi.slopes(8), 0)  # the last one is no bias


def held(seq_len):
    """Cumulative attention of the last of seq_len queries, nearest key first: (9, seq_len)."""
    bias = alibi.bias(SLOPES, [seq_len - 1], range(seq_len))[:, 0]
    return attention.softmax(bias)[:, ::-1].cumsum(-1)


def check(page, seq_len):
    shares = held(seq_len)
    spans = [str(int(np.argmax(share >= 0.95 - 1e-12)) + 1) for share in shares]
    cells = page.locator(".lessons-columns > span").all_text_contents()
    names = [*(f"1/{2**h}" for h in range(1, 9)), "none"]
    assert [tuple(cell.split()) for cell in cells] == list(zip(names, spans, strict=True))
    near = shares[[0, 7, 8], 63]
    assert page.inner_text(".lessons-numbers") == (
        "The nearest 64 hold: slope 1/2 {:.3f}, 1/256 {:.3f}, none {:.3f}.".format(*near)
    )
    said = page.get_attribute("svg", "aria-label")
    assert said.startswith(f"Context of {seq_len} tokens. ")
    assert f"within {', '.join(spans[:8])} tokens in the eight heads, and within {spans[8]}" in said
    assert f"hold {near[2]:.3f} of the attention without" in said
    bottom, _, top = grid(page)
    left, right = 34, 322
    for head, path in enumerate(page.locator(".lessons-curve").all()):
        x, y = np.array(re.findall(r"[ML](\S+) (\S+?)(?=L|$)", path.get_attribute("d")), float).T
        n = np.rint(2 ** (13 * (x - left) / (right - left)))
        near = n < 100  # beyond, a tenth of a pixel is more than a token
        drawn = 0.95 * (bottom - y) / (bottom - top)
        np.testing.assert_allclose(drawn[near], shares[head, n[near].astype(int) - 1], atol=2e-3)
        assert abs(drawn[-1] - 1) < 2e-3


def grid(page):
    """Heights of the lines at 0, 0.5 and 0.95."""
    return [float(y) for y in re.findall(r"M34 (\S+?)H322", page.inner_html("svg"))]


@pytest.mark.parametrize("seq_len", [64, 512, 1000, 8192])
def test_the_page_computes_what_numpy_computes(open_widget, seq_len):
    check(open_widget(Spans(seq_len)), seq_len)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("Math.expm1(-slope * length)", "-1"),
        ("n / length)", "1 / length)"),
        ("middle, length) >= SHARE", "middle - 1, length) >= SHARE"),
        ("-slope * n", "-2 * slope * n"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, right, wrong):
    widget = Spans(512)
    assert widget._esm.count(right) == 1
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(page, 512)


def test_keys_and_play_move_it_and_the_kernel_hears(open_widget):
    page = open_widget(Spans(512))
    before = page.locator(".lessons-card").screenshot()
    slider = page.locator("input")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.get('seq_len')") == round(512 * 2 ** (1 / 8))
    check(page, 558)
    page.keyboard.press("Home")
    check(page, 64)
    page.keyboard.press("End")
    check(page, 8192)
    assert slider.get_attribute("aria-valuetext") == "8192 tokens"
    assert page.locator(".lessons-card").screenshot() != before
    saves = page.evaluate("saves")
    page.click(".lessons-play")  # at the end, it begins again
    page.clock.run_for(150 * 3 + 10)
    page.click(".lessons-play")
    check(page, round(64 * 2 ** (3 / 8)))
    assert page.evaluate("saves") > saves
    page.evaluate("model.set('seq_len', 100)")
    check(page, 100)
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") == 0


def test_it_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(Spans(64), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(1000)
    assert page.evaluate("model.get('seq_len')") == 70


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_nothing_moves_on_the_page(open_widget, width):
    page = open_widget(Spans(), width)
    boxes = set()
    for key in ("Home", "End", "ArrowLeft"):
        page.locator("input").press(key)
        boxes.add(str(page.locator(".lessons-figure").bounding_box()))
        assert page.evaluate(TEXTS_FIT)
    assert len(boxes) == 1
    root = page.locator(".lessons-figure")
    assert root.evaluate("(e) => e.style.maxWidth") == "560px"  # the theme overrules a class
    assert root.bounding_box()["width"] <= 560
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in (".lessons-play", "input"):
        assert page.locator(control).bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    "seq_len, error",
    [(63, ValueError), (8193, ValueError), (64.5, ValueError), (True, TypeError), ("9", TypeError)],
)
def test_refusals_name_seq_len(seq_len, error):
    with pytest.raises(error, match="seq_len"):
        Spans(seq_len)


def test_a_kernel_sets_it_within_its_range_and_its_name_has_no_address():
    widget = Spans(600)
    widget.seq_len = 700
    with pytest.raises(ValueError, match="seq_len"):
        widget.seq_len = 10
    assert repr(widget) == "Spans(seq_len=700)"
