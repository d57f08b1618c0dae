"""lessons.configs: which layer turns which channels, by hand and beside transformers' classes."""

import copy
import re

import pytest
from config_files import COHERE, GEMMA, GEMMA3, KINDS, LLAMA, MLA, NEOX, OLMO3, but

from lessons import configs, frequencies
from lessons.configs import Layer


def test_windowed_and_full_layers_have_their_own_rotation():
    local, wide = configs.describe(GEMMA)[4:]
    assert local == Layer("rope", 512, 256, 256, 10_000.0)
    assert wide == Layer("truncated", None, 64, 256, 1_000_000.0)


def test_full_layers_of_some_models_turn_nothing_though_the_config_does_not_say_so():
    layers = configs.describe(COHERE)
    assert [layer.scheme for layer in layers] == ["rope"] * 3 + ["none"]
    # The same file under another model's name means RoPE in every layer.
    others = configs.describe(but(COHERE, model_type="gemma2"))
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
    full = but(LLAMA, layer_types=["full_attention"] * 2, layer_rope_theta=[0, 10_000.0])
    for model, theta in (("granite_swa", 10_000.0), ("muse_spark_text", 500_000.0)):
        still, turns = configs.describe(full | {"model_type": model})
        assert still.scheme == "none"
        # The code of Muse Spark looks for zeros in the list, and has one base for all the others.
        assert (turns.scheme, turns.theta) == ("rope", theta)


def test_a_file_without_its_list_of_layers_gets_the_one_that_the_code_makes():
    """SmolLM3 and Llama 4 turn nothing in every fourth layer if nobody says otherwise."""
    eight = but(LLAMA, model_type="smollm3", num_hidden_layers=8)
    for listed in ({}, {"no_rope_layers": None}, {"no_rope_layers": []}):
        layers = configs.describe(eight | listed)
        assert [n.turning for n in layers] == [128, 128, 128, 0] * 2
    layers = configs.describe(eight | {"no_rope_layer_interval": 2})
    assert [n.turning for n in layers] == [128, 0] * 4


def bases_and_rules(config):
    return [(n.theta, n.rescaled) for n in configs.describe(config)]


def test_a_base_and_a_rule_of_some_layers_are_not_given_to_the_others():
    """By hand, from the code: Gemma 3 scales its full layers, and its windows have their own base;
    OLMo 3 has one base, and scales its full layers alone."""
    assert bases_and_rules(GEMMA3) == [(1e4, None), (1e6, "linear")]
    assert bases_and_rules(OLMO3) == [(5e5, None), (5e5, "yarn")]
    for config in (GEMMA3, OLMO3):  # what was said before: one pair for all
        rule = config["rope_scaling"]["rope_type"]
        everywhere = [(config["rope_theta"], rule)] * 2
        assert bases_and_rules(config) != everywhere
    bert = but(GEMMA3, model_type="modernbert-decoder", rope_theta=None, rope_scaling=None)
    bert |= {"rope_local_base_freq": None, "global_rope_theta": 8e4, "local_rope_theta": 2e4}
    assert bases_and_rules(bert) == [(2e4, None), (8e4, None)]


def test_a_base_at_the_top_is_that_of_the_sets_which_have_none():
    sets = {"sliding_attention": {"rope_type": "default"}, "full_attention": {"factor": 8.0}}
    sets["full_attention"] |= {"rope_type": "linear"}
    inside = but(GEMMA3, rope_scaling=None, rope_parameters=sets)
    assert bases_and_rules(inside) == [(1e4, None), (1e6, "linear")]
    # Of Gemma 3 the base at the top is that of the full layers; the code holds the other.
    assert bases_and_rules(inside | {"rope_local_base_freq": None}) == [
        (1e4, None),
        (1e6, "linear"),
    ]
    lfm = but(inside, model_type="lfm3", rope_local_base_freq=None)
    assert bases_and_rules(lfm) == [(1e6, None), (1e6, "linear")]
    lfm["rope_parameters"]["sliding_attention"]["rope_theta"] = 3e4
    assert bases_and_rules(lfm) == [(3e4, None), (1e6, "linear")]


def test_older_names_of_the_base_and_of_the_share_are_read():
    assert configs.describe(NEOX) == (Layer("rope", None, 48, 96, 10_000.0),)
    del (quarter := but(NEOX))["rotary_pct"]
    # A quarter is what the code takes; with a share of 1 the 96 channels would look as right.
    assert configs.describe(quarter) == (Layer("rope", None, 24, 96, 10_000.0),)
    phi = but(LLAMA, model_type="phi", rope_scaling=None)
    assert {n.turning for n in configs.describe(phi)} == {64}
    assert {n.turning for n in configs.describe(phi | {"partial_rotary_factor": 0.25})} == {32}
    for given, turning in (({"rotary_dim": 32}, 32), ({}, 64)):
        gptj = {"model_type": "gptj", "n_layer": 1, "n_embd": 4096, "n_head": 16} | given
        assert configs.describe(gptj) == (Layer("rope", None, turning, 256, 10_000.0),)
    counted = but(LLAMA, model_type="minimax_m2", rope_scaling=None, rotary_dim=64)
    assert {n.turning for n in configs.describe(counted)} == {64}


@pytest.mark.parametrize(
    ("scaling", "rule"),
    [
        (None, None),
        ({}, None),
        ({"type": "default"}, None),
        ({"rope_type": "default"}, None),
        ({"type": "linear", "factor": 2}, "linear"),
        ({"rope_type": "dynamic", "type": "linear", "factor": 2}, "dynamic"),
        ({"rope_type": None, "type": "yarn", "factor": 2}, "yarn"),
    ],
)
def test_a_rule_has_two_names_and_may_be_none(scaling, rule):
    assert bases_and_rules(but(LLAMA, rope_scaling=scaling)) == [(500_000.0, rule)] * 2
    whole = but(LLAMA, rope_scaling=scaling, rope_theta=500_000, layer_types=None)
    assert bases_and_rules(whole) == [(500_000.0, rule)] * 2


def test_names_that_some_types_have_of_their_own_for_a_rule_are_read():
    longrope = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    phi3 = but(LLAMA, model_type="phi3", rope_scaling=longrope)
    for name in ("longrope", "su", "yarn"):  # its code means the first by all three
        phi3["rope_scaling"]["type"] = name
        assert bases_and_rules(phi3) == [(500_000.0, "longrope")] * 2
    sections = {"type": "mrope", "mrope_section": [16, 24, 24]}
    vision = but(LLAMA, model_type="qwen2_5_vl_text", rope_scaling=sections)
    assert bases_and_rules(vision) == [(500_000.0, None)] * 2
    for other in ("su", "mrope"):
        with pytest.raises(ValueError, match=re.escape("config['rope_scaling']['type'] must be")):
            configs.describe(but(LLAMA, rope_scaling={"type": other}))


def test_a_window_is_there_where_the_code_asks_for_it():
    plain = but(LLAMA, sliding_window=4096)
    for model in ("mistral", "starcoder2", "phi3"):
        layers = configs.describe(plain | {"model_type": model, "rope_scaling": None})
        assert [n.window for n in layers] == [4096, 4096]
    qwen = plain | {"model_type": "qwen2", "rope_scaling": None}
    assert [n.window for n in configs.describe(qwen)] == [None, None]  # nobody asked for windows
    asked = qwen | {"use_sliding_window": True, "layer_types": KINDS}
    assert [n.window for n in configs.describe(asked)] == [4096, None]


def test_a_head_of_two_parts_turns_in_one():
    assert configs.describe(MLA) == (Layer("rope", None, 64, 192, 10_000.0),)


def test_both_conventions_of_a_quarter():
    """CURRICULUM §3.6: 128 channels, θ = 10⁶: 2.65 million tokens against 160."""
    whole = frequencies.wavelengths(frequencies.inverse_frequencies(128, 1e6))
    again = frequencies.wavelengths(frequencies.inverse_frequencies(32, 1e6))
    rule = {"rope_theta": 1e6, "partial_rotary_factor": 0.25}
    one = but(GEMMA, head_dim=128, num_hidden_layers=1, layer_types=["full_attention"])
    glm = {"model_type": "glm", "num_hidden_layers": 1, "head_dim": 128}
    for config, kind, spectrum in ((one, "proportional", whole[:16]), (glm, "default", again)):
        rope = rule | {"rope_type": kind}
        sets = {"full_attention": rope} if config is one else rope
        (layer,) = configs.describe(but(config, rope_parameters=sets))
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


def test_the_config_is_left_as_it_was():
    for config in (GEMMA, GEMMA3, OLMO3, NEOX, LLAMA, COHERE, MLA):
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
