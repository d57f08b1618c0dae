"""What the torch half refuses."""

import numpy as np
import torch
from faults import (
    BASE,
    COUNT,
    DIVISOR,
    FREE,
    INV_FREQ,
    NO_ROWS,
    NOT_WHOLE,
    NUMBER,
    PAIRING,
    SEED,
    TENSOR,
    VECTOR,
)

from lessons import (
    attention_layer,
    cache,
    corpus,
    layers,
    model,
    per_layer,
    recall_task,
    recipes,
    scheme,
    turn,
)

NO_TENSOR = [(None, "NoneType"), (np.ones(3), "ndarray"), ([1.0], "list"), (3, "int")]
TABLE = {
    layers.Sinusoidal: {"d_model": (8, COUNT), "max_len": (4, COUNT), "theta": (1e4, BASE)},
    layers.Learned: {
        "d_model": (8, COUNT),
        "max_len": (4, COUNT),
        "std": (0.02, [*NUMBER, (-0.1, "-0.1")]),
    },
    layers.Rotary: {
        "inv_freq": (VECTOR, INV_FREQ),
        "max_len": (4, COUNT),
        "pairing": ("half", PAIRING),
        "attention_factor": (1.0, [*NUMBER, (-0.1, "-0.1")]),
    },
    layers.Alibi: {"n_heads": (8, COUNT)},
    layers.T5Bias: {
        "n_heads": (8, COUNT),
        "n_buckets": (32, [*COUNT, (2, "2"), (9, "9")]),
        "max_distance": (128, [*COUNT, (16, "16")]),
    },
    layers.NoPosition: {},
    scheme.PositionScheme: {},
    scheme.tensor: {"value": (TENSOR, NO_TENSOR), "name": ("value", FREE)},
    scheme.whole: {"value": (torch.arange(3), NOT_WHOLE), "name": ("value", FREE)},
    scheme.rows: {
        "x": (torch.ones(3, 4), NO_ROWS),
        "name": ("x", FREE),
        "positions": (
            torch.arange(3),
            [(torch.arange(2), "(2,)"), (torch.zeros(3, 3), "(3, 3)")],
        ),
        "positions_name": ("positions", FREE),
    },
    scheme.beside: {
        "value": (TENSOR, [(torch.ones(3, device="meta"), "meta")]),
        "name": ("value", FREE),
        "x": (TENSOR, FREE),
        "x_name": ("x", FREE),
    },
    scheme.shape: {"tensor": (TENSOR, FREE)},
    scheme.floats: {
        "value": (TENSOR, [*NO_TENSOR, (torch.ones(3).int(), "int32")]),
        "name": ("value", FREE),
    },
    scheme.span: {"values": (torch.arange(3), FREE)},
    # Rotary has refused what does not fit.
    **{
        pairs: {
            "x": (torch.ones(3, 4), FREE),
            "cos": (torch.ones(2), FREE),
            "sin": (torch.ones(2), FREE),
        }
        for pairs in (turn.half, turn.interleaved)
    },
    per_layer.PerLayer: {
        "each": (
            [layers.NoPosition()],
            [
                (None, "NoneType"),
                ([None], "NoneType"),
                ("ab", "str"),
                ([torch.nn.Linear(2, 2)], "Linear"),
            ],
        )
    },
}
# The model, its attention and its cache: what their methods refuse has its cases in their tests.
NO_BOOL = [
    (np.ones((3, 3), bool), "ndarray"),
    ([[True]], "list"),
    (torch.ones(3, 3), "torch.float32"),
    (torch.ones(3, 3).int(), "torch.int32"),
    (torch.ones(4, 4).bool(), "(4, 4)"),
    (torch.ones(2, 2, 3, 3).bool(), "(2, 2, 3, 3)"),
]
NO_BIAS = [
    (np.ones((3, 3)), "ndarray"),
    (0.0, "float"),
    (torch.ones(4, 4), "(4, 4)"),
    (torch.ones(5, 3, 3), "(5, 3, 3)"),
]
NO_CONFIG = [(c, type(c).__name__) for c in (None, 3, "small", {"d_model": 8})]
NO_SCHEME = [
    ([], "0"),
    ([layers.NoPosition()] * 3, "3"),
    ([None, None], "NoneType"),
    ("ab", "str"),
    (3, "int"),
    (None, "NoneType"),
    (torch.nn.Linear(2, 2), "Linear"),
]
NO_WINDOWS = [
    (3, "int"),
    ("12", "str"),
    ([None], "None"),
    ([8, 0], "0"),
    ([8, 2.5], "2.5"),
    ([8, True], "True"),
]
CONFIG = model.ModelConfig(64, 8, 2, 2)
SCORES = torch.ones(1, 3, 4)
NO_PAIRS = [
    ([("xPos", {})], "'xPos'"),
    ([(None, {})], "NoneType"),
    ([("nn", {})], "'nn'"),
    (None, "NoneType"),
    (("Alibi", {}), "str"),
    ([layers.NoPosition()], "NoPosition"),
    ([("Alibi",)], "tuple"),
]
LENGTH = [*COUNT, (46, "46"), (49, "49")]


def untrained():
    return recipes.build(CONFIG, [recipes.NONE], 0)


TABLE |= {
    layers.LogQueries: {
        "inner": (
            layers.NoPosition(),
            [(None, "NoneType"), ("rope", "str"), (torch.nn.Linear, "type")],
        ),
        "original_max_len": (4, [*COUNT, (1, "1")]),
    },
    attention_layer.CausalSelfAttention: {"d_model": (8, COUNT), "n_heads": (2, DIVISOR)},
    attention_layer.may_look: {
        "q_positions": (torch.arange(3), FREE),
        "k_positions": (torch.arange(3), FREE),
        "window": (2, FREE),
    },
    attention_layer.attend: {
        "q": (SCORES, FREE),
        "k": (SCORES, FREE),
        "v": (SCORES, FREE),
        "term": (torch.ones(3, 3).bool(), FREE),
    },
    attention_layer.score_terms: {
        "q": (SCORES, FREE),
        "k": (SCORES, FREE),
        "bias": (torch.zeros(3, 3), NO_BIAS),
        "mask": (torch.ones(3, 3).bool(), NO_BOOL),
    },
    attention_layer.fits: {
        "name": ("mask", FREE),
        "term": (torch.ones(3, 3), NO_BIAS),
        "scores": ((2, 2, 3, 3), FREE),
    },
    cache.KVCache: {"n_layers": (2, COUNT)},
    model.ModelConfig: {
        "vocab_size": (8, COUNT),
        "d_model": (8, COUNT),
        "n_heads": (2, DIVISOR),
        "n_layers": (2, COUNT),
        "windows": (None, NO_WINDOWS),
        "embedding_scale": (
            None,
            [*(case for case in NUMBER if case[0] is not None), (-0.1, "-0.1")],
        ),
    },
    model.TinyTransformer: {
        "config": (CONFIG, NO_CONFIG),
        "scheme": (layers.NoPosition(), NO_SCHEME),
    },
    # What lessons 07 and 08 train.
    corpus.corpus: {},
    recipes.Recipe: dict.fromkeys(
        ("label", "schemes", "windows", "steps", "embedding_scale"), (1, FREE)
    ),
    recipes.scheme: {
        "name": ("NoPosition", [(None, "NoneType"), (3, "int"), ("xPos", "'xPos'"), ("", "''")]),
        "arguments": ({}, FREE),
    },
    recipes.build: {
        "config": (CONFIG, NO_CONFIG),
        "schemes": ([recipes.NONE], NO_PAIRS),
        "seed": (0, SEED),
    },
    recipes.text_config: {"recipe": (recipes.TEXT["rope"], FREE)},
    recipes.recall_config: {},
    recipes.rotary: {"head_dim": (8, COUNT), "theta": (1e4, BASE), "longest": (None, FREE)},
    recall_task.sequences: {
        "n": (2, COUNT),
        "length": (48, LENGTH),
        "generator": (torch.Generator(), FREE),
    },
    recall_task.learn: {
        "model": (untrained(), FREE),
        "steps": (1, COUNT),
        "seed": (0, SEED),
        "length": (48, LENGTH),
        "batch": (2, COUNT),
        "lr": (1e-3, [*NUMBER, (-0.1, "-0.1"), (1.5, "1.5")]),
        "tick": (None, FREE),
    },
    recall_task.share_right: {
        "model": (untrained(), FREE),
        "length": (48, LENGTH),
        "n": (2, COUNT),
        "seed": (0, SEED),
    },
}
