"""torch.export of the decoder with every scheme: the logits and gradients of the eager one."""

import pytest
import tiny
import torch
from tiny import near, rotary, tokens

TWO = torch.float64
IDS = tokens()
SEQ = IDS.shape[1]
EVERY = pytest.mark.parametrize("name", tiny.MODELS)


@EVERY
def test_an_exported_model_gives_the_same_logits_at_every_length(name):
    model = tiny.make(name, TWO)
    free = {"tokens": {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("seq", max=64)}}
    program = torch.export.export(model, (IDS,), dynamic_shapes=free).module()
    for ids in (IDS, IDS[:1, :7], tokens(batch=3, seq=50)):
        near(program(ids), model(ids))


@EVERY
def test_a_strictly_exported_model_gives_the_same_logits(name):
    model = tiny.make(name, TWO)
    near(torch.export.export(model, (IDS,), strict=True).module()(IDS), model(IDS))


@pytest.mark.parametrize("name", ["rope", "learned, t5", "log t5, t5"])
def test_positions_and_a_mask_are_exported_too(name):
    model, at = tiny.make(name, TWO), torch.arange(SEQ).flip(0).expand(2, -1) * 3
    given = {"positions": at, "mask": torch.rand(2, 1, SEQ, SEQ) > 0.3}
    program = torch.export.export(model, (IDS,), given).module()
    near(program(IDS, **given), model(IDS, **given))


@pytest.mark.parametrize("name", ["sinusoidal", "t5, log t5", "rope windows"])
def test_an_exported_model_still_trains_what_the_layers_share(name):
    model = tiny.make(name, TWO)
    program = torch.export.export(model, (IDS,)).module()
    for one in (model, program):
        one(IDS).square().sum().backward()
    wanted = {name: weight.grad for name, weight in model.named_parameters()}
    for weight, grad_ in ((dict(program.named_parameters())[n], g) for n, g in wanted.items()):
        near(weight.grad, grad_, 1e-9 * max(1, grad_.abs().max().item()))


@pytest.mark.parametrize(
    "thing",
    [
        tiny.make("rope"),
        tiny.make("rope").schemes[0],
        tiny.make("rope").blocks[0].attention,
        rotary(),
    ],
    ids=lambda thing: type(thing).__name__,
)
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_script_is_refused_in_a_sentence(thing):
    with pytest.raises(TypeError, match="cannot be scripted: use torch"):
        torch.jit.script(thing)
