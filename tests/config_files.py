"""No tests: configs as model hubs have them, small enough to read by hand."""

import copy

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
KINDS = ["sliding_attention", "full_attention"]
GEMMA3 = {
    "model_type": "gemma3_text",
    "num_hidden_layers": 2,
    "head_dim": 256,
    "sliding_window": 1024,
    "layer_types": KINDS,
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
OLMO3 = {
    "model_type": "olmo3",
    "num_hidden_layers": 2,
    "head_dim": 128,
    "sliding_window": 4096,
    "layer_types": KINDS,
    "rope_theta": 5e5,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 8.0,
        "original_max_position_embeddings": 8192,
    },
}
NEOX = {
    "model_type": "gpt_neox",
    "num_hidden_layers": 1,
    "hidden_size": 6144,
    "num_attention_heads": 64,
    "rotary_emb_base": 10_000,
    "rotary_pct": 0.5,
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


# The numbers a rule takes beside its name.
RULES = {
    "linear": {"factor": 8.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 2048},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 2048,
    },
    "proportional": {"partial_rotary_factor": 0.5},
}


def forms():
    """Ways in which a file holds a rotation: {name: the keys}."""
    scaled = {rule: {"type": rule, **numbers} for rule, numbers in RULES.items()}
    newer = {rule: {"rope_type": rule, **numbers} for rule, numbers in RULES.items()}
    both = ("sliding_attention", "full_attention")
    found = {
        "base": {"rope_theta": 123_456.0},
        "whole base": {"rope_theta": 123_456},
        "the library's base": {"rope_theta": 500_000.0},
        "share": {"rope_theta": 5e5, "partial_rotary_factor": 0.5},
        "share and rule": {
            "rope_theta": 5e5,
            "partial_rotary_factor": 0.5,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        },
        "no scaling": {"rope_theta": 5e5, "rope_scaling": None},
        "neox": {"rotary_emb_base": 20_000, "rotary_pct": 0.5},
        "neox and rope": {"rope_theta": 5e5, "rotary_pct": 0.5},
        "bert": {"global_rope_theta": 80_000.0, "local_rope_theta": 20_000.0},
        "gemma": {"rope_theta": 5e5, "rope_local_base_freq": 20_000.0},
        "count": {"rope_theta": 5e5, "rotary_dim": 32},
        "flat": {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
        "flat share": {"rope_parameters": {"rope_theta": 5e5, "partial_rotary_factor": 0.5}},
        "flat, base above": {"rope_theta": 5e5, "rope_parameters": {"rope_type": "default"}},
        "stranger": {"rope_theta": 5e5, "rope_ratio": 8.0},
    }
    for rule in RULES:
        base = {"rope_theta": 500_000.0}
        found[f"{rule} by type"] = base | {"rope_scaling": scaled[rule]}
        found[f"{rule} by rope_type"] = base | {"rope_scaling": newer[rule]}
        found[f"{rule}, flat"] = {"rope_parameters": newer[rule] | base}
        kinds = {both[0]: {"rope_type": "default"}, both[1]: newer[rule]}
        found[f"{rule}, by kind, base above"] = base | {"rope_parameters": kinds}
        own = {kind: one | {"rope_theta": 1e4 * (1 + i)} for i, (kind, one) in
               enumerate(kinds.items())}  # fmt: skip
        found[f"{rule}, by kind"] = {"rope_parameters": own}
    return found
