"""What crosses the wire: numbers of every library come back the same; nothing else crosses."""

import json

import numpy as np
import pytest
import torch

from lessons import wire


def there_and_back(value, boxes=None, box=None):
    return wire.decode(json.loads(json.dumps(wire.encode(value, boxes))), box)


@pytest.mark.parametrize("kind", wire.KINDS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_arrays_come_back_with_shape_and_kind(kind, shape):
    given = (np.random.default_rng(0).normal(size=shape) * 100).astype(kind)
    back = np.asarray(there_and_back(given))
    assert back.dtype == given.dtype and back.shape == given.shape
    np.testing.assert_array_equal(back, given)


def test_no_digit_is_lost():
    given = np.array([0.1, 1 / 3, 1e-300, -0.0, np.nan, np.inf, np.pi * 1e15])
    assert there_and_back(given).tobytes() == given.tobytes()
    assert there_and_back(1 / 3) == 1 / 3 and there_and_back(2**62) == 2**62


def test_other_libraries_and_kinds_become_these():
    given = torch.arange(6.0, requires_grad=True).reshape(2, 3)
    assert there_and_back(given).dtype == np.float32 and there_and_back(given).shape == (2, 3)
    half = torch.ones(2, dtype=torch.bfloat16)
    assert there_and_back(half).tolist() == [1, 1]
    assert there_and_back(torch.ones(2, dtype=torch.float16)).dtype == np.float16
    assert there_and_back(np.float32(0.5)) == 0.5 and there_and_back(np.bool_(True)) == True  # noqa: E712
    assert there_and_back(np.arange(3, dtype=np.uint8)).dtype == np.int64
    assert there_and_back(np.longdouble(0.5)) == 0.5
    assert there_and_back(10**400) == np.inf and there_and_back(-(10**400)) == -np.inf
    assert there_and_back(torch.tensor(True)).tolist() is True


def test_lists_of_numbers_are_arrays_and_other_lists_are_lists():
    assert there_and_back([1, 2.5]).tolist() == [1, 2.5]
    assert there_and_back((True, False)).dtype == bool
    assert there_and_back([]) == [] and there_and_back(None) is None
    one, number, nothing = there_and_back((np.ones(2), 3, None))
    assert (one.tolist(), number, nothing) == ([1, 1], 3, None)
    assert np.asarray(there_and_back([[1, 2], [3, 4]])).shape == (2, 2)


@pytest.mark.parametrize(
    "value",
    ["text", b"bytes", {"a": 1}, {1}, 1j, np.array([1j]), np.array(["a"]), object(), len, np.ones,
     np.array([1], "m8[D]"), (x for x in "ab"), ["a"], np.array([None]), np.ndarray, torch.float32,
     np.zeros(wire.LARGEST + 1)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_nothing_else_leaves_student_code(value):
    with pytest.raises(wire.NotNumbers):
        wire.encode(value)


def test_the_grader_sends_words_dicts_and_boxes():
    boxes = []
    given = ({"rule": "ntk", "n": 3}, [len, max], np.ones(1))
    back = there_and_back(given, boxes, box=lambda number: boxes[number])
    assert back[0] == {"rule": "ntk", "n": 3} and back[1] == boxes == [len, max]


@pytest.mark.parametrize(
    "message",
    [
        "text",
        [],
        {},
        {"text": "a"},
        {"dict": {}},
        {"box": 0},
        {"list": 3},
        {"list": ["a"]},
        10**400,
        {"list": [-(2**63)]},
        {"array": [1], "shape": [2], "kind": "float64"},
        {"array": [1], "shape": [-1], "kind": "float64"},
        {"array": [1], "shape": [True], "kind": "float64"},
        {"array": ["1"], "shape": [1], "kind": "float64"},
        {"array": [[1]], "shape": [1], "kind": "float64"},
        {"array": [1], "shape": 1, "kind": "float64"},
        {"array": [1], "shape": [1], "kind": "object"},
        {"array": [1], "shape": [1], "kind": ["float64"]},
        {"array": [2**70], "shape": [1], "kind": "int64"},
        {"array": [float("nan")], "shape": [1], "kind": "int64"},
        {"array": [], "shape": [0] * 40, "kind": "float64"},
        {"array": [], "shape": [0, 10**9], "kind": "float64"},
        {"array": [0] * (wire.LARGEST + 1), "shape": [wire.LARGEST + 1], "kind": "float64"},
    ],
)
def test_a_forged_message_is_refused(message):
    with pytest.raises(ValueError, match=r"^(not|too large)"):
        wire.decode(message)
