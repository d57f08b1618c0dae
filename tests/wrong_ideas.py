"""Single wrong ideas: each an edit of a right answer, with what it must cost and what is said."""

from typing import NamedTuple

from student_code import RIGHT


class Idea(NamedTuple):
    """old becomes new in the right answer to a task: left points stay, and words are said."""

    task: str
    name: str
    old: str
    new: str
    left: float
    words: str

    @property
    def code(self):
        right = RIGHT[self.task]
        assert right.count(self.old) == 1, f"{self}: {right.count(self.old)} times"
        return right.replace(self.old, self.new)


FORWARD = "first * cos - second * sin, first * sin + second * cos"
BACKWARD = "first * cos + second * sin, second * cos - first * sin"
SWAPS = "        if sum(a != b for a, b in enumerate(order)) > 2:\n            continue\n"
# One idea a line or two, which a formatter would stretch to eight.
# fmt: off
IDEAS = [
    Idea("a1.1", "inverse permutation", "plain[order]", "plain[np.argsort(order)]", 0, "inverse"),
    Idea("a1.1", "only swaps", "order = list(order)\n", f"order = list(order)\n{SWAPS}", 0,
         "swaps"),
    Idea("a1.1", "not permuted back", "plain[order]", "plain", 0, "old order"),
    Idea("a1.1", "a constant", "return worst", "return 0", 0, "not right"),
    Idea("a1.2", "exponent i/d", "(-2 * i / d_model)", "(-i / d_model)", 0, "i/d"),
    Idea("a1.2", "divide for multiply", "None] * theta", "None] / theta", 0, "divided"),
    Idea("a1.2", "sin and cos swapped", "0::2] = np.sin", "0::2] = np.cos", 0, "not right"),
    Idea("a1.2", "blocks", "return table", "return np.hstack([table[:, ::2], table[:, 1::2]])", 0,
         "blocks"),
    Idea("a1.2", "start ignored", "np.asarray(positions)", "np.arange(len(positions))", 2,
         "counted from 0"),
    Idea("a1.2", "degrees", "np.asarray(positions)", "np.deg2rad(positions)", 0, "degrees"),
    Idea("a1.2", "float32 positions",
         "np.asarray(positions)[:, None] * theta ** (-2 * i / d_model)",
         "np.float32(positions)[:, None] * np.float32(theta ** (-2 * i / d_model))", 5, "float32"),
    Idea("a1.3", "transpose", "return matrix", "return matrix.T", 0, "transpose"),
    Idea("a1.3", "sign of the offset", "angle = offset", "angle = -offset", 0, "other way"),
    Idea("a1.3", "right for n = 0 only", "    return matrix",
         "    zero = np.tile([0.0, 1.0], d_model // 2)\n"
         "    return np.outer(matrix @ zero, zero) / (d_model / 2)", 0, "at n = 0"),
    Idea("a1.3", "wrong pairing", "a, b = 2 * i, 2 * i + 1", "a, b = i, i + d_model // 2", 0,
         "i + d/2"),
    Idea("a1.4", "divides by d", "/ (d_model // 2) for", "/ d_model for", 3, "divided by d"),
    Idea("a1.4", "abs", "return curve, first", "return np.abs(curve), first", 3,
         "sign"),
    Idea("a1.4", "one too few", "return curve, first", "return curve, first - 1", 2, "last one"),
    Idea("a1.4", "one too many", "return curve, first", "return curve, first + 1", 2, "too many"),
    Idea("a1.4", "the lowest", "return curve, first", "return curve, np.argmin(curve)", 2,
         "lowest"),
    Idea("a1.4", "nearest to zero", "return curve, first",
         "return curve, np.argmin(np.abs(curve))", 2, "nearest|before"),
    Idea("a1.5", "uses BOS", "out = box(np.tile(token, (8, 1)))",
         "out = box(np.vstack([np.zeros(d_model), np.tile(token, (7, 1))]))", 0, "only turns"),
    Idea("a1.5", "looks at one row", "out - out[0]", "out[:1] - box(np.tile(token, (1, 1)))", 0,
         "not found"),
    Idea("a2.1", "transpose", "return matrix", "return matrix.T", 0, "transpose"),
    Idea("a2.1", "half layout", "a, b = 2 * i, 2 * i + 1", "a, b = i, i + head_dim // 2", 0,
         "other layout"),
    Idea("a2.1", "m + 1", "angle = position", "angle = (position + 1)", 0, "next position"),
    Idea("a2.1", "degrees", "angle = position", "angle = np.deg2rad(position)", 0, "degrees"),
    Idea("a2.1", "sign of θ's exponent", "(-2 * i / head_dim)", "(2 * i / head_dim)", 0,
         "exponent"),
    Idea("a2.1", "the identity", "return matrix", "return np.eye(head_dim)", 0, "not right"),
    Idea("a2.2", "mixed tables", "np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)",
         "np.repeat(np.cos(angle), 2, -1), np.repeat(np.sin(angle), 2, -1)", 4, "norm"),
    Idea("a2.2", "mixed tables in the other layout",
         "np.repeat(np.cos(angle), 2, -1), np.repeat(np.sin(angle), 2, -1)",
         "np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)", 4, "norm"),
    Idea("a2.2", "heads for time", "np.asarray(positions)[:, None] * inv_freq",
         "np.arange(x.shape[1])[:, None, None] * inv_freq", 0, "norm|not right"),
    Idea("a2.2", "positions ignored", "np.asarray(positions)", "np.arange(len(positions))", 0,
         "counted from 0"),
    Idea("a2.2", "norm changed", "turned * sin", "turned * sin / 2", 0, "norm"),
    Idea("a2.2", "one layout for both", 'if pairing == "half"', "if True", 4, "other layout"),
    Idea("a2.2", "nothing", "return x * cos + turned * sin", "return x", 0, "nothing turns"),
    Idea("a2.3", "v converted", "half(w_k), w_v", "half(w_k), half(w_v)", 0, "w_v"),
    Idea("a2.3", "columns for rows", "return half(w_q), half(w_k)",
         "columns = np.argsort(np.arange(w_q.shape[1]) % 2, kind='stable')\n"
         "    return w_q[:, columns], w_k[:, columns]", 0, "scores"),
    Idea("a2.3", "across the heads", "(n_heads, -1, 2, w.shape[1])", "(1, -1, 2, w.shape[1])", 0,
         "across"),
    Idea("a2.3", "inverse permutation", "(n_heads, -1, 2, w.shape[1])",
         "(n_heads, 2, -1, w.shape[1])", 0, "inverse"),
    Idea("a2.3", "nothing", "return half(w_q), half(w_k)", "return w_q, w_k", 0, "as they were"),
    Idea("a2.4", "row 0", "np.asarray(lengths)", "np.zeros_like(lengths)", 0, "position 0"),
    Idea("a2.4", "one too few", "np.asarray(lengths)", "(lengths - 1)", 0, "too few"),
    Idea("a2.4", "one too many", "np.asarray(lengths)", "(lengths + 1)", 0, "too many"),
    Idea("a2.4", "row shared", "np.asarray(lengths)", "np.full_like(lengths, lengths[0])", 0,
         "share"),
    Idea("a2.4", "positions in x.dtype", "np.asarray(lengths)", "lengths.astype(x.dtype)", 6,
         "positions are rounded"),
    Idea("a2.4", "frequencies in x.dtype", "np.asarray(inv_freq)", "inv_freq.astype(x.dtype)", 6,
         "frequencies are rounded"),
    Idea("a2.4", "output dtype changed", "return out.astype(x.dtype)", "return out", 4, "dtype"),
    Idea("a2.5", "sign", FORWARD, BACKWARD, 0, "wrong way"),
    Idea("a2.5", "one pair only", "first, second = np.split(q, 2)",
         "first, second = np.split(q, 2)\n    cos[1:], sin[1:] = 1, 0", 0, "peak"),
    Idea("a2.5", "norm", "return np", "return 2 * np", 0, "norm"),
    Idea("a2.5", "q itself", "distance * inv_freq), np.sin", "0 * inv_freq), 0 * np.sin", 0,
         "peak"),
    Idea("a3.1", "the text's rule", "    lower =", "    return run(n_heads)\n    lower =", 2,
         "text"),
    Idea("a3.1", "sorted", "return run(lower) + run(2 * lower)[0::2][: n_heads - lower]",
         "return sorted(run(lower) + run(2 * lower)[0::2][: n_heads - lower])[::-1]", 2, "sorted"),
    Idea("a3.1", "next power", "    lower =",
         "    return run(2 ** math.ceil(math.log2(n_heads)))[:n_heads]\n    lower =", 2,
         "next power"),
    Idea("a3.2", "sign", "scores - slopes", "scores + slopes", 0, "wrong sign"),
    Idea("a3.2", "bias divided by √d", "* distance", "* distance / np.sqrt(q.shape[-1])", 0,
         "divided"),
    Idea("a3.2", "square in q_len", "q_positions[:, None] - k_positions[None, :]",
         "np.arange(q.shape[1])[:, None] - np.arange(q.shape[1])", 3, "queries alone"),
    Idea("a3.2", "symmetric", "    return scores",
         "    distance = abs(distance)\n    return scores", 3, "without sign"),
    Idea("a3.3", "sign", "np.maximum(-relative", "np.maximum(relative", 0, "key − query"),
    Idea("a3.3", "log base", "np.log(max_distance", "np.log2(max_distance", 0, "base"),
    Idea("a3.3", "clamp at n", "np.minimum(far, n_buckets - 1)", "np.minimum(far, n_buckets)", 4,
         "last"),
    Idea("a3.3", "no clamp", "np.minimum(far, n_buckets - 1)", "far", 4, "held back|last"),
    Idea("a3.3", "edge too late", "distance < exact, dist", "distance <= exact + 1, dist", 2,
         "too late"),
    Idea("a3.3", "edge too early", "distance < exact, dist", "distance < exact - 1, dist", 2,
         "too early"),
    Idea("a3.4", "mean of perplexities", "np.exp(counted.mean())", "np.exp(counted).mean()", 4,
         "mean of perplexities"),
    Idea("a3.4", "target not shifted", "tokens[:, 1:, None]", "tokens[:, :-1, None]", 0, "target"),
    Idea("a3.4", "early tokens counted", "loss[:, window - 1 :]", "loss", 4, "too little"),
    Idea("a3.4", "window off by one", "window - 1 :", "window:", 4, "off by one"),
    Idea("a4.1", "multiply for divide", "head_dim) / factor", "head_dim) * factor", 3,
         "multiplied"),
    Idea("a4.1", "no exponent", "power = head_dim / (head_dim - 2)", "power = 1", 3, "missing"),
    Idea("a4.1", "exponent upside down", "power = head_dim / (head_dim - 2)",
         "power = (head_dim - 2) / head_dim", 3, "(d−2)/d"),
    Idea("a4.1", "one rule for both", 'rule == "ntk"', "True", 3, "other rule"),
    Idea("a4.2", "ramp inverted", "(1 - kept) * inv_freq / factor + kept * inv_freq",
         "kept * inv_freq / factor + (1 - kept) * inv_freq", 3, "wrong way"),
    Idea("a4.2", "betas swapped", "(turns - beta_slow) / (beta_fast - beta_slow)",
         "(turns - beta_fast) / (beta_slow - beta_fast)", 3, "wrong way"),
    Idea("a4.2", "magnitude missing", "0.1 * np.log(factor) + 1", "1", 5, "missing"),
    Idea("a4.2", "magnitude twice", "0.1 * np.log(factor) + 1", "(0.1 * np.log(factor) + 1) ** 2",
         5, "twice"),
    Idea("a4.3", "computed anew", "    full[kept:] = 0",
         '    full = config["theta_full"] ** (-i / kept) * (i < kept)', 2, "anew"),
    Idea("a4.3", "the first layer is full", 'range(1, config["n_layers"] + 1)',
         'range(config["n_layers"])', 0, "first layer"),
    Idea("a4.3", "slow pairs kept", "full[kept:] = 0", "full[: len(i) - kept] = 0", 2,
         "slow pairs"),
    # ALiBi does not mind: a bias that is the same for all keys drops out of the softmax.
    Idea("a4.4", "offset forgotten", "newest = positions[:, -1:]", "newest = 0 * positions[:, -1:]",
         5, "forgotten"),
    Idea("a4.4", "pads counted", "np.cumsum(mask, axis=-1)", "np.cumsum(0 * mask + 1, axis=-1)", 0,
         "counted"),
    Idea("a4.4", "mask by length", "np.where(mask[:, None, None, :]",
         "np.where((np.arange(mask.shape[1]) < mask.sum(-1)[:, None])[:, None, None, :]", 0,
         "length"),
    Idea("a4.4", "pads looked at", "np.where(mask[:, None, None, :], scores, -np.inf)", "scores", 0,
         "looked at"),
    Idea("a4.5", "wrong direction", "(new - np.array(kept))", "(np.array(kept) - new)", 0,
         "wrong way"),
    Idea("a4.5", "rotated twice", "(new - np.array(kept))", "new", 0, "twice"),
    Idea("a4.5", "sinks dropped", "[*range(sinks), *range(length - window, length)]",
         "[*range(length - window - sinks, length)]", 0, "sinks"),
]
# fmt: on
