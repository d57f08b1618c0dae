"""Rules tried on a trained model: a copy that turns otherwise, the weights untouched."""

import pytest
import torch

from lessons import extension, recipes
from lessons.model import ModelConfig


@pytest.fixture
def model():
    config = ModelConfig(256, 2 * extension.HEAD_DIM, 2, 2)
    return recipes.build(config, (recipes.ROPE,), seed=1).eval()


IDS = torch.randint(256, (2, 9), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("rule", extension.RULES)
def test_a_rule_changes_the_frequencies_of_a_copy_and_no_weight(model, rule):
    wanted, weights = model(IDS), model.state_dict()
    read = extension.rescaled(model, rule, factor=4, length=256)
    assert len(set(read.schemes)) == 1  # one scheme for all layers, as before
    for name, value in read.state_dict().items():
        assert torch.equal(value, weights[name])
    changed = (read(IDS) - wanted).abs().max()
    assert (changed == 0) if rule == "none" else (changed > 1e-4)
    assert torch.equal(model(IDS), wanted)


@pytest.mark.parametrize("rule", extension.RULES)
def test_a_factor_of_one_or_a_short_text_changes_nothing(model, rule):
    if rule in ("theta", "truncated"):  # they ask for no factor
        return
    read = extension.rescaled(model, rule, factor=1, length=recipes.TRAIN_LEN)
    torch.testing.assert_close(read(IDS), model(IDS), rtol=0, atol=1e-5)


def test_tuning_starts_from_a_copy(model, monkeypatch):
    seen = {}
    monkeypatch.setattr(extension.training, "train", lambda made, text, **given: seen.update(given))
    read = extension.rescaled(model, "linear", 4, extension.LONG)
    assert extension.tune(read, 0, seed=1) is read and seen == {}
    extension.tune(read, 50, seed=1)
    # As many tokens a step as in training: 32 pieces of 64.
    assert (seen["steps"], seen["seq_len"] * seen["batch"]) == (50, 32 * 64)


def test_the_steps_that_are_announced_are_those_that_are_taken(model, monkeypatch):
    taken = []
    monkeypatch.setattr(
        extension.training, "train", lambda made, text, **g: taken.append(g["steps"])
    )
    monkeypatch.setattr(
        extension.training, "loss_by_length", lambda m, t, lengths, **g: dict.fromkeys(lengths, 1.0)
    )
    monkeypatch.setattr(extension, "FACTORS", (1, 4))
    found = extension.measure(model, seed=1)
    tuned = sum(rule.tuned for rule in extension.RULES.values())
    assert sum(taken) == extension.STEPS * tuned
    assert set(found["tuned"]) == set(extension.RULES)
