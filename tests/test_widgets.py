"""lessons.widgets: the Python half, and the scripts in a real browser beside a small model."""

import base64
import io
import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from lessons import frequencies, plots, widgets


def bar(value):
    figure, ax = plots.figure(3, 2)
    ax.bar([0], [value])
    ax.set(ylim=(0, 5), ylabel="height")
    return figure


def bars(values=(1, 2, 4), **options):
    options = {"seconds": 0.1, "name": "height of the bar"} | options
    return widgets.Frames.draw(
        bar, values, label=lambda v: f"{v} cm", alt=lambda v: f"A bar of height {v}.", **options
    )


def picture(url):
    data = re.fullmatch(r"data:image/(?:webp|png);base64,(.*)", url)[1]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


# Frames, the Python half


def test_draw_keeps_every_picture_its_label_and_its_alt_text():
    widget = bars(start=1)
    assert widget._labels == ["1 cm", "2 cm", "4 cm"]
    assert widget._alts[2] == "A bar of height 4."
    assert widget.index == 1 and len(set(widget._frames)) == 3
    assert widget._size == [288, 192]


def test_pictures_arrive_as_they_were_drawn():
    figure = bar(2)
    drawn = widgets._pixels(figure, 2, 144)
    arrived = picture(bars()._frames[1])
    assert arrived.shape == drawn.shape == (288, 432, 3)
    difference = np.abs(arrived.astype(int) - drawn).max(axis=2)
    # Soft edges of letters may lose shades; areas may not.
    assert (difference > 8).mean() < 0.005
    assert (arrived[0, 0] == 255).all()


def test_figures_are_closed_and_settings_kept():
    before = dict(plt.rcParams)
    bars()
    assert plt.get_fignums() == [] and dict(plt.rcParams) == before


def test_a_transparent_figure_lies_on_white():
    figure = Figure(figsize=(1, 1))
    figure.patch.set_alpha(0)
    assert (widgets._pixels(figure, 0, 100) == 255).all()


def test_repr_has_no_address_and_fits_a_line():
    assert repr(bars()) == "Frames(3 pictures, from '1 cm' to '4 cm')"
    long = widgets.Frames.draw(bar, [1, 2], label=lambda v: "word " * 20, alt=str, name="x")
    assert len(repr(long)) <= 110
    assert repr(widgets.Clock(7)) == "Clock(position=7, theta=10000, d_model=512)"


def test_24_frames_of_a_lesson_stay_below_600_kB():
    def draw(theta):
        distances = np.subtract.outer(np.arange(64), np.arange(64))
        scores = np.cos(distances[..., None] * frequencies.inverse_frequencies(64, theta)).mean(
            axis=-1
        )
        return plots.heatmap(
            scores,
            x_label="m",
            y_label="n",
            colour_label="similarity",
            diverging=True,
            limits=(-1, 1),
        ).figure

    widget = widgets.Frames.draw(draw, [10, 10_000], label=str, alt=str, name="θ")
    assert widget.size * 12 < 600_000


def test_over_budget_pictures_get_fewer_colours(monkeypatch):
    noise = [np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)]
    rich = widgets.Frames(noise, ["a"], ["b"], name="n")
    monkeypatch.setattr(widgets, "BUDGET", rich.size - 1)
    poor = widgets.Frames(noise, ["a"], ["b"], name="n")
    colours = [len(np.unique(picture(w._frames[0]).reshape(-1, 3), axis=0)) for w in (rich, poor)]
    assert colours[0] > 128 >= colours[1] and poor.size < rich.size


def test_a_pillow_without_webp_makes_png(monkeypatch):
    monkeypatch.setattr(widgets.features, "check", lambda name: False)
    widget = bars()
    assert widget._frames[0].startswith("data:image/png") and picture(widget._frames[0]).shape == (
        288,
        432,
        3,
    )


def never(value):
    raise AssertionError("drawn before the arguments were checked")


@pytest.mark.parametrize(
    "change, error, named",
    [
        ({"function": None}, TypeError, "function"),
        ({"label": "text"}, TypeError, "label"),
        ({"alt": "text"}, TypeError, "alt"),
        ({"values": []}, ValueError, "values"),
        ({"label": lambda v: v}, TypeError, "labels"),
        ({"alt": lambda v: None}, TypeError, "alts"),
        ({"alt": lambda v: "  "}, ValueError, "alts"),
        ({"name": ""}, ValueError, "name"),
        ({"name": None}, TypeError, "name"),
        ({"start": 2}, ValueError, "start"),
        ({"start": -1}, ValueError, "start"),
        ({"start": True}, TypeError, "start"),
        ({"seconds": 0}, ValueError, "seconds"),
        ({"seconds": float("nan")}, ValueError, "seconds"),
        ({"dpi": "fine"}, TypeError, "dpi"),
    ],
)
def test_draw_refuses_before_it_draws(change, error, named):
    given = {"function": never, "values": [1, 2], "label": str, "alt": str, "name": "n"} | change
    with pytest.raises(error, match=named):
        widgets.Frames.draw(given.pop("function"), given.pop("values"), **given)


def test_draw_refuses_what_is_no_figure_and_figures_of_two_sizes():
    with pytest.raises(
        TypeError, match=r"function\(3\) must return a matplotlib Figure, got NoneType"
    ):
        widgets.Frames.draw(lambda value: None, [3], label=str, alt=str, name="n")
    with pytest.raises(ValueError, match=r"pictures\[1\]"):
        widgets.Frames.draw(lambda v: Figure(figsize=(v, 1)), [1, 2], label=str, alt=str, name="n")


def test_pictures_labels_and_alts_must_match():
    square = np.zeros((4, 4, 3), dtype=np.uint8)
    for pictures, labels, alts, error, named in [
        ([square], ["a", "b"], ["c"], ValueError, "labels"),
        ([square], ["a"], [], ValueError, "alts"),
        ([square.astype(float)], ["a"], ["b"], TypeError, "pictures"),
        ([square[..., :2]], ["a"], ["b"], TypeError, "pictures"),
    ]:
        with pytest.raises(error, match=named):
            widgets.Frames(pictures, labels, alts, name="n")


def test_a_kernel_can_step_but_not_outside():
    widget = bars()
    widget.index = 2
    with pytest.raises(ValueError, match="index must be 0 to 2, got 3"):
        widget.index = 3


# Frames, in the browser


def seen(page):
    """What a reader gets: picture, alt text, label, what a screen reader hears."""
    return {
        "source": page.get_attribute(".lessons-frame", "src"),
        "alt": page.get_attribute(".lessons-frame", "alt"),
        "label": page.inner_text("output"),
        "spoken": page.get_attribute("input", "aria-valuetext"),
        "index": page.evaluate("model.get('index')"),
    }


def expected(widget, index):
    return {
        "source": widget._frames[index],
        "alt": widget._alts[index],
        "label": widget._labels[index],
        "spoken": widget._labels[index],
        "index": index,
    }


def test_keys_move_the_picture_and_all_that_is_said_about_it(open_widget):
    widget = bars(start=1)
    page = open_widget(widget)
    assert seen(page) == expected(widget, 1)
    pixels = {1: page.locator(".lessons-frame").screenshot()}
    page.focus("input")
    for key, index in [
        ("ArrowRight", 2),
        ("Home", 0),
        ("ArrowRight", 1),
        ("End", 2),
        ("ArrowRight", 2),
    ]:
        page.keyboard.press(key)
        assert seen(page) == expected(widget, index)
        pixels[index] = page.locator(".lessons-frame").screenshot()
    assert len(set(pixels.values())) == 3
    assert page.evaluate("saves") >= 4
    assert page.get_attribute("input", "aria-label") == "height of the bar"


def test_play_goes_to_the_end_stops_and_begins_again(open_widget):
    widget = bars(start=1)
    page = open_widget(widget)
    page.focus(".lessons-play")
    for way in ([1, 2, 2], [0, 1, 2, 2]):
        assert page.inner_text(".lessons-play") == "Play"
        page.keyboard.press("Space")
        for index in way[:-1]:
            assert page.inner_text(".lessons-play") == ("Pause" if index < 2 else "Play")
            assert seen(page) == expected(widget, index)
            page.clock.run_for(100)
        assert seen(page) == expected(widget, way[-1])


def test_nothing_plays_by_itself_and_pause_and_slider_stop(open_widget):
    page = open_widget(bars())
    page.clock.run_for(1000)
    assert page.evaluate("model.get('index')") == 0
    page.click(".lessons-play")
    page.clock.run_for(50)
    page.click(".lessons-play")
    page.clock.run_for(1000)
    assert page.evaluate("model.get('index')") == 0
    page.click(".lessons-play")
    page.focus("input")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".lessons-play") == "Play"
    page.clock.run_for(1000)
    assert page.evaluate("model.get('index')") == 1


@pytest.mark.parametrize("end", ["cleanup()", "document.querySelector('#here').replaceChildren()"])
def test_a_view_that_was_taken_away_stops(open_widget, end):
    page = open_widget(bars())
    page.click(".lessons-play")
    page.evaluate(end)
    page.clock.run_for(1000)
    assert page.evaluate("model.get('index')") == 0
    if end == "cleanup()":
        assert page.evaluate("listeners()") == 0


def test_the_kernel_moves_the_view(open_widget):
    widget = bars()
    page = open_widget(widget)
    page.evaluate("model.set('index', 2)")
    assert seen(page) == expected(widget, 2)


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_moves_on_the_page_and_targets_are_large(open_widget, width):
    def label(value):
        return "a label that is far too long for one line of a phone" if value == 2 else "short"

    widget = widgets.Frames.draw(bar, [1, 2, 4], label=label, alt=str, name="height")
    page = open_widget(widget, width)
    page.focus("input")
    boxes = set()
    for _ in range(3):
        boxes.add(
            str(
                page.evaluate(
                    "document.querySelector('.lessons-figure').getBoundingClientRect().toJSON()"
                )
            )
        )
        page.keyboard.press("ArrowRight")
    assert len(boxes) == 1
    image = page.locator(".lessons-frame")
    # These keep the place while the first picture is being decoded.
    assert [image.get_attribute(side) for side in ("width", "height")] == ["288", "192"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in (".lessons-play", "input"):
        box = page.locator(control).bounding_box()
        assert box["height"] >= 44 and box["width"] >= 44


def test_keys_stay_in_the_figure_but_shortcuts_pass(open_widget):
    page = open_widget(bars())
    page.evaluate("window.keys = []; document.addEventListener('keydown', (e) => keys.push(e.key))")
    page.focus("input")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+k")
    assert page.evaluate("keys").count("ArrowRight") == 0 and "k" in page.evaluate("keys")
