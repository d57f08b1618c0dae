"""Kinds of bad values, each beside what of it the error must show; and a few good ones."""

import numpy as np
import torch

from lessons import attention

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
DIVISOR = [*COUNT, (3, "3")]  # of 8
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
COUNTS = [*VECTOR_FAULTS, ([2, 0.5], "0.5"), ([2, 0], "0"), ([-1], "-1"), ([2**31], "2147483648")]
# For positions on 2 axes and 2 pairs.
IDS = [*POSITIONS, ([0, 1, 2], "(3,)"), (np.zeros((0, 3)), "(0, 3)")]
SECTIONS = [*VECTOR_FAULTS, ([0, 0.5], "0.5"), ([0, 2], "2"), ([-1, 0], "-1"), ([0] * 3, "(3,)")]
ON_A_GRID = {"sections": ([0, 1], SECTIONS), "inv_freq": ([1.0, 0.1], INV_FREQ)}
# For x of shape (3, 4).
ANGLES = [
    *FINITE,
    ([1.0], "(1,)"),
    (np.ones((3, 3)), "(3, 3)"),
    (np.ones((3, 0)), "(3, 0)"),
    (np.ones((2, 2)), "(2, 2)"),
    (np.ones((3, 3, 2)), "(3, 3, 2)"),
]
NO_TENSOR = [(None, "NoneType"), (3, "int"), ([0], "list"), (np.ones(3), "ndarray")]
NOT_WHOLE = [*NO_TENSOR, (TENSOR, "torch.float32"), (TENSOR > 0, "torch.bool")]
NO_ROWS = [*NO_TENSOR, (torch.ones(3, 4).int(), "torch.int32"), (TENSOR, "(3,)")]

POSITION, VECTOR, X, M = [0, 1, 2], [1.0, 0.1], np.ones((3, 4)), np.ones((2, 3, 4))
W = attention.random_weights(4, 0)
W_FAULTS = [(w, "attention.Weights") for w in (None, 3, "w", tuple(W), np.ones((4, 4, 4)))]
