"""Recipes are data: they build, they survive a file, a seed makes the model."""

import json

import pytest
import torch
from tiny import make, tokens

from lessons import layers, recipes
from lessons.model import ModelConfig, TinyTransformer

EVERY = [
    *(
        (f"text {name}", recipes.text_config(recipe), recipe)
        for name, recipe in recipes.TEXT.items()
    ),
    *(
        (f"recall {name}", recipes.recall_config(), recipe)
        for name, recipe in recipes.RECALL.items()
    ),
]
RECIPES = pytest.mark.parametrize(
    ("config", "recipe"), [case[1:] for case in EVERY], ids=[case[0] for case in EVERY]
)


@RECIPES
def test_every_recipe_builds_and_survives_a_file(config, recipe):
    model = recipes.build(config, recipe.schemes, seed=1)
    again = recipes.build(config, json.loads(json.dumps(recipe.schemes)), seed=1)
    ids = torch.arange(24).reshape(2, 12)
    assert torch.equal(model(ids), again(ids))
    assert len(recipe.schemes) in (1, config.n_layers) and recipe.steps > 0
    for scheme in model.schemes:  # tables reach far beyond every length that is read
        far = scheme.max_len in (None, recipes.FARTHEST)
        assert far or (isinstance(scheme, layers.Learned) and scheme.max_len == recipes.TRAIN_LEN)


def test_no_two_recipes_are_the_same():
    for given in (recipes.TEXT, recipes.RECALL):
        labels = [recipe.label for recipe in given.values()]
        data = [(r.schemes, r.windows, r.steps, r.embedding_scale) for r in given.values()]
        assert len(set(labels)) == len(labels) == len(set(map(str, data)))


def test_the_text_model_has_a_third_of_a_million_parameters():
    sizes = {
        name: sum(
            p.numel() for p in recipes.build(recipes.text_config(r), r.schemes, 1).parameters()
        )
        for name, r in recipes.TEXT.items()
    }
    assert 350_000 < min(sizes.values()) <= max(sizes.values()) < 370_000
    assert sizes["t5"] - sizes["none"] == 32 * 4 and sizes["rope"] == sizes["none"]


def test_a_seed_makes_the_model_and_leaves_the_generator_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    config = make().config
    one, same, other = (recipes.build(config, [recipes.NONE], seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    ids = tokens()
    assert torch.equal(one(ids), same(ids)) and not torch.equal(one(ids), other(ids))


def test_one_pair_is_shared_by_all_layers_and_more_are_one_each():
    config, t5 = make().config, ("T5Bias", {"n_heads": 2})
    shared, apart = recipes.build(config, [t5], 1), recipes.build(config, [t5, t5], 1)
    assert shared.schemes[0] is shared.schemes[1] and apart.schemes[0] is not apart.schemes[1]
    assert isinstance(shared, TinyTransformer) and isinstance(config, ModelConfig)


def test_slow_pairs_stop():
    name, arguments = recipes.rotary(8, longest=64)
    kept = recipes.rotary(8)[1]["inv_freq"]
    assert name == "Rotary"
    # Wavelengths 6.3, 62.8, 628 and 6283 tokens.
    assert arguments["inv_freq"] == [*kept[:2], 0.0, 0.0]


def test_log_queries_hold_another_scheme():
    inner = ("Alibi", {"n_heads": 2})
    made = recipes.scheme("LogQueries", {"inner": inner, "original_max_len": 8})
    assert isinstance(made, layers.LogQueries) and isinstance(made.inner, layers.Alibi)
    assert made.original_max_len == 8
