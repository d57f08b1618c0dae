"""Faults that people reported in longer contexts, padding and packing: each law rejects its fault.

Each test keeps the faulty version in a few lines and gives it to the assertion that passes here.
"""

import numpy as np
import pytest
import torch

from lessons import layers, positions, scaling
from lessons.attention import attend, causal_mask
from lessons.frequencies import inverse_frequencies
from lessons.rope import rotate
from lessons.sinusoidal import encode

D = 16
W = inverse_frequencies(D)
X = np.random.default_rng(0).normal(size=(9, D))


def tells_apart(law, right, *faulty):
    law(right)
    for fault in faulty:
        with pytest.raises((AssertionError, ValueError)):
            law(fault)


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


# Rules for longer contexts.


def test_a_short_text_after_a_long_one_gets_the_frequencies_of_its_own_length():
    longest = 0

    def grows_only(w, factor, seq_len, length):
        nonlocal longest
        longest = max(longest, seq_len)
        return scaling.dynamic_ntk(w, factor, longest, length)

    def static(w, factor, seq_len, length):
        return scaling.ntk(w, factor)

    def doubled(w, factor, seq_len, length):  # as positions 2n would
        return 2 * scaling.dynamic_ntk(w, factor, seq_len, length)

    def law(rule):
        w, found = inverse_frequencies(128), []
        for seq_len in (2048, 8192, 1000, 4096):
            scaled = rule(w, 2, seq_len, 2048)
            assert scaled[0] == w[0]
            found.append(scaling.theta(scaled))
        np.testing.assert_allclose(found, [10_000, 72195.86, 10_000, 30527.74], atol=0.005)

    tells_apart(law, scaling.dynamic_ntk, grows_only, static, doubled)


def switched(seq_len):
    """The kind of LongRoPE: other frequencies as soon as the text is longer than the training."""
    return W if seq_len <= 8 else scaling.linear(W, 4)


LENGTH_DECIDES = {"dynamic": lambda n: scaling.dynamic_ntk(W, 4, n, 8), "switched": switched}
Q, K = np.random.default_rng(1).normal(size=(2, 24, D))


@pytest.mark.parametrize("name", LENGTH_DECIDES)
def test_keys_rotated_at_another_length_are_stale(name):
    inv_freq = LENGTH_DECIDES[name]

    def rotated_when_used(n):
        return rotate(K[:n], range(n), inv_freq(n))

    def rotated_when_they_came(n):
        return np.concatenate([rotate(K[m : m + 1], [m], inv_freq(m + 1)) for m in range(n)])

    def law(keys, lengths=(7, 8, 9, 10, 24)):
        for n in lengths:
            q, k = (rotate(x[:n], range(n), inv_freq(n)) for x in (Q, K))  # a full pass
            near(q[-1:] @ keys(n).T, q[-1:] @ k.T)

    tells_apart(law, rotated_when_used, rotated_when_they_came)
    law(rotated_when_they_came, (7, 8))  # texts up to the trained length never show it


def test_frequencies_fixed_for_the_whole_text_let_keys_be_cached_rotated():
    inv_freq = scaling.ntk(W, 3)  # the factor of the longest text that is to come
    cached = np.concatenate([rotate(K[m : m + 1], [m], inv_freq) for m in range(24)])
    near(cached, rotate(K, range(24), inv_freq))


def test_yarns_magnitude_goes_once_to_cos_and_sin_so_that_scores_take_its_square():
    factor, n = scaling.yarn_attention_factor(16), torch.arange(24)
    inv_freq = scaling.yarn(W, 16, 8)
    ours, plain = (layers.Rotary(inv_freq, 40, attention_factor=f) for f in (factor, 1.0))
    q, k = (torch.from_numpy(x)[None] for x in (Q, K))

    def turned(q, k):
        return ours.rotate(q, n), ours.rotate(k, n)

    def ignored(q, k):
        return plain.rotate(q, n), plain.rotate(k, n)

    def twice(q, k):
        return factor * ours.rotate(q, n), factor * ours.rotate(k, n)

    def queries_only(q, k):
        return ours.rotate(q, n), plain.rotate(k, n)

    def cos_only(q, k):  # x cos and the quarter turn times sin, of which one grows
        return [plain.rotate(x, n) + (factor - 1) * plain.cos[n].repeat(1, 2) * x for x in (q, k)]

    def law(turn):
        q_turned, k_turned = turn(q, k)
        q_plain, k_plain = ignored(q, k)
        wanted = factor**2 * (q_plain @ k_plain.mT)
        torch.testing.assert_close(q_turned @ k_turned.mT, wanted, rtol=1e-6, atol=1e-5)

    tells_apart(law, turned, ignored, twice, queries_only, cos_only)
    assert abs(factor - 1.2773) < 5e-5 and abs(factor**2 - 1.6314) < 5e-5


def test_a_cached_key_that_is_moved_does_not_take_yarns_magnitude_again():
    ours = layers.Rotary(W, 40, attention_factor=1.2773)
    k, n = torch.from_numpy(K)[None], torch.arange(24) + 9
    cached = ours.rotate(k, n)

    def again(cached, offset):
        return 1.2773 * ours.shift(cached, offset)

    def law(move):
        moved = move(cached, -9)
        torch.testing.assert_close(moved, ours.rotate(k, n - 9), rtol=1e-5, atol=1e-5)

    tells_apart(law, ours.shift, again)


@pytest.mark.parametrize("theta", [10_000.0, 1_000_000.0])
def test_the_base_belongs_to_the_weights(theta):
    w = inverse_frequencies(128, theta)  # as the model was trained: LLaMA, Code Llama

    def base_assumed(w, factor):
        return inverse_frequencies(128, 10_000 * factor ** (128 / 126))

    def law(rule):
        for factor in (2, 4, 8, 16):
            base = theta * factor ** (128 / 126)
            np.testing.assert_allclose(rule(w, factor), inverse_frequencies(128, base), rtol=1e-12)

    if theta == 10_000:
        law(base_assumed)  # the model on which it was tried
        law(scaling.ntk)
    else:
        tells_apart(law, scaling.ntk, base_assumed)


def test_the_base_does_not_follow_the_size_of_the_buffer():
    def to_the_buffer(inv_freq, max_len):
        return layers.Rotary(scaling.linear(inv_freq, max(1, 64 / max_len)), max_len)

    def law(make):
        assert torch.equal(make(W, 16).cos, make(W, 64).cos[:16])
        assert torch.equal(make(W, 16).sin, make(W, 64).sin[:16])

    tells_apart(law, layers.Rotary, to_the_buffer)


# Padding and packing, with an encoding that is added and one that turns.


def added(x, n, mask):
    return attend(x + encode(n, D), x + encode(n, D), x, mask=mask)[0]


def turned(x, n, mask):
    return attend(rotate(x, n, W), rotate(x, n, W), x, mask=mask)[0]


REAL = np.arange(9) >= 4  # four pads, whose content must not matter, then five tokens


def counted_from_the_pad(mask):
    return np.arange(mask.shape[-1])


@pytest.mark.parametrize("scheme", [added, turned])
def test_positions_counted_from_the_pad(scheme):
    def law(make):
        n = make(REAL)
        out = scheme(X, n, causal_mask(n, n) & REAL)
        alone = np.arange(5)
        near(out[REAL], scheme(X[4:], alone, causal_mask(alone, alone)))

    if scheme is turned:
        law(counted_from_the_pad)  # a relative scheme never shows it
        law(positions.from_padding_mask)
    else:
        tells_apart(law, positions.from_padding_mask, counted_from_the_pad)


@pytest.mark.parametrize("scheme", [added, turned])
def test_the_next_token_counted_from_the_padded_length(scheme):
    """Both schemes show it where the text was counted right and the token after it was not."""

    def law(following):
        n = np.append(positions.from_padding_mask(REAL[:8]), following(REAL[:8]))
        out = scheme(X, n, causal_mask(n, n) & REAL)
        alone = np.arange(5)
        near(out[-1], scheme(X[4:], alone, causal_mask(alone, alone))[-1])

    tells_apart(law, np.sum, len)
    mask = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    assert positions.from_padding_mask(mask).tolist() == [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]
    assert mask.sum(-1).tolist() == [3, 5]


def test_pads_below_zero_are_in_no_table():
    def unfilled(mask):
        return np.cumsum(mask) - 1

    def law(make):
        n = torch.from_numpy(make(REAL))
        layers.Learned(D, 5).embed(torch.zeros(1, 9, D), n)

    tells_apart(law, positions.from_padding_mask, unfilled, counted_from_the_pad)


LENGTHS = [3, 2, 4]


@pytest.mark.parametrize("scheme", [added, turned])
def test_packed_documents_need_their_own_positions_and_a_mask(scheme):
    rows = np.arange(9)

    def both():
        n = positions.from_lengths(LENGTHS)
        return n, causal_mask(n, n) & positions.document_mask(LENGTHS)

    def positions_only():
        return positions.from_lengths(LENGTHS), causal_mask(rows, rows)

    def mask_only():
        return rows, causal_mask(rows, rows) & positions.document_mask(LENGTHS)

    def law(pack):
        out = np.split(scheme(X, *pack()), np.cumsum(LENGTHS)[:-1])
        for found, x in zip(out, np.split(X, np.cumsum(LENGTHS)[:-1]), strict=True):
            n = np.arange(len(x))
            near(found, scheme(x, n, causal_mask(n, n)))

    tells_apart(law, both, positions_only)
    if scheme is turned:
        law(mask_only)  # where only distances count, the mask is enough, in exact arithmetic
    else:
        tells_apart(law, both, mask_only)
    assert positions.from_lengths(LENGTHS).tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
