"""What students write: a right answer to every task, with NumPy alone."""

RIGHT = {
    "a1.1": """\
def largest_departure(f, x):
    plain = f(x)
    worst = 0
    for order in itertools.permutations(range(len(x))):
        order = list(order)
        worst = max(worst, np.abs(f(x[order]) - plain[order]).max())
    return worst
""",
    "a1.2": """\
def position_table(positions, d_model, theta):
    i = np.arange(d_model // 2)
    angle = np.asarray(positions)[:, None] * theta ** (-2 * i / d_model)
    table = np.zeros((len(positions), d_model))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return table
""",
    "a1.3": """\
def shift_matrix(offset, d_model, theta):
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = offset * theta ** (-2 * i / d_model)
        a, b = 2 * i, 2 * i + 1
        matrix[a, a] = matrix[b, b] = np.cos(angle)
        matrix[a, b] = -np.sin(angle)
        matrix[b, a] = np.sin(angle)
    return matrix
""",
    "a1.4": """\
def similarity(max_distance, d_model, theta):
    frequencies = theta ** (-2 * np.arange(d_model // 2) / d_model)
    curve = [np.cos(frequencies * d).sum() / (d_model // 2) for d in range(max_distance + 1)]
    first = 0
    while curve[first] >= 0:
        first += 1
    return curve, first
""",
    "a1.5": """\
def adds_positions(boxes, d_model):
    token = np.random.default_rng(3).normal(size=d_model)
    found = []
    for box in boxes:
        out = box(np.tile(token, (8, 1)))
        found.append(bool(np.abs(out - out[0]).max() > 1e-6))
    return found
""",
    "a2.1": """\
def rotation_matrix(position, head_dim, theta):
    matrix = np.zeros((head_dim, head_dim))
    for i in range(head_dim // 2):
        angle = position * theta ** (-2 * i / head_dim)
        a, b = 2 * i, 2 * i + 1
        matrix[a, a] = matrix[b, b] = np.cos(angle)
        matrix[a, b] = -np.sin(angle)
        matrix[b, a] = np.sin(angle)
    return matrix
""",
    "a2.2": """\
def rotate(x, positions, inv_freq, pairing):
    angle = np.asarray(positions)[:, None] * inv_freq
    if pairing == "half":
        cos, sin = np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)
        first, second = np.split(x, 2, axis=-1)
        turned = np.concatenate([-second, first], axis=-1)
    else:
        cos, sin = np.repeat(np.cos(angle), 2, -1), np.repeat(np.sin(angle), 2, -1)
        turned = np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
    return x * cos + turned * sin
""",
    "a2.3": """\
def convert(w_q, w_k, w_v, n_heads):
    def half(w):
        heads = w.reshape(n_heads, -1, 2, w.shape[1])
        return heads.swapaxes(1, 2).reshape(w.shape)

    return half(w_q), half(w_k), w_v
""",
    "a2.4": """\
def rotate_step(x, lengths, inv_freq):
    angle = np.asarray(lengths)[:, None, None, None] * np.asarray(inv_freq)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = np.split(x, 2, axis=-1)
    out = np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return out.astype(x.dtype)
""",
    "a2.5": """\
def key_for_peak(q, distance, inv_freq):
    cos, sin = np.cos(distance * inv_freq), np.sin(distance * inv_freq)
    first, second = np.split(q, 2)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos])
""",
    "a3.1": """\
def slopes(n_heads):
    def run(n):
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    lower = 2 ** int(math.log2(n_heads))
    return run(lower) + run(2 * lower)[0::2][: n_heads - lower]
""",
    "a3.2": """\
def biased_scores(q, k, slopes, q_positions, k_positions):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    distance = q_positions[:, None] - k_positions[None, :]
    return scores - slopes[:, None, None] * distance
""",
    "a3.3": """\
def bucket(relative_position, n_buckets, max_distance):
    distance = np.maximum(-relative_position, 0)
    exact = n_buckets // 2
    ratio = np.log(np.maximum(distance, 1) / exact) / np.log(max_distance / exact)
    far = exact + (ratio * (n_buckets - exact)).astype(int)
    far = np.minimum(far, n_buckets - 1)
    return np.where(distance < exact, distance, far)
""",
    "a3.4": """\
def losses(logits, tokens, window):
    shifted = logits - logits.max(-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    targets = tokens[:, 1:, None]
    loss = -np.take_along_axis(logs[:, :-1], targets, -1)[..., 0]
    counted = loss[:, window - 1 :]
    return loss.mean(0), np.exp(counted.mean())
""",
    "a4.1": """\
def rescaled(head_dim, theta, factor, rule):
    i = np.arange(head_dim // 2)
    if rule == "ntk":
        power = head_dim / (head_dim - 2)
        theta = theta * factor**power
        return theta ** (-2 * i / head_dim)
    return theta ** (-2 * i / head_dim) / factor
""",
    "a4.2": """\
def yarn(head_dim, theta, factor, original_max_len, beta_fast, beta_slow):
    inv_freq = theta ** (-2 * np.arange(head_dim // 2) / head_dim)
    turns = original_max_len * inv_freq / (2 * np.pi)
    kept = np.clip((turns - beta_slow) / (beta_fast - beta_slow), 0, 1)
    magnitude = 0.1 * np.log(factor) + 1
    return (1 - kept) * inv_freq / factor + kept * inv_freq, magnitude
""",
    "a4.3": """\
def layer_plan(config):
    i = np.arange(config["head_dim"] // 2)
    local = config["theta"] ** (-2 * i / config["head_dim"])
    kept = round(config["fraction"] * len(i))
    full = config["theta_full"] ** (-2 * i / config["head_dim"])
    full[kept:] = 0
    if config["full"] == "none":
        full = np.zeros(len(i))
    layers = range(1, config["n_layers"] + 1)
    return [full if layer % config["every"] == 0 else local for layer in layers]
""",
    "a4.4": """\
def decode_step(q, keys, values, mask, scheme, table):
    positions = np.maximum(np.cumsum(mask, axis=-1) - 1, 0)
    newest = positions[:, -1:]
    if scheme == "rope":
        q, keys = turn(q, newest, table), turn(keys, positions, table)
    scores = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if scheme == "alibi":
        distance = newest[:, :, None] - positions[:, None, :]
        scores = scores - table[None, :, None, None] * distance[:, None]
    scores = np.where(mask[:, None, None, :], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values


def turn(x, positions, inv_freq):
    angle = positions[:, None, :, None] * inv_freq
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
""",
    "a4.5": """\
def evict(keys, sinks, window, inv_freq):
    length = keys.shape[1]
    kept = [*range(sinks), *range(length - window, length)]
    new = np.arange(len(kept))
    angle = (new - np.array(kept))[:, None] * inv_freq
    first, second = np.split(keys[:, kept], 2, axis=-1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
""",
}
IMPORTS = "import itertools\nimport math\n\nimport numpy as np\n"
