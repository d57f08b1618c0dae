"""Causal self-attention as a torch layer, with the places where a position scheme acts (lesson 07).

The layer calls every hook of a ``PositionScheme`` that belongs to attention and never asks which
scheme it has.  Layout: x (batch, seq, d_model); q, k, v (batch, heads, seq, head_dim).
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from lessons import scheme as schemes
from lessons import validate


class CausalSelfAttention(nn.Module):
    """softmax(R_m q · R_n k · scale / √head_dim + bias) v, over the keys that the mask allows.

    d_model: channels.  n_heads: a divisor of d_model.
    Source: Vaswani et al. [1706.03762], §3.2.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        d_model = validate.count(d_model, "d_model")
        self.n_heads = validate.heads(n_heads, d_model)
        self.q_k_v = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    __prepare_scriptable__ = schemes.PositionScheme.__prepare_scriptable__

    def forward(self, x, positions, scheme, *, bias=None, mask=None, cache=None):
        """What each token takes from the tokens it may look at.

        x: (batch, seq, d_model).  positions: int64 or int32, (seq,) or (batch, seq).
        scheme: a PositionScheme.
        bias: added to the scores; None asks the scheme.  A model computes it once for all layers.
        mask: bool, True = may look, the whole of it; None means causal by the positions.
        cache: called with the new (k, v, positions), gives all keys so far with theirs; a
        ``KVCache.append`` with its layer filled in.
        bias and mask broadcast to (batch, heads, q_len, k_len).
        Returns (batch, seq, d_model) in x's dtype; 0 · W_out where a token may look at nothing.
        Raises TypeError or ValueError that names x, positions, bias or mask.
        """
        _tokens(x, self.out.in_features)
        scheme.check(positions)
        schemes.rows(x, "x", positions, "positions")
        schemes.beside(positions, "positions", x, "x")
        _like_weights(x, self.out.weight)
        q, k, v = self.q_k_v(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = scheme.rotate(q, positions), scheme.rotate(k, positions)
        q = (q * scheme.scale(positions)).to(k.dtype)
        k_positions = positions
        if cache is not None:
            k, v, k_positions = cache(k, v, positions)
        if mask is None:
            mask = may_look(positions, k_positions)
        if bias is None:
            bias = scheme.bias(positions, k_positions)
        allowed = score_terms(q, k, bias, mask)
        return self.out(attend(q, k, v, allowed).transpose(1, 2).flatten(2))


def attend(q, k, v, term):
    """softmax(q kᵀ / √head_dim + term) v; a row of nothing but −inf gives 0 here, not NaN.

    The fused kernels know neither forward-mode derivatives nor ``torch.func``; there torch's plain
    formula takes their place.
    """
    try:
        if not torch.compiler.is_compiling():
            [given.data_ptr() for given in (q, k, v, term)]  # torch.func's tensors have none
        return F.scaled_dot_product_attention(q, k, v, attn_mask=term)
    except RuntimeError:
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=term)


def may_look(q_positions, k_positions, window=None):
    """True where 0 ≤ q − k, and q − k < window if there is one.

    Positions: (seq,) or (batch, seq), int64 or int32.  Returns bool (q_len, k_len), or
    (batch, 1, q_len, k_len) if either has a batch axis.
    """
    # In int64, for the difference of two int32 positions may not fit into int32.
    distance = q_positions.long()[..., :, None] - k_positions.long()[..., None, :]
    mask = distance >= 0
    if window is not None:
        mask &= distance < window
    return mask[:, None] if mask.ndim == 3 else mask


def score_terms(q, k, bias, mask):
    """bias and mask as the one term that attention adds to its scores, once they fit q and k.

    The term comes in q's dtype, the only one that every kernel takes: in bfloat16 each bias is off
    by up to 1 part in 256, after it was computed in float32 from whole positions.
    """
    scores = (*q.shape[:-1], k.shape[-2])
    terms = {"mask": mask} if bias is None else {"mask": mask, "bias": bias}
    for name, term in terms.items():
        fits(name, term, scores)
        schemes.beside(term, name, q, "q")
    if bias is not None:
        schemes.floats(bias, "bias")
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be bool (True = may look), got {mask.dtype}")
    if bias is None:
        return mask
    return bias.to(q.dtype).masked_fill(~mask, -torch.inf)


def fits(name, term, scores):
    """Refuse a bias or mask that does not broadcast to scores (batch, heads, q_len, k_len)."""
    schemes.tensor(term, name)
    try:
        as_scores = torch.broadcast_shapes(term.shape, scores) == torch.Size(scores)
    except RuntimeError:
        as_scores = False
    if not as_scores:
        raise ValueError(f"{name} must broadcast to the scores {scores}, got {tuple(term.shape)}")


def _tokens(x, d_model):
    schemes.tensor(x, "x")
    if x.ndim != 3 or x.shape[-1] != d_model:
        raise ValueError(
            f"x must be (batch, seq, d_model) with d_model {d_model}, got {schemes.shape(x)}"
        )


def _like_weights(x, weight):
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"x must be {weight.dtype} like the weights, got {x.dtype}")
    schemes.beside(x, "x", weight, "the layer")
