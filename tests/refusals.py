"""What every public function must refuse: function -> argument -> bad values."""

import numpy as np
import torch

from lessons import (
    alibi,
    attention,
    criteria,
    exercises,
    frequencies,
    layers,
    relative,
    rope,
    scheme,
    sinusoidal,
    tasks,
    validate,
)

HUGE, NAN, INF = 10**400, float("nan"), float("inf")
TENSOR, OBJECTS, RAGGED = torch.ones(3), np.array([1, 2], object), [[1.0], [1.0, 2.0]]
TRACKED = [torch.ones(2, requires_grad=True)]
FREE = []  # an argument that takes anything, or that only callers inside the package give

# A bad value, and what of it the message must show.
NOT_FINITE = [(NAN, "nan"), (INF, "inf"), (-INF, "-inf")]
NO_NUMBER = [
    (True, "True"),
    (np.True_, "bool"),
    ("3", "'3'"),
    (None, "NoneType"),
    (OBJECTS, "ndarray"),
    (TENSOR[0], "Tensor"),
    (3j, "complex"),
    ([3], "list"),
    (np.ones(2), "ndarray"),
]
NUMBER = [*NO_NUMBER, *NOT_FINITE, (HUGE, "1000000")]
OFFSET = [
    *NUMBER,
    (2.5, "2.5"),
    (2**31, "2147483648"),
    (-(2**31), "-2147483648"),
    (1e300, "1e+300"),
]
SEED = [*OFFSET, (-1, "-1")]
COUNT = [*SEED, (0, "0")]
BASE = [*NUMBER, (0, "0"), (-1, "-1"), (0.999, "0.999")]

NO_ARRAY = [
    (True, "bool"),
    ([True, False], "bool"),
    ("12", "'12'"),
    (["1", "2"], "<U1"),
    (None, "NoneType"),
    (OBJECTS, "object"),
    (TENSOR, "torch"),
    (TRACKED, "torch"),
    ([[TENSOR[0]]], "torch"),
    (torch.nn.Parameter(TENSOR), "torch"),
    ([1j], "complex"),
    (np.array([1], "m8[D]"), "timedelta"),
    (RAGGED, "different lengths"),
]
FINITE = [
    *NO_ARRAY,
    *(([0.0, value], shown) for value, shown in NOT_FINITE),
    ([1.01e100], "1.01e+100"),
    ([1e200], "1e+200"),
    ([[-1e200]], "-1e+200"),
    (np.array([np.finfo(np.longdouble).max]), "inf"),
]
POSITIONS = [
    *FINITE,
    (3, "()"),
    ([0, 0.5], "0.5"),
    ([0.1], "0.1"),
    ([2**31], "2147483648"),
    ([[-(2**31)]], "-2147483648"),
]
ROW_OR_BATCH = [*POSITIONS, (np.zeros((2, 2, 2)), "(2, 2, 2)")]
INV_FREQ = [*FINITE, (1.0, "()"), ([], "(0,)"), ([[1.0]], "(1, 1)"), ([1.0, -0.1], "-0.1")]
LOGITS = [*NO_ARRAY, (1.0, "()"), ([0.0, NAN], "nan"), ([0.0, INF], "inf")]
BIAS = [*(case for case in LOGITS if case[0] is not None), (np.zeros((5, 3)), "(5, 3)")]
MASK = [
    ("12", "<U2"),
    (TENSOR > 0, "torch"),
    (OBJECTS, "object"),
    ([[1, 1, 0]], "int"),
    ([[0.0, 1.0, 1.0]], "float"),
    ([[True], [True, False]], "different lengths"),
    (np.ones((5, 3), bool), "(5, 3)"),
]
FUNCTION = [(None, "NoneType"), (3, "int"), ("embed", "'embed'"), (np.ones((2, 2)), "ndarray")]
HOOK = FUNCTION[1:]
SEQUENCE = [*FINITE, ([1.0], "(1,)"), (2.0, "()"), (np.zeros((2, 3, 0)), "(2, 3, 0)")]
VECTOR_FAULTS = INV_FREQ[:-1]  # a negative number is none
PAIRING = [(True, "True"), (None, "NoneType"), (2, "int"), ("halves", "'halves'"), ("", "''")]
# For x of shape (3, 4): rows with channels in pairs, and their positions.
TURNABLE = [*FINITE, ([1.0, 2.0], "(2,)"), (np.ones((3, 5)), "5")]
OF_ROWS = [
    *ROW_OR_BATCH,
    ([0, 1], "(2,)"),
    (np.zeros((1, 3)), "(1, 3)"),
    (np.zeros((3, 3)), "(3, 3)"),
]
OF_PAIRS = [*INV_FREQ, ([1.0] * 3, "3")]
NO_TENSOR = [(None, "NoneType"), (3, "int"), ([0], "list"), (np.ones(3), "ndarray")]
NOT_WHOLE = [*NO_TENSOR, (TENSOR, "torch.float32"), (TENSOR > 0, "torch.bool")]
NO_ROWS = [*NO_TENSOR, (torch.ones(3, 4).int(), "torch.int32"), (TENSOR, "(3,)")]


def zero_logits(q_positions, k_positions):
    return np.zeros((2, 3, len(q_positions), len(k_positions)))


POSITION, VECTOR, X, M = [0, 1, 2], [1.0, 0.1], np.ones((3, 4)), np.ones((2, 3, 4))
W = attention.random_weights(4, 0)
W_FAULTS = [(w, "attention.Weights") for w in (None, 3, "w", tuple(W), np.ones((4, 4, 4)))]

# function -> argument -> (a good value, bad values)
TABLE = {
    validate.positions: {"value": (POSITION, POSITIONS), "name": ("value", FREE)},
    validate.count: {"value": (3, COUNT), "name": ("value", FREE)},
    validate.offset: {"value": (3, OFFSET), "name": ("value", FREE)},
    validate.real: {"value": (3, NUMBER), "name": ("value", FREE)},
    validate.finite: {"value": (X, FINITE), "name": ("value", FREE)},
    validate.inverse_frequencies: {"value": (VECTOR, INV_FREQ), "name": ("value", FREE)},
    validate.logits: {"value": (X, LOGITS), "name": ("value", FREE)},
    validate.queries_keys_values: {"q": (X, SEQUENCE), "k": (X, SEQUENCE), "v": (X, SEQUENCE)},
    validate.score_terms: {"bias": (None, BIAS), "mask": (None, MASK), "shape": ((2, 3), FREE)},
    validate.function: {"value": (len, FUNCTION), "name": ("value", FREE)},
    validate.has_shape: {
        "array": (X, [(np.ones((4, 3)), "(4, 3)"), (np.ones(12), "(12,)")]),
        "name": ("array", FREE),
        "shape": ((3, 4), FREE),
    },
    frequencies.inverse_frequencies: {"dim": (8, COUNT), "theta": (1e4, BASE)},
    frequencies.wavelengths: {"inv_freq": (VECTOR, INV_FREQ)},
    frequencies.mean_cosine: {"distance": (POSITION, POSITIONS), "inv_freq": (VECTOR, INV_FREQ)},
    frequencies.log_law: {
        "distance": ([1.5], [*FINITE, ([1, 0], "0"), ([-2.5], "-2.5")]),
        "theta": (1e4, [*BASE, (1, "1")]),
    },
    sinusoidal.encode: {
        "positions": (POSITION, POSITIONS),
        "d_model": (8, COUNT),
        "theta": (1e4, BASE),
    },
    sinusoidal.shift_matrix: {
        "offset": (3, OFFSET),
        "d_model": (8, [*COUNT, (5, "5")]),
        "theta": (1e4, BASE),
    },
    attention.softmax: {"x": (X, LOGITS)},
    attention.causal_mask: {
        "q_positions": (POSITION, ROW_OR_BATCH),
        "k_positions": (POSITION, ROW_OR_BATCH),
    },
    attention.attend: {
        "q": (X, [*SEQUENCE, (M, "(2,)")]),
        "k": (X, [*SEQUENCE, (M, "(2,)"), (np.ones((3, 5)), "5")]),
        "v": (X, [*SEQUENCE, (M, "(2,)"), (np.ones((7, 4)), "7")]),
        "bias": (None, [*BIAS, (np.zeros((2, 3, 3)), "(2, 3, 3)")]),
        "mask": (None, [*MASK, (np.ones((2, 3, 3), bool), "(2, 3, 3)")]),
    },
    attention.random_weights: {"d_model": (8, COUNT), "seed": (0, SEED)},
    attention.self_attention: {
        "x": (X, SEQUENCE),
        "weights": (W, W_FAULTS),
        "n_heads": (2, [*COUNT, (3, "3"), (8, "8")]),
        "bias": (None, [*BIAS, (np.zeros((4, 3, 3)), "(4, 3, 3)")]),
        "mask": (None, [*MASK, (np.ones((4, 3, 3), bool), "(4, 3, 3)")]),
    },
    criteria.random_contents: {
        "n_heads": (2, COUNT),
        "head_dim": (4, COUNT),
        "n_contents": (3, COUNT),
        "seed": (0, SEED),
    },
    criteria.scheme_logits: {
        "contents": (
            criteria.random_contents(n_heads=1, head_dim=2, n_contents=2),
            [(c, "criteria.Contents") for c in (None, 3, "x", (X, X, M, M))],
        ),
        "embed": (None, HOOK),
        "rotate": (None, HOOK),
        "bias": (None, HOOK),
    },
    criteria.uniqueness: {"logits": (zero_logits, FUNCTION), "length": (4, [*COUNT, (1, "1")])},
    criteria.growth: {
        "logits": (zero_logits, FUNCTION),
        "plain_logits": (zero_logits, FUNCTION),
        "train_len": (4, [*COUNT, (1, "1")]),
        "factor": (2, COUNT),
    },
    criteria.distance_share: {"logits": (zero_logits, FUNCTION), "length": (4, [*COUNT, (1, "1")])},
    criteria.scalability: {
        "logits": (zero_logits, FUNCTION),
        "train_len": (4, [*COUNT, (3, "3")]),
        "factor": (2, COUNT),
    },
}
TABLE |= {
    validate.vector: {"value": (VECTOR, VECTOR_FAULTS), "name": ("value", FREE)},
    validate.choice: {
        "value": ("half", PAIRING),
        "name": ("value", FREE),
        "choices": (rope.PAIRINGS, FREE),
    },
    validate.position_pair: {
        "q_positions": (POSITION, ROW_OR_BATCH),
        "k_positions": (POSITION, ROW_OR_BATCH),
    },
    validate.rotatable: {"x": (X, TURNABLE), "inv_freq": (VECTOR, OF_PAIRS)},
    validate.row_positions: {"value": (POSITION, OF_ROWS), "x": (X, FREE)},
    rope.angles: {"positions": (POSITION, POSITIONS), "inv_freq": (VECTOR, INV_FREQ)},
    rope.rotate: {
        "x": (X, TURNABLE),
        "positions": (POSITION, OF_ROWS),
        "inv_freq": (VECTOR, OF_PAIRS),
        "pairing": ("half", PAIRING),
    },
    rope.matrix: {
        "position": (3, OFFSET),
        "inv_freq": (VECTOR, INV_FREQ),
        "pairing": ("half", PAIRING),
    },
    rope.pairing_permutation: {"dim": (8, [*COUNT, (5, "5"), (1, "1")])},
    alibi.slopes: {"n_heads": (8, COUNT)},
    alibi.bias: {
        "slopes": (VECTOR, VECTOR_FAULTS),
        "q_positions": (POSITION, ROW_OR_BATCH),
        "k_positions": (POSITION, ROW_OR_BATCH),
        "symmetric": (False, FREE),
    },
    relative.t5_bucket: {
        "relative_position": (POSITION, POSITIONS),
        "n_buckets": (32, [*COUNT, (4, "4"), (9, "9")]),
        "max_distance": (128, [*COUNT, (8, "8")]),
        "bidirectional": (True, FREE),
    },
    # The torch half.
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
    scheme.shape: {"tensor": (TENSOR, FREE)},
}
# Where an error does not call an argument by its parameter's name.
CALLED = {
    (validate.row_positions, "value"): "positions",
}
NO_EXERCISE = [(1.1, "1.1"), ("9.9", "'9.9'"), ([1], "[1]"), (None, "None"), (..., "Ellipsis")]
for check in (exercises.verdict, exercises.check):
    TABLE[check] = {"exercise": ("1.1", NO_EXERCISE), "answer": (1, FREE)}
NO_TASK = [(1.1, "1.1"), ("a9.9", "'a9.9'"), ("a1.6", "'a1.6'"), (["a"], "['a']"), (None, "None")]
NO_NAME = [(True, "True"), (None, "NoneType"), (1, "int"), ("a5", "'a5'"), ("", "''")]
TABLE |= {
    tasks.assignment: {"name": ("a1", NO_NAME)},
    tasks.example: {"task": ("a1.1", NO_TASK)},
    tasks.cases: {"task": (tasks.assignment("a1").tasks[1], FREE), "seed": (0, FREE)},
    tasks.judged: {"case": (tasks.Case("", 1, (), len), FREE), "answers": ([], FREE)},
}
for check in (tasks.verdict, tasks.check):
    TABLE[check] = {"task": ("a1.1", NO_TASK), "function": (len, FUNCTION)}
