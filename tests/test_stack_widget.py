"""lessons.stack_widget: the page draws the layers that configs describes, and says them."""

import re

import pytest
from conftest import TEXTS_FIT

from lessons import configs
from lessons.stack_widget import SCHEMES, Stacks

MODELS = configs.models()
NAMES = [model.name for model in MODELS]
LEFT, RIGHT, BOTTOM = 12, 328, 300
COLOURS = {
    "added": "#E69F00",
    "rope": "#0072B2",
    "truncated": "#56B4E9",
    "bias": "#009E73",
    "none": "#FFFFFF",
    "state": "#B8B8B8",
}


def check(page, number):
    model = MODELS[number]
    bars = page.locator("svg g rect").evaluate_all(
        """(all) => all.map((r) =>
          ['fill', 'x', 'y', 'width', 'height'].map((name) => r.getAttribute(name)))"""
    )
    assert len(bars) == len(model.layers)
    for index, (bar, layer) in enumerate(zip(bars, model.layers, strict=True)):
        x, y, width, height = map(float, bar[1:])
        assert bar[0] == COLOURS[layer.scheme]
        assert x == LEFT and abs(y + (index + 1) * height - BOTTOM) < 0.6  # the first lies lowest
        if layer.scheme == "state":
            assert width == 26
        elif layer.window is None:
            assert width == RIGHT - LEFT
        else:
            assert abs(2 ** (17 * width / (RIGHT - LEFT)) / layer.window - 1) < 0.01
    said = page.get_attribute("svg", "aria-label")
    assert said.startswith(f"{model.name}, {model.date}, {len(model.layers)} layers: ")
    assert said.endswith(f"Source: {model.source}.")
    counted = re.findall(r"(\d+) ([A-Za-z ]+)(?:, window (\d+))?[;.]", said)
    assert sum(int(count) for count, *_ in counted) == len(model.layers)
    for count, scheme, window in counted:
        alike = [
            n for n in model.layers if SCHEMES[n.scheme] == scheme and str(n.window or "") == window
        ]
        assert len(alike) == int(count), (count, scheme, window)
    assert page.inner_text(".lessons-value") == f"{model.date} {model.name}"
    first, second = page.locator(".lessons-stack-words").all_text_contents()
    assert first in said
    assert f"Source: {model.source}." in second and model.note in second


def test_the_page_draws_what_configs_describes(open_widget):
    page = open_widget(Stacks())
    for number in range(len(MODELS)):
        page.evaluate("(n) => model.set('model', n)", number)
        check(page, number)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("thick * (i + 1)", "thick * (one.bars.length - i)"),
        ("Math.log2(keys)) / WIDEST", "Math.log2(keys)) / 16"),
        ('none: "#FFFFFF"', 'none: "#0072B2"'),
        ("`${one.bars.length} layers: ", "`48 layers: "),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, right, wrong):
    number = NAMES.index("Command R7B family")
    widget = Stacks(number)
    assert widget._esm.count(right) == 1
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(page, number)


def test_keys_and_play_move_it_and_the_kernel_hears(open_widget):
    page = open_widget(Stacks(3))
    check(page, 3)
    slider = page.locator("input")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.get('model')") == 4
    check(page, 4)
    page.keyboard.press("End")
    check(page, len(MODELS) - 1)
    assert slider.get_attribute("aria-valuetext") == f"{MODELS[-1].date} {MODELS[-1].name}"
    saves = page.evaluate("saves")
    page.click(".lessons-play")  # at the end, it begins again
    page.clock.run_for(900 * 2 + 10)
    page.click(".lessons-play")
    check(page, 2)
    assert page.evaluate("saves") > saves
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") == 0


def test_it_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(Stacks(), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(3000)
    assert page.evaluate("model.get('model')") == 1


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_nothing_moves_on_the_page(open_widget, width):
    page = open_widget(Stacks(), width)
    boxes = {}
    for number, name in enumerate(NAMES):
        page.evaluate("(n) => model.set('model', n)", number)
        boxes.setdefault(str(page.locator(".lessons-figure").bounding_box()), name)
    assert len(boxes) == 1, boxes
    assert page.evaluate(TEXTS_FIT)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in (".lessons-play", "input"):
        assert page.locator(control).bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    "model, error",
    [(-1, ValueError), (len(MODELS), ValueError), (1.5, ValueError), (True, TypeError)],
)
def test_refusals_name_model(model, error):
    with pytest.raises(error, match="model"):
        Stacks(model)


def test_a_kernel_sets_it_within_its_range_and_its_name_has_no_address():
    widget = Stacks(2)
    widget.model = 5
    with pytest.raises(ValueError, match="model"):
        widget.model = len(MODELS)
    assert repr(widget) == "Stacks(model=5)"
