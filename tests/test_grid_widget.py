"""lessons.grid_widget: the page's scores are those of NumPy's rotations, for every scheme."""

import re

import numpy as np
import pytest
from conftest import TEXTS_FIT
from matplotlib import colormaps

from lessons import frequencies, rope
from lessons.grid_widget import SCHEMES, Patches, schemes


def mean_scores(scheme, rows, columns, query):
    """The mean score of equal query and key, by rotation: (rows, columns)."""
    grid = np.indices((rows, columns)).reshape(2, -1)
    w = frequencies.inverse_frequencies(128)
    x = np.repeat([[1.0, 0.0]], rows * columns, axis=0).repeat(64, axis=1)  # 64 pairs of norm 1
    time = np.zeros(rows * columns)
    if scheme == "flattened":
        turned = rope.rotate(x, np.arange(rows * columns), w)
    elif scheme == "axial":
        half = np.tile(frequencies.inverse_frequencies(64), 2)
        turned = rope.rotate_by(x, rope.grid_angles(grid, [0] * 32 + [1] * 32, half))
    else:
        blocks = [0] * 16 + [1] * 24 + [2] * 24
        sections = blocks if "blocks" in scheme else [0, 1, 2] * 20 + [0] * 4
        turned = rope.rotate_by(x, rope.grid_angles(np.vstack([time, grid]), sections, w))
    return (turned @ turned[query] / 64).reshape(rows, columns)


def check(page, scheme, row, column, rows=14, columns=14):
    found = mean_scores(scheme, rows, columns, row * columns + column)

    def word(r, c):
        return f"{found[r, c]:.4f}" if r < rows and c < columns else "none"

    right, below, start = word(row, column + 1), word(row + 1, column), word(row + 1, 0)
    spans = page.locator(".lessons-numbers span").all_text_contents()
    words = ["Mean score:", f"right {right}", f"below {below}", f"start of next row {start}"]
    assert spans == words
    assert page.get_attribute("svg", "aria-label") == (
        f"{rows} rows of {columns} patches, {scheme}; query in row {row}, column {column}. "
        f"Mean score with the patch to the right {right}, below {below}, start of next row {start};"
        f" lowest anywhere {found.min():.4f}."
    )
    fills = page.eval_on_selector_all(
        ".lessons-patches rect", "patches => patches.map((p) => p.getAttribute('fill'))"
    )
    # The still map's colours, mixed between eleven of them.
    shown = [[int(part) for part in re.findall(r"\d+", fill)] for fill in fills]
    wanted = 255 * colormaps["viridis"](np.clip((found.ravel() - 0.25) / 0.75, 0, 1))[:, :3]
    np.testing.assert_allclose(shown, wanted, atol=15)
    patch = page.locator(".lessons-patches rect").nth(row * columns + column)
    for side in "xy":
        marked = float(page.locator(".lessons-query").get_attribute(side))
        assert marked == pytest.approx(float(patch.get_attribute(side)))
    pressed = page.locator('[aria-pressed="true"]').all_text_contents()
    assert pressed == [scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_computes_what_numpy_computes(open_widget, scheme):
    check(open_widget(Patches(5, 13, scheme)), scheme, 5, 13)
    check(open_widget(Patches(1, 2, scheme, rows=3, columns=5)), scheme, 1, 2, 3, 5)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('model.get("row") * columns', 'model.get("row") * rows'),
        ("[q] - ", "[q] + "),
        ("(i % columns)", "(i % rows)"),
        ("word(r + 1, c)", "word(r, c)"),
        ("Math.cos(turn)", "Math.sin(turn)"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, right, wrong):
    widget = Patches(1, 3, "axial", rows=3, columns=5)
    assert widget._esm.count(right) == 1
    page = open_widget(widget, script=widget._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(page, "axial", 1, 3, 3, 5)


def test_the_flattened_stripe_goes_on_in_the_next_row():
    """What the figure is there to show, and what no scheme with two numbers has."""
    end = 5 * 14 + 13
    line, axial = (mean_scores(scheme, 14, 14, end) for scheme in ("flattened", "axial"))
    assert line[6, 0] == pytest.approx(line[5, 12]) and line[6, 0] > 0.97
    assert line[6, 13] < 0.65
    assert axial[6, 13] > 0.98 > 0.82 > axial[6, 0]


def test_keys_clicks_and_drags_move_the_query_and_the_kernel_hears(open_widget):
    page = open_widget(Patches(5, 13))
    slider = page.locator("input")
    slider.press("ArrowRight")  # on to the next row, as one reads
    check(page, "flattened", 6, 0)
    slider.press("ArrowLeft")
    slider.press("ArrowUp")
    check(page, "flattened", 4, 13)
    for _ in range(3):
        slider.press("ArrowDown")
    check(page, "flattened", 7, 13)
    slider.press("End")
    slider.press("ArrowDown")  # there is no row below
    check(page, "flattened", 13, 13)
    page.click(".lessons-play")  # at the end, it begins again
    page.clock.run_for(250 * 16 + 10)
    page.click(".lessons-play")
    check(page, "flattened", 1, 2)
    page.evaluate("model.set('row', 6)")
    page.evaluate("model.set('column', 0)")
    page.click("text=axial")
    check(page, "axial", 6, 0)
    patches = page.locator(".lessons-patches rect")

    def middle(r, c):
        box = patches.nth(14 * r + c).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.mouse.move(*middle(2, 3))
    check(page, "axial", 6, 0)  # moving over it is no drag
    page.mouse.down()
    check(page, "axial", 2, 3)
    page.mouse.move(*middle(9, 11))
    check(page, "axial", 9, 11)
    x, y = middle(13, 13)
    page.mouse.move(x + 300, y + 300)  # outside, it stays at the edge
    check(page, "axial", 13, 13)
    page.mouse.up()
    page.mouse.move(*middle(0, 0))
    check(page, "axial", 13, 13)
    assert page.evaluate("[model.get('row'), model.get('column')]") == [13, 13]
    assert slider.get_attribute("aria-valuetext") == "row 13, column 13"
    assert page.evaluate("saves") >= 20
    page.evaluate("model.set('scheme', 'interleaved')")
    page.evaluate("model.set('row', 4)")
    check(page, "interleaved", 4, 13)
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") == 0


def test_it_is_slow_for_those_who_asked_for_less_motion(open_widget):
    page = open_widget(Patches(0, 0), reduced_motion="reduce")
    page.click(".lessons-play")
    page.clock.run_for(1500)
    check(page, "flattened", 0, 1)


@pytest.mark.parametrize("width", [375, 1280])
def test_it_fits_and_nothing_moves_on_the_page(open_widget, width):
    page = open_widget(Patches(), width)
    boxes = set()
    for name in (*SCHEMES, SCHEMES[0]):
        page.click(f"text={name}")
        page.locator("input").first.press("ArrowRight")
        boxes.add(str(page.locator(".lessons-figure").bounding_box()))
        assert page.evaluate(TEXTS_FIT)
    assert len(boxes) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input").all():
        assert control.bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"row": 14}, ValueError),
        ({"row": -1}, ValueError),
        ({"column": 14}, ValueError),
        ({"column": 1.5}, ValueError),
        ({"rows": 1}, ValueError),
        ({"columns": 25}, ValueError),
        ({"rows": True}, TypeError),
        ({"scheme": "diagonal"}, ValueError),
        ({"scheme": 2}, TypeError),
    ],
)
def test_refusals_name_the_argument(given, error):
    with pytest.raises(error, match=f"^{next(iter(given))} must"):
        Patches(**given)


def test_a_kernel_sets_it_within_its_range_and_its_name_has_no_address():
    widget = Patches(1, 2, "axial", rows=3, columns=5)
    widget.row, widget.column, widget.scheme = 2, 4, "flattened"
    for name, value in (("row", 3), ("column", 5), ("scheme", "x")):
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert repr(widget) == "Patches(3×5, row=2, column=4, scheme='flattened')"


def test_each_scheme_turns_64_pairs():
    for positions, sections, inv_freq in schemes(3, 5).values():
        assert rope.grid_angles(positions, sections, inv_freq).shape == (15, 64)
