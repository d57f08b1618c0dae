"""A moving figure: the layers of language models from 2017 to 2026 (lesson 10)."""

from collections import Counter

import anywidget
import traitlets

from . import configs, validate
from .widgets import _inside, _text

SCHEMES = {
    "added": "added to the embeddings",
    "rope": "RoPE",
    "truncated": "truncated RoPE",
    "bias": "bias on the scores",
    "none": "no encoding",
    "state": "recurrence or convolution",
}


class Stacks(anywidget.AnyWidget):
    """One model after another, a bar for each layer, the first layer at the bottom.

    The colour of a bar is the scheme of its layer, its width the number of keys that a query may
    see there, on a log scale; a layer without a window fills the width.
    The reader moves along the models of ``configs.models()``; a kernel reads and sets ``model``,
    counted from 0.
    """

    _esm = _text("controls.js", "stack.js")
    _css = _text("figure.css", "stack.css")

    model = traitlets.Int(0).tag(sync=True)
    _models = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, model=0):
        """model: 0 to the last of ``configs.models()``. ValueError or TypeError otherwise."""
        model, models = validate.count(model, "model", minimum=0), configs.models()
        super().__init__(_models=[_stack(one) for one in models])
        self.model = _inside(model, "model", 0, len(models) - 1)

    @traitlets.validate("model")
    def _model_is_there(self, proposal):
        return _inside(proposal["value"], "model", 0, max(0, len(self._models) - 1))

    def __repr__(self):
        return f"Stacks(model={self.model})"


def _stack(model):
    """What the page needs of a model, in words and in bars."""
    return {
        "name": model.name,
        "date": model.date,
        "bars": [[layer.scheme, layer.window] for layer in model.layers],
        "words": _words(model.layers),
        "note": model.note,
        "source": model.source,
    }


def _words(layers):
    """The kinds of layers, counted: "30 RoPE, window 4096; 10 no encoding"."""
    counts = Counter((SCHEMES[n.scheme], n.window) for n in layers)
    return "; ".join(
        f"{count} {scheme}" + (f", window {window}" if window else "")
        for (scheme, window), count in counts.items()
    )
