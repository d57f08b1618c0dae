"""What rules for longer contexts, padded texts, costs, configs and exercises refuse."""

from pathlib import Path

import numpy as np
from faults import (
    BASE,
    COUNT,
    COUNTS,
    FREE,
    INV_FREQ,
    NUMBER,
    OBJECTS,
    POSITION,
    RAGGED,
    ROW_OR_BATCH,
    TENSOR,
    VECTOR,
)

from lessons import (
    atomic,
    config_rotary,
    configs,
    costs,
    exercises,
    positions,
    scaling,
    validate,
)

# Rules for longer contexts, and positions of padded and packed texts.
PAIRS = [*INV_FREQ, ([1.0], "1")]  # two are needed
LADDER = [
    *PAIRS,
    ([1.0, 0.0], "0"),
    ([1.0, 1.0], "1. 1."),
    ([0.1, 1.0], "0.1 1."),
    ([1.0, 0.1, 0.1], "0.1 0.1"),
    ([1.0, 0.1, 0.01001], "0.01001"),
]
FACTOR = BASE
LOW = [*NUMBER, (0, "0"), (-1, "-1"), (32, "32"), (50, "32")]  # as the lower of two, below 32
HIGH = [*NUMBER, (0, "0"), (1, "1"), (0.5, "0.5")]  # as the upper of two, above 1
RAMP = [(None, "NoneType"), (1, "int"), ("turns", "'turns'"), ("", "''")]
PADDING = [
    (None, "object"),
    ("12", "<U2"),
    (TENSOR > 0, "torch"),
    (OBJECTS, "object"),
    ([[0.0, 1.0]], "float64"),
    ([[1j]], "complex"),
    ([[0, 2]], "2"),
    ([[-1, 1]], "-1"),
    (RAGGED, "different lengths"),
    (1, "()"),
    (np.ones((2, 3, 4), bool), "(2, 3, 4)"),
]
WINDOWS = [
    (3, "3"),
    ("12", "'12'"),
    ([None], "got 1"),
    ([8, 0], "0"),
    ([8, 2.5], "2.5"),
    ([8, True], "True"),
]
NO_CONFIG = [(None, "NoneType"), (3, "int"), ([1], "list"), ({"model_type": "x"}, "'x'")]
NO_EXERCISE = [(1.1, "1.1"), ("9.9", "'9.9'"), ([1], "list"), (None, "None"), (..., "ellipsis")]
LONGER = {"inv_freq": (VECTOR, INV_FREQ), "factor": (2, FACTOR)}
TURNS = {
    "original_max_len": (64, COUNT),
    "beta_fast": (32, HIGH),
    "beta_slow": (1, LOW),
}
SIZES = {"seq_len": (9, COUNT), "n_layers": (2, COUNT)}
HEADS_OF = {"n_kv_heads": (4, COUNT), "head_dim": (6, COUNT)}
EVEN = [*COUNT, (1, "1"), (5, "5")]
TABLE = {
    validate.geometric: {"value": (VECTOR, LADDER), "name": ("value", FREE)},
    validate.padding_mask: {"value": ([0, 1], PADDING), "name": ("value", FREE)},
    validate.windows: {
        "value": ([8, None], WINDOWS),
        "n_layers": (2, FREE),
        "name": ("value", FREE),
    },
    atomic.replacing: {"path": (Path("x"), FREE)},
    atomic.beside: {"path": (Path("x"), FREE)},
    scaling.theta: {"inv_freq": (VECTOR, LADDER)},
    scaling.linear: LONGER,
    scaling.ntk: LONGER | {"inv_freq": (VECTOR, PAIRS)},
    scaling.dynamic_ntk: {
        "inv_freq": (VECTOR, PAIRS),
        "factor": (2, FACTOR),
        "seq_len": (128, COUNT),
        "original_max_len": (64, COUNT),
    },
    scaling.yarn: {
        "inv_freq": (VECTOR, LADDER),
        "factor": (2, FACTOR),
        **TURNS,
        "ramp": ("index", RAMP),
    },
    scaling.yarn_bounds: {"inv_freq": (VECTOR, LADDER), **TURNS},
    scaling.yarn_attention_factor: {"factor": (2, FACTOR)},
    scaling.llama3: {
        **LONGER,
        "original_max_len": (64, COUNT),
        "low_freq_factor": (1, LOW),
        "high_freq_factor": (32, HIGH),
    },
    scaling.truncated: {
        "inv_freq": (VECTOR, INV_FREQ),
        "fraction": (0.5, [*NUMBER, (-0.1, "-0.1"), (1.01, "1.01"), (25, "25")]),
    },
    positions.from_padding_mask: {"mask": ([[0, 1]], PADDING)},
    positions.from_lengths: {"lengths": ([3, 2], COUNTS)},
    positions.document_mask: {"lengths": ([3, 2], COUNTS)},
    positions.window_mask: {
        "q_positions": (POSITION, ROW_OR_BATCH),
        "k_positions": (POSITION, ROW_OR_BATCH),
        "window": (2, COUNT),
    },
    costs.cache_bytes: {
        **SIZES,
        **HEADS_OF,
        "windows": (None, WINDOWS),
        "bytes_per_number": (2, COUNT),
        "shared_kv": (False, FREE),
    },
    costs.score_flops: {
        **SIZES,
        "n_heads": (4, COUNT),
        "head_dim": (6, COUNT),
        "windows": (None, WINDOWS),
    },
    costs.rotation_flops: {
        "n_layers": (2, COUNT),
        "n_heads": (4, COUNT),
        "n_kv_heads": (2, COUNT),
        "turning": (6, EVEN),
    },
    costs.bias_flops: {**SIZES, "n_heads": (4, COUNT)},
    costs.bias_bytes: {
        "seq_len": (9, COUNT),
        "n_heads": (4, COUNT),
        "bytes_per_number": (4, COUNT),
    },
    # What is wrong inside a config has its cases in test_configs_refusals.py.
    configs.describe: {"config": ({"model_type": "gpt2", "n_layer": 2}, NO_CONFIG)},
    config_rotary.refuse_unread: {"config": ({"model_type": "gpt2"}, NO_CONFIG)},
    config_rotary.of_kind: {
        "config": ({"model_type": "llama", "rope_theta": 1e4}, NO_CONFIG),
        "kind": (
            "full_attention",
            [(None, "NoneType"), (3, "int"), ("sliding_attention", "'sliding_attention'")],
        ),
    },
    configs.runs: {"layers": ((), [(None, "NoneType"), (3, "int"), ([1], "list"), ("a", "str")])},
    configs.models: {},
}
for check in (exercises.verdict, exercises.check):
    TABLE[check] = {"exercise": ("1.1", NO_EXERCISE), "answer": (1, FREE)}
