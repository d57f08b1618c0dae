"""Figures that move: with a kernel, without one, and without a network.

``Frames`` shows pictures drawn beforehand, one at a time. ``Clock`` computes in the browser.
Both travel whole inside the page, have native controls and say in words what they show.
The scripts lie beside this file; controls.js is put in front of each, since a widget's script
has to be one module.
"""

import base64
import io
from importlib import resources

import anywidget
import numpy as np
import traitlets
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, features

from . import validate

CSS_PIXELS_PER_INCH = 96
# Bytes that a widget's pictures should add to a page at most; above it they get fewer colours.
BUDGET = 600_000
COLOURS = (256, 128)
OPTIONS = {"webp": {"lossless": True}, "png": {"optimize": True}}


def _text(*names):
    files = resources.files(__package__)
    return "\n".join(files.joinpath(name).read_text(encoding="utf-8") for name in names)


class Frames(anywidget.AnyWidget):
    """Pictures of one size, stepped through by slider, keyboard and a play button.

    A lesson makes it with ``Frames.draw``. ``index`` is the number of the picture on show, from 0.
    """

    _esm = _text("controls.js", "frames.js")
    _css = _text("figure.css")

    index = traitlets.Int(0).tag(sync=True)
    _frames = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _alts = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _size = traitlets.List(traitlets.Int()).tag(sync=True)
    _name = traitlets.Unicode().tag(sync=True)
    _milliseconds = traitlets.Int().tag(sync=True)

    def __init__(self, pictures, labels, alts, *, name, start=0, seconds=0.8, dpi=144):
        """Use ``Frames.draw``, unless the pictures exist already.

        pictures: uint8 arrays (height, width, 3), all of one size; labels, alts: a text for each.
        ``dpi``: pixels an inch, which says how large they are meant to be. The rest as in ``draw``.
        """
        pictures = list(pictures)
        options = _options(labels, alts, len(pictures), name, start, seconds, dpi)
        for number, picture in enumerate(pictures):
            fits = isinstance(picture, np.ndarray) and picture.dtype == np.uint8
            if not fits or picture.ndim != 3 or picture.shape[2] != 3 or picture.size == 0:
                raise TypeError(f"pictures[{number}] must be a uint8 array (height, width, 3)")
            validate.has_shape(picture, f"pictures[{number}]", pictures[0].shape)
        height, width = pictures[0].shape[:2]
        scale = CSS_PIXELS_PER_INCH / dpi
        super().__init__(
            _frames=_data_urls(pictures),
            _size=[round(width * scale), round(height * scale)],
            **options,
        )

    @classmethod
    def draw(cls, function, values, *, label, alt, name, start=0, seconds=0.8, dpi=144):
        """Draw one picture per value and return the widget.

        function(value): a new matplotlib Figure (``ax.figure``), always of the same size; it is
        closed here. Fix the axes' limits, so that only the data move.
        values: what the slider runs through, in order, at least one.
        label(value): the short text beside the slider. alt(value): one sentence that says what this
        picture shows, with its number.
        name: what the slider changes, for example "order of the words".
        start: index of the first picture shown. seconds: how long play stays on each.
        dpi: pixels an inch; more make sharper pictures and a heavier page (see ``size``).

        Raises, before anything is drawn, TypeError for what can't be called and for texts that
        are none; ValueError for no values, empty texts, start outside, seconds or dpi too small.
        While drawing: TypeError where function returns no Figure, ValueError where sizes differ.
        """
        for argument, value in (("function", function), ("label", label), ("alt", alt)):
            if not callable(value):
                raise TypeError(f"{argument} must be a function of one value, got {value!r}")
        values = list(values)
        labels = [label(value) for value in values]
        alts = [alt(value) for value in values]
        _options(labels, alts, len(values), name, start, seconds, dpi)
        pictures = [_pixels(function(value), value, dpi) for value in values]
        return cls(pictures, labels, alts, name=name, start=start, seconds=seconds, dpi=dpi)

    @property
    def size(self):
        """Bytes that the pictures add to the page."""
        return sum(len(frame) for frame in self._frames)

    @traitlets.validate("index")
    def _index_is_inside(self, proposal):
        if not 0 <= proposal["value"] < max(1, len(self._frames)):
            raise ValueError(f"index must be 0 to {len(self._frames) - 1}, got {proposal['value']}")
        return proposal["value"]

    def __repr__(self):
        # No address: a notebook's output stays the same on every run. Jupyter cuts at 110 letters.
        short = [text if len(text) <= 32 else text[:31] + "…" for text in self._labels]
        return f"Frames({len(short)} pictures, from {short[0]!r} to {short[-1]!r})"


class Clock(anywidget.AnyWidget):
    """Sinusoidal pairs as clock hands, beside the mean similarity K of two positions.

    Left, eight of the d_model / 2 pairs: hand i stands at the angle inv_freq[i]·position,
    counter-clockwise from three o'clock, so that its tip is (cos, sin).
    Right, K(Δ) = (2/d_model) Σ cos(inv_freq[i]·Δ) against the distance Δ, and the log law
    1 − (ln Δ + 0.5772)/ln θ. The reader moves position and θ; a kernel reads and sets them
    as ``position`` and ``theta``. Lesson 02.
    """

    _esm = _text("controls.js", "clock.js")
    _css = _text("figure.css")

    position = traitlets.Int(0).tag(sync=True)
    theta = traitlets.Float(10_000.0).tag(sync=True)
    _d_model = traitlets.Int().tag(sync=True)
    _max_position = traitlets.Int().tag(sync=True)

    def __init__(self, position=0, theta=10_000.0, *, d_model=512, max_position=2000):
        """
        position: 0 to max_position. theta: 10 to 1 000 000. d_model: a multiple of 16, since the
        eight hands are evenly spread over the pairs. ValueError or TypeError for anything else.
        """
        d_model = validate.count(d_model, "d_model", minimum=16)
        if d_model % 16:
            raise ValueError(f"d_model must be a multiple of 16, got {d_model}")
        max_position = validate.count(max_position, "max_position")
        super().__init__(
            _d_model=d_model,
            _max_position=max_position,
            position=_inside(validate.offset(position, "position"), "position", 0, max_position),
            theta=_inside(validate.real(theta, "theta"), "theta", 10, 1_000_000),
        )

    @traitlets.validate("position")
    def _position_is_inside(self, proposal):
        return _inside(proposal["value"], "position", 0, self._max_position)

    @traitlets.validate("theta")
    def _theta_is_inside(self, proposal):
        return _inside(proposal["value"], "theta", 10, 1_000_000)

    def __repr__(self):
        return f"Clock(position={self.position}, theta={self.theta:g}, d_model={self._d_model})"


def _inside(value, name, low, high):
    if not low <= value <= high:
        raise ValueError(f"{name} must be {low} to {high}, got {value!r}")
    return value


def _options(labels, alts, n_frames, name, start, seconds, dpi):
    """The checked traits of a Frames that has n_frames pictures."""
    if n_frames == 0:
        raise ValueError("values must hold at least 1 value, got none")
    texts = {"labels": list(labels), "alts": list(alts), "name": [name]}
    for argument, entries in texts.items():
        if argument != "name" and len(entries) != n_frames:
            raise ValueError(f"{argument} must hold {n_frames} texts, got {len(entries)}")
        for entry in entries:
            if not isinstance(entry, str):
                raise TypeError(f"{argument} must be text, got {entry!r} ({type(entry).__name__})")
            if not entry.strip():
                raise ValueError(f"{argument} must not be empty, got {entry!r}")
    validate.real(dpi, "dpi", minimum=50)
    return {
        "_labels": texts["labels"],
        "_alts": texts["alts"],
        "_name": name,
        "_milliseconds": round(1000 * validate.real(seconds, "seconds", minimum=0.1)),
        "index": _inside(validate.count(start, "start", minimum=0), "start", 0, n_frames - 1),
    }


def _pixels(figure, value, dpi):
    """The figure as (height, width, 3) uint8 on white; the figure is closed."""
    if not isinstance(figure, Figure):
        kind = type(figure).__name__
        raise TypeError(f"function({value!r}) must return a matplotlib Figure, got {kind}")
    # A canvas of our own draws the same under every backend, whatever the notebook has chosen.
    plt.close(figure)
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    white = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(white, picture).convert("RGB"))


def _data_urls(pictures):
    """Each picture as an address that holds the picture itself."""
    for colours in COLOURS:
        urls = [_data_url(picture, colours) for picture in pictures]
        if sum(map(len, urls)) <= BUDGET:
            break
    return urls


def _data_url(picture, colours):
    # Few colours make small files; what is lost are shades in the soft edges of letters.
    image = Image.fromarray(picture).quantize(colours, kmeans=2, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    kind = "webp" if features.check("webp") else "png"
    # Lossless WebP took 0.7 of a PNG's bytes for the book's figures.
    image.convert("RGB" if kind == "webp" else "P").save(stream, kind, **OPTIONS[kind])
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"
