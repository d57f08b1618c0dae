"""lessons.plots: the right data in the right place, legible on a phone, no setting left changed."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from lessons import plots

LABELS = {"x_label": "key position", "y_label": "query position"}
PHONE = 340  # CSS pixels across


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def words_of(ax):
    return [text.get_text() for text in ax.texts]


def test_heatmap_has_row_0_on_top_and_says_what_it_shows():
    matrix = np.arange(6.0).reshape(2, 3)
    ax = plots.heatmap(matrix, **LABELS, colour_label="score", values=True)
    image = ax.images[0]
    np.testing.assert_array_equal(image.get_array(), matrix)
    assert ax.get_ylim() == (1.5, -0.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key position", "query position")
    assert "score" in [axes.get_ylabel() for axes in ax.figure.axes]
    assert words_of(ax) == ["0.00", "1.00", "2.00", "3.00", "4.00", "5.00"]


def test_values_are_read_on_dark_and_on_light_cells():
    ax = plots.heatmap([[0.0, 1.0]], **LABELS, values=True)
    assert [text.get_color() for text in ax.texts] == ["white", "black"]


def test_diverging_is_white_at_zero():
    ax = plots.heatmap([[-1.0, 0.0, 3.0]], **LABELS, diverging=True)
    assert ax.images[0].get_clim() == (-3, 3)
    assert min(ax.images[0].to_rgba(0.0)) > 0.95


def test_limits_make_figures_comparable_and_a_constant_matrix_is_fine():
    assert plots.heatmap([[1.0, 2.0]], **LABELS, limits=(0, 4)).images[0].get_clim() == (0, 4)
    plots.heatmap(
        np.zeros((2, 2)), **LABELS, diverging=True, colour_label="score"
    ).figure.canvas.draw()


def test_names_replace_numbers():
    ax = plots.heatmap(np.eye(2), **LABELS, row_names=["dog", "man"], column_names=["a", "b"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["dog", "man"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]


def test_attention_names_queries_and_keys():
    weights = np.array([[1.0, 0.0], [0.25, 0.75]])
    ax = plots.attention(weights, ["dog", "bites"])
    assert "query" in ax.get_ylabel() and "key" in ax.get_xlabel()
    assert ax.images[0].get_clim() == (0, 1) and words_of(ax) == ["1.00", "0.00", "0.25", "0.75"]


def test_lines_are_named_at_their_end_without_overlap():
    x = np.arange(1, 50)
    series = {f"d = {d}": 1 / x + d / 1000 for d in (1, 2, 3)}
    ax = plots.lines(x, series, x_label="distance (tokens)", y_label="similarity", log_x=True)
    ax.figure.canvas.draw()
    assert ax.get_xscale() == "log" and sorted(words_of(ax)) == sorted(series)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(box.x1 <= ax.figure.bbox.x1 + 1 for box in boxes)
    assert {t.get_text(): t.get_color() for t in ax.texts} == {
        c.get_label(): c.get_color() for c in ax.lines
    }


def test_lines_with_a_legend_and_with_a_gap():
    ax = plots.lines(
        [1, 2, 3], {"a": [1, np.nan, np.nan], "b": [1, 2, 3]}, x_label="x", y_label="y", legend=True
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    plots.lines([1, 2], {"all gaps": [np.nan, np.nan], "b": [1, 2]}, x_label="x", y_label="y")


def test_axes_go_in_and_come_out():
    figure, (left, right) = plots.figure(columns=2)
    assert plots.heatmap(np.eye(2), left, **LABELS) is left
    assert plots.lines([1, 2], {"a": [1, 2]}, right, x_label="x", y_label="y") is right
    assert plt.get_fignums() == [figure.number]


def test_legible_on_a_phone_and_on_white():
    figure, ax = plots.figure()
    plots.lines([1, 2], {"a": [1, 2], "b": [2, 1]}, ax, x_label="x", y_label="y")
    texts = [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.texts]
    pixels = [text.get_fontsize() / 72 * PHONE / figure.get_size_inches()[0] for text in texts]
    assert min(pixels) >= 9
    assert figure.get_facecolor() == ax.get_facecolor() == (1, 1, 1, 1)


def test_no_setting_is_left_changed():
    before = dict(mpl.rcParams)
    plots.attention(np.eye(2), ["a", "b"])
    plots.lines([1], {"a": [1]}, x_label="x", y_label="y")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda: plots.heatmap([1.0, 2.0], **LABELS), "matrix"),
        (lambda: plots.heatmap(np.zeros((0, 2)), **LABELS), "matrix"),
        (lambda: plots.heatmap([[np.nan]], **LABELS), "matrix"),
        (lambda: plots.heatmap(np.eye(2), **LABELS, row_names=["a"]), "row_names"),
        (lambda: plots.heatmap(np.eye(2), **LABELS, column_names=["a"] * 3), "column_names"),
        (lambda: plots.heatmap(np.eye(2), **LABELS, limits=(1, 1)), "limits"),
        (lambda: plots.attention(np.full((2, 3), 0.3), ["a", "b"]), "weights"),
        (lambda: plots.attention(np.eye(2), ["a"]), "weights"),
        (lambda: plots.attention(2 * np.eye(2), ["a", "b"]), "weights"),
        (lambda: plots.lines([1, 2], {}, x_label="x", y_label="y"), "series"),
        (lambda: plots.lines([1, 2], {"a": [1]}, x_label="x", y_label="y"), r"series\['a'\]"),
        (lambda: plots.lines([[1, 2]], {"a": [1]}, x_label="x", y_label="y"), "x must"),
        (
            lambda: plots.lines([0, 1], {"a": [1, 2]}, x_label="x", y_label="y", log_x=True),
            "x must",
        ),
        (lambda: plots.figure(width=0), "width"),
    ],
)
def test_refusals_name_the_argument_and_leave_no_figure(call, named):
    with pytest.raises(ValueError, match=named):
        call()
    assert plt.get_fignums() == []
