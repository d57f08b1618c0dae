"""Assignment A4, capstone: extend a context and decode with a cache (lessons 08 to 10)."""

import numpy as np

from lessons import alibi, attention, frequencies, positions, rope, scaling
from lessons.tasks import Assignment, Task
from lessons.tasks_judges import anything, case, parts, values

ROPE_TABLE = 4  # pairs of task a4.4, whose heads have 8 channels


def _rescaled(rng):
    found = []
    for rule in ("linear", "ntk"):
        head_dim, theta = 2 * int(rng.integers(3, 8)), float(np.round(rng.uniform(500, 20_000), 1))
        factor = float(rng.choice([2, 3, 4, 8]))
        judge = _scaled(head_dim, theta, factor, rule)
        found.append(case(f"the rule {rule}", 3, (head_dim, theta, factor, rule), judge))
    return found


def _scaled(head_dim, theta, factor, rule):
    inv_freq = frequencies.inverse_frequencies(head_dim, theta)
    linear, ntk = scaling.linear(inv_freq, factor), scaling.ntk(inv_freq, factor)
    power = factor ** (head_dim / (head_dim - 2))

    def based(base):
        return base ** (-2 * np.arange(len(inv_freq)) / head_dim)

    slips = {
        "the frequencies are multiplied where they should be divided": inv_freq * factor,
        "the exponent d/(d−2) is missing": based(theta * factor),
        "the exponent is (d−2)/d": based(theta * factor ** ((head_dim - 2) / head_dim)),
        "θ is divided where it should be multiplied": based(theta / power),
        "this is the other rule": ntk if rule == "linear" else linear,
        "nothing is rescaled": inv_freq,
    }
    return values(linear if rule == "linear" else ntk, slips, tolerance=1e-5)


def _yarn(rng):
    found = []
    for about, points in (("the frequencies", 5), ("the attention factor", 3)):
        head_dim, theta = 2 * int(rng.integers(8, 17)), float(np.round(rng.uniform(5000, 20_000)))
        factor, length = float(rng.choice([4, 8, 16])), int(rng.integers(1000, 4000))
        fast, slow = int(rng.integers(20, 40)), int(rng.integers(1, 4))
        if points == 5:
            judges = _ramp(head_dim, theta, factor, length, fast, slow), anything
        else:
            judges = anything, _magnitude(factor)
        arguments = (head_dim, theta, factor, length, fast, slow)
        found.append(case(about, points, arguments, parts(("inv_freq", "factor"), judges)))
    return found


def _ramp(head_dim, theta, factor, length, fast, slow):
    inv_freq = frequencies.inverse_frequencies(head_dim, theta)

    def yarn(ramp="rotations"):
        return scaling.yarn(inv_freq, factor, length, beta_fast=fast, beta_slow=slow, ramp=ramp)

    slips = {
        # Swapped betas give the same: 1 − γ.
        "the ramp runs the wrong way: the fast pairs keep their frequency": (
            inv_freq + inv_freq / factor - yarn()
        ),
        "the ramp is linear in the pair's index: here it is linear in its turns": yarn("index"),
        "all pairs are divided: there is no ramp": inv_freq / factor,
        "a wavelength is 2π / ω": scaling.yarn(
            inv_freq,
            factor,
            length,
            beta_fast=fast / (2 * np.pi),
            beta_slow=slow / (2 * np.pi),
            ramp="rotations",
        ),
    }
    return values(yarn(), slips, tolerance=1e-5)


def _magnitude(factor):
    right = scaling.yarn_attention_factor(factor)
    slips = {
        "the attention factor is missing": 1.0,
        "the attention factor is taken twice: it multiplies cos and sin, not scores": right**2,
        "the logarithm is the natural one": 0.1 * np.log10(factor) + 1,
    }
    return values(right, slips, tolerance=1e-5)


def _layer_plan(rng):
    found = []
    for full, points in (("none", 2), ("truncated", 4)):
        config = {
            "n_layers": int(rng.integers(7, 13)),
            "head_dim": 16,
            "theta": float(rng.integers(5000, 20_000)),
            "every": int(rng.integers(3, 5)),
            "full": full,
            "theta_full": float(rng.integers(200_000, 900_000)),
            "fraction": float(rng.choice([0.25, 0.5])),
        }
        about = "full layers without positions" if full == "none" else "full layers truncated"
        found.append(case(about, points, (config,), _planned(config)))
    return found


def _planned(config):
    dim, fraction = config["head_dim"], config["fraction"]
    local = frequencies.inverse_frequencies(dim, config["theta"])
    ladder = frequencies.inverse_frequencies(dim, config["theta_full"])
    kept = round(fraction * len(ladder))
    none = np.zeros(len(local))

    def plan(full, first=config["every"] - 1):
        rows = [local] * config["n_layers"]
        rows[first :: config["every"]] = [full] * len(rows[first :: config["every"]])
        return np.array(rows)

    if config["full"] == "none":
        right, slips = plan(none), {"the full layers turn too": plan(ladder)}
    else:
        full = scaling.truncated(ladder, fraction)
        few = frequencies.inverse_frequencies(2 * kept, config["theta_full"])
        right = plan(full)
        slips = {
            "the frequencies are computed anew for fewer channels, not truncated": plan(
                np.pad(few, (0, len(ladder) - kept))
            ),
            "the slow pairs are kept, not the fast ones": plan(
                np.where(np.arange(len(ladder)) < len(ladder) - kept, 0, ladder)
            ),
            "the full layers have the windowed layers' base": plan(
                scaling.truncated(local, fraction)
            ),
            "nothing is truncated": plan(ladder),
        }
    last = right[config["every"] - 1]
    slips |= {
        "the first layer is counted as a full one": plan(last, 0),
        "the full layers are one too late": plan(last, config["every"]),
    }
    return values(right, slips, tolerance=1e-6)


def _decode_step(rng):
    found = []
    for scheme in ("rope", "alibi"):
        batch, heads, length, head_dim = 3, 2, 11, 2 * ROPE_TABLE
        q = 2 * rng.normal(size=(batch, heads, 1, head_dim))
        keys, cached = rng.normal(size=(2, batch, heads, length, head_dim))
        mask = np.ones((batch, length), bool)
        # Pads on the left, between prompt and answer, and both: the last token is never one.
        first, second = rng.integers(2, 4, size=2)
        mask[0, :first] = mask[1, 4 : 4 + second] = mask[2, :1] = mask[2, 6:8] = False
        if scheme == "rope":
            table = frequencies.inverse_frequencies(head_dim, float(rng.uniform(20, 100)))
        else:
            table = np.array([0.5, 0.25])
        arguments = (q, keys, cached, mask, scheme, table)
        found.append(case(f"the scheme {scheme}", 5, arguments, _decoded(*arguments)))
    return found


def _decoded(q, keys, cached, mask, scheme, table):
    counted = positions.from_padding_mask(mask)
    columns = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
    running = np.maximum(mask.cumsum(-1) - 1, 0)  # where pads are given positions too
    by_length = columns < mask.sum(-1, keepdims=True)

    def attend(k_positions=counted, q_positions=counted[:, -1:], mask=mask):
        bias = None
        if scheme == "alibi":
            bias = alibi.bias(table, q_positions, k_positions)
            turned_q, turned_k = q, keys
        else:
            turned_q = rope.rotate(q, q_positions, table)
            turned_k = rope.rotate(keys, k_positions, table)
        return attention.attend(turned_q, turned_k, cached, bias=bias, mask=mask[:, None, None])[0]

    slips = {
        "the query's position is forgotten: it is taken for 0": attend(
            q_positions=0 * counted[:, -1:]
        ),
        "pads are counted as tokens": attend(columns, columns[:, -1:]),
        "pads are looked at": attend(running, mask=np.ones_like(mask)),
        "the mask is a length: pads need not stand at the end": attend(running, mask=by_length),
        "the newest token stands one too far": attend(q_positions=counted[:, -1:] + 1),
    }
    return values(attend(), slips)


def _evict(rng):
    found = []
    for about, sinks in (("two sinks", 2), ("four sinks", 4)):
        heads, head_dim, window = 3, 8, int(rng.integers(3, 6))
        length = sinks + window + int(rng.integers(3, 30))
        inv_freq = frequencies.inverse_frequencies(head_dim, float(rng.uniform(50, 5000)))
        keys = rng.normal(size=(heads, length, head_dim))
        rotated = rope.rotate(keys, np.arange(length), inv_freq)
        judge = _evicted(keys, rotated, sinks, window, inv_freq)
        found.append(case(about, 3, (rotated, sinks, window, inv_freq), judge))
    return found


def _evicted(keys, rotated, sinks, window, inv_freq):
    length = keys.shape[1]
    new = np.arange(sinks + window)
    old = np.append(np.arange(sinks), np.arange(length - window, length))
    last = np.arange(length - len(new), length)
    slips = {
        "it turns the wrong way": rope.rotate(rotated[:, old], old - new, inv_freq),
        "the keys are turned twice: they were rotated already": rope.rotate(
            rotated[:, old], new, inv_freq
        ),
        "the kept keys are not turned to their new positions": rotated[:, old],
        "the sinks are dropped: the last keys alone are kept": rope.rotate(
            keys[:, last], new, inv_freq
        ),
    }
    return values(rope.rotate(keys[:, old], new, inv_freq), slips)


ASSIGNMENT = Assignment(
    name="a4",
    title="Capstone: extend a context, decode with a cache",
    allowed=("attention", "frequencies"),
    tasks=(
        Task("a4.1", "Two rules", 6, "rescaled", "08", 20, _rescaled),
        Task("a4.2", "YaRN", 8, "yarn", "08", 35, _yarn),
        Task("a4.3", "A plan by layers", 6, "layer_plan", "10", 30, _layer_plan),
        Task("a4.4", "One step of decoding", 10, "decode_step", "09", 45, _decode_step),
        Task("a4.5", "Evict and turn back", 6, "evict", "09", 25, _evict),
        Task("a4.6", "A million tokens", 4, None, "10", 25),
    ),
)
