"""What a position scheme costs: arithmetic, memory at training, bytes of cache (lessons 09, 10).

Formulas on whole numbers; nothing here is measured. Flops count one for a multiplication and one
for an addition.
"""

from lessons import validate


def cache_bytes(
    seq_len, n_layers, n_kv_heads, head_dim, *, windows=None, bytes_per_number=2, shared_kv=False
):
    """Bytes of the keys and values of one sequence: 2 · heads · head_dim · Σ_layers min(T, window).

    seq_len: tokens T.  n_layers, n_kv_heads, head_dim: at least 1.
    windows: one a layer, in tokens, None for a layer that keeps everything; None: no layer has one.
    bytes_per_number: 2 for float16 and bfloat16.
    shared_kv: keys and values are one tensor, and the 2 falls away.
    Returns int.
    Raises ValueError or TypeError that names the argument.
    """
    seq_len, n_layers = validate.count(seq_len, "seq_len"), validate.count(n_layers, "n_layers")
    numbers = validate.count(n_kv_heads, "n_kv_heads") * validate.count(head_dim, "head_dim")
    size = validate.count(bytes_per_number, "bytes_per_number")
    kept = sum(min(seq_len, window) for window in _windows(windows, n_layers, seq_len))
    return (1 if shared_kv else 2) * numbers * size * kept


def score_flops(seq_len, n_layers, n_heads, head_dim, *, windows=None):
    """Flops of attention for the last of seq_len tokens: 4 · heads · head_dim for each key.

    Two for each channel of each score, two for each channel of each weighted value; the
    projections are not counted.
    seq_len, n_layers, n_heads, head_dim: at least 1.  windows: as in ``cache_bytes``.
    Returns int.
    Raises ValueError or TypeError that names the argument.
    """
    seq_len, n_layers = validate.count(seq_len, "seq_len"), validate.count(n_layers, "n_layers")
    channels = validate.count(n_heads, "n_heads") * validate.count(head_dim, "head_dim")
    seen = sum(min(seq_len, window) for window in _windows(windows, n_layers, seq_len))
    return 4 * channels * seen


def rotation_flops(n_layers, n_heads, n_kv_heads, turning):
    """Flops by which RoPE turns one token's queries and keys: 3 a channel that turns.

    A pair takes four multiplications and two additions, whatever the length of the text.
    n_layers, n_heads, n_kv_heads: at least 1.  turning: channels of a head, even, at least 2.
    Returns int.
    Raises ValueError or TypeError that names the argument.
    """
    n_layers, n_heads = validate.count(n_layers, "n_layers"), validate.count(n_heads, "n_heads")
    heads = n_heads + validate.count(n_kv_heads, "n_kv_heads")
    return 3 * n_layers * heads * validate.count(turning, "turning", minimum=2, even=True)


def bias_flops(seq_len, n_layers, n_heads):
    """Flops by which a bias reaches the scores of the last of seq_len tokens: 2 a score.

    ALiBi multiplies a slope and adds; a bucket is looked up and added, which is counted alike.
    seq_len, n_layers, n_heads: at least 1.
    Returns int.
    Raises ValueError or TypeError that names the argument.
    """
    seq_len, n_layers = validate.count(seq_len, "seq_len"), validate.count(n_layers, "n_layers")
    return 2 * seq_len * n_layers * validate.count(n_heads, "n_heads")


def bias_bytes(seq_len, n_heads, *, bytes_per_number=4):
    """Bytes of a bias written out for every query and key of a text: heads · T² numbers.

    seq_len, n_heads: at least 1.  bytes_per_number: 4 for float32.
    Returns int.
    Raises ValueError or TypeError that names the argument.
    """
    seq_len, n_heads = validate.count(seq_len, "seq_len"), validate.count(n_heads, "n_heads")
    return n_heads * seq_len**2 * validate.count(bytes_per_number, "bytes_per_number")


def _windows(windows, n_layers, everything):
    """One window a layer, in tokens, with ``everything`` in the place of None."""
    windows = validate.windows(windows, n_layers) or [None] * n_layers
    return [everything if window is None else window for window in windows]
