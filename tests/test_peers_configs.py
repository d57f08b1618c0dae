"""lessons.configs beside transformers 5.24.0: what it reads is what the library's code turns."""

import copy
import re
from collections import Counter

import numpy as np
import pytest
from config_files import forms

from lessons import configs
from lessons.config_rotary import LOOKS_ROTARY
from lessons.config_types import COMPRESSED, TYPES

transformers = pytest.importorskip("transformers", reason="it is of the extra 'peers'")
if transformers.__version__ != "5.24.0":
    reason = f"the code was read in 5.24.0, this is {transformers.__version__}"
    pytest.skip(reason, allow_module_level=True)

library = pytest.importorskip("library_rotary")
StrictDataclassError = pytest.importorskip("huggingface_hub.errors").StrictDataclassError
ROPE_INIT_FUNCTIONS = pytest.importorskip("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
transformers.logging.set_verbosity_error()
TURNING = [name for name, code in TYPES.items() if code.scheme == "rope"]


@pytest.fixture(scope="module")
def classes():
    return library.config_classes()


@pytest.fixture(scope="module")
def by_type(classes):
    """{type: (folder, file, class)}."""
    return {kind.model_type: (folder, file, kind) for folder, file, kind in classes}


@pytest.fixture(scope="module")
def unturned(by_type):
    """{type: its default config without the keys that hold the rotation}."""
    rotary = re.compile("rope_(theta|parameters|scaling)|rotary")
    return {
        model: {k: v for k, v in by_type[model][2]().to_dict().items() if not rotary.search(k)}
        for model in TURNING
    }


def ladder(layer, config, rope):
    """The frequencies that a described layer means, by the library's function of its rule."""
    if layer.rescaled is None:
        of = layer.head_dim if layer.scheme == "truncated" else layer.turning
        return layer.theta ** (-2 * np.arange(layer.turning // 2) / of) / rope.get("factor", 1)
    plain = {k: v for k, v in rope.items() if k != "partial_rotary_factor"}
    alone = transformers.LlamaConfig(
        hidden_size=layer.turning,
        num_attention_heads=1,
        max_position_embeddings=config.max_position_embeddings,
        rope_parameters=plain | {"rope_theta": layer.theta, "rope_type": layer.rescaled},
    )
    return ROPE_INIT_FUNCTIONS[layer.rescaled](alone)[0].double().numpy()


def sets(config, code):
    """{kind of layer: its rope parameters} of an instance."""
    rope = config.rope_parameters or {} if hasattr(config, "rope_parameters") else {}
    if not code.nested:
        return dict.fromkeys(code.kinds, rope)
    if "main" in code.nested:
        return {k: rope["main" if k == "sliding_attention" else "compress"] for k in code.kinds}
    return {kind: rope.get(kind) for kind in code.kinds}


def kinds_of(config, layers):
    return getattr(config, "layer_types", None) or ["full_attention"] * len(layers)


def differences(described, config, watched):
    """Sentences about the attentions of a running model that are not what describe said."""
    code = TYPES[config.model_type]
    attend = [
        pair for pair in zip(described, kinds_of(config, described), strict=True)
        if pair[0].scheme != "state"
    ]  # fmt: skip
    if len(attend) != len(watched):
        return [f"{len(attend)} layers attend, the model has {len(watched)}"]
    found = []
    for index, ((layer, kind), (seen, turning, head_dim, inv_freq)) in enumerate(
        zip(attend, watched, strict=True)
    ):
        if (layer.turning, layer.head_dim) != (turning, head_dim):
            found.append(f"{index}: {layer} and {turning} of {head_dim} channels")
        elif turning:
            want = np.sort(ladder(layer, config, sets(config, code)[kind] or {}))[::-1]
            if not np.allclose(want, inv_freq, rtol=1e-5, atol=3e-7):
                found.append(f"{index}: {layer} and the frequencies {inv_freq}")
        most = library.SEQ if seen is None else seen
        # Keys that stand for many are counted beside a window: all are seen, none is told apart.
        if kind not in COMPRESSED and most != min(library.SEQ, layer.window or library.SEQ):
            found.append(f"{index}: {layer} and {seen} keys are seen")
    return found


def variations(kind, code):
    """Changes of a class's own small config: windows on, each kind of layer in turn, and so on."""
    default = kind().to_dict()
    yield {}
    windowed = {"sliding_window": 3, "use_sliding_window": True}
    change = {key: value for key, value in windowed.items() if key in default}
    if len(code.kinds) > 1 and "layer_types" in default:
        yield change | {"layer_types": [code.kinds[i % len(code.kinds)] for i in range(8)]}
    elif "sliding_window" in change and code.everywhere:
        yield change
    if code.shares and not code.nested:
        rope = dict(library.small(kind).rope_parameters)
        if "mrope_section" in rope:
            rope["mrope_section"] = [2, 1, 1]
        yield {"rope_parameters": rope | {"partial_rotary_factor": 0.5}}
    if code.turns_alone and kind.model_type != "exaone_moe":  # its class refuses to have no window
        yield {"sliding_window": None, "layer_types": ["full_attention"] * 8}
    if code.bases:
        bases = [0, 5e5, 1e4, 0, 2e4, 1e4, 1e4, 0]
        yield {"layer_rope_theta": bases, "layer_types": ["full_attention"] * 8}
    if code.interval:
        yield {"no_rope_layers": [0, 1, 1, 0, 1, 0, 0, 1]}


@pytest.mark.parametrize("model", sorted({*TURNING} - {*library.UNSEEN}))
def test_a_running_model_turns_and_sees_what_its_config_is_read_to_say(model, by_type):
    folder, file, kind = by_type[model]
    for changes in variations(kind, TYPES[model]):
        config = library.small(kind, **copy.deepcopy(changes))
        described = configs.describe(config.to_dict())
        watched = library.watch(library.build(folder, file, config))
        assert differences(described, config, watched) == [], changes
        wrong = [layer._replace(theta=2 * layer.theta) if layer.turning else layer
                 for layer in described]  # fmt: skip
        turns = any(layer.turning for layer in described)
        assert bool(differences(wrong, config, watched)) == turns, "this comparison sees nothing"


def said_by_module(layers, config, module):
    """Whether the rotary module, built from config alone, has the ladder of every layer."""
    code, alike = TYPES[config.model_type], True
    labels = code.nested or code.kinds
    ladders = library.frequencies_of(module, labels)
    for layer, kind in {*zip(layers, kinds_of(config, layers), strict=True)}:
        if not layer.turning:
            continue
        label = kind
        if "main" in code.nested:
            label = "main" if kind == "sliding_attention" else "compress"
        has = ladders[label].double().numpy()
        want = ladder(layer, config, sets(config, code)[kind] or {})
        has = has[has > 0]
        alike &= has.shape == want.shape and np.allclose(has, want, rtol=2e-5, atol=1e-7)
    return alike


def reason(refusal):
    """The key that a refusal names."""
    return re.match(r"config(\['\w+'\])+", str(refusal))[0]


def test_every_class_with_a_rotary_base_is_read_as_its_module_or_refused_by_a_key(classes):
    read, refused, beside = Counter(), Counter(), Counter()
    for folder, file, kind in classes:
        try:
            config = kind()
        except (ImportError, ValueError, StrictDataclassError) as error:
            beside[f"no default: {type(error).__name__}"] += 1
            continue
        whole = config.to_dict()
        if "text_config" in whole:
            continue  # a wrapper, whose text config is a class of its own
        if not any(LOOKS_ROTARY.search(key) for key in whole):
            continue
        model = {"model_type": config.model_type}
        for form, file_ in (("whole", whole), ("short", config.to_diff_dict() | model)):
            try:
                layers = configs.describe(file_)
            except (TypeError, ValueError) as refusal:
                refused[form, reason(refusal)] += 1
                continue
            module = library.rotary_module(folder, file, config)
            if module is None or TYPES[config.model_type].bases == "all":
                beside[f"read, and seen in a running model alone ({form})"] += 1
            else:
                assert said_by_module(layers, config, module), kind.__name__
            read[form] += 1
    print(f"\nclasses read: {dict(read)}")
    print(f"refused, by the key named: { {f'{k[0]} {k[1]}': n for k, n in refused.items()} }")
    print(f"beside: {dict(beside)}")
    assert read["whole"] >= 110 and read["short"] >= 110
    assert sum(read.values()) + sum(refused.values()) >= 2 * 250


@pytest.mark.parametrize("form", forms())
def test_a_form_of_file_is_read_as_by_the_library_or_refused_by_a_key(form, by_type, unturned):
    keys, read, refused, beside, wrong = forms()[form], 0, 0, 0, {}
    for model in TURNING:
        folder, file, kind = by_type[model]
        file_ = copy.deepcopy(unturned[model] | keys)
        try:
            layers = configs.describe(file_)
        except (TypeError, ValueError) as refusal:
            assert reason(refusal), (model, str(refusal))
            refused += 1
            continue
        try:
            config = kind(**file_)
            module = library.rotary_module(folder, file, config)
        except (KeyError, TypeError, ValueError, StrictDataclassError):
            beside += 1  # the library itself cannot read it
            continue
        if module is None or TYPES[model].bases == "all":
            beside += 1
            continue
        if not said_by_module(layers, config, module):
            wrong[model] = (layers, config.rope_parameters)
        read += 1
    print(f"\n{form}: {read} read, {refused} refused, {beside} without the library's reading")
    assert not wrong
    assert read + refused > 0.8 * len(TURNING)


@pytest.mark.parametrize(
    ("model", "name", "share"),
    [
        ("llama", "longrope", 1),
        ("phi3", "longrope", 1),
        ("phi3", "longrope", 0.75),
        ("phi3", "su", 1),
        ("phi3", "yarn", 1),
        ("phimoe", "longrope", 1),
    ],
)
def test_longrope_is_known_by_the_names_that_its_type_has_for_it(
    model, name, share, by_type, unturned
):
    folder, file, kind = by_type[model]
    plain = unturned[model]
    head_dim = plain["hidden_size"] // plain["num_attention_heads"]
    pairs = int(head_dim * share) // 2
    factors = {"short_factor": [1.5] * pairs, "long_factor": [3.0] * pairs, "factor": 4.0}
    factors["original_max_position_embeddings"] = 1024
    if model == "phimoe":
        factors |= {"short_mscale": 1.1, "long_mscale": 1.2}
    file_ = plain | {"rope_theta": 20_000.0, "rope_scaling": {"type": name, **factors}}
    if share != 1:
        file_["partial_rotary_factor"] = share
    layers = configs.describe(copy.deepcopy(file_))
    assert {n.rescaled for n in layers} == {"longrope"}
    assert {n.turning for n in layers} == {2 * pairs}
    config = kind(**copy.deepcopy(file_))
    assert said_by_module(layers, config, library.rotary_module(folder, file, config))
    halved = [n._replace(theta=n.theta / 2) for n in layers]
    assert not said_by_module(halved, config, library.rotary_module(folder, file, config))
