"""Reading a model's config.json: which layer sees how far, and which of its channels turn (10).

A config alone does not tell: some models leave the rotation out of their full-attention layers
without a word in the file, because the code does. So a model type is read only if its code was
read, in transformers 5.24.0, for the lists below; any other is refused.
"""

import json
import math
from importlib.resources import files
from typing import NamedTuple

from lessons import validate

ADDED = ("bert", "gpt2", "opt")
BIAS = ("bloom", "inkling_text", "mpt", "t5")
NOTHING = ("glm5_next_text", "jamba", "kimi_linear")
# These turn queries and keys in their windowed layers only; their config does not say so.
WINDOWED_ONLY = ("afmoe", "cohere2", "exaone4", "exaone_moe")
ROTARY = (
    *("beam", "deepseek_v2", "deepseek_v3", "deepseek_v4", "gemma2", "gemma3_text", "gemma4_text"),
    *("gpt_neox", "gpt_oss", "gptj", "lfm3", "llama", "llama4_text", "ministral3", "mistral"),
    *("mistral_large4_text", "mixtral", "muse_spark_text", "olmo3", "qwen2", "qwen3"),
    *("qwen3_next", "roformer", "smollm3", *WINDOWED_ONLY),
)
KNOWN = tuple(sorted((*ADDED, *BIAS, *NOTHING, *ROTARY)))
# Their code holds the base, their config does not.
FIXED_THETA = {"gptj": 10_000.0, "roformer": 10_000.0}
STATE = ("conv", "linear_attention")
WINDOWED = ("chunked_attention", "hybrid_sliding", "sliding_attention")
EVERYTHING = (
    *("compressed_sparse_attention", "full_attention", "heavily_compressed_attention"),
    *("hybrid", "indexed_attention"),
)
WINDOW_KEYS = ("sliding_window", "sliding_window_size")
LAYER_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEAD_KEYS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
WIDTH_KEYS = ("hidden_size", "n_embd", "d_model")


class Layer(NamedTuple):
    """One layer: what its scheme is, how many keys it may see, which channels of a head turn.

    scheme: "added", "rope", "truncated" (the slow pairs stand still), "bias", "none", or "state"
    for a recurrence or a convolution, which has no scores.
    window: keys that a query may see at most, or the size of a chunk; None: all of them.
    turning, head_dim: channels of a query head that turn, out of how many; 0 of them without RoPE.
    theta: the base.  rescaled: the rule for longer contexts, such as "yarn", or None.
    """

    scheme: str
    window: int | None = None
    turning: int = 0
    head_dim: int | None = None
    theta: float | None = None
    rescaled: str | None = None

    @property
    def longest(self):
        """Tokens that the slowest turning pair takes for a turn, before any rescaling; or None.

        2π θ^((turning − 2) / n): n is head_dim where the full set of frequencies was truncated,
        and turning where it was computed for the turning channels alone.
        """
        if not self.turning or self.theta is None:
            return None
        of = self.turning
        if self.scheme == "truncated" and self.head_dim is not None:
            of = self.head_dim
        return 2 * math.pi * self.theta ** ((self.turning - 2) / of)


def describe(config):
    """The layers of a model, first to last, from what its config.json holds.

    config: a dict with model_type, the number of layers, and, where the model has them:
    hidden_size and num_attention_heads or head_dim, layer_types, sliding_window or
    attention_chunk_size, rope_parameters (or rope_theta, rope_scaling, partial_rotary_factor as
    older files have them), no_rope_layers, layer_rope_theta, qk_rope_head_dim.  A text_config
    inside is taken out.
    Returns a tuple of Layer.
    Raises ValueError or TypeError that names the key of config, and what it is.
    Source: the modelling code of transformers 5.24.0.
    """
    if not isinstance(config, dict):
        raise TypeError(f"config must be a dict, got {type(config).__name__}")
    config = config.get("text_config") or config
    validate.choice(config.get("model_type"), "config['model_type']", KNOWN)
    n_layers = validate.count(_first(config, LAYER_KEYS), f"config[{LAYER_KEYS[0]!r}]")
    kinds = _kinds(config, n_layers)
    return tuple(_layer(config, index, kind) for index, kind in enumerate(kinds))


class Model(NamedTuple):
    """A model of the saved list: its layers, and where they are written.

    date: year and month of the paper, the announcement or the arrival in the library; the year
    alone where only the library's files name the model.  source: what the layers were read from;
    a default of a config class need not be the config of any released checkpoint.
    """

    name: str
    date: str
    layers: tuple
    source: str
    url: str
    note: str
    config: dict | None


def models():
    """The saved list of models in the order of their dates, from data/models.json.

    Returns a list of Model; config is None where the layers were read in a paper.
    """
    saved = json.loads(files("lessons").joinpath("data", "models.json").read_text("utf8"))
    found = []
    for entry in saved["models"]:
        config, source = entry.get("config"), entry["source"]
        if config is None:
            layers = tuple(Layer(s, w) for s, w, n in entry["layers"] for _ in range(n))
        else:
            layers, source = describe(config), f"default of {source}"
        name, date, url, note = (entry[key] for key in ("name", "date", "url", "note"))
        found.append(Model(name, date, layers, source, url, note, config))
    return found


def runs(layers):
    """Equal neighbours counted: [(layer, how many), …], so that a stack can be read in a line.

    layers: what ``describe`` returns.
    Raises TypeError that names layers.
    """
    if not isinstance(layers, (list, tuple)) or not all(isinstance(n, Layer) for n in layers):
        raise TypeError(f"layers must be a tuple of configs.Layer, got {type(layers).__name__}")
    found = []
    for layer in layers:
        if found and found[-1][0] == layer:
            found[-1] = (layer, found[-1][1] + 1)
        else:
            found.append((layer, 1))
    return found


def _kinds(config, n_layers):
    """The kind of every layer, in the words of layer_types."""
    if config["model_type"] == "jamba":
        period = validate.count(config.get("attn_layer_period"), "config['attn_layer_period']")
        offset = config.get("attn_layer_offset")
        attends = validate.count(offset, "config['attn_layer_offset']", minimum=0)
        return [
            "full_attention" if i % period == attends else "linear_attention"
            for i in range(n_layers)
        ]
    kinds = config.get("layer_types")
    if kinds is None:
        if config["model_type"] == "mistral" and config.get("sliding_window"):
            return ["sliding_attention"] * n_layers
        # Elsewhere a window without a list says nothing about which layers have it.
        if config["model_type"] in WINDOWED_ONLY or _window(config):
            raise ValueError(
                "config['layer_types'] must say which layers have the window, got None"
            )
        return ["full_attention"] * n_layers
    if not isinstance(kinds, list) or len(kinds) != n_layers:
        raise ValueError(f"config['layer_types'] must be {n_layers} names, got {kinds!r}")
    for kind in kinds:
        validate.choice(kind, "config['layer_types']", (*STATE, *WINDOWED, *EVERYTHING))
    return kinds


def _layer(config, index, kind):
    if kind in STATE:
        return Layer("state")
    model, window = config["model_type"], None
    if kind in WINDOWED:
        key = "attention_chunk_size" if kind == "chunked_attention" else "sliding_window"
        size = config.get(key) if key == "attention_chunk_size" else _window(config)
        window = validate.count(size, f"config[{key!r}]")
    if model in ADDED:
        return Layer("added", window)
    if model in BIAS:
        return Layer("bias", window)
    head_dim, turning, rope = _rotation(config, index, kind)
    if not turning:
        return Layer("none", window, 0, head_dim)
    rule = rope.get("rope_type", rope.get("type", "default"))
    truncated = rule == "proportional" and turning < head_dim
    return Layer(
        "truncated" if truncated else "rope",
        window,
        turning,
        head_dim,
        validate.real(rope.get("rope_theta"), "config['rope_theta']", minimum=1),
        None if rule in ("default", "proportional") else rule,
    )


def _rotation(config, index, kind):
    """(head_dim, channels that turn, the layer's rope parameters)"""
    model = config["model_type"]
    head_dim, own = _head_dim(config, index), config.get("qk_rope_head_dim")
    left_out = model in WINDOWED_ONLY and kind not in WINDOWED
    if model.startswith("exaone"):
        left_out &= bool(config.get("sliding_window"))  # no window at all: every layer turns
    if model in NOTHING or left_out or not _listed(config, "no_rope_layers", index, 1):
        return head_dim, 0, {}
    rope = _parameters(config, kind)
    if rope is None:  # as a config says that this kind of layer has none
        return head_dim, 0, {}
    theta = _listed(config, "layer_rope_theta", index, rope.get("rope_theta"))
    if theta == 0:  # no base, no rotation
        return head_dim, 0, {}
    share = rope.get("partial_rotary_factor", config.get("partial_rotary_factor"))
    turning = own or config.get("rotary_dim")
    if turning is None:
        part = validate.real(1 if share is None else share, "config['partial_rotary_factor']")
        # As the library does: it cuts to whole channels, and a pair that is half there is none.
        turning = int(head_dim * part) // 2 * 2
    return head_dim, turning, rope | {"rope_theta": theta}


def _parameters(config, kind):
    """rope_parameters of a kind of layer; older files spread them over the config."""
    rope = config.get("rope_parameters")
    if rope is None:
        theta = config.get("rope_theta", FIXED_THETA.get(config["model_type"]))
        return {"rope_theta": theta} | (config.get("rope_scaling") or {})
    if not isinstance(rope, dict):
        raise TypeError(f"config['rope_parameters'] must be a dict, got {type(rope).__name__}")
    if "main" in rope:  # DeepSeek-V4 names its two sets by what they are for
        return rope["main" if kind in WINDOWED else "compress"]
    if any(key in rope for key in (*WINDOWED, *EVERYTHING)):
        if kind not in rope:
            raise ValueError(f"config['rope_parameters'] must have {kind!r}, got {sorted(rope)}")
        return rope[kind]
    return rope


def _head_dim(config, index):
    by_layer = config.get("per_layer_config") or {}
    own = {int(key): value for key, value in by_layer.items()}.get(index, {})
    split = config.get("qk_nope_head_dim")  # a head of two parts, of which one may turn
    if split is not None:
        turns = config.get("qk_rope_head_dim")
        return validate.count(split, "config['qk_nope_head_dim']") + validate.count(
            turns, "config['qk_rope_head_dim']", minimum=0
        )
    head_dim = own.get("head_dim") or config.get("head_dim")
    if head_dim is None:
        width = validate.count(_first(config, WIDTH_KEYS), f"config[{WIDTH_KEYS[0]!r}]")
        head_dim = width // validate.count(_first(config, HEAD_KEYS), f"config[{HEAD_KEYS[0]!r}]")
    return validate.count(head_dim, "config['head_dim']")


def _window(config):
    if config.get("use_sliding_window") is False:
        return None
    return _first(config, WINDOW_KEYS)


def _listed(config, key, index, default):
    """The layer's entry of a list that has one a layer, where the config has the list."""
    values = config.get(key)
    if not values:
        return default
    if not isinstance(values, list) or index >= len(values):
        raise ValueError(f"config[{key!r}] must be a list, one a layer, got {values!r}")
    return values[index]


def _first(config, keys):
    return next((config[key] for key in keys if config.get(key) is not None), None)
