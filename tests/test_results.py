"""Reading saved results: rows by seed, NaN where a scheme is not defined, and what is refused."""

import numpy as np
import pytest

from lessons import results

RUNS = [
    {"recipe": "a", "seed": 1, "loss": {"64": 1.0, "128": 2.0}, "last": 0.5, "by": [1.0, 2.0]},
    {"recipe": "b", "seed": 1, "loss": {"64": 9.0, "128": None}, "last": None, "by": [3.0, 4.0]},
    {"recipe": "a", "seed": 2, "loss": {"64": 3.0, "128": 4.0}, "last": 1.5, "by": [5.0, 6.0]},
]


def test_one_row_a_seed():
    for path, wanted in (
        (("loss",), [[1, 2], [3, 4]]),
        (("loss", 64), [1, 3]),
        (("loss", "128"), [2, 4]),
        (("last",), [0.5, 1.5]),
        (("by",), [[1, 2], [5, 6]]),
    ):
        found = results.by_seed(RUNS, "a", *path)
        assert found.dtype == np.float64 and found.tolist() == wanted


def test_what_is_not_defined_is_nan():
    np.testing.assert_array_equal(results.by_seed(RUNS, "b", "loss"), [[9, np.nan]])
    np.testing.assert_array_equal(results.by_seed(RUNS, "b", "last"), [np.nan])


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: results.by_seed(RUNS, "c", "last"), ValueError, "recipe must be .* got 'c'"),
        (lambda: results.by_seed(RUNS, "a", "lost"), ValueError, r"path must .* got \('lost',\)"),
        (lambda: results.by_seed(RUNS, "a", "loss", 65), ValueError, r"path must .*65"),
        (lambda: results.by_seed(RUNS, "a", "last", 3), ValueError, r"path must lead to a number"),
        (lambda: results.saved("other"), ValueError, "study must be one of .* got 'other'"),
        (lambda: results.saved(None), TypeError, "study must be one of"),
        (lambda: results.trained("t5"), ValueError, "name must be one of .* got 't5'"),
        (lambda: results.trained(3), TypeError, "name must be one of"),
    ],
)
def test_refusals(call, kind, said):
    with pytest.raises(kind, match=f"^{said}"):
        call()
