"""lessons.length_widget: the page draws and says what the saved results hold, at every window."""

import math
import re

import numpy as np
import pytest
from conftest import TEXTS_FIT

from lessons import recipes, results
from lessons.length_widget import LENGTHS, VIEWS, WINDOWS, Lengths

LEFT, RIGHT, TOP, BOTTOM = 42, 320, 30, 222
SAVED = {study: results.saved(study)["runs"] for study in ("extrapolation", "recall")}


def losses(name, length, window):
    """Nats of each seed; between two measured windows, in between on a log scale."""
    plain = results.by_seed(SAVED["extrapolation"], name, "loss", length)
    above = min(w for w in WINDOWS if w >= window)
    below = max(w for w in WINDOWS if w <= window)

    def at(w):
        if w >= length:
            return plain
        return results.by_seed(SAVED["extrapolation"], name, "windowed", w, length)

    part = math.log(above / window) / math.log(above / below) if above > below else 0
    return at(above) + part * (at(below) - at(above))


def measured(view, name, window):
    """(length, lowest, middle, highest) of a line."""
    if view != "recall":
        for length in LENGTHS:
            nats = losses(name, length, window)
            yield length, *np.exp([nats.min(), nats.mean(), nats.max()])
        return
    recipe, _, larger = name.partition(", ")
    shares = results.by_seed(SAVED["recall"], recipe, "share_log_queries" if larger else "share")
    lengths = [int(length) for length in SAVED["recall"][0]["share"]]
    for length, share in zip(lengths, shares.T, strict=True):
        yield length, share.min(), share.mean(), share.max()


def said(label, points, digits):
    """What the label says of a line, and its row of the table."""
    start = points[0][2]
    _, low, middle, high = points[-1]
    row = [label, *(f"{value:.{digits}f}" for value in (start, middle, low, high))]
    if math.isnan(middle):
        return f"{label} {start:.2f} and undefined", [*row[:2], "–", "–"]
    words = f"{label} {start:.2f} and {middle:.2f} (seeds {low:.2f} to {high:.2f})"
    return words, [*row[:3], f"{row[3]}–{row[4]}"]


def check(page, view, window):
    recall = view == "recall"
    high, low = (1.04, 0) if recall else (math.log(80), math.log(3.5))
    lines, bands = (page.locator(f".lessons-{kind}").all() for kind in ("line", "band"))
    rows = page.locator(".lessons-row").all()
    phrases = []
    for k, name in enumerate(VIEWS[view]):
        points = list(measured(view, name, window))
        label = recipes.TEXT[name].label if name in recipes.TEXT else name
        if recall and name in recipes.RECALL:
            label = recipes.RECALL[name].label
        phrase, cells = said(label, points, 2 if recall else 1)
        phrases.append(phrase)
        assert [t.strip() for t in rows[k + 1].locator("> span").all_text_contents()[1:]] == cells
        known = np.array([p for p in points if not math.isnan(p[2])])
        wanted = known[:, 1:] if recall else np.log(known[:, 1:])
        wanted = BOTTOM - (BOTTOM - TOP) * (wanted - low) / (high - low)
        line, band = (
            np.array(re.findall(r"[ML](\S+) (\S+?)(?=L|Z|$)", one.get_attribute("d")), float)
            for one in (lines[k], bands[k])
        )
        across = np.linspace(LEFT, RIGHT, len(points))[: len(known)]
        np.testing.assert_allclose(line[:, 0], across, atol=0.051)
        np.testing.assert_allclose(line[:, 1], wanted[:, 1], atol=0.051)
        edges = np.concatenate([wanted[:, 0], wanted[::-1, 2]])
        np.testing.assert_allclose(band[:, 1], edges, atol=0.051)
        assert (line[:, 1] >= TOP).all() and (line[:, 1] <= BOTTOM).all()
    measure = "Share of the values named" if recall else "Perplexity"
    words = "none" if window == 1024 else f"{window} tokens"
    if window not in WINDOWS:
        words += ", in between"
    if recall:
        words = "none (recall)"
    ends = f"At {points[0][0]} and at {points[-1][0]}"
    assert page.get_attribute("svg[role=img]", "aria-label") == (
        f"{measure}, window at test: {words}. {ends}: {'; '.join(phrases)}."
    )
    assert page.inner_text(".lessons-value") == words
    assert page.locator('[aria-pressed="true"]').all_text_contents() == [view]
    hollow = page.locator('svg circle[fill="#fff"]').count()
    assert (hollow > 0) == (not recall and window not in WINDOWS)


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_draws_what_was_measured(open_widget, view):
    page = open_widget(Lengths(861, view))
    check(page, view, 861)
    for window in (1024, 512, 300, 128, 64):
        page.evaluate("window => model.set('window', window)", window)
        check(page, view, window)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("from + part *", "from - part *"),
        ("values[before + 1][i][seed]", "values[before][i][seed]"),
        (": Math.exp)", ": (nats) => nats)"),
        ("Math.min(...found), mean", "mean, mean"),
        ("${number(end, 1)} (seeds", "${number(end, 0)} (seeds"),
        ("up(value).toFixed(1)}`", "(up(value) + 1).toFixed(1)}`"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, right, wrong):
    widget = Lengths(300)
    assert widget._esm.count(right) == 1, right
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(page, "one scheme", 300)


def test_keys_buttons_and_play_move_it_and_the_kernel_hears(open_widget):
    page = open_widget(Lengths())
    slider = page.locator("input")
    before = page.locator(".lessons-card").screenshot()
    slider.press("ArrowRight")
    assert page.evaluate("model.get('window')") == round(1024 / 2 ** (1 / 8))
    check(page, "one scheme", 939)
    slider.press("End")
    check(page, "one scheme", 64)
    assert slider.get_attribute("aria-valuetext") == "64 tokens"
    assert page.locator(".lessons-card").screenshot() != before
    page.click("text=layer by layer")
    check(page, "layer by layer", 64)
    page.click(".lessons-play")  # at the end, it begins again
    page.clock.run_for(200 * 8 + 10)
    page.click(".lessons-play")
    check(page, "layer by layer", 512)
    page.click(".lessons-play")
    page.clock.run_for(210)
    page.click("text=recall")  # which stops it
    page.clock.run_for(2000)
    check(page, "recall", 470)
    assert slider.is_disabled() and page.locator(".lessons-play").is_disabled()
    page.evaluate("model.set('view', 'start and steps')")
    check(page, "start and steps", 470)
    assert slider.is_enabled()
    assert page.evaluate("saves") >= 10
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") == 0


def test_it_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(Lengths(), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(1500)
    assert page.evaluate("model.get('window')") == 939


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_nothing_moves_on_the_page(open_widget, width):
    page = open_widget(Lengths(), width)
    boxes = {}
    for view in VIEWS:
        page.click(f"text={view}")
        if view != "recall":
            page.locator("input").press("ArrowRight")
        boxes.setdefault(str(page.locator(".lessons-figure").bounding_box()), view)
        assert page.evaluate(TEXTS_FIT)
    assert len(boxes) == 1, boxes
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input").all():
        assert control.bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"window": 63}, ValueError),
        ({"window": 1025}, ValueError),
        ({"window": 64.5}, ValueError),
        ({"window": True}, TypeError),
        ({"view": "both"}, ValueError),
        ({"view": 1}, TypeError),
    ],
)
def test_refusals_name_the_argument(given, error):
    with pytest.raises(error, match=f"^{next(iter(given))} must"):
        Lengths(**given)


def test_a_kernel_sets_it_within_its_range_and_its_name_has_no_address():
    widget = Lengths(128, "recall")
    widget.window, widget.view = 100, "one scheme"
    for name, value in (("window", 10), ("view", "x")):
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert repr(widget) == "Lengths(window=100, view='one scheme')"


def test_every_recipe_of_the_results_is_in_a_view():
    shown = {name for names in VIEWS.values() for name in names}
    assert shown == set(recipes.TEXT) | set(recipes.RECALL) | {"none, log queries"}
    assert max(len(names) for names in VIEWS.values()) == 6  # rows of the table
