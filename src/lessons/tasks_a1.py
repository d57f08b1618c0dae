"""Assignment A1, order and sinusoids (lessons 01 and 02)."""

from itertools import permutations

import numpy as np

from lessons import alibi, attention, frequencies, rope, sinusoidal, validate
from lessons.tasks import Assignment, Finding, Task
from lessons.tasks_judges import anything, case, numbers, parts, several, shown, values

ROWS = 4  # of x in task a1.1: few enough to try every order
# What the four boxes of task a1.5 do with positions.
SCHEMES = ("none", "rotate", "bias", "add")
BOX_ROWS = 64
FAR = "far out a value is not right: float32 cannot hold angles this large"


class _Layers:
    """A black box of task a1.5: x (seq, d_model) through two causal layers with one scheme."""

    def __init__(self, rng, d_model, scheme):
        self.layers = [attention.random_weights(d_model, int(rng.integers(2**31))) for _ in "12"]
        self.scheme, self.d_model = scheme, d_model
        self.start = int(rng.integers(3, 20))

    def __call__(self, x):
        x = validate.finite(x, "x")
        if x.ndim != 2 or x.shape[1] != self.d_model or not 1 <= len(x) <= BOX_ROWS:
            raise ValueError(
                f"x must be (1 to {BOX_ROWS}, {self.d_model}) for this box, got shape {x.shape}"
            )
        positions = np.arange(self.start, self.start + len(x))
        mask = attention.causal_mask(positions, positions)
        bias = None
        if self.scheme == "add":
            x = x + sinusoidal.encode(positions, self.d_model)
        elif self.scheme == "bias":
            bias = alibi.bias([0.5], positions, positions)[0]
        for w in self.layers:
            q, k, v = (x @ matrix for matrix in w[:3])
            if self.scheme == "rotate":
                inv_freq = frequencies.inverse_frequencies(self.d_model)
                q, k = (rope.rotate(part, positions, inv_freq) for part in (q, k))
            x = x + attention.attend(q, k, v, bias=bias, mask=mask)[0] @ w.w_o
        return x


class _Mixer:
    """f of task a1.1: the rows of x mix by softmax(x A xᵀ), with a mask or with vectors added."""

    def __init__(self, rng, d_model, *, causal=False, adds=False):
        self.a = rng.normal(size=(d_model, d_model))
        self.added = rng.normal(size=(ROWS, d_model)) * adds
        self.mask = np.tri(ROWS, dtype=bool) if causal else np.ones((ROWS, ROWS), bool)

    def __call__(self, x):
        x = validate.has_shape(validate.finite(x, "x"), "x", self.added.shape) + self.added
        return attention.softmax(np.where(self.mask, x @ self.a @ x.T, -np.inf)) @ x


def _departure(f, x, orders, back=lambda order: order):
    """The largest |f(x[order]) − f(x)[back(order)]| of the orders."""
    plain = f(x)
    return max(np.abs(f(x[list(o)]) - plain[list(back(o))]).max() for o in orders)


def _largest_departure(rng):
    orders = list(permutations(range(ROWS)))
    swaps = [o for o in orders if sum(place != row for place, row in enumerate(o)) == 2]
    x = rng.normal(size=(ROWS, 3))

    def judged(f):
        slips = {
            "the output is compared with f(x) in its old order": _departure(
                f, x, orders, lambda order: range(ROWS)
            ),
            "the output is put in the inverse order, which a swap cannot show": _departure(
                f, x, orders, np.argsort
            ),
            "swaps of two rows are not all orders": _departure(f, x, swaps),
        }
        return (f, x), values(_departure(f, x, orders), slips)

    def case_of(about, **kind):
        f = _Mixer(rng, 3, **kind)
        # A draw whose largest departure needs more than a swap.
        while _departure(f, x, orders) < 1.01 * _departure(f, x, swaps):
            f = _Mixer(rng, 3, **kind)
        # The equivariant one, whose answer is 0, is in every case: a constant earns nothing.
        return several(about, 2, [judged(f), judged(_Mixer(rng, 3))])

    return [
        case_of("a layer with a causal mask, and one without positions", causal=True),
        case_of("a layer that adds positions, and one without positions", adds=True),
    ]


def _table(positions, inv_freq):
    angles = np.asarray(positions)[:, None] * inv_freq
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(len(angles), -1)


def _table_right_and_slips(positions, d_model, theta):
    inv_freq = frequencies.inverse_frequencies(d_model, theta)
    right = sinusoidal.encode(positions, d_model, theta)
    swapped = np.arange(d_model) ^ 1
    return right, {
        "the exponent is i/d where 2i/d is meant": _table(positions, inv_freq**0.5),
        "the position is divided by the frequency": _table(positions, 1 / inv_freq),
        "sines and cosines stand in each other's columns": right[:, swapped],
        "sines and cosines stand in blocks, not in turns": np.hstack(
            [right[:, ::2], right[:, 1::2]]
        ),
        "rows are counted from 0, whatever the positions are": _table(
            np.arange(len(right)), inv_freq
        ),
        "the angles are taken for degrees": _table(np.deg2rad(positions), inv_freq),
    }


def _position_table(rng):
    found = []
    d_model, theta = 2 * int(rng.integers(3, 6)), float(np.round(rng.uniform(500, 20_000), 1))
    far = 1_000_000 + rng.integers(0, 5000, size=4)
    for about, points, positions in (
        ("positions from 0 on", 2, np.arange(int(rng.integers(5, 8)))),
        ("positions in any order, of both signs", 3, rng.integers(-60, 60, size=5)),
        ("positions far out", 2, far),
    ):
        law = FAR if "far" in about else "a value is not right"
        right, slips = _table_right_and_slips(positions, d_model, theta)
        judge = values(right, slips, law=law)
        found.append(case(about, points, (positions, d_model, theta), judge))
    return found


def _shift_matrix(rng):
    found = []
    for about, points, sign in (("steps back", 3, 1), ("steps forward", 3, -1)):
        offset = sign * int(rng.integers(2, 40))
        d_model, theta = 2 * int(rng.integers(3, 6)), float(np.round(rng.uniform(50, 5000), 1))
        judge = _shifts(offset, d_model, theta)
        found.append(case(about, points, (offset, d_model, theta), judge))
    return found


def _shifts(offset, d_model, theta):
    right = sinusoidal.shift_matrix(offset, d_model, theta)
    inv_freq = frequencies.inverse_frequencies(d_model, theta)
    slips = {
        "it steps the other way: this is the transpose": right.T,
        "the pairs are channels i and i + d/2": rope.matrix(offset, inv_freq),
    }
    by_value = values(right, slips)

    def judge(answer):
        finding = by_value(answer)
        given, _ = numbers(answer, right.shape)
        if finding is None or given is None:
            return finding
        positions = np.array([0, 1, 3, 10])
        steps = sinusoidal.encode(positions, d_model, theta) @ given.T
        error = np.abs(steps - sinusoidal.encode(positions - offset, d_model, theta)).max(-1)
        bad = int((error > 1e-4).argmax())
        law = finding.law
        if law == "a value is not right":
            law = "M p(n) is not p(n − Δ) for every n"
            if error[0] < 1e-4:
                law = "M p(n) is p(n − Δ) at n = 0 and not elsewhere"
        where = f"with Δ = {offset} and n = {positions[bad]} it is off by {shown(error[bad])}"
        return Finding(law, float(error.max()), where)

    return judge


def _similarity(rng):
    found = []
    for about, points in (("the curve", 2), ("where it is first negative", 3)):
        first = lowest = nearest = 0
        while first in (lowest, nearest):  # else who takes one for the other is not found out
            d_model, theta = 2 * int(rng.integers(4, 9)), float(np.round(rng.uniform(200, 3000), 1))
            inv_freq = frequencies.inverse_frequencies(d_model, theta)
            curve = frequencies.mean_cosine(np.arange(2000), inv_freq)
            first = int((curve < 0).argmax())
            far = first + int(rng.integers(5, 30))
            curve = curve[: far + 1]
            lowest, nearest = int(curve.argmin()), int(np.abs(curve).argmin())
        curve_slips = {
            "the sum over d/2 pairs is divided by d": curve / 2,
            "the curve has lost its sign": np.abs(curve),
        }
        first_slips = {
            "it is the last one before the curve crosses zero": first - 1,
            "it is one too many": first + 1,
            "it is where the curve is lowest": lowest,
            "it is where the curve is nearest to zero": nearest,
        }
        if about == "the curve":
            judges = values(curve, curve_slips), anything
        else:
            judges = anything, values(first, first_slips)
        judge = parts(("curve", "first"), judges)
        found.append(case(about, points, (far, d_model, theta), judge))
    return found


def _adds_positions(rng):
    d_model = 6
    found = []
    for points in (2, 2):
        calls = []
        for _ in range(3):
            order = rng.permutation(4)
            boxes = [_Layers(rng, d_model, SCHEMES[i]) for i in order]
            right = [SCHEMES[i] == "add" for i in order]
            calls.append(((boxes, d_model), _picks(right)))
        found.append(several("four boxes in random order", points, calls))
    return found


def _picks(right):
    by_value = values(right)

    def judge(answer):
        finding = by_value(answer)
        if finding is None or finding.off is None:
            return finding
        given = np.asarray(answer, bool)
        if given[np.argmax(right)]:
            law = "a box that only turns or biases scores is taken for one that adds"
        else:
            law = "the box that adds positions is not found"
        wrong = int((given != right).argmax())
        return Finding(law, None, f"box {wrong} is {right[wrong]}")

    return judge


ASSIGNMENT = Assignment(
    name="a1",
    title="Order and sinusoids",
    allowed=("attention",),
    tasks=(
        Task("a1.1", "Order", 4, "largest_departure", "01", 15, _largest_departure),
        Task("a1.2", "The table", 7, "position_table", "02", 20, _position_table),
        Task("a1.3", "A step as a matrix", 6, "shift_matrix", "02", 25, _shift_matrix),
        Task("a1.4", "Similarity", 5, "similarity", "02", 20, _similarity),
        Task("a1.5", "Which box adds?", 4, "adds_positions", "01", 25, _adds_positions),
        Task("a1.6", "Unique, bounded, useless", 4, None, "01", 15),
    ),
)
