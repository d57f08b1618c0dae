"""lessons.configs: which layer turns which channels, by hand and beside transformers' classes."""

import copy
import re

import pytest

from lessons import configs, frequencies
from lessons.configs import Layer

GEMMA = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 6,
    "head_dim": 256,
    "sliding_window": 512,
    "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
        "full_attention": {
            "rope_type": "proportional",
            "partial_rotary_factor": 0.25,
            "rope_theta": 1_000_000.0,
        },
    },
}
LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "rope_theta": 500_000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0},
}
COHERE = {
    "model_type": "cohere2",
    "num_hidden_layers": 4,
    "head_dim": 128,
    "sliding_window": 4096,
    "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
    "rope_parameters": {"rope_type": "default", "rope_theta": 50_000.0},
}
MLA = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 1,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "rope_parameters": {"rope_theta": 10_000.0, "rope_type": "default"},
}


def but(config, **changes):
    return copy.deepcopy(config) | changes


def test_windowed_and_full_layers_have_their_own_rotation():
    local, wide = configs.describe(GEMMA)[4:]
    assert local == Layer("rope", 512, 256, 256, 10_000.0)
    assert wide == Layer("truncated", None, 64, 256, 1_000_000.0)


def test_full_layers_of_some_models_turn_nothing_though_the_config_does_not_say_so():
    layers = configs.describe(COHERE)
    assert [layer.scheme for layer in layers] == ["rope"] * 3 + ["none"]
    # The same file under another model's name means RoPE in every layer.
    others = configs.describe(but(COHERE, model_type="olmo3"))
    assert [layer.scheme for layer in others] == ["rope"] * 4


def test_exaone_without_a_window_turns_every_layer():
    small = but(COHERE, model_type="exaone4", layer_types=["full_attention"] * 4)
    assert {n.scheme for n in configs.describe(but(small, sliding_window=None))} == {"rope"}
    assert {n.scheme for n in configs.describe(small)} == {"none"}


def test_older_files_spread_the_rotation_over_the_config():
    assert configs.describe(LLAMA) == (Layer("rope", None, 128, 128, 500_000.0, "llama3"),) * 2
    new = but(LLAMA, rope_parameters=LLAMA["rope_scaling"] | {"rope_theta": 500_000.0})
    del new["rope_theta"], new["rope_scaling"]
    assert configs.describe(new) == configs.describe(LLAMA)
    inside = {"model_type": "a wrapper", "text_config": LLAMA}
    assert configs.describe(inside) == configs.describe(LLAMA)


def test_lists_that_have_an_entry_a_layer():
    layers = configs.describe(but(LLAMA, model_type="smollm3", no_rope_layers=[1, 0]))
    assert [n.turning for n in layers] == [128, 0]  # a 1 means that RoPE is there
    spark = but(LLAMA, model_type="muse_spark_text", layer_rope_theta=[0, 10_000.0])
    assert [n.scheme for n in configs.describe(spark)] == ["none", "rope"]


def test_a_head_of_two_parts_turns_in_one():
    assert configs.describe(MLA) == (Layer("rope", None, 64, 192, 10_000.0),)


def test_both_conventions_of_a_quarter():
    """CURRICULUM §3.6: 128 channels, θ = 10⁶: 2.65 million tokens against 160."""
    whole = frequencies.wavelengths(frequencies.inverse_frequencies(128, 1e6))
    again = frequencies.wavelengths(frequencies.inverse_frequencies(32, 1e6))
    rule = {"rope_theta": 1e6, "partial_rotary_factor": 0.25}
    one = but(GEMMA, head_dim=128, num_hidden_layers=1, layer_types=["full_attention"])
    for kind, spectrum in (("proportional", whole[:16]), ("default", again)):
        (layer,) = configs.describe(but(one, rope_parameters=rule | {"rope_type": kind}))
        assert layer.turning == 32
        assert abs(layer.longest / spectrum[-1] - 1) < 1e-12
    assert f"{whole[15]:.0f}" == "160" and f"{again[-1] / 1e6:.2f}" == "2.65"


def test_runs_count_equal_neighbours():
    layers = configs.describe(COHERE)
    assert configs.runs(layers) == [(layers[0], 3), (layers[3], 1)]
    assert configs.runs([]) == []
    for wrong in (None, 3, [1], ("rope",), {"a": 1}):
        with pytest.raises(TypeError, match=r"^layers must"):
            configs.runs(wrong)


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
    (but(COHERE, layer_types=None), ValueError, "config['layer_types'] must say which layers"),
    (but(COHERE, layer_types=["local"] * 4), ValueError, "config['layer_types'] must be one of"),
    (but(COHERE, num_hidden_layers=5), ValueError, "config['layer_types'] must be 5 names, got ["),
    (but(COHERE, sliding_window=None), TypeError, "config['sliding_window'] must be a number"),
    (
        but(GEMMA, rope_parameters={"sliding_attention": {"rope_theta": 1e4}}),
        ValueError,
        "config['rope_parameters'] must have 'full_attention', got ['sliding_attention']",
    ),
    (but(LLAMA, no_rope_layers=[1]), ValueError, "config['no_rope_layers'] must be a list, one"),
    (but(MLA, qk_rope_head_dim=None), TypeError, "config['qk_rope_head_dim'] must be a number"),
]


@pytest.mark.parametrize(("config", "kind", "sentence"), REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(config, kind, sentence):
    with pytest.raises(kind, match=re.escape(sentence)):
        configs.describe(config)


def test_the_config_is_left_as_it_was():
    for config in (GEMMA, LLAMA, COHERE, MLA):
        before = copy.deepcopy(config)
        configs.describe(config)
        assert config == before


def test_the_saved_models_stand_in_the_order_of_time_with_a_source_each():
    models = configs.models()
    assert len(models) >= 24
    years = [int(model.date[:4]) for model in models]
    assert years == sorted(years) and (years[0], years[-1]) == (2017, 2026)
    dated = [model.date for model in models if "-" in model.date]
    assert dated == sorted(dated)
    assert len({model.name for model in models}) == len(models)
    for model in models:
        assert model.layers and model.url.startswith("https://"), model.name
        assert "[" in model.source or "report" in model.source or "5.24.0" in model.source
        # What a class fills in is never called a model's own config.
        assert (model.config is not None) == model.source.startswith("default of "), model.name


def test_every_default_is_that_of_the_library():
    """The saved configs describe the same layers as the classes of transformers do."""
    transformers = pytest.importorskip("transformers", reason="it is of the extra 'peers'")
    if transformers.__version__ != "5.24.0":
        pytest.skip(f"the defaults were read in 5.24.0, this is {transformers.__version__}")
    for model in configs.models():
        if model.config is None:
            continue
        name = re.match(r"default of (\w+) of transformers", model.source)[1]
        ours = configs.describe(getattr(transformers, name)().to_dict())
        assert ours == model.layers, model.name


def test_the_library_turns_the_channels_that_we_say():
    """Frequencies of a truncated and of a plain layer, beside the library's own function."""
    pytest.importorskip("transformers", reason="it is of the extra 'peers'")
    from transformers import Lfm3Config
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = Lfm3Config()
    described = {n.window: n for n in configs.describe(config.to_dict()) if n.scheme != "state"}
    rope = ROPE_INIT_FUNCTIONS["proportional"]
    inv_freq, _ = rope(config, layer_type="full_attention")
    turning = inv_freq[inv_freq > 0]
    assert 2 * len(turning) == described[None].turning == 64
    slowest = frequencies.wavelengths(turning.double().numpy())[-1]
    assert abs(slowest / described[None].longest - 1) < 1e-5
