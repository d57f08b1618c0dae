"""Assignment A3, scores and length: ALiBi, T5, losses by position (lessons 06 and 07)."""

import numpy as np

from lessons import alibi, relative
from lessons.tasks import Assignment, Task
from lessons.tasks_judges import anything, case, parts, several, values


def _slopes(rng):
    powers, others = rng.permutation([2, 4, 8, 16])[:2], rng.permutation([3, 6, 11, 12, 24])[:3]
    between = [(int(n),) for n in others]
    return [
        several("powers of two", 2, [((int(n),), values(alibi.slopes(n))) for n in powers]),
        several("other numbers of heads", 4, [(n, _slopes_of(*n)) for n in between]),
    ]


def _slopes_of(n):
    right = alibi.slopes(n)
    upper = alibi.slopes(2 ** n.bit_length())
    slips = {
        "one geometric run is the paper's text, not the authors' code": (
            2.0 ** (-8 * np.arange(1, n + 1) / n)
        ),
        "the slopes are sorted: the authors' code appends the ones between": -np.sort(-right),
        "they are the first slopes of the next power of two": upper[:n],
    }
    return values(right, slips, tolerance=1e-5)


def _biased_scores(rng):
    found = []
    for about, points, q_len in (("a whole pass", 3, 6), ("one token of decoding", 3, 1)):
        heads, k_len, head_dim = 3, 6, 4
        q, k = rng.normal(size=(heads, q_len, head_dim)), rng.normal(size=(heads, k_len, head_dim))
        slopes = alibi.slopes(heads)
        start = int(rng.integers(3, 30))
        k_positions = np.arange(start, start + k_len)
        judge = _biased(q, k, slopes, k_positions[-q_len:], k_positions)
        arguments = (q, k, slopes, k_positions[-q_len:], k_positions)
        found.append(case(about, points, arguments, judge))
    return found


def _biased(q, k, slopes, q_positions, k_positions):
    root = np.sqrt(q.shape[-1])
    plain = q @ k.swapaxes(-1, -2) / root
    bias = alibi.bias(slopes, q_positions, k_positions)
    rows = np.arange(len(q_positions))
    slips = {
        "the bias has the wrong sign: it grows with distance": plain - bias,
        "the bias is divided by √head_dim too": plain + bias / root,
        "distances are taken without sign": plain - np.abs(bias),
        "the bias counts queries from 0, whatever their positions are": (
            plain + alibi.bias(slopes, rows, np.arange(len(k_positions)))
        ),
        "the bias is built over the queries alone": (
            plain + alibi.bias(slopes, rows, rows)[..., -1:]
        ),
        "there is no bias": plain,
    }
    return values(plain + bias, slips)


def _bucket(rng):
    found = []
    for about, points, low, high in (
        ("near keys, and keys after the query", 2, -15, 8),
        ("the edge of the exact half", 2, -19, -12),
        ("far keys, to the last bucket and beyond", 2, -160, -20),
    ):
        numbers = np.arange(low, high) if high - low < 30 else rng.integers(low, high, size=30)
        calls = []
        for n_buckets, max_distance in ((32, 128), (16, 47)):
            relative_position = np.append(numbers, [-max_distance, 1 - max_distance] * (low < -99))
            arguments = (relative_position, n_buckets, max_distance)
            calls.append((arguments, _buckets(*arguments)))
        found.append(several(about, points, calls))
    return found


def _buckets(relative_position, n_buckets, max_distance):
    distance = np.maximum(-relative_position, 0)
    exact = n_buckets // 2

    def buckets(distance, log=np.log, last=n_buckets - 1, edge=exact):
        ratio = np.log(np.maximum(distance, 1) / exact) / log(max_distance / exact)
        far = exact + (ratio * (n_buckets - exact)).astype(int)
        return np.where(distance < edge, distance, np.minimum(far, last))

    slips = {
        "the sign is turned round: relative_position is key − query": buckets(
            np.maximum(relative_position, 0)
        ),
        "a logarithm of another base spoils the ratio": buckets(distance, log=np.log2),
        "the last bucket is not the last one": buckets(distance, last=n_buckets),
        "far keys are not held back at the last bucket": buckets(distance, last=10**6),
        "the exact buckets end too early": buckets(distance, edge=exact - 1),
        "the exact buckets end too late": buckets(distance, edge=exact + 2),
        "these are the buckets for both directions": relative.t5_bucket(
            relative_position, n_buckets, max_distance
        ),
    }
    right = relative.t5_bucket(relative_position, n_buckets, max_distance, bidirectional=False)
    return values(right, slips)


def _losses(rng):
    found = []
    for about, first in (("the loss at each position", True), ("the windowed perplexity", False)):
        n, length, vocab = 3, int(rng.integers(9, 13)), 5
        logits = 2 * rng.normal(size=(n, length, vocab))
        tokens = rng.integers(0, vocab, size=(n, length))
        window = int(rng.integers(3, 6))
        if first:
            judges = _by_position(logits, tokens), anything
        else:
            judges = anything, _windowed(logits, tokens, window)
        judge = parts(("per_position", "perplexity"), judges)
        found.append(case(about, 4, (logits, tokens, window), judge))
    return found


def _token_losses(logits, tokens, shift=1):
    """(n, seq − 1): −log of the probability that logits[:, t] give to tokens[:, t + shift]."""
    log_total = np.log(np.exp(logits).sum(-1))
    length = logits.shape[1] - 1
    targets = tokens[:, shift : shift + length, None]
    picked = np.take_along_axis(logits[:, :length], targets, -1)[..., 0]
    return log_total[:, :length] - picked


def _by_position(logits, tokens):
    losses = _token_losses(logits, tokens)
    slips = {
        "the target is the token itself, not the next one": _token_losses(logits, tokens, 0).mean(
            0
        ),
        "these are perplexities, not losses": np.exp(losses).mean(0),
        "losses are summed over the sequences, not averaged": losses.sum(0),
    }
    return values(losses.mean(0), slips)


def _windowed(logits, tokens, window):
    losses = _token_losses(logits, tokens)
    late = losses[:, window - 1 :]
    slips = {
        "the target is the token itself, not the next one": np.exp(
            _token_losses(logits, tokens, 0)[:, window - 1 :].mean()
        ),
        "it is a mean of perplexities: take the mean first, then exp": np.exp(late).mean(),
        "predictions with too little to look at are counted": np.exp(losses.mean()),
        "the window is off by one: t + 1 tokens are seen at t": np.exp(losses[:, window:].mean()),
        "it is the loss, not its exp": late.mean(),
    }
    return values(np.exp(late.mean()), slips)


ASSIGNMENT = Assignment(
    name="a3",
    title="Scores and length",
    allowed=("attention",),
    tasks=(
        Task("a3.1", "Slopes", 6, "slopes", "06", 20, _slopes),
        Task("a3.2", "Bias from positions", 6, "biased_scores", "06", 20, _biased_scores),
        Task("a3.3", "Buckets", 6, "bucket", "06", 30, _bucket),
        Task("a3.4", "Losses by length", 8, "losses", "07", 30, _losses),
        Task("a3.5", "Extrapolates strongly", 4, None, "07", 20),
    ),
)
