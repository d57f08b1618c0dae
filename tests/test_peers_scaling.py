"""Our rules for longer contexts beside those of transformers, from the same configuration.

Theirs are float32.  As they ship, "equal" is 1e-6 of each frequency: the exponent 2i/d, the power
and every product round by up to 6e-8, and the exponent's error counts ln θ times.  With the same
code in float64, "equal" is 1e-12, so that the rest of the 1e-6 is rounding and no other rule.
"""

import os

import numpy as np
import pytest
import torch

from lessons import scaling
from lessons.frequencies import inverse_frequencies

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here is to be downloaded

# Where d is no power of two, 2i/d is rounded, and Llama 3.1's rule is 1.4e-6 away in float32.
HEADS = [(128, 10_000.0), (128, 500_000.0), (64, 1e6)]
MORE_HEADS = [*HEADS, (80, 10_000.0), (96, 500_000.0), (24, 12.0)]


class DoublePrecision:
    """Stands where their module keeps torch, and gives float64 for float32."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@pytest.fixture
def utils():
    return pytest.importorskip("transformers.modeling_rope_utils", reason="of the extra 'peers'")


@pytest.fixture(params=["as shipped", "in float64"])
def near(request, monkeypatch, utils):
    """The assertion that two sets of frequencies are equal, and the precision it is made for."""
    rtol = 1e-6
    if request.param == "in float64":
        monkeypatch.setattr(utils, "torch", DoublePrecision())
        rtol = 1e-12

    def near(ours, other):
        assert ours.shape == other.shape
        np.testing.assert_allclose(ours, other, rtol=rtol, atol=0)

    near.heads = MORE_HEADS if rtol == 1e-12 else HEADS
    return near


def theirs(utils, rope_type, head, max_len, *, seq_len=None, **parameters):
    """(inv_freq, attention factor) as transformers initialises a Llama with this rule."""
    from transformers import LlamaConfig

    dim, theta = head
    config = LlamaConfig(
        hidden_size=4 * dim,
        num_attention_heads=4,
        max_position_embeddings=max_len,
        rope_parameters={"rope_type": rope_type, "rope_theta": theta, **parameters},
    )
    inv_freq, factor = utils.ROPE_INIT_FUNCTIONS[rope_type](config, "cpu", seq_len=seq_len)
    return inv_freq.double().numpy(), factor


def trained_at(length, factor):
    """The part of the configuration that says how much longer than the training the texts are."""
    return {
        "max_len": int(factor * length),
        "factor": factor,
        "original_max_position_embeddings": length,
    }


GRID = [(length, factor) for length in (64, 2048, 8192) for factor in (2.0, 5.0, 16.0)]


@pytest.mark.parametrize(("length", "factor"), GRID)
def test_linear_equals(near, utils, length, factor):
    for head in near.heads:
        inv_freq, attention_factor = theirs(utils, "linear", head, length, factor=factor)
        w = inverse_frequencies(*head)
        near(scaling.linear(w, factor), inv_freq)
        assert attention_factor == 1
        with pytest.raises(AssertionError):
            near(scaling.linear(w, factor * (1 + 1e-5)), inv_freq)


@pytest.mark.parametrize(("length", "factor"), GRID)
def test_dynamic_ntk_equals(near, utils, length, factor):
    for head in near.heads:
        w = inverse_frequencies(*head)
        for seq_len in (1, length - 1, length, length + 1, 3 * length):
            inv_freq, attention_factor = theirs(
                utils, "dynamic", head, length, seq_len=seq_len, factor=factor
            )
            near(scaling.dynamic_ntk(w, factor, seq_len, length), inv_freq)
            assert attention_factor == 1
        with pytest.raises(AssertionError):
            near(scaling.dynamic_ntk(w, factor, 3 * length + 1, length), inv_freq)


def test_ntk_is_their_dynamic_rule_where_that_factor_is_ours(near, utils):
    """f l/L − (f − 1) at f = 1 is l/L."""
    for head in near.heads:
        for factor in (2, 4, 8, 16):
            inv_freq, _ = theirs(utils, "dynamic", head, 2048, seq_len=factor * 2048, factor=1.0)
            w = inverse_frequencies(*head)
            near(scaling.ntk(w, factor), inv_freq)
            with pytest.raises(AssertionError):
                near(scaling.linear(w, factor), inv_freq)


@pytest.mark.parametrize(("length", "factor"), GRID)
def test_yarn_equals(near, utils, length, factor):
    for head in near.heads:
        inv_freq, attention_factor = theirs(utils, "yarn", head, **trained_at(length, factor))
        w = inverse_frequencies(*head)
        near(scaling.yarn(w, factor, length), inv_freq)
        assert abs(scaling.yarn_attention_factor(factor) - attention_factor) < 1e-15
        if head != (24, 12.0):  # there every pair turns too often, and is kept by both ramps
            with pytest.raises(AssertionError):
                near(scaling.yarn(w, factor, length, ramp="rotations"), inv_freq)


@pytest.mark.parametrize(("fast", "slow"), [(32, 1), (16, 2), (64, 0.5)])
def test_yarn_with_other_bounds_equals(near, utils, fast, slow):
    bounds = {"beta_fast": fast, "beta_slow": slow}
    for head in near.heads:
        inv_freq, _ = theirs(utils, "yarn", head, **trained_at(4096, 32.0), **bounds)
        near(scaling.yarn(inverse_frequencies(*head), 32, 4096, **bounds), inv_freq)


@pytest.mark.parametrize(("length", "factor"), GRID)
def test_llama3_equals(near, utils, length, factor):
    for low, high in ((1.0, 4.0), (0.5, 8.0)):
        bounds = {"low_freq_factor": low, "high_freq_factor": high}
        for head in near.heads:
            inv_freq, attention_factor = theirs(
                utils, "llama3", head, **trained_at(length, factor), **bounds
            )
            ours = scaling.llama3(inverse_frequencies(*head), factor, length, **bounds)
            near(ours, inv_freq)
            assert attention_factor == 1
    inv_freq, _ = theirs(utils, "llama3", HEADS[0], **trained_at(length, factor), **bounds)
    with pytest.raises(AssertionError):
        near(scaling.llama3(inverse_frequencies(*HEADS[0]), factor, length), inv_freq)


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
def test_truncated_equals_proportional(near, utils, fraction):
    for head in near.heads:
        inv_freq, attention_factor = theirs(
            utils, "proportional", head, 2048, partial_rotary_factor=fraction
        )
        near(scaling.truncated(inverse_frequencies(*head), fraction), inv_freq)
        assert attention_factor == 1


def test_where_their_index_ramp_has_its_bounds_crossed_it_runs_backwards(utils):
    """Trained at 3 tokens, no pair finishes a turn: theirs divides none of them, ours all but one.

    It takes a length below 2π, or a last pair that turns more than 32 times.
    """
    inv_freq, _ = theirs(utils, "yarn", HEADS[0], **trained_at(3, 4.0))
    w = inverse_frequencies(*HEADS[0])
    np.testing.assert_allclose(inv_freq, w, rtol=1e-6)
    np.testing.assert_allclose(scaling.yarn(w, 4, 3)[1:], w[1:] / 4, rtol=1e-15)
