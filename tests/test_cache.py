"""The key/value cache: what it holds, what it forgets, moves and notices."""

import pytest
import torch
from tiny import ADDED, FAR, HEADS, MODELS, D, W, in_chunks, make, near, tokens

from lessons import layers
from lessons.cache import KVCache

HEAD_DIM = D // HEADS
ROPE = layers.Rotary(W, FAR)


def keys(seq, batch=2, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, HEADS, seq, HEAD_DIM, generator=generator).to(dtype)


def filled(positions, n_layers=2, scheme=ROPE):
    """(cache, keys before their rotation, values), the same in every layer."""
    cache, k, v = KVCache(n_layers), keys(positions.shape[-1]), keys(positions.shape[-1], seed=1)
    for layer in range(n_layers):
        cache.append(layer, scheme.rotate(k, positions), v, positions)
    return cache, k, v


ROWS = torch.stack([torch.arange(9), torch.arange(9) + 4])
EITHER = pytest.mark.parametrize("n", [torch.arange(9), ROWS], ids=["(seq,)", "(batch, seq)"])


# What it holds.


@EITHER
def test_what_was_appended_comes_back_in_order(n):
    cache, k, v = KVCache(2), keys(9), keys(9, seed=1)
    assert len(cache) == 0 and cache.positions is None
    for start, end in ((0, 4), (4, 5), (5, 9)):
        for layer in range(2):
            part = (k[:, :, start:end], v[:, :, start:end], n[..., start:end])
            held = cache.append(layer, *part)
            for found, whole in zip(
                held, (k[:, :, :end], v[:, :, :end], n[..., :end]), strict=True
            ):
                assert torch.equal(found, whole)
        assert len(cache) == end and torch.equal(cache.positions, n[..., :end])


def test_next_positions_go_on_where_each_row_ends():
    cache = KVCache(2)
    assert cache.next_positions(3).tolist() == [0, 1, 2]
    cache, *_ = filled(ROWS)
    assert cache.next_positions(2).tolist() == [[9, 10], [13, 14]]
    assert cache.next_positions(0).shape == (2, 0)
    padded = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])
    assert filled(padded)[0].next_positions(1).tolist() == [[3], [5]]
    assert cache.next_positions(1).dtype == torch.int64


def test_reading_the_cache_changes_nothing():
    cache, *_ = filled(ROWS)
    before = [tuple(part.clone() for part in entry) for entry in cache._entries]
    cache.next_positions(3), len(cache), cache.positions, cache.evict(range(9))
    for old, new in zip(before, cache._entries, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(old, new, strict=True))


# Forgetting, and closing the gap.


@EITHER
def test_evict_keeps_the_slots_asked_for_with_their_positions(n):
    cache, k, v = filled(n)
    cache.evict([0, 1, 7, 8])
    assert torch.equal(cache.positions, n[..., [0, 1, 7, 8]])
    for held_k, held_v, _ in cache._entries:
        assert torch.equal(held_k, ROPE.rotate(k, n)[:, :, [0, 1, 7, 8]])
        assert torch.equal(held_v, v[:, :, [0, 1, 7, 8]])
    # The farthest decides, wherever it stands.
    cache.evict([3, 0])
    assert torch.equal(cache.next_positions(1), n[..., 8:] + 1)


def test_after_everything_was_evicted_the_cache_is_as_new():
    cache, *_ = filled(ROWS)
    cache.evict([])
    assert len(cache) == 0 and cache.next_positions(2).tolist() == [0, 1]
    cache.append(0, keys(3, batch=5), keys(3, batch=5), torch.arange(3))


ROTARY = {
    "half": ROPE,
    "interleaved": layers.Rotary(W, FAR, pairing="interleaved"),
    "partial": layers.Rotary(W[:2], FAR),
    "louder": layers.Rotary(W, FAR, attention_factor=1.3),
    "log queries": layers.LogQueries(ROPE, 4),
}


@EITHER
@pytest.mark.parametrize("name", ROTARY)
def test_renumbered_keys_equal_fresh_ones(name, n):
    scheme = ROTARY[name]
    cache, k, v = filled(n, scheme=scheme)
    kept = [0, 1, 2, 3, 6, 7, 8]
    cache.evict(kept)
    closed = torch.arange(7) if n.ndim == 1 else torch.stack([torch.arange(7)] * 2)
    cache.renumber(closed, [scheme, scheme])
    assert torch.equal(cache.positions, closed)
    for held_k, held_v, _ in cache._entries:
        near(held_k, scheme.rotate(k[:, :, kept], closed), 1e-6)
        assert torch.equal(held_v, v[:, :, kept])
    cache.renumber(closed + 20, [scheme, scheme])  # forwards too
    near(cache._entries[1][0], scheme.rotate(k[:, :, kept], closed + 20), 1e-6)


@pytest.mark.parametrize("name", ["rope", "alibi", "none", "t5", "louder"])
def test_a_model_reads_on_as_if_the_evicted_tokens_had_never_been(name):
    # One layer: its keys hold nothing of the tokens before them, so fresh ones are the same.
    model, ids = make(name, torch.float64, n_layers=1), tokens(seq=10)
    kept, cache = [0, 1, 5, 6, 7, 8], model.new_cache()
    model(ids[:, :9], cache=cache)
    cache.evict(kept)
    cache.renumber(torch.arange(6), model.schemes)
    step = model(ids[:, 9:], cache=cache)
    near(step[:, -1], model(ids[:, [*kept, 9]])[:, -1], 1e-6)


@pytest.mark.parametrize("name", sorted(name for name in ADDED if "," not in name))
def test_a_scheme_that_adds_refuses_to_move_its_keys(name):
    model, cache = make(name), make(name).new_cache()
    model(tokens(), cache=cache)
    cache.evict([0, 5, 6])
    before = [entry[0].clone() for entry in cache._entries]
    with pytest.raises(ValueError, match=r"^k was made with (Sinusoidal|Learned) vectors"):
        cache.renumber(torch.arange(3), model.schemes)
    assert cache.positions.tolist() == [0, 5, 6]
    assert all(torch.equal(a, b[0]) for a, b in zip(before, cache._entries, strict=True))


def test_eviction_without_renumbering_keeps_distances():
    model, ids = make("rope", torch.float64), tokens(seq=10)
    cache = model.new_cache()
    model(ids[:, :9], cache=cache)
    cache.evict([0, 6, 7, 8])
    assert cache.next_positions(1).tolist() == [9]  # not 4: the kept keys stand where they stood
    mask = torch.ones(10, 10, dtype=torch.bool)
    mask[9, [1, 2, 3, 4, 5]] = False
    near(model(ids[:, 9:], cache=cache)[:, -1], model(ids, mask=mask)[:, -1])


# What it notices.


@pytest.mark.parametrize("name", MODELS)
def test_a_forward_that_broke_off_is_noticed(name, monkeypatch):
    model, ids = make(name), tokens()
    cache = model.new_cache()
    model(ids[:, :4], cache=cache)
    with monkeypatch.context() as patch:
        patch.setattr(model.blocks[1], "forward", lambda *a, **k: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model(ids[:, 4:5], cache=cache)
    for use in (
        lambda: model(ids[:, 4:5], cache=cache),
        lambda: model(ids[:, 4:5], positions=torch.tensor([4]), cache=cache),
        lambda: cache.positions,
        lambda: len(cache),
        lambda: cache.evict([0]),
    ):
        with pytest.raises(ValueError, match=r"different numbers of keys, \[4, 5\].*new cache"):
            use()


def test_a_refused_forward_leaves_the_cache_as_it_was():
    model, ids = make("rope"), tokens()
    cache = model.new_cache()
    model(ids[:, :4], cache=cache)
    with pytest.raises(ValueError):
        model(ids[:, 4:5], positions=torch.tensor([FAR]), cache=cache)
    with pytest.raises(TypeError):
        model(ids[:, 4:5], mask=torch.ones(5), cache=cache)
    near(in_chunks(model, ids[:, 4:], 1, cache), model(ids)[:, 4:])


# What no larger example tells apart.


def test_a_layer_that_was_given_nothing_is_as_empty_as_one_that_was_not_asked():
    cache = KVCache(2)
    cache.append(0, keys(0), keys(0), torch.arange(0))
    assert len(cache) == 0 and cache.positions.shape == (0,)
    cache.append(0, keys(1), keys(1), torch.arange(1))
    with pytest.raises(ValueError, match=r"different numbers of keys, \[0, 1\]"):
        len(cache)


def test_values_may_be_of_another_width_than_keys():
    cache = KVCache(1)
    wide = torch.cat([keys(2), keys(2)], -1)
    for start in (0, 2):
        _, held, _ = cache.append(0, keys(2), wide, torch.arange(start, start + 2))
    assert torch.equal(held, torch.cat([wide, wide], -2))


def test_one_slot_alone_can_be_kept():
    cache, *_ = filled(ROWS)
    cache.evict([2])
    assert torch.equal(cache.positions, ROWS[:, [2]])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda cache: cache.evict([10]), "keep"),
        (lambda cache: cache.renumber(ROWS, [ROPE] * 3), "schemes"),
        (lambda cache: cache.renumber(torch.arange(20).view(2, 10), [ROPE] * 2), "positions"),
        (lambda cache: cache.append(3, keys(1), keys(1), ROWS[:, :1]), "layer"),
        (lambda cache: cache.append(0, keys(1), keys(1), torch.arange(1)), "positions must be bat"),
        (lambda cache: cache.append(0, keys(1), keys(1)[:, [0, 0, 0]], ROWS[:, :1]), "k and v"),
        (lambda cache: cache.append(0, keys(1)[:, None], keys(1)[:, None], ROWS[:, :1]), "k and v"),
    ],
)
def test_more_than_fits_is_refused_like_less(call, named):
    cache, *_ = filled(ROWS)
    with pytest.raises(ValueError, match=named):
        call(cache)
