"""Every public function and class, every argument, every kind of value, from the signatures.

A value is refused by the argument's name, in a ValueError or TypeError, or the answer is right: for
the good value in another dress it is the same answer, and for any other value it holds no NaN.
Nothing warns.  Where an argument takes anything (``FREE`` in the tables), it is left out.
"""

import copy
import inspect
import re

import kinds
import numpy as np
import pytest
import torch
from refusals import CALLED, TABLE
from test_validate import called

from lessons import attention_layer, scheme, validate

EVERY = [
    pytest.param(function, name, id=f"{called(function)}-{name}")
    for function, arguments in TABLE.items()
    for name, (_, faults) in arguments.items()
    if faults
]


def good_values(function):
    """A good value for every argument, none of them used before."""
    return {name: fresh(good) for name, (good, _) in TABLE[function].items()}


def fresh(good):
    if isinstance(good, torch.Generator):
        return good.clone_state()
    return copy.deepcopy(good) if isinstance(good, torch.nn.Module) else good


def outcome(function, given):
    """("refused", the words) or ("taken", the answer); any other error is a fault."""
    torch.manual_seed(0)
    try:
        return "taken", function(**given)
    except (ValueError, TypeError) as error:
        return "refused", str(error)


def named(function, name, given, words):
    """Whether the words name the argument, or another one that it does not fit."""
    called = [name, CALLED.get((function, name)), *given]
    if isinstance(given.get("name"), str):
        called.append(given["name"])
    words_for = (each.removesuffix("s") for each in called if each)  # one scheme of the schemes
    return any(re.search(rf"(^|[ ,]){each}s?\b", words) for each in words_for)


def arrays(answer):
    """All arrays of numbers in an answer, as NumPy."""
    if isinstance(answer, torch.nn.Module):
        answer = [*answer.state_dict().values(), *answer.buffers()]
    if isinstance(answer, torch.Tensor):
        return [] if answer.is_meta else [answer.detach().to_dense().numpy()]
    if isinstance(answer, list) and all(isinstance(part, (int, float, list)) for part in answer):
        return [np.asarray(answer)]
    if isinstance(answer, (list, tuple)):
        return [array for part in answer for array in arrays(part)]
    if isinstance(answer, dict):
        return arrays(tuple(answer.values()))
    if isinstance(answer, (int, float, np.ndarray, np.generic)):
        return [np.asarray(answer)]
    return []


@pytest.mark.parametrize(("function", "name"), EVERY)
def test_refused_by_name_or_no_nan(function, name):
    for kind, make in kinds.BAD.items():
        given = good_values(function) | {name: make()}
        how, what = outcome(function, given)
        if how == "refused":
            assert named(function, name, given, what), f"{kind}: {what}"
            assert "0x" not in what and "\n" not in what, f"{kind}: {what}"
        elif kind != "a tensor of NaN":  # not read, for a model would wait for its device
            for array in arrays(what):
                assert array.dtype.kind not in "fc" or not np.isnan(array).any(), f"{kind}: NaN"


@pytest.mark.parametrize(("function", "name"), EVERY)
def test_the_same_value_in_another_dress_gives_the_same_answer(function, name):
    _, wanted = outcome(function, good_values(function))
    for kind, value in kinds.same(good_values(function)[name]).items():
        given = good_values(function) | {name: value}
        how, found = outcome(function, given)
        if how == "refused":
            assert named(function, name, given, found), f"{kind}: {found}"
            continue
        for one, other in zip(arrays(found), arrays(wanted), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=kind)


# What asks for a shape alone, and is given a tensor as often as an array; and what asks whether a
# tensor is a plain one, and leaves its dtype to others.
ANY_DRESS = {(validate.has_shape, "array")}
ANY_DTYPE = {
    (scheme.tensor, "value"),
    (scheme.beside, "value"),
    (scheme.rows, "positions"),
    (attention_layer.fits, "term"),
}


@pytest.mark.parametrize(("function", "name"), EVERY)
def test_a_value_that_says_more_than_its_numbers_is_refused_by_name(function, name):
    if (function, name) in ANY_DRESS:
        return
    dressed = kinds.dressed(good_values(function)[name])
    if (function, name) in ANY_DTYPE:
        dressed = {kind: dressed[kind] for kind in kinds.HIDING_TENSORS}
    for kind, value in dressed.items():
        given = good_values(function) | {name: value}
        try:
            function(**given)
        except TypeError as error:
            assert named(function, name, given, str(error)), f"{kind}: {error}"
        except ValueError as error:  # an argument in which a list was wanted
            raise AssertionError(f"{kind}: {error}") from error
        else:
            raise AssertionError(f"{kind} was taken")


def test_there_are_many():
    assert len(EVERY) * len(kinds.BAD) > 300
    assert all(
        set(TABLE[f]) <= set(inspect.signature(f).parameters) for f in TABLE if f is not validate
    )
