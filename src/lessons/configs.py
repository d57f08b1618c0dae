"""Reading a model's config.json: which layer sees how far, and which of its channels turn (10).

A config alone does not tell: some models leave the rotation out of their full-attention layers
without a word in the file, because the code does. So a model type is read only if its code was
read, in transformers 5.24.0, for ``config_types``; any other is refused.
"""

import json
import math
from importlib.resources import files
from typing import NamedTuple

from lessons import config_rotary, validate
from lessons.config_types import CHUNKED, FULL, LINEAR, STATE, TYPES, WINDOWED

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

    config: a dict; a text_config inside is taken out.  Read are model_type and
    the sizes: num_hidden_layers (n_layer, n_layers, num_layers), head_dim or hidden_size (n_embd,
    d_model) over num_attention_heads (n_head, n_heads, num_heads), qk_nope_head_dim and
    qk_rope_head_dim, per_layer_config;
    the kinds of layer: layer_types, attn_layer_period and attn_layer_offset (jamba);
    the windows: sliding_window (sliding_window_size), use_sliding_window, attention_chunk_size;
    the rotation: rope_parameters, one set or one a kind of layer, each with rope_type (or type),
    rope_theta, partial_rotary_factor and the numbers of its rule; or, as older files have them,
    rope_scaling, rope_theta and partial_rotary_factor beside the sizes;
    by type: rotary_emb_base and rotary_pct (gpt_neox, gpt_neox_japanese), rope_local_base_freq
    (gemma3_text, gemma3n_text), global_rope_theta and local_rope_theta (modernbert-decoder),
    rotary_dim (gptj, codegen, minimax_m2), no_rope_layers and no_rope_layer_interval (smollm3,
    llama4_text, mistral_large4_text), layer_rope_theta (granite_swa, granitemoe_swa,
    muse_glimmer_text, muse_spark_text).
    Null is as good as absent.  What a file leaves out and the code of its type adds, such as a
    share of a quarter, is in ``config_types``.  A base is asked for, but where the code of a type
    has one for each kind of layer.
    Returns a tuple of Layer.
    Raises ValueError or TypeError that names the key of config, and what it is; any other key
    that looks as if it were about rotation is among them.
    Source: the configuration and modelling code of transformers 5.24.0.
    """
    if not isinstance(config, dict):
        raise TypeError(f"config must be a dict, got {type(config).__name__}")
    config = config.get("text_config") or config
    if not isinstance(config, dict):
        raise TypeError(f"config['text_config'] must be a dict, got {type(config).__name__}")
    config_rotary.refuse_unread(config)
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
    code = TYPES[config["model_type"]]
    if config["model_type"] == "jamba":
        period = validate.count(config.get("attn_layer_period"), "config['attn_layer_period']")
        offset = config.get("attn_layer_offset")
        attends = validate.count(offset, "config['attn_layer_offset']", minimum=0)
        return [FULL if i % period == attends else LINEAR for i in range(n_layers)]
    kinds = config.get("layer_types")
    if kinds is None:
        # Without a list the code makes one of its own, from keys that differ from type to type.
        if len(code.kinds) > 1 and not (code.asked and not _window(config)):
            raise ValueError(
                "config['layer_types'] must say which layers are "
                f"{' and which '.join(code.kinds)}, got None"
            )
        if _window(config) and not code.everywhere:
            raise ValueError(
                "config['layer_types'] must say which layers have the window, got None"
            )
        return list(code.kinds[:1]) * n_layers
    if not isinstance(kinds, list) or len(kinds) != n_layers:
        raise ValueError(f"config['layer_types'] must be {n_layers} names, got {kinds!r}")
    for kind in kinds:
        validate.choice(kind, "config['layer_types']", code.kinds)
    return kinds


def _layer(config, index, kind):
    if kind in STATE:
        return Layer("state")
    code, window = TYPES[config["model_type"]], None
    if kind in WINDOWED:
        key = "attention_chunk_size" if kind == CHUNKED else "sliding_window"
        size = config.get(key) if kind == CHUNKED else _window(config)
        window = validate.count(size, f"config[{key!r}]")
    elif code.everywhere and _window(config) is not None:
        window = validate.count(_window(config), "config['sliding_window']")
    if code.scheme in ("added", "bias"):
        return Layer(code.scheme, window)
    head_dim = _head_dim(config, index)
    turns = _turns(config, code, index, kind)
    rotation = config_rotary.of_kind(config, kind) if turns else None
    turning = 0 if rotation is None else _turning(config, code, head_dim, rotation)
    if rotation is None or not turning:
        return Layer("none", window, 0, head_dim)
    truncated = rotation.rule == "proportional" and turning < head_dim
    return Layer(
        "truncated" if truncated else "rope",
        window,
        turning,
        head_dim,
        _own_base(config, code, index, rotation.theta),
        None if rotation.rule in ("default", "proportional") else rotation.rule,
    )


def _turns(config, code, index, kind):
    """Whether the code turns this layer, whatever the base."""
    alone = code.turns_alone and not _window(config)
    if code.scheme == "none" or (kind in code.still and not alone):
        return False
    if code.bases and _own_base(config, code, index, None) == 0:
        return False
    if not code.interval:
        return True
    key = "no_rope_layer_interval"
    every = config.get(key)
    every = validate.count(code.interval if every is None else every, f"config[{key!r}]")
    listed = _listed(config, "no_rope_layers", index)
    if listed is None:
        return (index + 1) % every != 0
    if listed not in (0, 1):
        raise ValueError(f"config['no_rope_layers'] must hold 0 and 1 only, got {listed!r}")
    return bool(listed)  # a 1 means that the rotation is there


def _own_base(config, code, index, theta):
    """The layer's own base, theta where the file has none for it; 0: no rotation."""
    name = f"config['layer_rope_theta'][{index}]"
    own = _listed(config, "layer_rope_theta", index) if code.bases else None
    if own is None:
        if code.bases == "zero":
            raise ValueError("config['layer_rope_theta'] must be a list, one a layer, got None")
        return theta
    own = validate.real(own, name, minimum=0)
    if own == 0:
        return own
    return validate.real(own, name, minimum=1) if code.bases == "all" else theta


def _turning(config, code, head_dim, rotation):
    """Channels of a head that turn; the pairs are whole, or it is no count that a model can run."""
    own, key = None, "qk_rope_head_dim"
    if code.latent or (rotation.share is None and code.rotary_dim is None):
        own = config.get(key)
    elif rotation.share is None:
        key = "rotary_dim"
        own = config.get(key, code.rotary_dim or head_dim)
    if own is not None or rotation.share is None:
        turning = validate.count(own, f"config[{key!r}]", minimum=0, even=True)
        if turning > head_dim:
            raise ValueError(f"config[{key!r}] must be at most {head_dim}, got {turning}")
        return turning
    if rotation.rule == "proportional":
        return 2 * int(head_dim * rotation.share // 2)
    turning = int(head_dim * rotation.share)
    if turning % 2:
        raise ValueError(
            f"config['{code.part}'] must leave an even count of channels, "
            f"got {turning} of {head_dim}"
        )
    return turning


def _head_dim(config, index):
    by_layer = config.get("per_layer_config") or {}
    own = {int(key): value for key, value in by_layer.items()}.get(index, {})
    if TYPES[config["model_type"]].latent:
        parts = ("qk_nope_head_dim", "qk_rope_head_dim")
        return sum(validate.count(config.get(k), f"config[{k!r}]", minimum=0) for k in parts)
    head_dim = own.get("head_dim") or config.get("head_dim")
    if head_dim is None:
        width = validate.count(_first(config, WIDTH_KEYS), f"config[{WIDTH_KEYS[0]!r}]")
        head_dim = width // validate.count(_first(config, HEAD_KEYS), f"config[{HEAD_KEYS[0]!r}]")
    return validate.count(head_dim, "config['head_dim']")


def _window(config):
    asked = config.get("use_sliding_window")
    if not isinstance(asked, (bool, type(None))):
        raise TypeError(f"config['use_sliding_window'] must be a bool, got {type(asked).__name__}")
    if asked is False or (asked is None and TYPES[config["model_type"]].asked):
        return None
    return _first(config, WINDOW_KEYS)


def _listed(config, key, index):
    """The layer's entry of a list that has one a layer, or None where config has no list."""
    values = config.get(key)
    if values is None or values == []:
        return None
    if not isinstance(values, list) or index >= len(values):
        raise ValueError(f"config[{key!r}] must be a list, one a layer, got {values!r}")
    return values[index]


def _first(config, keys):
    return next((config[key] for key in keys if config.get(key) is not None), None)
