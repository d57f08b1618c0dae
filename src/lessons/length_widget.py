"""A moving figure: what a window at test changes in every trained model (lesson 07)."""

import anywidget
import numpy as np
import traitlets

from . import recipes, results, studies, validate
from .widgets import _inside, _text

NARROWEST, WIDEST = 64, 1024  # the longest piece has 1024 bytes: there this window is none
WINDOWS = (WIDEST, *reversed(studies.WINDOWS))
LENGTHS = studies.LENGTHS
VIEWS = {
    "one scheme": ("rope", "sinusoidal", "alibi", "none", "t5", "learned"),
    "layer by layer": ("rope", "truncated", "local_rope", "local_truncated", "local_none"),
    "start and steps": (
        *("sinusoidal", "sinusoidal_unscaled", "learned", "learned_scaled"),
        *("none", "none_longer"),
    ),
    "recall": ("rope", "alibi", "t5", "truncated", "none", "none, log queries"),
}
# A scheme keeps its colour from view to view; what was changed about it is dashed.
BLUE, SKY, BLACK = "#0072B2", "#3D9BD1", "#000000"
RED, GREEN, PINK = "#B34700", "#00785A", "#B5508C"
LINES = {
    "rope": (BLUE, ""),
    "sinusoidal": (RED, ""),
    "sinusoidal_unscaled": (RED, "5 3"),
    "alibi": (GREEN, ""),
    "t5": (PINK, ""),
    "learned": (SKY, ""),
    "learned_scaled": (SKY, "5 3"),
    "none": (BLACK, ""),
    "none_longer": (BLACK, "5 3"),
    "none, log queries": (BLACK, "5 3"),
    "truncated": (SKY, ""),
    "local_rope": (BLUE, "5 3"),
    "local_truncated": (SKY, "5 3"),
    "local_none": (BLACK, "5 3"),
}


class Lengths(anywidget.AnyWidget):
    """Perplexity against the length of the pieces, under a window at test; or recall.

    A line is the mean loss of the seeds, as a perplexity; a band reaches from the lowest to the
    highest seed. Windows of 512, 256, 128 and 64 were measured; one of 1024 is none, since no piece
    is longer. Between two of them the page draws the loss in between, on a log scale of windows.
    Recall is the share of values named after their keys, asked without a window at test.
    The reader moves the window and chooses what to see; a kernel reads and sets ``window`` (tokens)
    and ``view`` (one of VIEWS).
    """

    _esm = _text("controls.js", "length.js")
    _css = _text("figure.css", "length.css")

    window = traitlets.Int(WIDEST).tag(sync=True)
    view = traitlets.Unicode("one scheme").tag(sync=True)
    _views = traitlets.List(traitlets.Dict()).tag(sync=True)
    _windows = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, window=WIDEST, view="one scheme"):
        """window: 64 to 1024 tokens. view: one of VIEWS. ValueError or TypeError otherwise."""
        window = _inside(validate.count(window, "window"), "window", NARROWEST, WIDEST)
        view = validate.choice(view, "view", tuple(VIEWS))
        super().__init__(_views=_measured(), _windows=list(WINDOWS), window=window, view=view)

    @traitlets.validate("window")
    def _window_is_inside(self, proposal):
        return _inside(proposal["value"], "window", NARROWEST, WIDEST)

    @traitlets.validate("view")
    def _view_is_known(self, proposal):
        return validate.choice(proposal["value"], "view", tuple(VIEWS))

    def __repr__(self):
        return f"Lengths(window={self.window}, view={self.view!r})"


def _measured():
    """What the page draws of each view: lengths, and lines with a value for each seed."""
    text, recall = (results.saved(study)["runs"] for study in ("extrapolation", "recall"))
    views = []
    for view, names in VIEWS.items():
        if view == "recall":
            lengths = [int(length) for length in recall[0]["share"]]
            labels = [recipes.RECALL[n].label if n in recipes.RECALL else n for n in names]
            tables = [[_share(recall, name)] for name in names]
        else:
            lengths = list(LENGTHS)
            labels = [recipes.TEXT[name].label for name in names]
            tables = [[_losses(text, name, window) for window in WINDOWS] for name in names]
        lines = [_line(*line) for line in zip(names, labels, tables, strict=True)]
        views.append({"name": view, "lengths": lengths, "lines": lines})
    return views


def _losses(runs, name, window):
    """Nats of each seed at each length, (seeds, 5); a piece as short as the window has none."""
    plain = results.by_seed(runs, name, "loss")
    if window == WIDEST:
        return plain
    cut = results.by_seed(runs, name, "windowed", window)
    return np.hstack([plain[:, : len(LENGTHS) - cut.shape[1]], cut])


def _share(runs, name):
    recipe, _, larger = name.partition(", ")
    return results.by_seed(runs, recipe, "share_log_queries" if larger else "share")


def _line(name, label, tables):
    """A line of the page: values[window][length][seed], None where the scheme is undefined."""
    values = [
        [[None if np.isnan(one) else one for one in seeds] for seeds in table.T.tolist()]
        for table in tables
    ]
    colour, dashes = LINES[name]
    return {"label": label, "colour": colour, "dashes": dashes, "values": values}
