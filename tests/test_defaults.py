"""A default dtype or device that somebody has set changes trained weights and nothing else."""

import pytest
import tiny
import torch
from refusals_torch import TABLE
from test_kinds import arrays, outcome
from torch_schemes import D, H, T, W, normal, positions

from lessons import attention_layer, cache, checkpoint, layers, recall_task, recipes, training

N = positions() % 64
Q, X, ROWS, BUCKETS = normal(2, H, T, D), normal(2, T, D), normal(64, D), normal(32, H)


@pytest.fixture(params=[torch.bfloat16, torch.float16, torch.float64], ids=str)
def default(request):
    torch.set_default_dtype(request.param)
    yield request.param
    torch.set_default_dtype(torch.float32)


def t5():
    """Its weights follow the default, as any layer's do; here they are float32 again."""
    scheme = layers.T5Bias(H).float()
    scheme.weight.data = BUCKETS
    return scheme


def learned():
    scheme = layers.Learned(D, 64).float()
    scheme.weight.data = ROWS
    return scheme


def cached():
    held = cache.KVCache(1)
    held.append(0, Q, Q, N)
    held.renumber(N.flip(-1), [layers.Rotary(W, 64)])
    return [*held._entries[0], held.next_positions(4)]


def drawn():
    return recall_task.sequences(4, 64, torch.Generator().manual_seed(3))


WORKS = {
    "sinusoidal": lambda: layers.Sinusoidal(D, 64).embed(X, N),
    "learned": lambda: learned().embed(X, N),
    "half": lambda: layers.Rotary(W, 64, attention_factor=1.1).rotate(Q, N),
    "interleaved": lambda: layers.Rotary(W, 64, pairing="interleaved").rotate(Q, N),
    "moved by a number": lambda: layers.Rotary(W, 64).shift(Q, 30_001),
    "moved by a tensor": lambda: layers.Rotary(W, 64).shift(Q, -N),
    "alibi": lambda: layers.Alibi(H).bias(N, N),
    "t5": lambda: t5().bias(N, N),
    "log": lambda: layers.LogQueries(layers.NoPosition(), 8).scale(N * 1000),
    "log of int32": lambda: layers.LogQueries(layers.NoPosition(), 8).scale(N.int()),
    "may look": lambda: attention_layer.may_look(N, N, 5),
    "terms": lambda: attention_layer.score_terms(Q, Q, t5().bias(N, N), torch.ones(T, T).bool()),
    "cache": cached,
    "recall": drawn,
}


@pytest.mark.parametrize("name", WORKS)
def test_what_is_made_and_used_under_another_default_is_the_same(name, default):
    found = arrays(WORKS[name]())
    torch.set_default_dtype(torch.float32)
    wanted = arrays(WORKS[name]())
    assert [one.dtype for one in found] == [one.dtype for one in wanted]
    assert all((one == other).all() for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", tiny.MODELS)
def test_a_model_of_float32_reads_the_same_under_another_default(name, default):
    ids = tiny.tokens()
    torch.set_default_dtype(torch.float32)
    model = tiny.make(name)
    cache_, wanted = model.new_cache(), model(ids)
    torch.set_default_dtype(default)
    assert torch.equal(model(ids), wanted) and wanted.dtype == torch.float32
    tiny.near(tiny.in_chunks(model, ids, [5, 4, 3], cache=cache_), wanted)
    made = tiny.make(name).float()  # made now: its tables must be those of float32
    made.load_state_dict(model.state_dict())
    assert torch.equal(made(ids), wanted)


def test_a_saved_model_comes_back_in_float32(default, tmp_path):
    torch.set_default_dtype(torch.float32)
    model = recipes.build(recipes.text_config(recipes.TEXT["t5"]), [recipes.T5], seed=3)
    checkpoint.save(tmp_path / "a.npz", model, [recipes.T5])
    wanted = checkpoint.load(tmp_path / "a.npz")[0](tiny.tokens())
    torch.set_default_dtype(default)
    assert torch.equal(checkpoint.load(tmp_path / "a.npz")[0](tiny.tokens()), wanted)


def test_targets_are_the_same_bytes_under_another_default(default):
    text = bytes(range(256)) * 40
    torch.set_default_dtype(torch.float32)
    model = tiny.TinyTransformer(tiny.ModelConfig(256, 16, 2, 1), layers.Alibi(2)).eval()
    wanted = training.last_losses(model, text, 8, n_targets=64, reach=1024)
    torch.set_default_dtype(default)
    assert torch.equal(training.last_losses(model, text, 8, n_targets=64, reach=1024), wanted)


def test_a_factor_in_the_default_dtype_is_seen():
    seen = torch.arange(64, 5000)
    wanted = layers.LogQueries(layers.NoPosition(), 64).scale(seen)[:, 0]
    torch.set_default_dtype(torch.bfloat16)
    try:
        faulty = (seen + 1).clamp(min=64).log() / torch.log(torch.tensor(64.0))
    finally:
        torch.set_default_dtype(torch.float32)
    assert (faulty.float() - wanted).abs().max() > 1e-3


@pytest.mark.parametrize("function", TABLE, ids=lambda f: f.__qualname__)
def test_every_function_gives_the_same_type_under_another_default(function, default):
    given = {name: good for name, (good, _) in TABLE[function].items()}
    how, found = outcome(function, given)
    torch.set_default_dtype(torch.float32)
    wanted_how, wanted = outcome(function, given)
    assert how == wanted_how
    if isinstance(wanted, torch.nn.Module):  # parameters follow the default
        found, wanted = list(found.buffers()), list(wanted.buffers())
    if not function.__module__.endswith(("recall_task", "recipes")):
        for one, other in zip(arrays(found), arrays(wanted), strict=True):
            assert one.dtype == other.dtype and (one == other).all()


def test_within_another_device_what_has_its_own_stays_there():
    rotary, held = layers.Rotary(W, 64), cache.KVCache(1)
    wanted = rotary.shift(Q, 5), rotary.rotate(Q, N), rotary.shift(Q, -N)
    model, ids = tiny.make("learned, t5"), tiny.tokens()
    logits = model(ids)
    with torch.device("meta"):
        assert torch.equal(rotary.shift(Q, 5), wanted[0])
        assert torch.equal(rotary.rotate(Q, N), wanted[1])
        assert torch.equal(rotary.shift(Q, -N), wanted[2])
        held.append(0, Q, Q, N)
        held.renumber(N.flip(-1), [rotary])
        held.evict([0, 2])
        assert held.next_positions(3, "cpu").device.type == "cpu"
        assert torch.equal(model(ids), logits)
        tiny.near(tiny.in_chunks(model, ids, [6, 6]), logits)
        for scheme in (layers.Alibi(H), layers.Sinusoidal(D, 4), layers.Rotary(W, 4)):
            assert all(table.is_meta for table in scheme.buffers())
