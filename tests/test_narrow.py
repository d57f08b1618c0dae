"""Positions in every whole type, at the ends of what it holds: the answer is that of int64.

A difference, a sum or an absolute value taken in the type that came in would wrap in silence.  The
arguments are found by their names in the table of all public functions, and the methods by theirs
in the classes, so that a new one cannot be forgotten.
"""

import importlib
import inspect
import re

import numpy as np
import pytest
import tiny
import torch
from refusals import TABLE
from test_kinds import arrays, outcome
from test_validate import called, public
from torch_schemes import W, normal

from lessons import attention_layer, cache, layers, relative

POSITIONS = re.compile(r"^(relative_|q_|k_)?positions?$|^distance$|^offset$|^ids$")
TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64, np.int64)
FAR = 2**31 - 1
PLACES = [
    pytest.param(function, names, id=called(function))
    for function, arguments in TABLE.items()
    if (names := [name for name in arguments if POSITIONS.match(name)])
    and not any(isinstance(arguments[name][0], torch.Tensor) for name in names)
]


def ends(dtype, good, turned):
    """The least and greatest positions of a type, in the shape of a good value."""
    info = np.iinfo(dtype)
    low, high = max(info.min, -FAR), min(info.max, FAR)
    row = np.resize([high, low, 1] if turned else [low, high, 1], np.size(good))
    return row.reshape(np.shape(good)).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("function", "names"), PLACES)
def test_a_function_answers_as_for_int64(function, names, dtype):
    given = {name: good for name, (good, _) in TABLE[function].items()}
    for turned in range(2 ** len(names)):
        narrow = {
            name: ends(dtype, given[name], turned >> which & 1) for which, name in enumerate(names)
        }
        wide = {name: value.astype(np.int64) for name, value in narrow.items()}
        how, found = outcome(function, given | narrow)
        wanted_how, wanted = outcome(function, given | wide)
        assert how == wanted_how
        if how == "refused":
            assert found.split(", got")[0] == wanted.split(", got")[0]
            continue
        for one, other in zip(arrays(found), arrays(wanted), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(
    "function", [f for f, a in TABLE.items() if {"lengths", "counts"} & set(a)], ids=called
)
def test_sums_of_counts_do_not_wrap(function, dtype):
    most = np.full(3, np.iinfo(dtype).max, dtype)
    np.testing.assert_array_equal(function(most), function(most.tolist()))


def test_there_are_many_of_them():
    assert len(PLACES) > 12


def test_a_difference_in_the_type_that_came_in_is_seen():
    def faulty(relative_position, **given):
        return relative.t5_bucket(relative_position - relative_position[::-1], **given)

    wide = np.array([-100, 0, 100])
    assert faulty(wide.astype(np.int8)).tolist() != faulty(wide).tolist()


# The torch half: int32, the one narrow type that it takes.

AT = [-(2**31), 1 - 2**31, -2, 0, 5, 2**31 - 2, 2**31 - 1]
ROW = torch.tensor(AT)
KEYS = normal(1, 2, len(AT), 4, dtype=torch.float64)
X = normal(1, len(AT), 16)
SHORT = torch.tensor([3, 0, 2, 1, 3, 0, 2])  # for what has a table


def cached(to, scheme=None):
    held = cache.KVCache(1)
    held.append(0, KEYS, KEYS, to(ROW))
    if scheme is not None:
        held.renumber(to(SHORT), [scheme])
    return held


def logits(to, scheme, windows=None):
    config = tiny.ModelConfig(tiny.VOCAB, tiny.D, tiny.HEADS, 2, windows)
    torch.manual_seed(0)
    model = tiny.TinyTransformer(config, scheme)
    return model(torch.arange(len(AT))[None], positions=to(ROW))


def biased(scheme):
    for weight in scheme.parameters():
        torch.nn.init.normal_(weight, generator=torch.Generator().manual_seed(0))
    return scheme


LOG = layers.LogQueries(layers.Rotary(W[:2], 4), 4)
LOG_T5 = layers.LogQueries(biased(layers.T5Bias(2)), 4)
CALLS = {
    "Sinusoidal.embed": lambda to: layers.Sinusoidal(16, 4).embed(X, to(SHORT)),
    "Learned.embed": lambda to: biased(layers.Learned(16, 4)).embed(X, to(SHORT)),
    "Rotary.rotate": lambda to: LOG.inner.rotate(KEYS, to(SHORT)),
    "Rotary.shift": lambda to: LOG.inner.shift(KEYS, to(ROW)),
    "LogQueries.rotate": lambda to: LOG.rotate(KEYS, to(SHORT)),
    "LogQueries.shift": lambda to: LOG.shift(KEYS, to(ROW)),
    "LogQueries.embed": lambda to: LOG.embed(X, to(SHORT)),
    "LogQueries.bias": lambda to: LOG_T5.bias(to(ROW), to(ROW)),
    "LogQueries.scale": lambda to: LOG_T5.scale(to(ROW)),
    "Alibi.bias": lambda to: layers.Alibi(2).bias(to(ROW), to(ROW)),
    "T5Bias.bias": lambda to: LOG_T5.inner.bias(to(ROW), to(ROW)),
    "_Added.shift": None,  # refuses
    "PositionScheme.embed": lambda to: layers.NoPosition().embed(X, to(ROW)),
    "PositionScheme.rotate": lambda to: layers.NoPosition().rotate(X, to(ROW)),
    "PositionScheme.shift": lambda to: layers.NoPosition().shift(X, to(ROW)),
    "PositionScheme.bias": lambda to: layers.NoPosition().bias(to(ROW), to(ROW)),
    "PositionScheme.scale": lambda to: layers.NoPosition().scale(to(ROW)),
    "PositionScheme.check": lambda to: layers.NoPosition().check(to(ROW)),
    "KVCache.next_positions": lambda to: cached(to).next_positions(3),
    "KVCache.with_new": lambda to: cached(to).with_new(to(ROW)),
    "KVCache.append": lambda to: cached(to).positions,
    "KVCache.renumber": lambda to: cached(to, LOG.inner)._entries[0],
    "CausalSelfAttention.forward": lambda to: [
        attention_layer.CausalSelfAttention(16, 2).eval()(X * 0, to(ROW), scheme)
        for scheme in (layers.NoPosition(), layers.Alibi(2), LOG_T5)
    ],
    "TinyTransformer.forward": lambda to: [
        logits(to, scheme, windows)
        for scheme in (layers.NoPosition(), layers.Alibi(2), LOG_T5)
        for windows in (None, (2, 2**31 - 1))
    ],
    "may_look": lambda to: [
        attention_layer.may_look(to(ROW), to(ROW), window) for window in (None, 1, 2, 2**31 - 1)
    ],
    "rows": None,  # asks for shapes alone
}


def takes_positions():
    """Every function and method of the torch half with positions among its parameters."""
    for name in ("scheme", "layers", "attention_layer", "cache", "model", "per_layer", "turn"):
        module = importlib.import_module(f"lessons.{name}")
        classes = [thing for thing in vars(module).values() if inspect.isclass(thing)]
        own = [c for c in classes if c.__module__ == module.__name__ and c.__name__ != "_Block"]
        methods = [method for each in own for method in vars(each).values()]
        for function in [*public(module), *methods]:
            if inspect.isfunction(function) and not re.match("_(?!Added)", function.__qualname__):
                names = inspect.signature(function).parameters
                private = function.__name__.startswith("_")
                if not private and any(POSITIONS.match(name) for name in names):
                    yield function.__qualname__
    yield "KVCache.next_positions"  # reads those that it holds


def test_every_method_that_takes_positions_is_tried():
    assert set(takes_positions()) == set(CALLS)


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call])
def test_a_method_answers_as_for_int64(name):
    for one, other in zip(
        *(arrays(CALLS[name](to)) for to in (torch.Tensor.int, torch.Tensor.long)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("window", [None, 1, 3, 2**31 - 1])
def test_what_may_be_looked_at_at_the_ends_is_what_python_says(window):
    wanted = [[0 <= q - k < (window or 2**40) for k in AT] for q in AT]
    for to in (torch.Tensor.int, torch.Tensor.long):
        found = attention_layer.may_look(to(ROW), to(ROW), window)
        assert found.tolist() == wanted
    faulty = (ROW.int()[:, None] - ROW.int()) >= 0
    assert faulty.tolist() != [[k <= q for k in AT] for q in AT]


def test_the_values_that_were_reported():
    last = torch.tensor([2**31 - 1], dtype=torch.int32)
    scale = layers.LogQueries(layers.NoPosition(), 64).scale(last)
    assert scale.item() == pytest.approx(31 / 6)
    assert not attention_layer.may_look(torch.tensor([-2], dtype=torch.int32), last)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.uint16], ids=str)
def test_narrower_types_are_refused_by_name(dtype):
    for hook in (layers.Alibi(2).bias, LOG_T5.bias, LOG_T5.scale):
        with pytest.raises(TypeError, match=f"^q_positions must be int64 or int32, got {dtype}"):
            hook(*[torch.ones(3, dtype=dtype)] * (1 if hook == LOG_T5.scale else 2))
    with pytest.raises(TypeError, match=r"^positions must be int64"):
        tiny.make()(tiny.tokens(), positions=torch.ones(12, dtype=dtype))
