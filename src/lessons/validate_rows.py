"""The refusals of what is turned: x with channels in pairs, and what belongs to x's rows.

As in ``validate``: every function returns what it was given in the form to compute with.
"""

from lessons import validate


def paired(x):
    """x (..., seq, head_dim) with an even head_dim."""
    x = validate.finite(x, "x")
    if x.ndim < 2:
        raise ValueError(f"x must be (..., seq, head_dim), got shape {x.shape}")
    if x.shape[-1] % 2:
        raise ValueError(f"x must have an even head_dim, got {x.shape[-1]}")
    return x


def rotatable(x, inv_freq):
    """x (..., seq, head_dim), head_dim even and at least 2 · len(inv_freq), and inv_freq."""
    x, inv_freq = paired(x), validate.inverse_frequencies(inv_freq)
    if 2 * len(inv_freq) > x.shape[-1]:
        raise ValueError(
            f"inv_freq must hold at most head_dim / 2 = {x.shape[-1] // 2} frequencies, "
            f"got {len(inv_freq)}"
        )
    return x, inv_freq


def row_positions(value, x):
    """Positions (seq,) or (batch, seq) of x's rows, shaped to broadcast against x[..., 0]."""
    array = validate.positions(value, max_axes=2)
    if array.shape == x.shape[-2:-1]:
        return array
    if x.ndim >= 3 and array.shape == (x.shape[0], x.shape[-2]):
        # The batch axis belongs to x's first axis, and the axes between share it: without them,
        # a batch as large as the number of heads would broadcast along the heads.
        return array.reshape(x.shape[0], *(1,) * (x.ndim - 3), x.shape[-2])
    raise ValueError(
        f"positions must be ({x.shape[-2]},) or ({x.shape[0]}, {x.shape[-2]}) for x of shape "
        f"{x.shape}, got {array.shape}"
    )


def row_angles(value, x):
    """Angles (seq, pairs) or (batch, seq, pairs) of x's rows, shaped to broadcast against x."""
    array = validate.finite(value, "angles")
    if array.ndim >= 2 and 0 < 2 * array.shape[-1] <= x.shape[-1]:
        if array.shape[:-1] == x.shape[-2:-1]:
            return array
        if x.ndim >= 3 and array.shape[:-1] == (x.shape[0], x.shape[-2]):
            # The batch axis is x's first one, as in row_positions.
            return array.reshape(x.shape[0], *(1,) * (x.ndim - 3), *array.shape[1:])
    raise ValueError(
        f"angles must be ({x.shape[-2]}, pairs) or ({x.shape[0]}, {x.shape[-2]}, pairs) with 1 to "
        f"{x.shape[-1] // 2} pairs for x of shape {x.shape}, got {array.shape}"
    )
