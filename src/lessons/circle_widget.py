"""A figure that moves: sixteen neighbouring positions on the circle, in three number formats."""

import traitlets
from anywidget import AnyWidget

from . import frequencies, validate
from .widgets import _text

FORMATS = ("float32", "positions in bf16", "frequencies in bf16")
MAX_START = 32_768


class Circle(AnyWidget):
    """Positions start … start + 15 as dots on the unit circle, at the angle position · ω.

    Rings: the right angles, in float64. Dots: the angles as the chosen format computes them, which
    is done in the browser. The pair is number 16 of 64 at θ = 10000, whose frequency is 0.1.
    The reader moves the start and chooses the format; a kernel reads and sets them as ``start`` and
    ``format``. Lesson 05.
    """

    _esm = _text("controls.js", "circle.js")
    _css = _text("figure.css", "circle.css")

    start = traitlets.Int(0).tag(sync=True)
    format = traitlets.Unicode(FORMATS[0]).tag(sync=True)
    _formats = traitlets.List(traitlets.Unicode(), list(FORMATS)).tag(sync=True)
    _omega = traitlets.Float().tag(sync=True)

    def __init__(self, start=0, format=FORMATS[0]):
        """start: 0 to 32768. format: one of FORMATS. ValueError or TypeError for anything else."""
        start = validate.count(start, "start", minimum=0)
        format = validate.choice(format, "format", FORMATS)
        omega = float(frequencies.inverse_frequencies(128)[16])
        super().__init__(start=start, format=format, _omega=omega)

    @traitlets.validate("start")
    def _start_is_inside(self, proposal):
        if not 0 <= proposal["value"] <= MAX_START:
            raise ValueError(f"start must be 0 to {MAX_START}, got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate("format")
    def _format_is_known(self, proposal):
        return validate.choice(proposal["value"], "format", FORMATS)

    def __repr__(self):
        return f"Circle(start={self.start}, format={self.format!r})"
