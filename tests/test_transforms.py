"""torch.func over every scheme and the decoder: weights swapped for a call, and many calls in one.

torch.func swaps the tensors of every place at which a module stands, so a scheme that layers share,
or that another one wraps, must have one place.
"""

import copy
import pickle

import pytest
import tiny
import torch
from tiny import D, W, near, tokens
from torch.func import functional_call, stack_module_state, vmap
from torch_schemes import normal

from lessons import layers

TWO = torch.float64
IDS = tokens()
SEQ = IDS.shape[1]
EVERY = pytest.mark.parametrize("name", tiny.MODELS)


def moved(model, by):
    """A copy with other weights."""
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for weight in twin.parameters():
            weight += by
    return twin


# One place for each scheme.


def swaps_and_swaps_back(model):
    wanted = model(IDS)
    given = {name: tensor.detach() + 0.1 for name, tensor in model.named_parameters()}
    near(functional_call(model, given, (IDS,)), moved(model, 0.1)(IDS))
    assert torch.equal(model(IDS), wanted)
    buffers = {name: tensor.clone() for name, tensor in model.named_buffers()}
    assert torch.equal(functional_call(model, buffers, (IDS,)), wanted)
    held = dict(model.named_buffers())
    assert all(held[name] is not buffers[name] for name in buffers)


@EVERY
def test_weights_are_swapped_for_a_call_and_no_longer(name):
    swaps_and_swaps_back(tiny.make(name, TWO))


def test_a_scheme_at_two_places_of_a_model_would_stay_changed():
    class Faulty(torch.nn.ModuleList):
        paths = ("0", "1")

        def by_path(self):
            return dict(zip(self.paths, self, strict=True))

    model = tiny.make("t5", TWO)
    model._modules["schemes"] = Faulty([model.schemes[0]] * 2)
    with pytest.raises(AssertionError):
        swaps_and_swaps_back(model)


@EVERY
def test_an_ensemble_is_one_call(name):
    model = tiny.make(name, TWO)
    each = [moved(model, by) for by in (0.0, 0.1, 0.2)]
    bare = copy.deepcopy(model).to("meta")
    found = vmap(lambda *state: functional_call(bare, state, (IDS,)))(*stack_module_state(each))
    near(found, torch.stack([one(IDS) for one in each]))


@EVERY
def test_every_tensor_has_one_name(name):
    model = tiny.make(name, TWO)
    for named in (model.named_parameters, model.named_modules, model.named_buffers):
        assert len(list(named())) == len(list(named(remove_duplicate=False)))
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@EVERY
@pytest.mark.parametrize(
    "again",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.to(torch.float32).to(TWO)],
    ids=["copy", "pickle", "to"],
)
def test_copies_share_among_themselves_what_the_layers_share(name, again):
    twin = again(tiny.make(name, TWO))
    swaps_and_swaps_back(twin)
    with torch.no_grad():
        near(twin(IDS), tiny.make(name, TWO)(IDS), 1e-4)


# Positions and tokens under vmap.

HOOKS = {
    "sinusoidal": (layers.Sinusoidal(D, 64), "embed"),
    "learned": (layers.Learned(D, 64), "embed"),
    "half": (layers.Rotary(W, 64), "rotate"),
    "partial": (layers.Rotary(W[:2], 64), "rotate"),
    "interleaved": (layers.Rotary(W, 64, pairing="interleaved"), "rotate"),
    "shift": (layers.Rotary(W, 64), "shift"),
    "shift interleaved": (layers.Rotary(W, 64, pairing="interleaved"), "shift"),
    "alibi": (layers.Alibi(3), "bias"),
    "t5": (layers.T5Bias(3), "bias"),
    "scale": (layers.LogQueries(layers.NoPosition(), 4), "scale"),
    "log rotate": (layers.LogQueries(layers.Rotary(W, 64), 4), "rotate"),
    "log embed": (layers.LogQueries(layers.Sinusoidal(D, 64), 4), "embed"),
    "log bias": (layers.LogQueries(layers.Alibi(3), 4), "bias"),
    "log shift": (layers.LogQueries(layers.Rotary(W, 64), 4), "shift"),
}
AT = torch.stack([torch.arange(4) * step + step for step in range(3)])


def hooked(name):
    """The hook as a function of x and positions."""
    scheme, hook = HOOKS[name]
    act = getattr(scheme, hook)
    if hook in ("bias", "scale"):
        return lambda x, n: act(*(n,) * (2 if hook == "bias" else 1))
    return act


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("whole", [torch.int64, torch.int32], ids=str)
def test_a_hook_over_many_positions_is_one_call(name, whole):
    hook, x, at = hooked(name), normal(3, 2, 4, D, dtype=TWO), AT.to(whole)
    one = vmap(hook, (None, 0))(x[0], at)
    near(one, torch.stack([hook(x[0], n) for n in at]))
    both = vmap(hook)(x, at)
    near(both, torch.stack([hook(*pair) for pair in zip(x, at, strict=True)]))
    deep = vmap(vmap(hook, (None, 0)), (0, None))(x, at)
    near(deep, torch.stack([torch.stack([hook(row, n) for n in at]) for row in x]))
    batched = torch.stack([at[:2], at[1:]])
    near(vmap(hook, (None, 0))(x[0], batched), torch.stack([hook(x[0], n) for n in batched]))


def test_the_case_that_was_reported():
    turn, x = layers.Rotary([1.0, 0.1, 0.01, 0.001], 64), normal(4, 8)
    found = vmap(lambda n: turn.rotate(x, n))(torch.arange(8).reshape(2, 4))
    assert found.shape == (2, 4, 8) and torch.equal(found[1], turn.rotate(x, torch.arange(4, 8)))


def test_under_vmap_the_look_up_itself_raises():
    for name in ("sinusoidal", "learned", "half"):
        with pytest.raises(IndexError):
            vmap(hooked(name), (None, 0))(normal(2, 4, D), AT + 60)


@EVERY
def test_a_model_over_many_tokens_and_many_positions_is_one_call(name):
    model, ids = tiny.make(name, TWO), torch.stack([tokens(seed=seed) for seed in range(3)])
    near(vmap(model)(ids), torch.stack([model(one) for one in ids]))
    at = torch.stack([torch.arange(SEQ) * step + step for step in range(3)])
    read = lambda n: model(IDS, positions=n)  # noqa: E731
    near(vmap(read)(at), torch.stack([read(n) for n in at]))
    at = torch.stack([at[:2], at[1:]]).int()
    near(vmap(read)(at), torch.stack([read(n) for n in at]))
