"""A moving figure: how far back each head of ALiBi reaches, while the context grows (lesson 06)."""

import anywidget
import traitlets

from . import alibi, validate
from .widgets import _inside, _text

SHORTEST, LONGEST = 64, 8192


class Spans(anywidget.AnyWidget):
    """Cumulative attention over the nearest n tokens: eight heads of ALiBi, and no bias at all.

    The contents are flat, so that a head of slope m gives the key n tokens back the weight e^(−mn)
    and its nearest n keys hold (1 − e^(−mn)) / (1 − e^(−m·seq_len)) of the attention; without a
    bias they hold n / seq_len. Dots mark the span: the fewest keys that hold 95 %.
    The reader moves the context length; a kernel reads and sets it as ``seq_len``.
    """

    _esm = _text("controls.js", "span_widget.js")
    _css = _text("figure.css", "span_widget.css")

    seq_len = traitlets.Int(512).tag(sync=True)
    _slopes = traitlets.List(traitlets.Float()).tag(sync=True)

    def __init__(self, seq_len=512):
        """seq_len: 64 to 8192 tokens. ValueError or TypeError for anything else."""
        seq_len = validate.count(seq_len, "seq_len")
        super().__init__(
            _slopes=alibi.slopes(8).tolist(),
            seq_len=_inside(seq_len, "seq_len", SHORTEST, LONGEST),
        )

    @traitlets.validate("seq_len")
    def _seq_len_is_inside(self, proposal):
        return _inside(proposal["value"], "seq_len", SHORTEST, LONGEST)

    def __repr__(self):
        return f"Spans(seq_len={self.seq_len})"
