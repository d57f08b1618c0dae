"""A moving figure: what each rule makes of the wavelengths, and of the perplexity (lesson 08)."""

import anywidget
import numpy as np
import traitlets

from . import extension, recipes, results, validate
from .widgets import _inside, _text

# Button -> name in extension.RULES. The last two have no factor.
RULES = {
    "PI": "linear",
    "NTK": "ntk",
    "YaRN": "yarn",
    "Llama 3": "llama3",
    "raise θ": "theta",
    "truncate": "truncated",
}
LAST = len(extension.FACTORS) - 1


class Spectrum(anywidget.AnyWidget):
    """Wavelengths of the book's small RoPE model under a rule, beside its saved perplexity.

    A dot is a pair of a head, hollow where it makes no full turn within the trained length. The
    page rescales the frequencies itself; the perplexities, without tuning, are those of the saved
    study, the mean loss over its seeds. "raise θ" and "truncate" have no factor: they are flat.
    The reader moves the factor and chooses the rule; a kernel reads and sets ``step`` (the factor
    is 2^(step/6), from 1 to 16) and ``rule``.
    """

    _esm = _text("controls.js", "spectrum.js")
    _css = _text("figure.css", "spectrum.css")

    step = traitlets.Int(0).tag(sync=True)
    rule = traitlets.Unicode("PI").tag(sync=True)
    _inv_freq = traitlets.List(traitlets.Float()).tag(sync=True)
    _trained = traitlets.Int().tag(sync=True)
    _theta = traitlets.Float().tag(sync=True)
    _rules = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, step=12, rule="PI"):
        """step: 0 to 24. rule: one of RULES. ValueError or TypeError for anything else."""
        step = _inside(validate.count(step, "step", minimum=0), "step", 0, LAST)
        rule = validate.choice(rule, "rule", tuple(RULES))
        super().__init__(
            step=step,
            rule=rule,
            _inv_freq=extension.INV_FREQ.tolist(),
            _trained=recipes.TRAIN_LEN,
            _theta=extension.RAISED_THETA,
            _rules=[{"name": name} | curves(study) for name, study in RULES.items()],
        )

    @traitlets.validate("step")
    def _step_is_inside(self, proposal):
        return _inside(proposal["value"], "step", 0, LAST)

    @traitlets.validate("rule")
    def _rule_is_known(self, proposal):
        return validate.choice(proposal["value"], "rule", tuple(RULES))

    def __repr__(self):
        return f"Spectrum(step={self.step}, rule={self.rule!r})"


def curves(rule):
    """Saved perplexity over the 25 factors, "inside" the trained length and "beyond", at 4 ×."""
    runs = results.saved("extension")["runs"]
    found = {}
    for name, length in (("inside", recipes.TRAIN_LEN), ("beyond", extension.LONG)):
        if rule in runs[0]["sweep"]:
            losses = results.by_seed(runs, "rope", "sweep", rule, length)
        else:
            one = results.by_seed(runs, "rope", "tuned", rule, 0, length)
            losses = np.tile(one[:, None], len(extension.FACTORS))
        found[name] = np.exp(losses.mean(0)).tolist()
    return found
