"""Position schemes as torch modules, one class a scheme (lessons 03–06).

Layout: x in ``embed`` (batch, seq, d_model); x in ``rotate`` (batch, heads, seq, head_dim), or any
leading axes.  Positions: int64 or int32 tensors, (seq,) or (batch, seq) with x's first axis.
Tables are float32 whatever the model's dtype, computed from float64 NumPy, and refilled after every
``.to(...)``; arithmetic happens in float32 or better and comes back in x's dtype.
Every hook raises a TypeError or ValueError that names the argument, before it computes anything.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lessons import alibi, relative, rope, scheme, sinusoidal, turn, validate
from lessons.scheme import PositionScheme


class NoPosition(PositionScheme):
    """No scheme at all: what order the model knows comes from its mask (lesson 01)."""


class _Added(PositionScheme):
    """What added schemes share: a key that was made with a vector of one position keeps it."""

    def shift(self, k, offset):
        """Refused: what an added vector has written into a key cannot be moved."""
        raise ValueError(
            f"k was made with {type(self).__name__} vectors added to the embeddings, so it cannot "
            "be moved by an offset: compute the keys again"
        )


class Sinusoidal(_Added):
    """x + p_n with the rows of ``sinusoidal.encode`` (lesson 02).

    d_model: channels.  max_len: rows of the table.  theta: the base, at least 1.
    Source: Vaswani et al. [1706.03762], §3.5.
    """

    def __init__(self, d_model, max_len, theta=10_000.0):
        super().__init__()
        max_len = self.max_len = validate.count(max_len, "max_len")
        self._add_table("table", sinusoidal.encode(range(max_len), d_model, theta))

    def embed(self, x, positions):
        """x + p_n, in x's dtype."""
        return _add_rows(self, x, positions, self.table)


class Learned(_Added):
    """x + p_n with one trained row p_n per position and a hard end (lesson 03).

    d_model: channels.  max_len: rows of the table.  std: of the first values; the default is the
    scale at which token embeddings commonly start, for a louder table drowns the words.
    Source: Devlin et al. [1810.04805] and their code, whose initial scale is 0.02 too.
    """

    def __init__(self, d_model, max_len, std=0.02):
        super().__init__()
        d_model = validate.count(d_model, "d_model")
        self.max_len = validate.count(max_len, "max_len")
        self.std = validate.real(std, "std", minimum=0)
        self.weight = nn.Parameter(torch.empty(self.max_len, d_model))
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the table anew, which ``to_empty`` leaves unfilled."""
        nn.init.normal_(self.weight, std=self.std)

    def embed(self, x, positions):
        """x + p_n, in x's dtype."""
        return _add_rows(self, x, positions, self.weight)


class Rotary(PositionScheme):
    """R_m q and R_n k: pairs of channels turn by position × frequency (lessons 04, 05).

    inv_freq: (pairs,), radians per token; where 2 · pairs < head_dim the tail stays (partial).
    max_len: rows of the cos and sin tables.
    pairing: "half" or "interleaved", as in ``rope``.
    attention_factor: multiplies cos and sin, so scores take its square (YaRN, lesson 08).
    Source: Su et al. [2104.09864], eq. 34.
    """

    def __init__(self, inv_freq, max_len, *, pairing="half", attention_factor=1.0):
        super().__init__()
        self.inv_freq = validate.inverse_frequencies(inv_freq)
        max_len = self.max_len = validate.count(max_len, "max_len")
        self.pairing = validate.choice(pairing, "pairing", rope.PAIRINGS)
        factor = validate.real(attention_factor, "attention_factor", minimum=0)
        angles = rope.angles(range(max_len), self.inv_freq)
        self._add_table("cos", factor * np.cos(angles))
        self._add_table("sin", factor * np.sin(angles))

    def rotate(self, x, positions):
        """R_n x for every row, in x's dtype: x (..., seq, head_dim), head_dim even."""
        self.check(positions)
        self._refuse(x, "x", positions, "positions")
        scheme.beside(positions, "positions", x, "x")
        return self._turn(x, F.embedding(positions, self.cos), F.embedding(positions, self.sin))

    def shift(self, k, offset):
        """Rotated keys moved by ``offset`` tokens: R_Δ k, a rotation without attention_factor.

        R_Δ k(m) = k(m + Δ), so a cache from which tokens were evicted can close the gap with −Δ.
        k: (..., seq, head_dim), already rotated.
        offset: Δ, a whole number of either sign, or an int64 or int32 tensor of them: (), (seq,)
        or (batch, seq).
        Returns k's shape and dtype.
        Raises TypeError or ValueError that names k or offset.
        """
        if not isinstance(offset, torch.Tensor):
            if not torch.compiler.is_compiling():
                offset = validate.offset(offset)
            offset = torch.tensor(offset, device="cpu")
        scheme.whole(offset, "offset")
        self._refuse(k, "k", offset, "offset")
        # On the CPU, for not every accelerator has the float64 that far offsets need.
        angles = offset.cpu()[..., None] * torch.from_numpy(self.inv_freq)
        return self._turn(k, angles.cos().float().to(k.device), angles.sin().float().to(k.device))

    def _refuse(self, x, name, positions, positions_name):
        scheme.rows(x, name, positions, positions_name)
        turning = 2 * self.cos.shape[-1]
        if x.shape[-1] < turning or x.shape[-1] % 2:
            raise ValueError(
                f"{name} must be (..., seq, head_dim) with an even head_dim of at least {turning}, "
                f"got {scheme.shape(x)}"
            )

    def _turn(self, x, cos, sin):
        """x with each pair turned; cos and sin are ([batch,] seq, pairs), or (pairs,) for all."""
        # A batch axis belongs to x's first axis, and the axes between share it.
        shape = (*cos.shape[:-2], *(1,) * (x.ndim - cos.ndim), *cos.shape[-2:])
        cos, sin = cos.view(shape), sin.view(shape)
        turning, rest = x.tensor_split([2 * cos.shape[-1]], dim=-1)
        pairs = turn.half if self.pairing == "half" else turn.interleaved
        turned = pairs(turning, cos, sin).to(x.dtype)
        return torch.cat([turned, rest], dim=-1) if rest.shape[-1] else turned


class Alibi(PositionScheme):
    """A penalty −m · (q − k) on every score, with one slope m a head (lesson 06).

    n_heads: at least 1.
    Source: Press et al. [2108.12409], §3; the slopes follow the authors' code.
    """

    def __init__(self, n_heads):
        super().__init__()
        self._add_table("slopes", alibi.slopes(n_heads))

    def bias(self, q_positions, k_positions):
        """−m · (q − k), float32: (heads, q_len, k_len), or with a batch axis before the heads."""
        return -self.slopes[:, None, None] * _distance(self, q_positions, k_positions)


class T5Bias(PositionScheme):
    """One learned scalar per head and distance bucket, added to the score; causal (lesson 06).

    n_heads: at least 1.  n_buckets, max_distance: as in ``relative.t5_bucket``.
    Source: Raffel et al. [1910.10683], §2.1.
    """

    def __init__(self, n_heads, n_buckets=32, max_distance=128):
        super().__init__()
        n_heads = validate.count(n_heads, "n_heads")
        self._add_table("begins", relative.t5_begins(n_buckets, max_distance))
        self.weight = nn.Parameter(torch.empty(len(self.begins), n_heads))
        self.reset_parameters()

    def reset_parameters(self):
        """0 for every distance: no preference yet."""
        nn.init.zeros_(self.weight)

    def bias(self, q_positions, k_positions):
        """The weight of each distance's bucket: shaped as ``Alibi.bias``, float32 or better."""
        distance = _distance(self, q_positions, k_positions)
        bucket = torch.bucketize(distance.clamp(min=self.begins[0]), self.begins, right=True) - 1
        # (…, 1, q_len, k_len, heads): the heads take the place of the axis that waits for them.
        values = F.embedding(bucket, self.weight).transpose(-4, -1).squeeze(-1)
        return values.to(torch.promote_types(values.dtype, torch.float32))


class LogQueries(PositionScheme):
    """Another scheme with queries × ln(m + 1) / ln L from position m = L on (lesson 07).

    Among more keys each keeps less of the attention; a larger query brings it back.  Up to the
    training length nothing changes.
    inner: the scheme whose hooks act.  original_max_len: L, at least 2.
    Source: Nakanishi [2501.19399], §3, with the factor fixed instead of learned.
    """

    def __init__(self, inner, original_max_len):
        super().__init__()
        if not isinstance(inner, PositionScheme):
            raise TypeError(f"inner must be a PositionScheme, got {type(inner).__name__}")
        self.inner = inner
        self.original_max_len = validate.count(original_max_len, "original_max_len", minimum=2)
        self.max_len = inner.max_len

    def embed(self, x, positions):
        """As the inner one."""
        return self.inner.embed(x, positions)

    def rotate(self, x, positions):
        """As the inner one."""
        return self.inner.rotate(x, positions)

    def bias(self, q_positions, k_positions):
        """As the inner one."""
        return self.inner.bias(q_positions, k_positions)

    def shift(self, k, offset):
        """As the inner one."""
        return self.inner.shift(k, offset)

    def scale(self, q_positions):
        """(seq, 1), or (batch, 1, seq, 1): max(1, ln(m + 1) / ln L), times the inner one."""
        self.check(q_positions, "q_positions")
        seen = (q_positions.long() + 1).clamp(min=self.original_max_len).float()
        factor = seen.log()[..., None] / math.log(self.original_max_len)
        return self.inner.scale(q_positions) * (factor[:, None] if factor.ndim == 3 else factor)


def _add_rows(self, x, positions, table):
    """x (batch, seq, d_model) plus a row of the table for each token, in float32 or better."""
    self.check(positions)
    scheme.rows(x, "x", positions, "positions")
    scheme.beside(positions, "positions", x, "x")
    if x.ndim != 3 or x.shape[-1] != table.shape[-1]:
        raise ValueError(
            f"x must be (batch, seq, d_model) with d_model {table.shape[-1]}, got {scheme.shape(x)}"
        )
    wide = torch.promote_types(x.dtype, torch.float32)
    return (x.to(wide) + F.embedding(positions, table)).to(x.dtype)


def _distance(self, q_positions, k_positions):
    """query − key, with an axis for the heads: (1, q_len, k_len) or (batch, 1, q_len, k_len)."""
    self.check(q_positions, "q_positions")
    self.check(k_positions, "k_positions")
    scheme.beside(k_positions, "k_positions", q_positions, "q_positions")
    if q_positions.ndim == k_positions.ndim == 2 and q_positions.shape[0] != k_positions.shape[0]:
        raise ValueError(
            f"k_positions must have the batch of q_positions ({q_positions.shape[0]}), "
            f"got {k_positions.shape[0]}"
        )
    # In int64, for the difference of two int32 positions may not fit into int32.
    return (q_positions.long()[..., :, None] - k_positions.long()[..., None, :])[..., None, :, :]
