"""The decoder compiled, on the meta device, copied, saved; and what it refuses."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch
from tiny import FAR, HEADS, LAYERS, MODELS, VOCAB, D, W, make, near, rotary, tokens

from lessons import layers
from lessons.model import ModelConfig, TinyTransformer

EVERY = pytest.mark.parametrize("name", MODELS)
IDS = tokens()
SEQ = IDS.shape[1]


# Compiled, moved, copied.


@pytest.mark.parametrize("name", ["learned, t5", "local rope, global none", "log queries"])
def test_compiles_into_one_graph_at_two_lengths(name):
    torch._dynamo.reset()
    model = make(name)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    for length in (9, 12):
        near(compiled(IDS[:, :length]), model(IDS[:, :length]))


@EVERY
def test_made_on_the_meta_device_and_filled_later(name):
    model = make(name, torch.float64).float()
    with torch.device("meta"):
        config, schemes = model.config, MODELS[name][0]()
        empty = TinyTransformer(config, schemes)
        assert empty(IDS.to("meta")).shape == (2, SEQ, VOCAB)
    empty.to_empty(device="cpu").load_state_dict(model.state_dict())
    assert torch.equal(empty(IDS), model(IDS))


def saved(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize(
    "again",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), saved],
    ids=["copy", "pickle", "save"],
)
@EVERY
def test_copies_are_whole_and_their_own(name, again):
    model = make(name)
    wanted = model(IDS)  # used before, so that there is something to remember
    twin = again(model)
    assert torch.equal(twin(IDS), wanted)
    with torch.no_grad():
        for weight in twin.parameters():
            weight.zero_()
    assert torch.equal(model(IDS), wanted) and (twin(IDS) == 0).all()
    for one, other in zip(model.schemes, twin.schemes, strict=True):
        if isinstance(other, layers.LogQueries):  # its hooks are those of its own inner scheme
            assert other.inner is not one.inner and other.bias.__self__ is other


@pytest.mark.parametrize("name", ["rope", "sinusoidal", "alibi", "t5", "log queries"])
def test_bfloat16_stays_close(name):
    model = make(name)
    wanted, found = model(IDS), copy.deepcopy(model).bfloat16()(IDS)
    assert found.dtype == torch.bfloat16
    assert (found.float() - wanted).abs().max() < 0.15 * wanted.abs().max()


# Refusals; those of the two constructors are in the table of test_validate.py.


REFUSED = [
    ({"tokens": None}, TypeError, "tokens must be a torch tensor"),
    ({"tokens": IDS.numpy()}, TypeError, "tokens must be a torch tensor, got ndarray"),
    ({"tokens": IDS.float()}, TypeError, "tokens must be int64 or int32, got torch.float32"),
    ({"tokens": IDS[0]}, ValueError, r"tokens must be \(batch, seq\), got shape \(12,\)"),
    ({"tokens": IDS[:, :0]}, ValueError, r"tokens must be \(batch, seq\), got shape \(2, 0\)"),
    ({"tokens": IDS[None]}, ValueError, r"tokens must be \(batch, seq\), got shape \(1, 2, 12\)"),
    ({"tokens": IDS * 0 + VOCAB}, ValueError, "tokens must lie in 0 … 12, got 13 … 13"),
    ({"tokens": IDS + 10}, ValueError, "tokens must lie in 0 … 12, got"),
    ({"tokens": IDS - 1}, ValueError, "tokens must lie in 0 … 12, got -1 … "),
    ({"positions": np.arange(SEQ)}, TypeError, "positions must be a torch tensor, got ndarray"),
    ({"positions": torch.arange(1.0 * SEQ)}, TypeError, "positions must be int64 or int32"),
    ({"positions": torch.arange(SEQ - 1)}, ValueError, r"positions must be \(12,\) or \(2, 12\)"),
    ({"positions": torch.arange(SEQ).expand(3, -1)}, ValueError, r"positions must be .*\(3, 12\)"),
    ({"positions": torch.arange(SEQ) + 60}, ValueError, "positions must lie in 0 … 63 .*60 … 71"),
    ({"mask": torch.ones(SEQ, SEQ)}, TypeError, "mask must be a bool tensor .* torch.float32"),
    ({"mask": np.ones((SEQ, SEQ), bool)}, TypeError, "mask must be a bool tensor .* bool"),
    ({"mask": [[True]]}, TypeError, "mask must be a bool tensor .* list"),
    ({"mask": torch.ones(3, 1, SEQ, SEQ).bool()}, ValueError, r"mask must broadcast .*\(3, 1, 12"),
    ({"mask": torch.ones(4, SEQ).bool()}, ValueError, r"mask must broadcast .*\(2, 2, 12, 12\)"),
    ({"tokens": IDS.to("meta")}, ValueError, "tokens must be on the device of the model, cpu,"),
    (
        {"positions": torch.arange(SEQ, device="meta")},
        ValueError,
        "positions must be on the device of tokens, cpu, got meta",
    ),
    (
        {"mask": torch.ones(SEQ, SEQ, dtype=torch.bool, device="meta")},
        ValueError,
        "mask must be on the device of tokens, cpu, got meta",
    ),
    ({"cache": [None, None]}, TypeError, "cache must be a KVCache, got list"),
]


@pytest.mark.parametrize(("wrong", "kind", "said"), REFUSED)
def test_what_does_not_fit_is_named(wrong, kind, said):
    given = {"tokens": IDS} | wrong
    with pytest.raises(kind, match=f"^{said}"):
        make("rope")(**given)


def test_a_cache_of_another_model_or_batch_is_refused():
    model = make("rope")
    with pytest.raises(ValueError, match=r"^layer must lie in 0 … 0, got 1"):
        model(IDS, cache=make("rope", n_layers=1).new_cache())
    cache = model.new_cache()
    model(IDS, cache=cache)
    with pytest.raises(ValueError, match=r"^k must have the batch"):
        model(tokens(batch=3), cache=cache)


def test_what_does_not_fit_the_cached_keys_is_named_and_leaves_them():
    model = make("rope")
    cache = model.new_cache()
    model(IDS, cache=cache)
    next_ids, row = IDS[:, :1], torch.tensor([SEQ])
    with pytest.raises(ValueError, match=r"^positions must be batched as the cached ones"):
        model(next_ids, positions=row.expand(2, 1), cache=cache)
    with pytest.raises(ValueError, match=r"^mask must broadcast to the scores \(2, 2, 1, 13\)"):
        model(next_ids, mask=torch.ones(1, SEQ).bool(), cache=cache)
    assert len(cache) == SEQ
    model(next_ids, mask=torch.ones(1, SEQ + 1).bool(), cache=cache)
    assert len(cache) == SEQ + 1


def test_a_text_longer_than_a_table_is_refused_before_anything_is_read():
    model, ids = make("learned, t5"), tokens(seq=FAR + 1)
    model.embedding.forward = lambda *given: pytest.fail("computed before the refusal")
    with pytest.raises(ValueError, match=r"^positions must lie in 0 … 63 \(max_len 64\)"):
        model(ids)


def test_sizes_are_kept_as_plain_numbers():
    config = ModelConfig(np.int64(13), 16.0, np.array(2), 2, [np.int32(3), None], np.float32(0.5))
    assert config == ModelConfig(13, 16, 2, 2, (3, None), 0.5)
    assert {type(v) for v in (config.vocab_size, config.d_model, config.n_heads)} == {int}
    assert config.windows == (3, None) and type(config.windows[0]) is int
    hash(config)


def test_one_scheme_a_layer_or_one_for_all():
    assert len(make("rope").schemes) == LAYERS and len(W) == D // HEADS // 2
    for many in (1, 3):
        with pytest.raises(ValueError, match=f"^scheme must be one, or 2, got {many}"):
            TinyTransformer(ModelConfig(VOCAB, D, HEADS, 2), [rotary()] * many)
