"""One place for each scheme of a model, and what was saved when each layer had its own."""

import pytest
import tiny
import torch
from tiny import D, near, tokens

from lessons import layers
from lessons.model import ModelConfig, TinyTransformer
from lessons.per_layer import PerLayer

IDS = tokens()


def named(*order):
    """A PerLayer of schemes that wrap each other, in the order of their names, and the schemes."""
    t5 = layers.T5Bias(2)
    log = layers.LogQueries(t5, 4)
    made = {"t5": t5, "log": log, "log log": layers.LogQueries(log, 8), "none": layers.NoPosition()}
    made["other"] = layers.LogQueries(t5, 6)
    return PerLayer([made[name] for name in order]), made


def test_a_scheme_stands_at_the_first_layer_that_has_it():
    each, made = named("none", "t5", "none", "t5")
    assert each.paths == ("0", "1", "0", "1") and len(each) == 4
    assert list(each) == [made["none"], made["t5"]] * 2
    assert list(each.by_path().items()) == [("0", made["none"]), ("1", made["t5"])]
    assert [name for name, _ in each.named_parameters(remove_duplicate=False)] == ["1.weight"]
    assert each[-1] is each[1] and list(PerLayer(each)) == list(each)
    with pytest.raises(IndexError):
        each[4]


@pytest.mark.parametrize(
    ("order", "paths", "weight"),
    [
        (("log", "t5"), ("0", "0.inner"), "0.inner.weight"),
        (("t5", "log"), ("0", "1"), "0.weight"),
        (("log", "other"), ("0", "1"), "0.inner.weight"),
        (("log log", "log", "t5"), ("0", "0.inner", "0.inner.inner"), "0.inner.inner.weight"),
        (("t5", "log", "log log", "log"), ("0", "1", "2", "1"), "0.weight"),
        (("other", "log log", "t5"), ("0", "1", "0.inner"), "0.inner.weight"),
    ],
)
def test_what_wraps_a_scheme_refers_to_its_place(order, paths, weight):
    each, made = named(*order)
    assert each.paths == paths
    assert [name for name, _ in each.named_parameters(remove_duplicate=False)] == [weight]
    n = torch.arange(9)
    torch.nn.init.normal_(made["t5"].weight)
    for scheme, name in zip(each, order, strict=True):
        assert type(scheme) is type(made[name])
        assert torch.equal(scheme.bias(n, n), made[name].bias(n, n))
        near(scheme.scale(n) * torch.ones(9, 1), made[name].scale(n) * torch.ones(9, 1))
    assert made["log"].inner is made["t5"]  # what was handed in is as it was
    assert dict(made["log"].named_parameters()).keys() == {"inner.weight"}


@pytest.mark.parametrize("wrong", [None, 3, "rope", torch.nn.Linear(2, 2), layers.Alibi])
def test_what_is_no_scheme_is_refused(wrong):
    with pytest.raises(TypeError, match="scheme must be a PositionScheme, got"):
        PerLayer([layers.NoPosition(), wrong])
    model = tiny.make()
    with pytest.raises(TypeError, match="scheme must be a PositionScheme, got"):
        model.schemes = [wrong] * 2
    if not isinstance(wrong, str):
        with pytest.raises(TypeError, match="schemes must be a list of PositionSchemes"):
            model.schemes = wrong


@pytest.mark.parametrize("kind", [list, tuple, torch.nn.ModuleList])
def test_other_schemes_may_be_given_to_a_model(kind):
    model, scheme = tiny.make("rope"), layers.T5Bias(tiny.HEADS)
    model.schemes = kind([scheme] * tiny.LAYERS)
    assert list(model.schemes) == [scheme] * tiny.LAYERS
    wanted = TinyTransformer(model.config, scheme)
    wanted.load_state_dict(model.state_dict())
    assert torch.equal(model(IDS), wanted(IDS))
    with pytest.raises(ValueError, match="scheme must be one, or 2, got 3"):
        model.schemes = [scheme] * 3


def everywhere(model):
    """The weights as they were saved when each layer registered its scheme: one name a layer."""
    weights = dict(model.state_dict())
    for again, path in model.schemes._repeated.items():
        for name in list(weights):
            if name.startswith(f"schemes.{path}."):
                weights[name.replace(f"schemes.{path}", f"schemes.{again}")] = weights[name]
    return weights


@pytest.mark.parametrize("name", tiny.MODELS)
def test_weights_that_were_saved_under_every_layer_are_read(name):
    model = tiny.make(name)
    saved = everywhere(model)
    other = tiny.make(name)
    with torch.no_grad():
        for weight in other.parameters():
            weight.zero_()
    other.load_state_dict(saved)
    assert torch.equal(other(IDS), model(IDS))


def test_the_names_that_older_files_have():
    config = ModelConfig(tiny.VOCAB, D, tiny.HEADS, 3)
    model = TinyTransformer(config, layers.T5Bias(tiny.HEADS))
    wanted = {f"schemes.{layer}.weight" for layer in range(3)}
    assert {name for name in everywhere(model) if name.startswith("schemes")} == wanted
    t5, log = model.schemes[0], layers.LogQueries(model.schemes[0], 4)
    for shared, inner in (([log, t5, t5], 0), ([t5, log, t5], 1), ([t5, t5, log], 2)):
        wanted = {f"schemes.{layer}{'.inner' * (layer == inner)}.weight" for layer in range(3)}
        found = everywhere(TinyTransformer(config, shared))
        assert {name for name in found if name.startswith("schemes")} == wanted


def test_layers_that_differ_are_not_read_as_one():
    model = tiny.make("t5")
    saved = everywhere(model) | {"schemes.1.weight": torch.ones(32, tiny.HEADS)}
    with pytest.raises(RuntimeError, match=r"schemes\.1\.weight"):
        model.load_state_dict(saved)
