"""Tensors that say more than their numbers, or too little: masked, nested, sparse, 8 bits wide.

What the functions refuse of them, test_kinds.py tries from their signatures; here are the methods.
"""

import kinds
import pytest
import tiny
import torch
from torch_schemes import D, H, T, W, normal

from lessons import layers
from lessons.attention_layer import CausalSelfAttention
from lessons.cache import KVCache

HOOKS = [
    (layers.Sinusoidal(D, 64), "embed", (2, T, D)),
    (layers.Learned(D, 64), "embed", (2, T, D)),
    (layers.Rotary(W, 64), "rotate", (2, H, T, D)),
    (layers.Rotary(W[:4], 64, pairing="interleaved"), "rotate", (2, H, T, D)),
    (layers.LogQueries(layers.Rotary(W, 64), 4), "rotate", (2, H, T, D)),
]
BIASES = layers.Alibi(H), layers.T5Bias(H), layers.LogQueries(layers.Alibi(H), 4)


@pytest.mark.parametrize("kind", kinds.DRESSED_TENSORS)
def test_numbers_in_another_dress_are_refused_by_every_hook(kind):
    dress, n = kinds.DRESSED_TENSORS[kind], torch.arange(T)
    for scheme, hook, shape in HOOKS:
        with pytest.raises(TypeError, match=r"^x must"):
            getattr(scheme, hook)(dress(normal(*shape)), n)
        with pytest.raises(TypeError, match=r"^positions must"):
            getattr(scheme, hook)(normal(*shape), dress(n))
    rotary, layer = layers.Rotary(W, 64), CausalSelfAttention(2 * D, 2)
    k, held = normal(2, H, T, D), KVCache(1)
    for call, named in (
        (lambda: rotary.shift(dress(k), 3), "k"),
        (lambda: rotary.shift(k, dress(n)), "offset"),
        (lambda: held.append(0, dress(k), k, n), "k"),
        (lambda: held.append(0, k, dress(k), n), "v"),
        (lambda: held.append(0, k, k, dress(n)), "positions"),
        (lambda: held.with_new(dress(n)), "positions"),
        (lambda: layer(dress(normal(2, T, 2 * D)), n, rotary), "x"),
        (lambda: layer(normal(2, T, 2 * D), dress(n), rotary), "positions"),
        (lambda: layer(normal(2, T, 2 * D), n, rotary, bias=dress(normal(T, T))), "bias"),
        (lambda: layer(normal(2, T, 2 * D), n, rotary, mask=dress(normal(T, T))), "mask"),
        (lambda: tiny.make()(dress(tiny.tokens())), "tokens"),
        (lambda: tiny.make()(tiny.tokens(), positions=dress(torch.arange(12))), "positions"),
        (lambda: tiny.make()(tiny.tokens(), mask=dress(normal(12, 12))), "mask"),
        *((lambda bias=bias: bias.bias(dress(n), n), "q_positions") for bias in BIASES),
        *((lambda bias=bias: bias.bias(n, dress(n)), "k_positions") for bias in BIASES),
        (lambda: layers.LogQueries(rotary, 4).scale(dress(n)), "q_positions"),
    ):
        with pytest.raises(TypeError, match=rf"^{named} must"):
            call()
    assert len(held) == 0


@pytest.mark.parametrize("dtype", kinds.FLOATS_OF_8_BITS, ids=str)
def test_a_model_of_8_bits_says_what_it_needs(dtype):
    model = tiny.make().to(dtype)
    with pytest.raises(TypeError, match=f"^the model must hold .* of 16 bits or more, got {dtype}"):
        model(tiny.tokens())


def test_parameters_are_taken_as_tensors():
    x, n = normal(2, H, T, D), torch.arange(T)
    rotate = layers.Rotary(W, 64).rotate
    assert torch.equal(rotate(torch.nn.Parameter(x), n), rotate(x, n))
