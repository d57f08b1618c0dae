"""Where a config.json keeps the base, the share and the rule of a layer's rotation (10).

Newer files have ``rope_parameters``, one set or one a kind of layer; older ones spread the same
over the config, under names that differ from type to type.  A key that looks as if it were about
rotation and that the type's code does not read is refused: without it the numbers would be wrong,
and look right.
"""

import re
from typing import NamedTuple

from lessons import validate
from lessons.config_types import KNOWN, SLIDING, TYPES

LOOKS_ROTARY = re.compile(
    r"rope(?!r)|rotary|rotat|theta|base_freq|freq_base|yarn|alibi|nope|ntk", re.IGNORECASE
)
# Which two channels are a pair, and whether values turn too: neither is told here.
ASIDE = ("rope_interleave", "rotary_value")
RULES = ("default", "dynamic", "linear", "llama3", "longrope", "proportional", "yarn")
# What a set may hold; all but the first four are numbers of a rule, or which axis a pair is for.
IN_A_SET = (
    *("rope_type", "type", "rope_theta", "partial_rotary_factor"),
    *("attention_factor", "beta_fast", "beta_slow", "factor", "finetuned", "high_freq_factor"),
    *("llama_4_scaling_beta", "long_factor", "long_mscale", "low_freq_factor"),
    *("max_position_embeddings", "mrope_interleaved", "mrope_section", "mscale"),
    *("mscale_all_dim", "original_max_position_embeddings", "short_factor", "short_mscale"),
    "truncate",
)
MROPE = ("qwen2_5_vl_text", "qwen2_vl_text")


class Rotation(NamedTuple):
    """theta: the base.  share: of a head's channels, or None for a count.  rule: one of RULES."""

    theta: float
    share: float | None
    rule: str


def refuse_unread(config):
    """Refuse a key that looks rotary and that the code of config's type does not read.

    config: a dict with a model_type of ``config_types.TYPES``; keys with null are left alone.
    Raises ValueError that names the key; TypeError where config is no dict.
    """
    read = _read(_code(config))
    for key, value in config.items():
        if LOOKS_ROTARY.search(str(key)) and value is not None and key not in read:
            raise ValueError(
                f"config[{key!r}] must be left out: the code of {config['model_type']!r} "
                f"does not read it, got {value!r}"
            )


def of_kind(config, kind):
    """The Rotation of a kind of layer, or None where a file says that the kind has none.

    config: a dict with a model_type of ``config_types.TYPES``; its rotary keys alone are read.
    kind: a kind of layer that the type has, such as "full_attention".
    Raises ValueError or TypeError that names the key, or kind.
    Source: the configuration classes of transformers 5.24.0.
    """
    code = _code(config)
    validate.choice(kind, "kind", code.kinds)
    if code.fixed:
        return Rotation(code.fixed, code.share, "default")
    where, found = _set(config, code, kind)
    if found is None:
        return None
    if code.held and not found:
        raise ValueError(
            f"config['rope_parameters'] must be there: without it the code of "
            f"{config['model_type']!r} takes a base and a rule of its own"
        )
    for key in found:
        if key not in IN_A_SET:
            raise ValueError(
                f"{where}[{key!r}] must be left out: the code of {config['model_type']!r} "
                f"does not read it, got {found[key]!r}"
            )
    rule = _rule(config["model_type"], code, where, found)
    share = _share(config, code, where, found, rule)
    return Rotation(_theta(config, code, kind, where, found), share, rule)


def _code(config):
    if not isinstance(config, dict):
        raise TypeError(f"config must be a dict, got {type(config).__name__}")
    return TYPES[validate.choice(config.get("model_type"), "config['model_type']", KNOWN)]


def _read(code):
    """The keys about rotation that a type's code reads."""
    keys = [*ASIDE]
    if code.latent:
        keys += ["qk_nope_head_dim", "qk_rope_head_dim"]
    if code.fixed:
        keys.append("rotary")  # GPT-J's own files say that they have it, and its code goes without
    elif code.scheme == "rope":
        keys += ["rope_parameters", "rope_scaling"]
        keys += [legacy.base for legacy in code.legacy.values()] or [code.base, code.part]
    if code.rotary_dim is not None:
        keys.append("rotary_dim")
    if code.interval:
        keys += ["no_rope_layers", "no_rope_layer_interval"]
    if code.bases:
        keys.append("layer_rope_theta")
    if "compress" in code.nested:
        keys += ["compress_rope_theta", "qk_rope_head_dim"]
    return keys


def _set(config, code, kind):
    """(name, dict): the set of a kind; None for the dict where the file has null for it."""
    name = "config['rope_parameters']"
    rope, scaling = (_dict(config, key) for key in ("rope_parameters", "rope_scaling"))
    if rope and scaling:
        raise ValueError(f"config['rope_scaling'] must be left out beside {name}, got {scaling!r}")
    if not code.nested:
        return (name, rope) if rope else ("config['rope_scaling']", scaling)
    if not rope and code.legacy:
        return "config['rope_scaling']", scaling if code.legacy[kind].scaled else {}
    label = kind
    if "compress" in code.nested:  # DeepSeek-V4 names its two sets by what they are for
        label = "main" if kind == SLIDING else "compress"
    strangers = [key for key in rope if key not in code.nested]
    if strangers and any(key in rope for key in code.nested):
        raise ValueError(
            f"{name}[{strangers[0]!r}] must be left out beside a set for each kind of layer, "
            f"got {rope[strangers[0]]!r}"
        )
    if label not in rope and (strangers or not code.legacy):
        raise ValueError(f"{name} must have {label!r}, got {sorted(rope)}")
    found = rope.get(label)
    if found is None:
        return name, {} if code.legacy else None
    if not isinstance(found, dict):
        raise TypeError(f"{name}[{label!r}] must be a dict, got {type(found).__name__}")
    return f"{name}[{label!r}]", found


def _dict(config, key):
    value = config.get(key)
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"config[{key!r}] must be a dict, got {type(value).__name__}")
    return value or {}


def _theta(config, code, kind, where, found):
    key, name = code.base, f"config[{code.base!r}]"
    value = found.get("rope_theta")
    if value is not None:
        return validate.real(value, f"{where}['rope_theta']", minimum=1)
    if code.legacy:
        key, otherwise, _ = code.legacy[kind]
        name, value = f"config[{key!r}]", config.get(key)
        if value is None:
            return otherwise
        if config["model_type"] == "olmo3" and kind == SLIDING and value != otherwise:
            # The library gives it to the full layers alone, and Olmo 3 was not trained so.
            raise ValueError(
                f"{name} must be {otherwise:g} where the windowed layers have no base "
                f"of their own in config['rope_parameters'], got {value!r}"
            )
    else:
        value = config.get(key)
    return validate.real(value, name, minimum=1)


def _share(config, code, where, found, rule):
    name, value = f"{where}['partial_rotary_factor']", found.get("partial_rotary_factor")
    if value is None:
        name, value = f"config[{code.part!r}]", config.get(code.part)
    if value is None:
        return code.share
    share = validate.real(value, name, minimum=0)
    if share > 1:
        raise ValueError(f"{name} must be at most 1, got {value!r}")
    if share != 1 and not code.shares and rule != "proportional":
        raise ValueError(
            f"{name} must be 1: the code of {config['model_type']!r} turns every channel, "
            f"got {value!r}"
        )
    return share


def _rule(model, code, where, found):
    key = "rope_type" if found.get("rope_type") is not None else "type"
    rule = found.get(key)
    if rule is None or (rule == "mrope" and model in MROPE):
        return "default"
    if rule in ("su", "yarn") and model == "phi3":
        return "longrope"
    name = f"{where}[{key!r}]"
    if code.legacy and key == "type" and "rope_scaling" in where and rule != "default":
        # The library sets rope_type to "default" beforehand, and goes by it.
        raise ValueError(f"{name} must be called 'rope_type' for {model!r}, got {rule!r}")
    allowed = code.rules or [n for n in RULES if not (code.latent and n == "proportional")]
    return validate.choice(rule, name, allowed)
