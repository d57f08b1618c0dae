"""The decoder: one scheme or many, whole, in parts, padded and packed; what it computes once."""

import pytest
import torch
from tiny import FAR, HEADS, MODELS, VOCAB, D, in_chunks, make, near, rotary, tokens

from lessons import layers, positions
from lessons.model import ModelConfig, TinyTransformer

EVERY = pytest.mark.parametrize("name", MODELS)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
IDS = tokens()
SEQ = IDS.shape[1]


# A cache changes nothing.


@EVERY
@DTYPES
def test_cached_logits_are_those_of_the_full_pass(name, dtype):
    model = make(name, dtype)
    full = model(IDS)
    for sizes in (1, 5, [1, 6, 2, 3], SEQ):  # token by token, in chunks, prefill and decode
        near(in_chunks(model, IDS, sizes), full)


@EVERY
def test_cached_with_positions_of_each_row(name):
    model, n = make(name, torch.float64), torch.stack([torch.arange(SEQ) + 3, torch.arange(SEQ)])
    full, cache = model(IDS, positions=n), model.new_cache()
    for ids, at in zip(IDS.split(5, 1), n.split(5, 1), strict=True):
        last = model(ids, positions=at, cache=cache)
    near(last, full[:, -2:])


def test_two_caches_of_one_model_do_not_meet():
    model = make("rope", torch.float64)
    one, other = model.new_cache(), model.new_cache()
    model(IDS[:, :4], cache=one), model(IDS[:, :7], cache=other)
    full = model(IDS)
    near(model(IDS[:, 4:5], cache=one), full[:, 4:5])
    near(model(IDS[:, 7:8], cache=other), full[:, 7:8])


# What may be looked at.


@EVERY
def test_a_later_token_changes_nothing_before_it(name):
    model, other = make(name, torch.float64), IDS.clone()
    other[:, 7:] = (other[:, 7:] + 1) % VOCAB
    changed = (model(IDS) - model(other)).abs().amax((0, 2))
    assert (changed[:7] == 0).all() and (changed[7:] > 1e-3).all()


def test_a_window_in_every_layer_ends_the_reach():
    schemes = MODELS["rope"][0]()
    model = TinyTransformer(ModelConfig(VOCAB, D, HEADS, 2, (3, 2)), schemes).double()
    first = IDS.clone()
    first[:, 0] = (first[:, 0] + 1) % VOCAB
    changed = (model(IDS) - model(first)).abs().amax((0, 2))
    # Token n sees n − 1 in layer 2, and that one sees n − 3 in layer 1: 3 back in all.
    assert (changed[:4] > 0).all() and (changed[4:] == 0).all()


def test_each_layer_has_the_scheme_and_the_window_it_was_given():
    def model(first, second, windows):
        config = ModelConfig(VOCAB, D, HEADS, 2, windows)
        made = TinyTransformer(config, [first, second]).double()
        made.load_state_dict(make("none", torch.float64).state_dict())
        return made(IDS)

    none, alibi, rope = layers.NoPosition(), layers.Alibi(HEADS), rotary()
    made = [
        model(*schemes, windows)
        for schemes in ((none, alibi), (alibi, none), (alibi, alibi), (rope, alibi), (alibi, rope))
        for windows in ((3, None), (None, 3), (3, 3), None)
    ]
    for number, one in enumerate(made):  # all 20 differ
        assert all((one - other).abs().max() > 1e-3 for other in made[:number])


@EVERY
def test_a_row_padded_on_the_left_is_the_row_without_padding(name):
    model = make(name, torch.float64)
    real = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1] * SEQ]).bool()
    n = torch.from_numpy(positions.from_padding_mask(real.numpy()))
    cache = model.new_cache()
    padded = model(IDS, positions=n, mask=real[:, None, None, :], cache=cache)
    near(padded[:1, 3:], model(IDS[:1, 3:]))
    near(padded[1:], model(IDS[1:]))
    assert torch.isfinite(padded).all()  # a pad that may look at nothing is no NaN
    # Decoding goes on at 9 and at 12, and the pads stay masked.
    more = tokens(seq=2, seed=1)
    seen = torch.cat([real, torch.ones(2, 1).bool()], 1)
    step = model(more[:, :1], mask=seen[:, None, None, :], cache=cache)
    assert cache.positions[:, -1].tolist() == [9, 12]
    for row, start in ((0, 3), (1, 0)):
        whole = torch.cat([IDS[row : row + 1, start:], more[row : row + 1, :1]], 1)
        near(step[row : row + 1], model(whole)[:, -1:])


@EVERY
def test_packed_documents_are_the_separate_ones(name):
    model, lengths = make(name, torch.float64), [3, 2, 7]
    packed = model(
        IDS,
        positions=torch.from_numpy(positions.from_lengths(lengths)),
        mask=torch.from_numpy(positions.document_mask(lengths)),
    )
    near(packed, torch.cat([model(part) for part in IDS.split(lengths, 1)], 1))


def test_only_tokens_that_may_look_at_nothing_hear_nothing():
    model, mask = make("alibi", torch.float64), torch.ones(SEQ, SEQ).bool()
    mask[2] = False
    out = model(IDS, mask=mask)
    assert torch.isfinite(out).all()
    alone = model(IDS[:, 2:3], mask=torch.zeros(1, 1).bool())
    near(out[:, 2:3], alone)  # what is left is the token itself, through the residual stream
    out.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@EVERY
def test_positions_count_from_zero_where_none_are_given(name):
    model, n = make(name), torch.arange(SEQ)
    wanted = model(IDS)
    for given in (n, n.int(), n.expand(2, -1)):
        near(model(IDS, positions=given), wanted)


RELATIVE = ["none", "rope", "interleaved", "partial", "louder", "alibi", "t5", "rope windows"]


@pytest.mark.parametrize("name", [*RELATIVE, "local rope, global none"])
def test_relative_schemes_know_only_differences(name):
    model = make(name, torch.float64)
    near(model(IDS, positions=torch.arange(SEQ) + 37), model(IDS), 1e-5)


# What is computed how often.


def count(monkeypatch, target, name):
    calls, before = [], getattr(target, name)
    monkeypatch.setattr(target, name, lambda *a, **k: calls.append(1) or before(*a, **k))
    return calls


@pytest.mark.parametrize(
    ("name", "schemes_with_a_table"),
    [
        ("rope", 1),
        ("sinusoidal", 1),
        ("alibi", 0),
        ("local rope, global none", 1),
        ("log queries", 2),
    ],
)
def test_positions_are_read_once_a_forward(name, schemes_with_a_table, monkeypatch):
    model = make(name, n_layers=6) if "," not in name else make(name)
    reads = count(monkeypatch, torch, "aminmax")
    model(IDS)
    # Log queries check in the outer and in the inner scheme.
    assert len(reads) == 1 + schemes_with_a_table  # once for the tokens


@pytest.mark.parametrize("hook", ["embed", "bias"])
def test_each_scheme_adds_once_however_many_layers_share_it(hook, monkeypatch):
    kind = {"embed": layers.Sinusoidal, "bias": layers.Alibi}[hook]
    schemes = {"embed": layers.Sinusoidal(D, FAR), "bias": layers.Alibi(HEADS)}
    one, other = schemes[hook], rotary()
    calls = count(monkeypatch, kind, hook)
    for given, wanted in ((one, 1), ([one, other, one, one], 1)):
        TinyTransformer(ModelConfig(VOCAB, D, HEADS, 4), given)(IDS)
        assert len(calls) == wanted
        calls.clear()
    again = {"embed": lambda: layers.Sinusoidal(D, FAR), "bias": lambda: layers.Alibi(HEADS)}[hook]
    TinyTransformer(ModelConfig(VOCAB, D, HEADS, 4), [one, again(), other, one])(IDS)
    assert len(calls) == 2


def test_shared_and_separate_parameters():
    shared = make("t5", n_layers=3)
    assert len(list(shared.schemes.parameters())) == 1
    assert shared.schemes[0].weight is shared.schemes[2].weight
    each = [layers.T5Bias(HEADS) for _ in range(3)]
    separate = TinyTransformer(ModelConfig(VOCAB, D, HEADS, 3), each)
    assert len(list(separate.schemes.parameters())) == 3
    assert [one is given for one, given in zip(separate.schemes, each, strict=True)] == [True] * 3


@EVERY
def test_gradients_reach_every_parameter(name):
    model = make(name)
    model(IDS).square().sum().backward()
    for called, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.abs().max() > 0, called


# First values.


def test_embeddings_are_multiplied_by_the_square_root_of_d_model_or_as_told():
    seen = []

    class Seen(layers.NoPosition):
        def embed(self, x, positions):
            seen.append(x)
            return x

    for scale, wanted in ((None, 4.0), (1.0, 1.0), (0.5, 0.5), (0, 0.0)):
        model = TinyTransformer(ModelConfig(VOCAB, D, HEADS, 1, embedding_scale=scale), Seen())
        model(IDS)
        assert torch.equal(seen[-1], model.embedding.weight[IDS] * wanted)


def test_the_stream_starts_at_scale_one_and_grows_slowly():
    torch.manual_seed(0)
    model = TinyTransformer(ModelConfig(256, 96, 4, 6), layers.NoPosition())
    stream = []
    for block in model.blocks:
        block.register_forward_hook(lambda module, given, out: stream.append(out.std().item()))
    ids = torch.randint(256, (8, 64))
    model(ids)
    assert (model.embedding(ids) * 96**0.5).std().item() == pytest.approx(1, abs=0.05)
    assert 1 < stream[0] < stream[-1] < 1.6


def test_a_block_adds_what_it_finds_and_no_map_has_a_bias():
    model = make("none", torch.float64)
    assert not [name for name, _ in model.named_parameters() if name.endswith("bias")]
    block, x, n = model.blocks[0], torch.randn(2, 5, D, dtype=torch.float64), torch.arange(5)
    middle = x + block.attention(block.norm_attention(x), n, model.schemes[0])
    hidden = torch.nn.functional.gelu(block.up(block.norm_mlp(middle)))
    near(block(x, n, model.schemes[0]), middle + block.down(hidden))


def test_what_a_layer_adds_starts_smaller_by_the_root_of_all_that_is_added():
    torch.manual_seed(0)
    model = TinyTransformer(ModelConfig(16, 128, 4, 8), layers.NoPosition())
    for block in model.blocks:
        for last in (block.attention.out, block.down):
            wanted = (2 * 8 * last.in_features) ** -0.5
            assert last.weight.std().item() == pytest.approx(wanted, rel=0.03)
