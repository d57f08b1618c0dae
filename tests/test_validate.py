"""Refusals: every public function and scheme, every argument, from one table.

Each bad value must raise ValueError or TypeError with the argument's name and the value in the
message, without a warning, and before the function has used NumPy for anything.
"""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest
import torch
from conftest import ROOT
from faults import FINITE, NO_ARRAY, NOT_FINITE, OBJECTS, W, X
from refusals import CALLED, TABLE

import lessons
from lessons import (
    alibi,
    attention,
    criteria,
    exercises,
    frequencies,
    layers,
    positions,
    relative,
    rope,
    scaling,
    sinusoidal,
    tasks,
    validate,
)

NUMPY = (
    *(alibi, attention, criteria, exercises, frequencies, layers, positions, relative, rope),
    *(scaling, sinusoidal, tasks),
)
# These take answers, in other words than arguments; their refusals are at the end of this file.
ANSWERS = {exercises.number, exercises.parts}
# Modules whose refusals stand in their own tests: what the page shows, and what is measured.
APART = {
    *("plots", "show", "widgets", "pretrained", "variants"),
    *("checkpoint", "experiments", "extension", "fingerprint", "results", "studies", "training"),
    *("workers",),
    # The grader takes files, messages and answers of anybody; its tests say what it makes of them.
    *("wire", "tasks_judges", "grade", "grade_cells", "grade_feedback", "grade_marks"),
    *("grade_layout", "grade_names", "grade_newer", "grade_notebooks", "grade_process"),
    *("grade_python", "grade_reading", "grade_results", "grade_sandbox", "grade_shell"),
    *("grade_stub", "grade_worker", "grade_written"),
}


def called(function):
    return f"{function.__module__.removeprefix('lessons.')}.{function.__name__}"


class Unused:
    """Stands where a module keeps NumPy, and is in the way of any computation."""

    def __getattr__(self, name):
        raise AssertionError(f"np.{name} was used before the refusal")


def refusal(function, given):
    """What the function says against the arguments, or None if it takes them."""
    try:
        function(**given)
    except (ValueError, TypeError) as error:
        return error
    return None


ARGUMENTS = [
    pytest.param(function, name, id=f"{called(function)}-{name}")
    for function, arguments in TABLE.items()
    for name, (_, faults) in arguments.items()
    if faults
]


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_refused_by_name_and_value_before_anything_else(function, name, monkeypatch):
    given = {argument: good for argument, (good, _) in TABLE[function].items()}
    for module in NUMPY:
        monkeypatch.setattr(module, "np", Unused())
    for value, shown in TABLE[function][name][1]:
        error = refusal(function, given | {name: value})
        assert error is not None, f"{name} = {value!r} was taken"
        said = str(error)
        argument = CALLED.get((function, name), given.get("name", name))
        assert re.search(rf"(^|[ ,]){argument}\b", said), (value, said)
        assert shown in said, (value, said)
        kinds = (bool, np.bool_, complex, torch.Tensor, type(None))
        takes_tensors = function.__module__ in ("lessons.scheme", "lessons.attention_layer")
        if takes_tensors and not isinstance(function, type):
            kinds = (np.ndarray, int, list, type(None))
        if isinstance(value, kinds) or value is OBJECTS:
            assert isinstance(error, TypeError), (value, said)


@pytest.mark.parametrize("function", TABLE, ids=called)
def test_good_values_pass(function):
    function(**{argument: good for argument, (good, _) in TABLE[function].items()})


def public(module):
    """The functions and classes that a module defines for others; a tuple of results takes all."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_"):
            scheme = inspect.isclass(thing) and not issubclass(thing, tuple)
            if inspect.isfunction(inspect.unwrap(thing)) or scheme:  # a cached one as well
                yield thing


def test_every_public_function_and_every_argument_is_in_the_table():
    for name in {module.name for module in pkgutil.iter_modules(lessons.__path__)}:
        if name in APART or name.endswith("_widget"):
            assert (ROOT / "tests" / f"test_{name}.py").exists(), f"{name} has no tests"
            continue
        module = importlib.import_module(f"lessons.{name}")
        for function in set(public(module)) - ANSWERS:
            assert function in TABLE, f"{name}.{function.__name__} has no refusals here"
            missing = set(inspect.signature(function).parameters) - set(TABLE[function])
            if module is validate:
                missing -= {"max_axes", "minimum", "even", "optional"}
            assert not missing, f"{name}.{function.__name__}: {missing} have no refusals here"


@pytest.mark.parametrize("field", attention.Weights._fields)
def test_a_bad_weight_is_named(field):
    for value, shown in [*FINITE, (np.ones((4, 3)), "(4, 3)"), ([1.0], "(1,)")]:
        given = {"x": X, "weights": W._replace(**{field: value}), "n_heads": 2}
        said = str(refusal(attention.self_attention, given))
        assert said.startswith(f"{field} must") and shown in said, said


def test_what_is_good_comes_back_as_it_is_computed_with():
    limit = 2**31 - 1
    for good in ([-limit, limit], np.array([-limit, limit]), (np.float32(-3), np.int8(5))):
        np.testing.assert_array_equal(validate.positions(good), np.asarray(good, float))
        assert validate.positions(good).dtype == np.float64
    assert validate.positions([]).shape == (0,)
    assert validate.positions(np.zeros((2, 3), np.uint8), max_axes=2).shape == (2, 3)
    for good in (limit, float(limit), np.float64(limit), np.array(limit)):
        assert validate.count(good, "n") == validate.offset(good) == limit
        assert type(validate.count(good, "n")) is int
    assert validate.count(0, "n", minimum=0) == 0 and validate.count(1, "n") == 1
    assert validate.count(4, "n", even=True) == 4 and validate.offset(-limit) == -limit
    assert validate.real(1, "x", minimum=1) == 1.0 and validate.real(np.float16(0.5), "x") == 0.5
    np.testing.assert_array_equal(validate.logits([-np.inf, 1e308], "x"), [-np.inf, 1e308])
    assert validate.finite([1e100, -1e100], "x").tolist() == [1e100, -1e100]
    assert validate.inverse_frequencies([0, 1]).tolist() == [0, 1]
    assert validate.score_terms(None, None, (2, 3)) == (None, None)
    assert validate.function(None, "f", optional=True) is None
    assert validate.function(len, "f") is len
    assert validate.has_shape(X, "x", [3, 4]) is X


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: validate.positions([2.0**31 + 1]), "positions must lie within"),
        (lambda: validate.positions([-1e15]), "positions must lie within"),
        (lambda: validate.positions([-0.5]), "positions must be whole numbers, got -0.5"),
        (lambda: validate.offset(-2.5), "offset must be a whole number, got -2.5"),
        (lambda: validate.geometric([1.0]), "inv_freq must hold at least 2 frequencies, got 1"),
        (lambda: validate.geometric([1.0, 0.4, 0.25]), "inv_freq must fall geometrically"),
        (lambda: validate.geometric([0.25, 0.5, 1.0]), "inv_freq must fall geometrically"),
        (lambda: validate.queries_keys_values(X, X[:, :3], X), "k must have the head_dim of q"),
        (lambda: validate.windows([1, 2], 1), r"windows must be one a layer \(1\), got 2"),
        (lambda: validate.windows([1], 2), r"windows must be one a layer \(2\), got 1"),
        (lambda: validate.grid([[1], [2]], [3], [1.0]), "sections must lie in 0 … 1, got 3"),
        (lambda: validate.grid([[1], [2]], [2], [1.0]), "sections must lie in 0 … 1, got 2"),
    ],
)
def test_what_lies_beyond_a_bound_is_refused_like_the_bound(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()


@pytest.mark.parametrize("shapes", [(2, 3, 3), (3, 2, 2), (2, 2, 3), (3, 3, 2), (2, 3, 2)])
def test_q_k_and_v_share_their_leading_axes(shapes):
    given = [np.ones((lead, 5, 4)) for lead in shapes]
    with pytest.raises(ValueError, match=r"^q, k, v must share their leading axes"):
        validate.queries_keys_values(*given)
    assert [a.shape for a in validate.queries_keys_values(*[given[0]] * 3)] == [given[0].shape] * 3


def test_positions_of_queries_and_keys_share_a_batch_where_both_have_one():
    row, two, three = np.arange(5), np.zeros((2, 4)), np.zeros((3, 5))
    for q, k in ((row, row[:2]), (row, two), (two, row), (two, two[:, :1]), (three, three)):
        pair = validate.position_pair(q, k)
        assert [part.shape for part in pair] == [q.shape, k.shape]
    for q, k in ((two, three), (three, two)):
        said = rf"^k_positions must have the batch of q_positions \({len(q)}\), got {len(k)}"
        with pytest.raises(ValueError, match=said):
            validate.position_pair(q, k)


@pytest.mark.parametrize("shape", [(4, 2, 3), (1, 2, 3), (3, 3), (2, 4)])
def test_a_bias_has_no_axis_that_the_scores_lack(shape):
    with pytest.raises(ValueError, match=r"^bias must broadcast to the scores \(2, 3\)"):
        validate.score_terms(np.zeros(shape), None, (2, 3))


def test_frequencies_may_be_one_and_a_ladder_is_geometric():
    assert validate.inverse_frequencies([1]).tolist() == [1]
    ladder = frequencies.inverse_frequencies(16).astype(np.float32)
    np.testing.assert_array_equal(validate.geometric(ladder), ladder.astype(float))


def test_a_whole_number_is_shown_up_to_nine_digits():
    given = (10**9 - 1, 1 - 10**9, 10**9, 10**12, -(10**12))
    shown = ["999999999 (int)", "-999999999 (int)", "int", "int", "int"]
    assert [validate.kind(number) for number in given] == shown


def test_an_answer_that_is_no_number_or_has_other_parts():
    for value, shown in [*NO_ARRAY, *NOT_FINITE, ([1, 2], "(2,)"), ([], "(0,)")]:
        said = str(refusal(exercises.number, {"value": value}))
        assert "number" in said and shown in said, (value, said)
    assert exercises.number(np.float32(3)) == exercises.number([[3]]) == 3
    for answer, count in ((3, 1), ([1], 1), ([], 0), ([1, 2, 3], 3), ("abc", 3)):
        with pytest.raises(ValueError, match=rf"^2 parts are asked for \(a, b\), got {count}$"):
            exercises.parts(answer, "a", "b")
    assert exercises.parts((1, ...), "a", "b") == [1, ...]


def test_the_message_says_what_is_allowed():
    for call, message in [
        (lambda: validate.positions(3), "positions must have at least 1 axis, got shape ()"),
        (
            lambda: validate.positions([[1]], max_axes=1),
            "positions must have 1 to 1 axes, got shape (1, 1)",
        ),
        (
            lambda: validate.queries_keys_values(X, np.ones((3, 5)), X),
            "k must have the head_dim of q (4), got 5",
        ),
        (
            lambda: validate.queries_keys_values(X, np.ones((7, 4)), X),
            "v must have the k_len of k (7), got 3",
        ),
        (lambda: validate.positions([0.1]), "positions must be whole numbers, got 0.1"),
        (lambda: validate.count(0, "n"), "n must be at least 1, got 0"),
        (lambda: validate.real(0, "theta", minimum=1), "theta must be at least 1, got 0"),
        (lambda: validate.finite("a", "x"), "x must hold real numbers, got 'a' (str) of dtype <U1"),
        (lambda: validate.real(None, "x"), "x must be a number, got NoneType"),
    ]:
        with pytest.raises((ValueError, TypeError)) as error:
            call()
        assert str(error.value) == message


def test_the_callers_array_is_never_handed_back_for_writing():
    mine = np.ones((2, 2))
    assert not np.shares_memory(validate.finite(mine, "x"), mine)
