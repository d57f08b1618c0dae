"""lessons.spectrum_widget: the wavelengths on the page are scaling's, its curves the saved."""

import re

import numpy as np
import pytest
from conftest import TEXTS_FIT

from lessons import extension, results
from lessons.frequencies import wavelengths
from lessons.spectrum_widget import RULES, Spectrum

INV_FREQ, L = extension.INV_FREQ, 64
LEFT, RIGHT, TOP, BOTTOM = 46, 322, 40, 214
RUNS = results.saved("extension")["runs"]


def saved(rule, step, length):
    """Perplexity of the mean loss over the seeds, as the study has it."""
    name = RULES[rule]
    if name in ("theta", "truncated"):
        losses = [run["tuned"][name]["0"][str(length)] for run in RUNS]
    else:
        losses = [run["sweep"][name][str(length)][step] for run in RUNS]
    return np.exp(np.mean(losses))


def said(wave):
    if np.isinf(wave):
        return "never"
    return f"{wave:.1f}" if wave < 1000 else f"{wave:,.0f}".replace(",", "\u202f")


def check(page, rule, step):
    factor = 2 ** (step / 6)
    before = wavelengths(INV_FREQ)
    after = wavelengths(extension.RULES[RULES[rule]].inv_freq(factor, 256))
    titles = page.locator("circle title").all_text_contents()
    pairs = enumerate(zip(before, after, strict=True))
    assert titles == [f"pair {i}: {said(a)}, now {said(b)}" for i, (a, b) in pairs]
    dots = page.evaluate("""() => [...document.querySelectorAll("circle:has(title)")].map(
      (dot) => [Number(dot.getAttribute("cy")), dot.getAttribute("fill")])""")
    heights = BOTTOM - (BOTTOM - TOP) * (np.log10(after) - 0.4) / 6
    heights = np.where(np.isinf(after), 26, heights)
    np.testing.assert_allclose([y for y, _ in dots], heights, rtol=0, atol=1e-9)
    assert [fill == "#fff" for _, fill in dots] == (after > L).tolist()
    beyond, inside = saved(rule, step, 256), saved(rule, step, 64)
    turning = f"{(after <= L).sum()} of 12 pairs make a turn within 64 tokens"
    ends = f"wavelengths {said(after[0])} … {said(after[-1])}"
    found = f"perplexity {beyond:.2f} at 256 tokens, {inside:.2f} at 64"
    numbers = page.locator(".lessons-numbers > span").all_text_contents()
    assert numbers == [turning, ends, found]
    begin = f"Rule {rule}, factor {factor:.2f}: "
    labels = [svg.get_attribute("aria-label") for svg in page.locator("svg").all()]
    assert labels == [f"{begin}{turning}; {ends}.", f"{begin}{found}."]
    pressed = page.locator("[aria-pressed=true]").all_text_contents()
    assert pressed == [rule]
    for curve, length in zip(page.locator(".lessons-curve").all(), (256, 64), strict=True):
        check_curve(page, curve, [saved(rule, step, length) for step in range(25)])


def check_curve(page, curve, values):
    """The height of a curve is linear in the logarithm of the saved values."""
    x, y = np.array(re.findall(r"[ML](\S+) (\S+?)(?=L|$)", curve.get_attribute("d")), float).T
    np.testing.assert_allclose(x, np.linspace(LEFT, RIGHT, 25), atol=0.06)
    svg = page.locator("svg").nth(1)
    ticks = re.findall(r"M46 ([\d.]+)H322.+?end\">(\d+)<", svg.inner_html())
    heights, marks = np.array(ticks, float).T
    slope, offset = np.polyfit(np.log(marks), heights, 1)
    np.testing.assert_allclose(y, offset + slope * np.log(values), atol=0.1)


@pytest.mark.parametrize("rule", RULES)
def test_the_page_computes_what_scaling_computes(open_widget, rule):
    page = open_widget(Spectrum(0, rule))
    for step in (0, 5, 12, 24):
        page.evaluate(f"model.set('step', {step})")
        check(page, rule, step)


@pytest.mark.parametrize(
    "rule, right, wrong",
    [
        ("PI", "w.map((x) => x / s)", "w.map((x) => x * s)"),
        ("NTK", "(w.length - 1)))", "w.length))"),
        ("YaRN", "Math.ceil(at(SLOW))", "at(SLOW)"),
        ("YaRN", "clamp((last - i)", "clamp((i - first)"),
        ("Llama 3", "[32, 1, 4, 1]", "[32, 1, 8, 1]"),
        ("raise θ", "(-i / w.length)", "(-i / (w.length - 1))"),
        ("truncate", "> 1 ? x : 0", "> 2 ? x : 0"),
        ("PI", "level(value).toFixed(1)", "(level(value) + 1).toFixed(1)"),
        ("YaRN", "wave > length ?", "wave > 4 * length ?"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, rule, right, wrong):
    widget = Spectrum(12, rule)
    assert widget._esm.count(right) == 1
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(page, rule, 12)


def test_keys_buttons_and_play_move_it_and_the_kernel_hears(open_widget):
    page = open_widget(Spectrum(3, "PI"))
    before = page.locator(".lessons-card").screenshot()
    slider = page.locator("input")
    slider.focus()
    page.keyboard.press("ArrowRight")
    check(page, "PI", 4)
    page.keyboard.press("End")
    check(page, "PI", 24)
    assert slider.get_attribute("aria-valuetext") == "16.00"
    page.get_by_role("button", name="YaRN").click()
    check(page, "YaRN", 24)
    assert page.locator(".lessons-card").screenshot() != before
    assert page.evaluate("[model.get('step'), model.get('rule')]") == [24, "YaRN"]
    saves = page.evaluate("saves")
    page.click(".lessons-play")  # at the end, it begins again
    page.clock.run_for(300 * 3 + 10)
    page.click(".lessons-play")
    check(page, "YaRN", 3)
    assert page.evaluate("saves") > saves
    page.evaluate("model.set('rule', 'NTK')")
    check(page, "NTK", 3)
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") == 0


def test_it_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(Spectrum(0), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(1300)
    assert page.evaluate("model.get('step')") == 1


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_nothing_moves_on_the_page(open_widget, width):
    page = open_widget(Spectrum(), width)
    root, boxes = page.locator(".lessons-figure"), set()
    for key in ("Home", "End", "ArrowLeft"):
        page.locator("input").press(key)
        boxes.add(str(root.bounding_box()))
        assert page.evaluate(TEXTS_FIT)
    assert len(boxes) == 1
    assert root.evaluate("(e) => e.style.maxWidth") == "760px"  # the theme overrules a class
    assert root.bounding_box()["width"] <= 760
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input").all():
        assert control.bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    "step, rule, error, name",
    [
        (-1, "PI", ValueError, "step"),
        (25, "PI", ValueError, "step"),
        (1.5, "PI", ValueError, "step"),
        (True, "PI", TypeError, "step"),
        ("9", "PI", TypeError, "step"),
        (3, "linear", ValueError, "rule"),
        (3, None, TypeError, "rule"),
    ],
)
def test_refusals_name_the_argument(step, rule, error, name):
    with pytest.raises(error, match=name):
        Spectrum(step, rule)


def test_a_kernel_sets_it_within_its_range_and_its_name_has_no_address():
    widget = Spectrum(6, "NTK")
    widget.step, widget.rule = 7, "YaRN"
    with pytest.raises(ValueError, match="step"):
        widget.step = 30
    with pytest.raises(ValueError, match="rule"):
        widget.rule = "dynamic"
    assert repr(widget) == "Spectrum(step=7, rule='YaRN')"
