"""Faults that people reported in offsets, caches, padding and packing: each law rejects its fault.

Each test keeps the faulty version in a few lines and gives it to the assertion that passes here.
"""

import functools

import pytest
import torch
from tiny import FAR, MODELS, W, in_chunks, make, near, tokens
from torch_schemes import tells_apart

from lessons import layers, positions
from lessons.cache import KVCache
from lessons.model import TinyTransformer

SEES_OFFSETS = [name for name in MODELS if name not in ("none", "none windows")]
TWO = torch.float64


# Offsets.


def test_tables_kept_by_length_alone_forget_the_offset():
    @functools.cache
    def by_length(length):
        return {}

    def faulty(x, n):
        kept = by_length(len(n))
        return kept.setdefault("cos", layers.Rotary(W, FAR).cos[n])

    def law(table):
        first, later = table(None, torch.arange(4)), table(None, torch.arange(4) + 5)
        assert (first - later).abs().max() > 0.1
        near(later, layers.Rotary(W, FAR).cos[5:9])

    tells_apart(law, lambda x, n: layers.Rotary(W, FAR).cos[n], faulty)


@pytest.mark.parametrize("name", SEES_OFFSETS)
def test_a_decode_step_at_row_0_of_the_table(name):
    model, ids = make(name, TWO), tokens(seq=7)
    full = model(ids)

    def decoded(step_positions):
        cache = model.new_cache()
        model(ids[:, :6], cache=cache)
        return model(ids[:, 6:], positions=step_positions(cache), cache=cache)[:, 0]

    def law(step_positions):
        near(decoded(step_positions), full[:, 6])

    row_0 = lambda cache: torch.tensor([0])  # noqa: E731
    tells_apart(law, lambda cache: cache.next_positions(1), row_0)
    assert (decoded(row_0) - full[:, 6]).abs().max() > 1e-2


def test_a_shift_common_to_prefill_and_decode_changes_nothing_for_rope():
    model, ids = make("rope", TWO), tokens(seq=7)
    cache = model.new_cache()
    model(ids[:, :6], positions=torch.arange(6) + 9, cache=cache)
    near(model(ids[:, 6:], cache=cache)[:, 0], model(ids)[:, 6], 1e-6)


# One counter for all layers.


class CountsInLayer0(KVCache):
    """The first layer moves the counter on, so the others are a step ahead."""

    def append(self, layer, k, v, positions):
        ahead = positions if layer == 0 else positions + k.shape[-2]
        return super().append(layer, k, v, ahead)


class Mutates(KVCache):
    """The positions that were handed in are written to."""

    def append(self, layer, k, v, positions):
        held = super().append(layer, k, v, positions)
        positions += k.shape[-2]
        return held


def test_every_layer_sees_the_same_positions():
    ids = tokens()

    def law(kind):
        model, cache, seen = make("rope", TWO), kind(2), []
        scheme = model.schemes[0]  # one for both layers
        rotate = scheme.rotate
        scheme.rotate = lambda x, n: seen.append(n.tolist()) or rotate(x, n)
        model(ids[:, :5], positions=torch.arange(5), cache=cache)
        assert all(n == list(range(5)) for n in seen) and len(seen) == 4
        assert [entry[2].tolist() for entry in cache._entries] == [list(range(5))] * 2

    tells_apart(law, KVCache, CountsInLayer0, Mutates)


def test_a_counter_that_eviction_sets_back():
    class FromLength(KVCache):
        def next_positions(self, seq_len, device=None):
            return len(self) + torch.arange(seq_len)

    ids, mask = tokens(seq=10), torch.ones(10, 10, dtype=torch.bool)
    mask[9, 1:6] = False

    def law(kind):
        model, cache = make("rope", TWO), kind(2)
        model(ids[:, :9], cache=cache)
        cache.evict([0, 6, 7, 8])
        near(model(ids[:, 9:], cache=cache)[:, 0], model(ids, mask=mask)[:, 9])

    tells_apart(law, KVCache, FromLength)


# What is counted from the length of the queries.


def test_a_scale_centred_on_the_queries_of_one_call():
    class Faulty(layers.LogQueries):  # as in one-token steps, every query is the middle one
        def scale(self, q_positions):
            return super().scale(q_positions - len(q_positions) // 2 + 6)

    ids = tokens()

    def law(kind):
        model = TinyTransformer(make().config, kind(layers.Rotary(W, FAR), 4)).to(TWO)
        near(in_chunks(model, ids, 1), model(ids))

    tells_apart(law, layers.LogQueries, Faulty)


# Padding and packing, through the whole model.


@pytest.mark.parametrize("name", SEES_OFFSETS)
def test_positions_counted_from_the_pad(name):
    real = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]]).bool()
    model, ids = make(name, TWO), tokens(seq=7)

    def law(count):
        n = count(real)
        near(model(ids, positions=n, mask=real[:, None, None])[0, 3:], model(ids[:1, 3:])[0])

    def ours(real):
        return torch.from_numpy(positions.from_padding_mask(real.numpy()))

    law(ours)
    if name in ("sinusoidal", "learned", "log queries"):  # the others know only differences
        tells_apart(law, ours, lambda real: torch.arange(7).expand(2, -1))


@pytest.mark.parametrize("name", ["sinusoidal", "rope", "alibi", "none"])
def test_packed_documents_need_positions_of_their_own_and_a_mask(name):
    lengths = [3, 2, 4]
    model, ids = make(name, TWO), tokens(seq=9)
    n = torch.from_numpy(positions.from_lengths(lengths))
    mask = torch.from_numpy(positions.document_mask(lengths))
    apart = torch.cat([model(part) for part in ids.split(lengths, 1)], 1)

    def law(given):
        near(model(ids, **given), apart, 1e-6)

    both = {"positions": n, "mask": mask}
    tells_apart(law, both, {"positions": n}, {})
    if name == "sinusoidal":
        tells_apart(law, both, {"mask": mask})
    else:  # a mask alone is enough where only differences count
        law({"mask": mask})


def test_the_next_token_after_padding_counted_from_the_padded_length():
    class FromLength(KVCache):
        def next_positions(self, seq_len, device=None):
            start = 0 if len(self) == 0 else self.positions.shape[-1]
            return (start + torch.arange(seq_len)).expand(2, -1)

    real = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7]).bool()
    n, ids = torch.from_numpy(positions.from_padding_mask(real[:, :6].numpy())), tokens(seq=7)
    model = make("rope", TWO)

    def law(kind):
        cache = kind(2)
        model(ids[:, :6], positions=n, mask=real[:, None, None, :6], cache=cache)
        step = model(ids[:, 6:], mask=real[:, None, None], cache=cache)
        near(step[0, 0], model(ids[:1, 2:])[0, -1])

    tells_apart(law, KVCache, FromLength)
