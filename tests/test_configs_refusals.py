"""lessons.configs: a key that is wrong, or that nobody reads, is refused by its name."""

import re

import pytest
from config_files import COHERE, GEMMA, GEMMA3, KINDS, LLAMA, MLA, NEOX, OLMO3, but

from lessons import config_types, configs

REFUSED = [
    (None, TypeError, "config must be a dict, got NoneType"),
    ([GEMMA], TypeError, "config must be a dict, got list"),
    ({}, TypeError, "config['model_type'] must be one of afmoe, "),
    (but(LLAMA, model_type="gpt5"), ValueError, "got 'gpt5'"),
    (but(LLAMA, num_hidden_layers=0), ValueError, "config['num_hidden_layers'] must be at least"),
    (but(LLAMA, num_hidden_layers=None), TypeError, "config['num_hidden_layers'] must be a number"),
    (but(LLAMA, rope_theta=None), TypeError, "config['rope_theta'] must be a number, got NoneType"),
    (but(LLAMA, rope_theta=0.5), ValueError, "config['rope_theta'] must be at least 1, got 0.5"),
    (but(LLAMA, hidden_size=None), TypeError, "config['hidden_size'] must be a number"),
    (but(LLAMA, sliding_window=4096), ValueError, "config['layer_types'] must say which layers"),
    (but(LLAMA, rope_parameters=[1]), TypeError, "config['rope_parameters'] must be a dict"),
    (but(COHERE, layer_types=None), ValueError, "config['layer_types'] must say which layers are"),
    (but(COHERE, layer_types=["local"] * 4), ValueError, "config['layer_types'] must be one of"),
    (but(COHERE, num_hidden_layers=5), ValueError, "config['layer_types'] must be 5 names, got ["),
    (but(COHERE, sliding_window=None), TypeError, "config['sliding_window'] must be a number"),
    (
        but(GEMMA, rope_parameters={"sliding_attention": {"rope_theta": 1e4}}),
        ValueError,
        "config['rope_parameters'] must have 'full_attention', got ['sliding_attention']",
    ),
    *(
        (but(LLAMA, model_type="smollm3", no_rope_layers=wrong), ValueError, sentence)
        for wrong, sentence in (
            ([1], "config['no_rope_layers'] must be a list, one a layer, got [1]"),
            (3, "config['no_rope_layers'] must be a list, one a layer, got 3"),
            ([1, 2], "config['no_rope_layers'] must hold 0 and 1 only, got 2"),
        )
    ),
    (but(LLAMA, rope_theta=True), TypeError, "['rope_theta'] must be a number, got True (bool)"),
    (but(LLAMA, rope_theta="5e5"), TypeError, "['rope_theta'] must be a number, got '5e5' (str)"),
    (but(LLAMA, rope_theta=[5e5] * 2), TypeError, "config['rope_theta'] must be a number, got"),
    *(
        (but(LLAMA, rope_scaling=wrong), kind, f"config['rope_scaling']{sentence}")
        for wrong, kind, sentence in (
            ("linear", TypeError, " must be a dict, got str"),
            ([], TypeError, " must be a dict, got list"),
            (8.0, TypeError, " must be a dict, got float"),
            ({"type": "ntk"}, ValueError, "['type'] must be one of default, dynamic, linear, "),
            ({"rope_type": 3}, TypeError, "['rope_type'] must be one of default, "),
            ({"rope_theta": "1e4"}, TypeError, "['rope_theta'] must be a number, got '1e4' (str)"),
            ({"alpha": 8.0}, ValueError, "['alpha'] must be left out: the code of 'llama'"),
            ({"partial_rotary_factor": 0.5}, ValueError, "['partial_rotary_factor'] must be 1: "),
        )
    ),
    (
        but(LLAMA, rope_parameters={"rope_theta": 1e4}),
        ValueError,
        "config['rope_scaling'] must be left out beside config['rope_parameters'], got {",
    ),
    (
        but(LLAMA, rope_scaling=None, rope_parameters={"full_attention": {"rope_theta": 1e4}}),
        ValueError,
        "config['rope_parameters']['full_attention'] must be left out: the code of 'llama'",
    ),
    (
        but(LLAMA, layer_types=KINDS, sliding_window=9),
        ValueError,
        "config['layer_types'] must be one of full_attention, got 'sliding_attention'",
    ),
    (but(LLAMA, model_type="phi", partial_rotary_factor=1.5), ValueError, "must be at most 1"),
    (
        but(LLAMA, model_type="phi", rope_scaling=None, partial_rotary_factor=0.04),
        ValueError,
        "config['partial_rotary_factor'] must leave an even count of channels, got",
    ),
    (
        but(LLAMA, model_type="apertus", rope_scaling=None),
        ValueError,
        "config['rope_parameters'] must be there: without it the code of 'apertus' takes",
    ),
    (
        but(OLMO3, rope_theta=1e6),
        ValueError,
        "config['rope_theta'] must be 500000 where the windowed layers have no base of their own",
    ),
    (
        but(GEMMA3, rope_scaling={"type": "linear", "factor": 8.0}),
        ValueError,
        "config['rope_scaling']['type'] must be called 'rope_type' for 'gemma3_text', got",
    ),
    *(
        (but(GEMMA3, rope_scaling=None, rope_parameters=wrong), kind, sentence)
        for wrong, kind, sentence in (
            ({"rope_theta": 1e4}, ValueError, "config['rope_parameters'] must have 'sliding_at"),
            ({"sliding_attention": 3}, TypeError, "['sliding_attention'] must be a dict, got int"),
            (
                {"full_attention": {}, "foo": {}},
                ValueError,
                "config['rope_parameters']['foo'] must be left out beside a set for each kind",
            ),
            (
                {"full_attention": {}, "sliding_attention": {"base": 3}},
                ValueError,
                "config['rope_parameters']['sliding_attention']['base'] must be left out",
            ),
        )
    ),
    (but(NEOX, rotary_emb_base=None), TypeError, "config['rotary_emb_base'] must be a number, got"),
    (but(NEOX, rotary_pct=2), ValueError, "config['rotary_pct'] must be at most 1, got 2"),
    (but(NEOX, rotary_pct="0.25"), TypeError, "['rotary_pct'] must be a number, got '0.25' (str)"),
    (
        {"model_type": "gptj", "n_layer": 1, "n_embd": 64, "n_head": 4, "rotary_dim": None},
        TypeError,
        "config['rotary_dim'] must be a number, got NoneType",
    ),
    (
        but(LLAMA, model_type="qwen2", use_sliding_window="yes"),
        TypeError,
        "config['use_sliding_window'] must be a bool, got str",
    ),
    ({"text_config": [1]}, TypeError, "config['text_config'] must be a dict, got list"),
    (but(MLA, qk_nope_head_dim=None), TypeError, "config['qk_nope_head_dim'] must be a number"),
    (but(MLA, qk_rope_head_dim=None), TypeError, "config['qk_rope_head_dim'] must be a number"),
]


@pytest.mark.parametrize(("config", "kind", "sentence"), REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(config, kind, sentence):
    with pytest.raises(kind, match=re.escape(sentence)):
        configs.describe(config)


STRANGERS = {
    "llama": ("rotary_emb_base", "rotary_pct", "rope_pct", "rotary_percent", "rotary_base"),
    "gpt_neox": ("rope_theta", "partial_rotary_factor", "rotary_emb_fraction", "rotary_dim"),
    "stablelm": ("rope_pct", "rotary_pct"),
    "olmo3": ("rope_local_base_freq", "global_rope_theta"),
    "qwen2": ("rope_ratio", "use_rope", "yarn_factor", "layer_rope_theta", "no_rope_layers"),
    "gptj": ("rope_theta", "rope_scaling"),
    "mistral": ("qk_rope_head_dim", "compress_rope_theta", "swa_rope_theta", "use_alibi"),
    "bert": ("rope_theta",),
}


@pytest.mark.parametrize("model", STRANGERS)
def test_a_key_that_looks_rotary_and_is_not_read_is_refused_by_name(model):
    sizes = {"num_hidden_layers": 2, "hidden_size": 512, "num_attention_heads": 4}
    base = {"gpt_neox": "rotary_emb_base"}.get(model, "rope_theta")
    fine = sizes | {"model_type": model} | ({} if model in ("bert", "gptj") else {base: 5e5})
    if model == "olmo3":
        fine |= {"layer_types": KINDS, "sliding_window": 8}
    assert len(configs.describe(fine)) == 2
    for key in STRANGERS[model]:
        assert configs.describe(fine | {key: None}) == configs.describe(fine)
        for value in (10_000.0, 1, False, {"factor": 2.0}):
            sentence = f"config['{key}'] must be left out: the code of '{model}' does not read it"
            with pytest.raises(ValueError, match=re.escape(sentence)):
                configs.describe(fine | {key: value})


def test_every_type_refuses_a_rotary_key_that_nobody_knows():
    for model in config_types.KNOWN:
        with pytest.raises(ValueError, match=re.escape("config['rope_of_tomorrow'] must be left")):
            configs.describe({"model_type": model, "rope_of_tomorrow": 3})


def test_keys_that_are_not_about_rotation_are_left_alone():
    for more in ({"properties": 1, "hidden_act": "silu"}, {"rotary": True}):
        gptj = {"model_type": "gptj", "n_layer": 1, "n_embd": 64, "n_head": 4, "rotary_dim": 8}
        assert configs.describe(gptj | more) == configs.describe(gptj)
