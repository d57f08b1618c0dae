"""A small decoder that never asks which position scheme it has (lesson 07).

Every layer has a scheme and a window; the model calls the four hooks of ``PositionScheme`` and
decides what may be looked at from positions and masks alone.  Pre-norm, tied embeddings, GELU.
"""

import functools
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from lessons import scheme as schemes
from lessons import validate
from lessons.attention_layer import CausalSelfAttention, fits, may_look
from lessons.cache import KVCache
from lessons.per_layer import PerLayer


@dataclass(frozen=True)
class ModelConfig:
    """The sizes of a ``TinyTransformer``.  Raises ValueError or TypeError that names the field."""

    vocab_size: int  # tokens are 0 … vocab_size − 1
    d_model: int  # channels of the residual stream
    n_heads: int  # a divisor of d_model
    n_layers: int
    windows: tuple | None = None  # one a layer: tokens it may look back on, itself among them
    embedding_scale: float | None = None  # what embeddings are multiplied by; None: √d_model

    def __post_init__(self):
        for name in ("vocab_size", "d_model", "n_layers"):
            self._keep(name, validate.count(getattr(self, name), name))
        self._keep("n_heads", validate.heads(self.n_heads, self.d_model))
        if self.embedding_scale is not None:
            scale = validate.real(self.embedding_scale, "embedding_scale", minimum=0)
            self._keep("embedding_scale", scale)
        self._keep("windows", validate.windows(self.windows, self.n_layers))

    def _keep(self, name, value):
        """A field as int, float or tuple: what was given may be a NumPy number, or a list."""
        object.__setattr__(self, name, value)


class TinyTransformer(nn.Module):
    """Decoder-only transformer: logits of the next token at every position.

    config: ModelConfig.
    scheme: one PositionScheme for all layers, which then share its parameters, or one a layer.
    What the schemes add to the embeddings is added once each, before the first layer.
    Source: Vaswani et al. [1706.03762], §3; √d_model times the embeddings as in §3.4.
    """

    def __init__(self, config, scheme):
        super().__init__()
        if not isinstance(config, ModelConfig):
            raise TypeError(f"config must be a ModelConfig, got {type(config).__name__}")
        many = isinstance(scheme, (list, tuple, nn.ModuleList, PerLayer))
        each = list(scheme) if many else [scheme] * config.n_layers
        self.config = config
        each = self._one_a_layer(each)
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.schemes = each
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model, bias=False)
        self._start()

    def __setattr__(self, name, value):
        # Whoever gives a model other schemes may name one of them twice as well.
        super().__setattr__(name, self._one_a_layer(value) if name == "schemes" else value)

    __prepare_scriptable__ = schemes.PositionScheme.__prepare_scriptable__

    def forward(self, tokens, *, positions=None, mask=None, cache=None):
        """Logits (batch, seq, vocab_size) of the token that follows each token.

        tokens: int64 or int32 (batch, seq), 0 … vocab_size − 1.
        positions: int64 or int32, (seq,) or (batch, seq); None counts 0 … seq − 1, and with a cache
        goes on where each row of it ends.
        mask: bool, True = may look, broadcastable to (batch, heads, q_len, k_len) with the cached
        keys in front; it is combined with the causal mask and the windows.
        cache: from ``new_cache``, for this batch; keys and values of these tokens are added.
        Raises TypeError or ValueError that names the argument.
        """
        self._refuse(tokens, cache)
        if positions is None:
            positions = self._next_positions(tokens, cache)
        each = self.schemes.by_path()
        for scheme in each.values():
            scheme.check(positions)
        schemes.beside(positions, "positions", tokens, "tokens")
        k_positions = positions if cache is None else cache.with_new(positions)
        self._refuse_mask(mask, tokens, k_positions)
        scale = self.config.embedding_scale
        x = self.embedding(tokens) * (self.config.d_model**0.5 if scale is None else scale)
        schemes.rows(x, "tokens", positions, "positions")
        for scheme in each.values():
            x = scheme.embed(x, positions)
        terms = self._score_terms(each, positions, k_positions, mask)
        for layer, (block, path) in enumerate(zip(self.blocks, self.schemes.paths, strict=True)):
            bias, allowed = terms[layer]
            append = None if cache is None else functools.partial(cache.append, layer)
            x = block(x, positions, each[path], bias=bias, mask=allowed, cache=append)
        return F.linear(self.norm(x), self.embedding.weight)

    def new_cache(self):
        """An empty ``KVCache`` for this model."""
        return KVCache(self.config.n_layers)

    def _score_terms(self, each, positions, k_positions, mask):
        """(bias, mask) a layer, each computed once however many layers share it."""
        windows = self.config.windows or [None] * self.config.n_layers
        biases = {path: s.bias(positions, k_positions) for path, s in each.items()}
        masks = {w: may_look(positions, k_positions, w) for w in dict.fromkeys(windows)}
        if mask is not None:
            masks = {window: allowed & mask for window, allowed in masks.items()}
        return [(biases[p], masks[w]) for p, w in zip(self.schemes.paths, windows, strict=True)]

    def _one_a_layer(self, schemes):
        each = schemes if isinstance(schemes, PerLayer) else PerLayer(schemes)
        if len(each) != self.config.n_layers:
            raise ValueError(f"scheme must be one, or {self.config.n_layers}, got {len(each)}")
        return each

    def _next_positions(self, tokens, cache):
        if cache is None:
            return torch.arange(tokens.shape[1], device=tokens.device)
        return cache.next_positions(tokens.shape[1], tokens.device)

    def _refuse(self, tokens, cache):
        schemes.whole(tokens, "tokens")
        if tokens.ndim != 2 or 0 in tokens.shape:
            raise ValueError(f"tokens must be (batch, seq), got {schemes.shape(tokens)}")
        schemes.beside(tokens, "tokens", self.embedding.weight, "the model")
        schemes.floats(self.embedding.weight, "the model")
        low, high = schemes.span(tokens) or (0, 0)
        if low < 0 or high >= self.config.vocab_size:
            raise ValueError(
                f"tokens must lie in 0 … {self.config.vocab_size - 1}, got {low} … {high}"
            )
        if cache is not None and not isinstance(cache, KVCache):
            raise TypeError(f"cache must be a KVCache, got {type(cache).__name__}")

    def _refuse_mask(self, mask, tokens, k_positions):
        if mask is None:
            return
        if not (isinstance(mask, torch.Tensor) and mask.dtype == torch.bool):
            kind = getattr(mask, "dtype", type(mask).__name__)
            raise TypeError(f"mask must be a bool tensor (True = may look), got {kind}")
        scores = (tokens.shape[0], self.config.n_heads, tokens.shape[1], k_positions.shape[-1])
        fits("mask", mask, scores)
        schemes.beside(mask, "mask", tokens, "tokens")

    def _start(self):
        """First values: a map keeps the scale of what goes in, the stream grows slowly.

        Embeddings have variance 1 / d_model, so that √d_model times them is a stream of scale 1.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)
        for block in self.blocks:
            for last in (block.attention.out, block.down):
                last.weight.data.mul_((2 * self.config.n_layers) ** -0.5)


class _Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, config):
        super().__init__()
        self.norm_attention = nn.LayerNorm(config.d_model, bias=False)
        self.attention = CausalSelfAttention(config.d_model, config.n_heads)
        self.norm_mlp = nn.LayerNorm(config.d_model, bias=False)
        self.up = nn.Linear(config.d_model, 4 * config.d_model, bias=False)
        self.down = nn.Linear(4 * config.d_model, config.d_model, bias=False)

    def forward(self, x, positions, scheme, **terms):
        x = x + self.attention(self.norm_attention(x), positions, scheme, **terms)
        return x + self.down(F.gelu(self.up(self.norm_mlp(x))))
