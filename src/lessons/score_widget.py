"""Lesson 04's moving figures: ``Hands`` slides two tokens, ``ScoreCurve`` turns a key.

Both compute in the browser, from the law in turning.js: pair i, of norm 1 in query and key, adds
cos(ω_i · distance − phase_i) to the score, where phase_i is how far the key started ahead of the
query, counter-clockwise, and distance is m − n. The score shown is the mean over the pairs.
"""

import anywidget
import numpy as np
import traitlets

from . import validate
from .widgets import _inside, _text

LARGEST = 8  # pairs that fit on a phone


class Hands(anywidget.AnyWidget):
    """A query at m = n + distance and a key at n, pair by pair, as two hands of a clock.

    Sliding both moves every hand and no angle between two; the score stands still.
    A kernel reads and sets ``position`` (n) and ``distance`` (m − n).
    """

    _esm = _text("controls.js", "turning.js", "hands.js")
    _css = _text("figure.css", "turning.css")

    position = traitlets.Int(0).tag(sync=True)
    distance = traitlets.Int(0).tag(sync=True)
    _inv_freq = traitlets.List(traitlets.Float()).tag(sync=True)
    _q_angles = traitlets.List(traitlets.Float()).tag(sync=True)
    _k_angles = traitlets.List(traitlets.Float()).tag(sync=True)
    _max_position = traitlets.Int().tag(sync=True)
    _max_distance = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        inv_freq,
        q_angles,
        k_angles,
        position=0,
        distance=0,
        *,
        max_position=500,
        max_distance=100,
    ):
        """
        inv_freq: at most 8 frequencies, radians per token. q_angles, k_angles: one angle for each
        pair, in radians, where query and key stand at position 0. position: 0 to max_position.
        distance: 0 to max_distance. ValueError or TypeError for anything else.
        """
        inv_freq = _few(inv_freq)
        angles = {"q_angles": q_angles, "k_angles": k_angles}
        for name, value in angles.items():
            angles[name] = validate.has_shape(validate.vector(value, name), name, inv_freq.shape)
        max_position = validate.count(max_position, "max_position")
        max_distance = validate.count(max_distance, "max_distance")
        position = validate.offset(position, "position")
        distance = validate.offset(distance, "distance")
        super().__init__(
            _inv_freq=inv_freq.tolist(),
            _q_angles=angles["q_angles"].tolist(),
            _k_angles=angles["k_angles"].tolist(),
            _max_position=max_position,
            _max_distance=max_distance,
            position=_inside(position, "position", 0, max_position),
            distance=_inside(distance, "distance", 0, max_distance),
        )

    @traitlets.validate("position")
    def _position_is_inside(self, proposal):
        return _inside(proposal["value"], "position", 0, self._max_position)

    @traitlets.validate("distance")
    def _distance_is_inside(self, proposal):
        return _inside(proposal["value"], "distance", 0, self._max_distance)

    def __repr__(self):
        pairs = len(self._inv_freq)
        return f"Hands(pairs={pairs}, position={self.position}, distance={self.distance})"


class ScoreCurve(anywidget.AnyWidget):
    """The score of a query and a key against their signed distance, −reach … reach.

    The reader turns the key against the query: all pairs by ω_i · tokens, as a position would,
    or one pair by any angle. A kernel reads and sets ``phases`` (radians), ``pair`` (−1: all) and
    ``tokens`` (the last turn of all pairs).
    """

    _esm = _text("controls.js", "turning.js", "score.js")
    _css = _text("figure.css", "turning.css")

    phases = traitlets.List(traitlets.Float()).tag(sync=True)
    pair = traitlets.Int(-1).tag(sync=True)
    tokens = traitlets.Int(0).tag(sync=True)
    _inv_freq = traitlets.List(traitlets.Float()).tag(sync=True)
    _reach = traitlets.Int().tag(sync=True)

    def __init__(self, inv_freq, tokens=0, pair=-1, *, reach=200):
        """
        inv_freq: at most 8 frequencies above 0, radians per token. reach: an even number of tokens.
        tokens: −reach to reach, by which all pairs start turned. pair: which one the slider turns,
        −1 for all. ValueError or TypeError for anything else.
        """
        inv_freq = _few(inv_freq)
        if not inv_freq.all():
            raise ValueError("inv_freq must be above 0, got 0: that pair has no wavelength")
        reach = validate.count(reach, "reach", even=True)
        tokens = _inside(validate.offset(tokens, "tokens"), "tokens", -reach, reach)
        pair = _inside(validate.offset(pair, "pair"), "pair", -1, len(inv_freq) - 1)
        turned = tokens * inv_freq
        super().__init__(
            _inv_freq=inv_freq.tolist(),
            _reach=reach,
            phases=(turned - 2 * np.pi * np.rint(turned / (2 * np.pi))).tolist(),
            tokens=tokens,
            pair=pair,
        )

    @traitlets.validate("phases")
    def _one_phase_a_pair(self, proposal):
        phases = validate.vector(proposal["value"], "phases")
        return validate.has_shape(phases, "phases", (len(self._inv_freq),)).tolist()

    @traitlets.validate("pair")
    def _pair_is_inside(self, proposal):
        return _inside(proposal["value"], "pair", -1, len(self._inv_freq) - 1)

    @traitlets.validate("tokens")
    def _tokens_are_inside(self, proposal):
        return _inside(proposal["value"], "tokens", -self._reach, self._reach)

    def __repr__(self):
        return f"ScoreCurve(pairs={len(self._inv_freq)}, tokens={self.tokens}, pair={self.pair})"


def _few(inv_freq):
    inv_freq = validate.inverse_frequencies(inv_freq)
    if len(inv_freq) > LARGEST:
        raise ValueError(f"inv_freq must hold at most {LARGEST} frequencies, got {len(inv_freq)}")
    return inv_freq
