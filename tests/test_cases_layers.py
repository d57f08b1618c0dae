"""Faults that people reported in learned tables, rotary embeddings and score biases in torch.

Each test keeps the faulty version in a few lines and gives it to the assertion that passes here.
"""

import functools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_schemes import B, D, H, T, W, normal, same_but_for_rounding, tells_apart

from lessons import alibi, frequencies, layers, relative, rope

TWO = torch.float64


# Learned tables.


def test_position_past_the_table_named_before_the_look_up():
    scheme, x = layers.Learned(4, 1024), normal(1, 1, 4)

    def law(embed):
        assert torch.isfinite(embed(x, torch.tensor([1023]))).all()
        with pytest.raises(ValueError, match=r"positions.* 1023 .*1024.*got 1024"):
            embed(x, torch.tensor([1024]))

    def faulty(x, n):
        try:
            return x + F.embedding(n, scheme.weight)
        except IndexError as error:  # on a GPU: a device-side assert, and the process is lost
            raise ValueError(str(error)) from None

    tells_apart(law, scheme.embed, faulty)


def test_positions_that_start_after_the_padding_index():
    pad, ids = 1, torch.tensor([[5, 6, 7, 1, 1]])

    def ours(ids):
        real = (ids != pad).long()
        return real.cumsum(-1) * real + pad

    def law(positions):
        assert positions(ids).tolist() == [[2, 3, 4, 1, 1]]
        longest = positions(torch.full((1, 512), 5))
        layers.Learned(4, 514).check(longest)  # 512 tokens need 512 + pad + 1 rows
        with pytest.raises(ValueError, match="max_len 512"):
            layers.Learned(4, 512).check(longest)

    from_zero, pads_counted = torch.zeros_like, lambda ids: torch.arange(ids.shape[1])[None] + 2
    tells_apart(law, ours, from_zero, pads_counted)


# Layouts and axes of RoPE.


def per_head(matrix, heads, order):
    """The columns of each head (x is multiplied from the left) in another order."""
    return matrix.unflatten(-1, (heads, -1))[..., order].flatten(-2)


def attention_out(w_q, w_k, w_v, pairing):
    """Scores of position 5 for 2 and the output, three heads of eight channels."""
    x, n = normal(6, 24, seed=4, dtype=TWO), torch.arange(6)
    turn = layers.Rotary(frequencies.inverse_frequencies(8), 6, pairing=pairing).rotate
    q, k, v = ((x @ w).unflatten(-1, (3, 8)).transpose(0, 1) for w in (w_q, w_k, w_v))
    scores = turn(q, n) @ turn(k, n).transpose(-1, -2) / 8**0.5
    return scores, scores.softmax(-1) @ v


def test_weights_of_the_other_layout():
    weights = normal(3, 24, 24, seed=5, dtype=TWO)
    order = torch.tensor(rope.pairing_permutation(8))
    wanted, out = attention_out(*weights, "interleaved")

    def law(converted):
        scores, other_out = attention_out(*converted, "half")
        torch.testing.assert_close(scores, wanted, rtol=0, atol=1e-4)
        torch.testing.assert_close(other_out, out, rtol=0, atol=1e-4)

    q, k, v = weights
    q_k = [per_head(w, 3, order) for w in (q, k)]
    across_heads = [w[:, torch.tensor(rope.pairing_permutation(24))] for w in (q, k)]
    backwards = [per_head(w, 3, order.argsort()) for w in (q, k)]
    tells_apart(law, (*q_k, v), weights, (*across_heads, v), (*backwards, v), (q_k[0], k, v))
    tells_apart(law, (*q_k, v), (*q_k, per_head(v, 3, order)))  # v is not turned
    unconverted, _ = attention_out(*weights, "half")
    assert (unconverted - wanted)[:, 5, 2].abs().max() > 1


def test_a_layout_that_is_tried_at_position_0_only():
    half, other = (layers.Rotary(W, 64, pairing=pairing).rotate for pairing in rope.PAIRINGS)
    x = normal(B, H, T, D)

    def law(rotate, n):
        wanted = rope.rotate(x.numpy(), n.numpy(), W)
        np.testing.assert_allclose(rotate(x, n).numpy(), wanted, atol=1e-5)

    law(other, torch.zeros(T, dtype=torch.int64))  # there every layout is the identity
    tells_apart(functools.partial(law, n=torch.arange(T) + 3), half, other)


def test_heads_read_as_time():
    turn = layers.Rotary(W, 64).rotate

    def law(rotate):
        out = rotate(torch.ones(B, H, T, D))
        assert (out[:, 0] == out[:, 1]).all() and (out[:, :, 0] - out[:, :, 1]).abs().max() > 0.1

    def faulty(x):
        return turn(x.transpose(1, 2), torch.arange(H)).transpose(1, 2)

    tells_apart(law, lambda x: turn(x, torch.arange(T)), faulty)
    with pytest.raises(ValueError, match="positions must be"):  # and the other layout is refused
        turn(torch.ones(B, T, H, D), torch.arange(T))


# Precision of RoPE.


def cosines_are_right(cos, inv_freq):
    wanted = np.cos(rope.angles(np.arange(len(cos)), inv_freq))
    np.testing.assert_allclose(cos.double().numpy(), wanted, atol=1e-7)


def test_angles_in_half_precision():
    def faulty(inv_freq):
        turns = torch.arange(2048).half()[:, None] * torch.tensor(inv_freq).half()
        return turns.float().cos()

    def law(make):
        cosines_are_right(make(W), W)

    tells_apart(law, lambda inv_freq: layers.Rotary(inv_freq, 2048).half().cos, faulty)
    off = faulty(W).double().numpy() - np.cos(rope.angles(np.arange(2048), W))
    assert np.abs(off).max() == pytest.approx(0.7819, abs=1e-4)


def test_frequencies_rounded_by_a_move_of_the_model():
    inv_freq = frequencies.inverse_frequencies(128)
    n = np.arange(65_536)

    class Faulty(torch.nn.Module):
        def __init__(self, inv_freq, max_len):
            super().__init__()
            self.register_buffer("inv_freq", torch.tensor(inv_freq).float(), persistent=False)

        cos = property(lambda self: (torch.arange(65_536.0)[:, None] * self.inv_freq.float()).cos())

    def law(kind):
        cosines_are_right(kind(inv_freq, 65_536).to(torch.bfloat16).float().cos, inv_freq)

    tells_apart(law, layers.Rotary, Faulty)
    cos = Faulty(inv_freq, 65_536).to(torch.bfloat16).cos.double().numpy()
    off = np.abs(cos - np.cos(rope.angles(n, inv_freq)))
    assert off[:101].max() == pytest.approx(0.118, abs=1e-3) and off.max() > 1.99


def test_positions_that_pass_through_bfloat16():
    scheme, n = layers.Rotary([1e-3], 4096).bfloat16(), torch.arange(4096)
    x = torch.tensor([[1.0, 0.0]]).expand(4096, 2)

    def law(positions):
        assert len(scheme.rotate(x, positions).unique(dim=0)) == 4096

    tells_apart(law, n, n.bfloat16().long() % 4096)
    assert len(n.bfloat16().unique()) == 769
    with pytest.raises(TypeError, match=r"positions must be int64 or int32, got torch.bfloat16"):
        scheme.rotate(x, n.bfloat16())


def test_angles_as_a_matrix_product_in_tf32():
    def tf32(t):  # ten bits of mantissa are kept, to nearest
        return ((t.view(torch.int32) + 0x0FFF) & ~0x1FFF).view(torch.float32)

    def faulty(max_len):
        n, w = torch.arange(float(max_len)), torch.tensor([1.0, 0.5])
        return (tf32(n)[:, None] * tf32(w)).cos()

    def law(make):
        cosines_are_right(make(4096), [1.0, 0.5])

    tells_apart(law, lambda max_len: layers.Rotary([1.0, 0.5], max_len).cos, faulty)
    cosines_are_right(faulty(2049), [1.0, 0.5])  # exact as long as 2048 is not passed
    assert tf32(torch.tensor([2049.0])).item() in (2048, 2050)


def test_a_table_that_grows_when_it_is_used():
    class Faulty(layers.Rotary):
        def check(self, n, name="positions"):
            if n.max() >= self.max_len:
                self.__init__(self.inv_freq, 2 * self.max_len)

    def law(kind):
        scheme = kind(W, T)
        torch._dynamo.reset()
        rotate = torch.compile(scheme.rotate, backend="eager", fullgraph=True, dynamic=True)
        for length in (T, T - 4):
            q, n = normal(B, H, length, D), torch.arange(length)
            same_but_for_rounding(rotate(q, n), layers.Rotary(W, T).rotate(q, n))
        with pytest.raises(ValueError, match="max_len 17"):
            scheme.rotate(normal(B, H, T, D), torch.arange(T) + 1)
        assert scheme.cos.shape == (T, D // 2)

    law(layers.Rotary)
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        law(Faulty)


# Biases.


def test_bias_multiplied_in_bfloat16():
    n = torch.arange(2048)

    def law(bias):
        assert len(bias(n[-1:], n)[0, 0].unique()) == 2048

    def faulty(q_positions, k_positions):
        slopes = torch.tensor(alibi.slopes(8))[:, None, None]
        return slopes.bfloat16() * k_positions.bfloat16()

    tells_apart(law, layers.Alibi(8).bfloat16().bias, faulty)
    assert len(faulty(n, n)[0, 0].unique()) == 641


@pytest.mark.parametrize("make", [layers.Alibi, layers.T5Bias])
def test_bias_over_the_queries_only_or_lost_in_a_decode_step(make):
    scheme, n = make(H), torch.arange(40)
    for weight in scheme.parameters():
        torch.nn.init.normal_(weight, generator=torch.Generator().manual_seed(0))

    def law(bias):
        full, step = bias(n, n), bias(n[-1:], n)
        assert step.shape == (H, 1, 40)
        assert torch.equal(step[:, 0], full[:, -1])

    def over_queries(q_positions, k_positions):
        return scheme.bias(torch.arange(len(q_positions)), torch.arange(len(q_positions)))

    def counted_from_zero(q_positions, k_positions):
        return scheme.bias(torch.arange(len(q_positions)), k_positions)

    tells_apart(law, scheme.bias, over_queries, counted_from_zero)


def test_buckets_of_both_directions_in_a_causal_model():
    n, wanted = torch.arange(129), [0, 1, 15, 16, 21, 21, 26, 31, 31]

    class Faulty(layers.T5Bias):
        def __init__(self, n_heads):
            super().__init__(n_heads)
            both = relative.t5_bucket(-np.arange(129))
            self._add_table("begins", np.unique(both, return_index=True)[1])

    def law(kind):
        scheme = kind(1)
        scheme.weight.data = torch.arange(32.0)[:, None]
        row = scheme.bias(n[-1:], n)[0, 0].flip(0)
        assert row[[0, 1, 15, 16, 31, 32, 64, 127, 128]].tolist() == wanted

    tells_apart(law, layers.T5Bias, Faulty)
