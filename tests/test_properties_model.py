"""Laws of the model and its cache: causality, windows, chunks, padding, packing, eviction."""

import copy
import dataclasses
import itertools

import numpy as np
import pytest
import tiny
import torch
from drawn import FAR, about, normal, seeds, slow
from drawn_torch import places, sizes
from hypothesis import given
from hypothesis import strategies as st

from lessons import cache, layers, model, per_layer, positions

names = st.sampled_from(list(tiny.MODELS))
ABSOLUTE = tiny.ADDED | {name for name in tiny.MODELS if "log" in name}
relative = st.sampled_from(sorted(set(tiny.MODELS) - ABSOLUTE))
# One scheme, no vectors added: the cached key of a token can be moved.
movable = st.sampled_from(["none", "rope", "interleaved", "partial", "louder", "alibi", "t5"])
texts = st.integers(2, 10)


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def cut(data, seq):
    """Sizes of chunks that sum to seq."""
    ends = data.draw(st.sets(st.integers(1, seq - 1))) if seq > 1 else set()
    return np.diff([0, *sorted(ends), seq]).tolist()


def made(name, **options):
    return tiny.make(name, torch.float64, **options)


def rising(data, batch, seq):
    """Positions that rise in every row with gaps, (seq,) or (batch, seq)."""
    at = places(data.draw, batch, seq, 4).long() + 1
    return at.cumsum(-1) - at[..., :1] + data.draw(st.integers(0, tiny.FAR - 5 * seq - 1))


@about(model.TinyTransformer, cache.KVCache)
@given(names, seeds, sizes, texts, st.data())
def test_any_chunks_through_the_cache_give_the_logits_of_the_full_pass(
    name, seed, batch, seq, data
):
    reader, ids = made(name), tiny.tokens(batch, seq, seed)
    wanted = reader(ids)
    tiny.near(tiny.in_chunks(reader, ids, cut(data, seq)), wanted)
    at, held, parts = rising(data, batch, seq), reader.new_cache(), []
    pieces = cut(data, seq)
    for part, where in zip(ids.split(pieces, 1), at.split(pieces, -1), strict=True):
        parts.append(reader(part, positions=where, cache=held))
    tiny.near(torch.cat(parts, 1), reader(ids, positions=at))
    assert len(held) == seq and torch.equal(held.positions, at)
    assert torch.equal(held.next_positions(2), at[..., -1:] + torch.tensor([1, 2]))


@about(model.TinyTransformer)
@given(names, seeds, sizes, texts, st.data())
def test_what_comes_later_changes_nothing_before(name, seed, batch, seq, data):
    reader, ids, at = made(name), tiny.tokens(batch, seq, seed), rising(data, batch, seq)
    since = data.draw(st.integers(1, seq))
    other = ids.clone()
    other[:, since:] = tiny.tokens(batch, seq, seed + 1)[:, since:]
    tiny.near(reader(other, positions=at)[:, :since], reader(ids, positions=at)[:, :since])
    order = torch.from_numpy(np.random.default_rng(seed).permutation(seq))
    moved = reader(ids[:, order], positions=at[..., order])  # positions decide, not the order
    tiny.near(moved, reader(ids, positions=at)[:, order])


@about(model.TinyTransformer)
@given(relative, seeds, sizes, texts, st.data())
def test_relative_schemes_do_not_see_a_common_offset(name, seed, batch, seq, data):
    reader, ids, at = made(name), tiny.tokens(batch, seq, seed), rising(data, batch, seq)
    bounded = any(s.max_len for s in reader.schemes)
    by = data.draw(st.integers(0, tiny.FAR - 1 - at.max().item() if bounded else FAR))
    tiny.near(reader(ids, positions=at + by), reader(ids, positions=at), 1e-5)


@about(per_layer.PerLayer)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.lists(st.integers(0, 4), max_size=3))
def test_layers_keep_their_schemes_and_every_module_has_one_place(layers_, wraps):
    pool = [layers.T5Bias(1), layers.Alibi(1)]
    for inner in wraps:  # each may wrap any that was there before
        pool.append(layers.LogQueries(pool[inner % len(pool)], 4))
    given_ = [pool[which % len(pool)] for which in layers_]
    each, at = per_layer.PerLayer(given_), torch.arange(9)
    assert len(each) == len(given_) and [type(s) for s in each] == [type(s) for s in given_]
    for one, other in zip(each, given_, strict=True):
        assert torch.equal(one.bias(at, at), other.bias(at, at))
    for a, b in itertools.combinations(range(len(given_)), 2):
        assert (each.paths[a] == each.paths[b]) == (given_[a] is given_[b])
    assert list(each.by_path()) == list(dict.fromkeys(each.paths))
    assert len(list(each.named_modules())) == len(list(each.named_modules(remove_duplicate=False)))
    needed = {id(m) for s in given_ for m in s.parameters()}
    assert {id(m) for m in each.parameters()} == needed


@about(model.TinyTransformer, model.ModelConfig)
@given(movable, seeds, texts, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_windows_end_what_a_token_knows(name, seed, seq, windows):
    like = made(name, n_layers=len(windows))
    config = dataclasses.replace(like.config, windows=windows)
    assert config == model.ModelConfig(**dataclasses.asdict(config))
    reader = model.TinyTransformer(config, list(like.schemes)).double()
    reader.load_state_dict(like.state_dict())
    ids, other = tiny.tokens(1, seq, seed), tiny.tokens(1, seq, seed)
    other[:, 0] = (other[:, 0] + 1) % tiny.VOCAB
    reach = sum(window - 1 for window in windows)
    found, wanted = reader(other), reader(ids)
    tiny.near(found[:, reach + 1 :], wanted[:, reach + 1 :])
    assert (found[:, 0] != wanted[:, 0]).any()


@about(model.TinyTransformer, positions.from_padding_mask)
@given(names, seeds, texts, st.integers(0, 4), st.integers(0, 4))
def test_padding_on_either_side_changes_no_real_token(name, seed, seq, left, right):
    reader, ids = made(name), tiny.tokens(2, seq, seed)
    padded = torch.nn.functional.pad(ids, (left, right))
    real = torch.nn.functional.pad(torch.ones_like(ids).bool(), (left, right))
    at = torch.from_numpy(positions.from_padding_mask(real.numpy()))
    found = reader(padded, positions=at, mask=real[:, None, None, :])
    tiny.near(found[:, left : left + seq], reader(ids))
    assert found.isfinite().all()


@about(model.TinyTransformer, positions.from_lengths, positions.document_mask)
@given(names, seeds, st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_packed_documents_are_read_as_if_alone(name, seed, lengths):
    reader, ids = made(name), tiny.tokens(2, sum(lengths), seed)
    at = torch.from_numpy(positions.from_lengths(lengths))
    own = torch.from_numpy(positions.document_mask(lengths))
    order = torch.arange(len(at))
    found = reader(ids, positions=at, mask=own & (order <= order[:, None]))
    for part, alone in zip(found.split(lengths, 1), ids.split(lengths, 1), strict=True):
        tiny.near(part, reader(alone))


@about(cache.KVCache)
@given(movable, seeds, texts, st.data())
def test_evicted_and_renumbered_keys_are_those_of_the_kept_tokens_alone(name, seed, seq, data):
    reader, ids = made(name, n_layers=1), tiny.tokens(2, seq + 1, seed)
    before, following = ids[:, :seq], ids[:, seq:]
    slots = st.lists(st.integers(0, seq - 1), min_size=1, unique=True)
    keep = sorted(data.draw(slots))
    held = reader.new_cache()
    reader(before, cache=held)
    held.evict(keep)
    text = torch.cat([before[:, keep], following], 1)
    gaps = torch.tensor([*keep, seq])
    there = copy.deepcopy(held)
    found = reader(following, positions=gaps[-1:], cache=there)
    tiny.near(found, reader(text, positions=gaps)[:, -1:])
    held.renumber(torch.arange(len(keep)), reader.schemes)
    assert held.next_positions(1).tolist() == [len(keep)]
    tiny.near(reader(following, cache=held), reader(text)[:, -1:], 1e-5)


@about(cache.KVCache)
@given(seeds, st.integers(1, 3), sizes, sizes, st.data())
def test_a_cache_holds_what_was_appended_and_keeps_the_slots_that_were_named(
    seed, n_layers, batch, heads, data
):
    held, pieces, seq = cache.KVCache(n_layers), cut(data, 7), 7
    k, v = (torch.from_numpy(normal(seed + i, batch, heads, seq, 4 - i)) for i in range(2))
    at = places(data.draw, batch, seq, FAR)
    for k_new, v_new, new in zip(
        k.split(pieces, -2), v.split(pieces, -2), at.split(pieces, -1), strict=True
    ):
        stood = held.with_new(new)
        for layer in range(n_layers):
            found = held.append(layer, k_new, v_new, new)
        assert torch.equal(stood, found[2]) and torch.equal(held.positions, stood)
    assert torch.equal(found[0], k) and torch.equal(found[1], v) and torch.equal(found[2], at)
    keep = data.draw(st.lists(st.integers(0, seq - 1), unique=True, min_size=1))
    held.evict(keep)
    assert len(held) == len(keep) and torch.equal(held.positions, at[..., keep])
    held.evict([])
    assert len(held) == 0 and held.positions is None


@about(model.TinyTransformer)
@slow()
@given(names, seeds, sizes, texts, st.sampled_from([torch.float32, torch.bfloat16]))
def test_gradients_are_finite_and_the_meta_device_gives_the_same_shapes(
    name, seed, batch, seq, dtype
):
    reader, ids = tiny.make(name, dtype), tiny.tokens(batch, seq, seed)
    found = reader(ids)
    assert found.shape == (batch, seq, tiny.VOCAB) and found.dtype == dtype
    there = copy.deepcopy(reader).to("meta")(ids.to("meta"))
    assert there.is_meta and there.shape == found.shape and there.dtype == dtype
    with torch.enable_grad():
        scores = reader(ids).flatten(0, 1).float()
        torch.nn.functional.cross_entropy(scores, ids.flatten()).backward()
    for weight in reader.parameters():
        assert weight.grad is not None and weight.grad.isfinite().all()
    assert torch.equal(reader(ids.int()), found)
    row = reader(ids[:1])
    tiny.near(row.double(), found[:1].double(), 0.2 if dtype == torch.bfloat16 else 1e-4)


@about(layers.NoPosition)
@given(seeds, texts)
def test_without_a_scheme_the_last_token_sees_a_set(seed, seq):
    reader, ids = made("none", n_layers=1), tiny.tokens(2, seq, seed)
    order = [*np.random.default_rng(seed).permutation(seq - 1), seq - 1]
    tiny.near(reader(ids[:, order])[:, -1], reader(ids)[:, -1])
