"""The house style of the figures, and the few plots that many lessons need: data in, axes out.

A figure is read on a phone, where it is 340 px wide, as well as on a wide page. It is therefore
drawn small, with fonts that stay legible when it shrinks, on white, in colours that a colour-blind
reader can tell apart. Titles belong to the lesson. Importing this module changes no setting.
"""

from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np

from . import validate

# Okabe and Ito's palette without its yellow, which is too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")

# At 4.5 inches across 340 px, 10 points are 10.5 px.
HOUSE = {
    "axes.axisbelow": True,
    "axes.facecolor": "white",
    "axes.labelsize": 10,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 128,
    "figure.facecolor": "white",
    "font.size": 10,
    "grid.color": "#DDDDDD",
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


@contextmanager
def style():
    """The house style as a context, for what a lesson draws itself: ``with plots.style(): …``."""
    # Not plt.rc_context, which restores every setting: a notebook's backend starts at its first
    # figure and switches interactive mode on; that would be undone, and later figures not be shown.
    before = {key: plt.rcParams[key] for key in HOUSE}
    plt.rcParams.update(HOUSE)
    try:
        yield
    finally:
        plt.rcParams.update(before)


def figure(width=4.5, height=3.0, *, rows=1, columns=1, **options):
    """A figure in the house style and its axes, as ``plt.subplots`` returns them.

    width, height: inches. options: passed on to ``plt.subplots``. ValueError: a side below 1 inch.
    """
    width = validate.real(width, "width", minimum=1)
    height = validate.real(height, "height", minimum=1)
    with style():
        return plt.subplots(rows, columns, figsize=(width, height), **options)


def heatmap(
    matrix,
    ax=None,
    *,
    x_label,
    y_label,
    colour_label=None,
    row_names=None,
    column_names=None,
    diverging=False,
    values=False,
    limits=None,
):
    """A matrix as colours, row 0 on top.

    matrix: (rows, columns). colour_label: what the colours mean, on a colour bar; None: no bar.
    row_names, column_names: one text each, in place of the numbers.
    diverging: colours for either sign, white at 0. values: write each number into its cell.
    limits: (low, high) of the colours, so that figures can be compared; default from the matrix.
    ValueError: not a matrix, NaN or infinite, names or limits that don't fit.
    """
    matrix = _matrix(matrix)
    rows = _names(row_names, matrix.shape[0], "row_names")
    columns = _names(column_names, matrix.shape[1], "column_names")
    if limits is None:
        largest = np.abs(matrix).max() or 1.0
        limits = (-largest, largest) if diverging else (matrix.min(), matrix.max())
    elif not limits[0] < limits[1]:
        raise ValueError(f"limits must be (low, high) with low < high, got {limits!r}")
    ax = _axes(ax)
    with style():
        image = ax.imshow(
            matrix,
            cmap="RdBu_r" if diverging else "viridis",
            vmin=limits[0],
            vmax=limits[1],
            aspect="auto",
            interpolation="nearest",
        )
        if colour_label is not None:
            ax.figure.colorbar(image, ax=ax, label=colour_label)
        ax.set(xlabel=x_label, ylabel=y_label)
        ax.spines[:].set_visible(False)
        if rows is not None:
            ax.set_yticks(range(len(rows)), rows)
        if columns is not None:
            # Words longer than their column would run into each other.
            crowded = sum(len(name) for name in columns) > 24
            ax.set_xticks(range(len(columns)), columns, rotation=45 if crowded else 0)
        if values:
            for row, column in np.ndindex(matrix.shape):
                red, green, blue, _ = image.to_rgba(matrix[row, column])
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                ax.text(
                    column,
                    row,
                    f"{matrix[row, column]:.2f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white" if dark else "black",
                )
    return ax


def attention(weights, words, ax=None):
    """Attention weights of a sentence, each written in its cell, colours from 0 to 1.

    weights: (queries, keys), one row and one column per word.
    words: one text per token, naming rows (who looks) and columns (who is looked at).
    ValueError: weights that are not square, outside 0…1, or not one row per word.
    """
    weights = _matrix(weights, "weights")
    validate.has_shape(weights, "weights", (len(words), len(words)))
    if weights.min() < 0 or weights.max() > 1 + 1e-9:
        raise ValueError(f"weights must lie in 0…1, got {weights.min():g} to {weights.max():g}")
    return heatmap(
        weights,
        ax,
        x_label="key (is looked at)",
        y_label="query (looks)",
        row_names=words,
        column_names=words,
        values=True,
        limits=(0, 1),
    )


def lines(x, series, ax=None, *, x_label, y_label, log_x=False, legend=False):
    """Curves over the same x, each named at its right end (``legend=True``: in a legend).

    x: (n,). series: {name: (n,)}; NaN leaves a gap. log_x: x on a log scale, then x > 0.
    ValueError: no series, a length that differs from x's, x ≤ 0 on a log scale.
    """
    x = validate.finite(x, "x")
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"x must be a vector of at least 1 number, got shape {x.shape}")
    if log_x and x.min() <= 0:
        raise ValueError(f"x must be above 0 on a log scale, got {x.min():g}")
    if not series:
        raise ValueError(f"series must name at least 1 curve, got {series!r}")
    curves = {name: np.asarray(y, dtype=float) for name, y in series.items()}
    for name, y in curves.items():
        validate.has_shape(y, f"series[{name!r}]", x.shape)
    ax = _axes(ax)
    with style():
        drawn = [ax.plot(x, y, label=name)[0] for name, y in curves.items()]
        ax.set(xlabel=x_label, ylabel=y_label)
        ax.grid(True)
        if log_x:
            ax.set_xscale("log")
        if legend:
            ax.legend()
        elif len(drawn) > 1:
            _name_at_the_end(ax, drawn)
    return ax


def _name_at_the_end(ax, drawn):
    """Write each curve's name beside its last point, pushed apart where they would overlap."""
    low, high = ax.get_ylim()
    gap = 0.065 * (high - low) * 3.0 / ax.figure.get_size_inches()[1]
    ends = []
    for curve in drawn:
        x, y = curve.get_data()
        known = np.flatnonzero(np.isfinite(y))
        if known.size:
            ends.append([y[known[-1]], x[known[-1]], curve])
    ends.sort(key=lambda end: end[0])
    height = -np.inf
    for y, x, curve in ends:
        height = max(y, height + gap)
        ax.annotate(
            curve.get_label(),
            (x, height),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=curve.get_color(),
            annotation_clip=False,
        )


def _axes(ax):
    return figure()[1] if ax is None else ax


def _matrix(value, name="matrix"):
    matrix = validate.finite(value, name)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must be (rows, columns), got shape {matrix.shape}")
    return matrix


def _names(names, length, argument):
    if names is not None and len(names) != length:
        raise ValueError(f"{argument} must hold {length} names, got {len(names)}")
    return names
