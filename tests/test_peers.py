"""Our layers beside four libraries that other people wrote, on the same inputs.

Their angles are float32 products, so at position p they are off by up to 1.2e-7 · p radians, and
that much apart the results may lie.  Where one of them is wrong, our NumPy decides.
"""

import functools
import importlib.metadata
import os
import tomllib

import numpy as np
import pytest
import torch
from conftest import ROOT
from torch_schemes import MAX_LEN, B, D, H, T, W, assert_near, normal, positions, tells_apart

from lessons import alibi, layers, relative, rope

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here is to be downloaded
FLOATS = (torch.float64, torch.float32, torch.bfloat16)
WHERE = {"near": positions() % 100, "far": positions()}


def peer(module):
    """A module of a peer library; some take seconds to load: each is loaded when it is needed."""
    return pytest.importorskip(module, reason=f"{module} is of the extra 'peers'")


@functools.cache
def rotary(pairing):
    return layers.Rotary(W, MAX_LEN, pairing=pairing)


def assert_as_near_as_float32_angles_allow(theirs, ours, x, n):
    """2e-6 + 1.2e-7 · largest position, times the largest |x|; a step of bf16 more for bf16."""
    bound = (2e-6 + 1.2e-7 * n.max().item()) * x.double().abs().max().item()
    step = torch.finfo(x.dtype).eps if x.dtype == torch.bfloat16 else 0
    assert theirs.shape == ours.shape and theirs.dtype == ours.dtype
    torch.testing.assert_close(theirs.double(), ours.double(), rtol=step, atol=bound)


def both(pairing, x, n):
    """Ours, which our NumPy vouches for."""
    out = rotary(pairing).rotate(x, n)
    assert_near(out, rope.rotate(x.double().numpy(), n.numpy(), W, pairing=pairing))
    return out


# RoPE.


def llama_config():
    config = peer("transformers").LlamaConfig(hidden_size=H * D, num_attention_heads=H)
    assert config.rope_parameters["rope_theta"] == 10_000
    return peer("transformers.models.llama.modeling_llama"), config


def llama(x, n):
    """transformers, half-split.  In bfloat16 it rounds cos and sin before it multiplies (see
    below), so the multiplication is done in float64 here."""
    module, config = llama_config()
    cos, sin = module.LlamaRotaryEmbedding(config)(x.double(), n.expand(len(x), -1))
    return module.apply_rotary_pos_emb(x.double(), x.double(), cos, sin)[0].to(x.dtype)


def lucidrains(x, n):
    """rotary-embedding-torch, interleaved.  Its own positions take x's dtype (see below), so it is
    handed float32 ones."""
    module = peer("rotary_embedding_torch")
    turns = module.RotaryEmbedding(D, cache_if_possible=False)(n.float())
    return module.apply_rotary_emb(turns if n.ndim == 1 else turns[:, None], x.double()).to(x.dtype)


def x_transformers(x, n):
    """x-transformers, interleaved."""
    module = peer("x_transformers.x_transformers")
    turns, scale = module.RotaryEmbedding(D)(n)
    assert scale == 1
    return module.apply_rotary_pos_emb(x, turns)


def diffusers(x, n, pairing):
    """diffusers, both layouts; its positions are shared by the batch."""
    module = peer("diffusers.models.embeddings")
    interleaved = pairing == "interleaved"

    def one(x, n):
        table = module.get_1d_rotary_pos_embed(
            D, n, use_real=True, repeat_interleave_real=interleaved
        )
        return module.apply_rotary_emb(x, table, use_real_unbind_dim=-1 if interleaved else -2)

    rows = n.expand(len(x), -1)
    return torch.cat([one(x[b : b + 1], rows[b]) for b in range(len(x))])


ROPE = {
    "transformers": ("half", llama),
    "rotary-embedding-torch": ("interleaved", lucidrains),
    "x-transformers": ("interleaved", x_transformers),
    "diffusers half": ("half", functools.partial(diffusers, pairing="half")),
    "diffusers interleaved": ("interleaved", functools.partial(diffusers, pairing="interleaved")),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", ROPE)
def test_rotary_equals(name, where, dtype):
    pairing, theirs = ROPE[name]
    x = normal(B, H, T, D, dtype=dtype)
    for n in (WHERE[where], WHERE[where][1]):
        ours = both(pairing, x, n)
        assert_as_near_as_float32_angles_allow(theirs(x, n), ours, x, n)
        other = "half" if pairing == "interleaved" else "interleaved"
        with pytest.raises(AssertionError):
            assert_as_near_as_float32_angles_allow(theirs(x, n), rotary(other).rotate(x, n), x, n)


def test_partial_rotary_equals_x_transformers_on_a_narrower_table():
    module, n = peer("x_transformers.x_transformers"), positions()[:1] % 1000
    x = normal(1, H, T, D)
    turns, _ = module.RotaryEmbedding(D // 4)(n)
    inv_freq = module.RotaryEmbedding(D // 4).inv_freq.double().numpy()
    ours = layers.Rotary(inv_freq, 1000, pairing="interleaved").rotate(x, n)
    assert_as_near_as_float32_angles_allow(module.apply_rotary_pos_emb(x, turns), ours, x, n)


def is_right_in_bfloat16(rotate, pairing):
    """Within half a step of bfloat16 from the float64 values."""
    x, n = normal(1, H, 1024, D, dtype=torch.bfloat16), torch.arange(1024)
    assert_near(rotate(x, n), rope.rotate(x.double().numpy(), n.numpy(), W, pairing=pairing))


def test_positions_in_bfloat16_as_one_of_them_makes_them():
    def theirs(x, n):
        module = peer("rotary_embedding_torch")
        return module.RotaryEmbedding(D, cache_if_possible=False).rotate_queries_or_keys(x)

    law = functools.partial(is_right_in_bfloat16, pairing="interleaved")
    tells_apart(law, rotary("interleaved").rotate, theirs)


def test_cos_and_sin_rounded_to_bfloat16_as_another_does():
    def theirs(x, n):
        module, config = llama_config()
        table = module.LlamaRotaryEmbedding(config)(x, n[None])
        return module.apply_rotary_pos_emb(x, x, *table)[0]

    law = functools.partial(is_right_in_bfloat16, pairing="half")
    tells_apart(law, rotary("half").rotate, theirs)
    x, n = normal(1, H, 1024, D, dtype=torch.bfloat16), torch.arange(1024)
    apart = (theirs(x, n).double() - rotary("half").rotate(x, n).double()).abs()
    assert apart.max() < 3 * torch.finfo(torch.bfloat16).eps * x.double().abs().max()


# Biases.


def after_softmax(bias):
    """Causal attention weights of flat contents: what a bias means, up to a constant a row."""
    length = bias.shape[-1]
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    return bias.double().expand(-1, length, -1).masked_fill(future, -torch.inf).softmax(-1)


@pytest.mark.parametrize("heads", [1, 2, 8, 12, 20])
def test_alibi_equals(heads):
    n, length = torch.arange(200), 200
    ours = layers.Alibi(heads).bias(n, n)
    bloom = peer("transformers.models.bloom.modeling_bloom").build_alibi_tensor(
        torch.ones(1, length, dtype=torch.int64), heads, torch.float32
    )
    torch.testing.assert_close(after_softmax(bloom), after_softmax(ours), rtol=1e-4, atol=1e-6)
    last = layers.Alibi(heads).bias(n[-1:], n)
    torch.testing.assert_close(bloom - bloom[..., -1:], last, rtol=1e-6, atol=1e-5)
    mpt = peer("transformers.models.mpt.modeling_mpt").build_mpt_alibi_tensor(heads, length)
    torch.testing.assert_close(mpt, last, rtol=1e-6, atol=1e-6)
    module = peer("x_transformers.x_transformers")
    both_ways = module.AlibiPositionalBias(heads).forward_custom_pos(n, n)
    numpy = alibi.bias(alibi.slopes(heads), n.numpy(), n.numpy(), symmetric=True)
    np.testing.assert_allclose(both_ways.numpy(), numpy, rtol=1e-6)


def test_alibi_of_a_batch_with_far_positions_equals_x_transformers():
    n, causal = positions(), torch.ones(B, H, T, T, dtype=torch.bool)
    module = peer("x_transformers.x_transformers").AlibiPositionalBias(H)
    causal &= (n[:, :, None] >= n[:, None, :])[:, None]
    ours, theirs = layers.Alibi(H).bias(n, n), module.forward_custom_pos(n)
    torch.testing.assert_close(ours[causal], theirs[causal], rtol=1e-6, atol=0)


@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (64, 300), (16, 40)])
@pytest.mark.parametrize("both_ways", [False, True])
def test_t5_buckets_equal(both_ways, n_buckets, max_distance):
    apart = torch.arange(-70_000, 70_000)
    module = peer("transformers.models.t5.modeling_t5").T5Attention
    theirs = module._relative_position_bucket(apart, both_ways, n_buckets, max_distance)
    ours = relative.t5_bucket(apart.numpy(), n_buckets, max_distance, bidirectional=both_ways)
    np.testing.assert_array_equal(theirs.numpy(), ours)


def test_t5_bias_equals():
    module = peer("x_transformers.x_transformers")
    theirs = module.RelativePositionBias(1.0, causal=True, heads=H)
    ours = layers.T5Bias(H)
    ours.load_state_dict({"weight": theirs.relative_attention_bias.weight})
    keys = torch.arange(500)
    for length in (1, 500):
        queries = keys[-length:]
        seen = (queries[:, None] >= keys).expand(H, -1, -1)
        torch.testing.assert_close(theirs(length, 500)[seen], ours.bias(queries, keys)[seen])


def test_the_versions_are_those_of_the_extra():
    """Also where a peer is missing and the tests above are skipped: this one then fails."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    for pin in extras["optional-dependencies"]["peers"]:
        name, version = pin.split("==")
        assert importlib.metadata.version(name) == version
