"""What crosses between the grader and student code: numbers, and nothing that could do anything.

Messages are JSON.  The grader sends arguments (numbers, arrays, words, dicts, black boxes); student
code sends back numbers and arrays.  ``encode`` also brings what a function may return to one form,
whichever library it came from, so that the notebook's checks and the grader see the same answer.
This module runs inside the sandbox too, beside student code: it imports NumPy and nothing else.
"""

import numpy as np

# More than any task asks for; what is larger is refused before it is read as numbers.
LARGEST = 200_000
PLAIN = (bool, int, float, np.number, np.bool_)
KINDS = ("float64", "float32", "float16", "int64", "bool")


class NotNumbers(TypeError):
    """What came back cannot cross: it is no number, no array, and no list of these."""


def encode(value, boxes=None):
    """value in a form that JSON can carry; ``decode`` brings it back.

    value: None, a number, an array of any library, or a list or tuple of these; where boxes is
    given also words, dicts with such keys, and functions.
    boxes: a list to which each function found is appended; None refuses them.
    Returns None, a number, or a dict.
    Raises NotNumbers that names what it cannot carry.
    """
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else float(np.sign(value)) * np.inf
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(part, PLAIN) for part in value):
            return _array(np.asarray(value))
        return {"list": [encode(part, boxes) for part in value]}
    if boxes is not None and isinstance(value, str):
        return {"text": value}
    if boxes is not None and isinstance(value, dict):
        return {"dict": {key: encode(part, boxes) for key, part in value.items()}}
    if boxes is not None and callable(value):
        boxes.append(value)
        return {"box": len(boxes) - 1}
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu()
        # NumPy has no bfloat16.
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _array(np.asarray(value))
    raise NotNumbers(f"numbers are asked for, and a {type(value).__name__} came back")


def decode(message, box=None):
    """The value that ``encode`` was given: arrays are NumPy's, tuples come back as lists.

    message: what ``encode`` returned, after JSON.  Without box, nothing but numbers is taken, so
    that it may come from anybody.
    box: makes a function of the number that stands for it.
    Raises ValueError if the message is none.
    """
    if isinstance(message, int) and abs(message) >= 2**63:
        raise ValueError("too large a number")
    if message is None or isinstance(message, (bool, int, float)):
        return message
    if not isinstance(message, dict):
        raise ValueError("not a message")
    if "array" in message:
        return _read_array(message)
    if isinstance(message.get("list"), list) and len(message["list"]) <= LARGEST:
        return [decode(part, box) for part in message["list"]]
    if box is not None and "text" in message:
        return message["text"]
    if box is not None and "dict" in message:
        return {key: decode(part, box) for key, part in message["dict"].items()}
    if box is not None and "box" in message:
        return box(message["box"])
    raise ValueError("not a message")


def _array(array):
    if array.dtype.kind not in "biuf":
        raise NotNumbers(f"numbers are asked for, and an array of {array.dtype} came back")
    if array.size > LARGEST:
        raise NotNumbers(f"at most {LARGEST} numbers may come back, and {array.size} did")
    kind = array.dtype.name
    if kind not in KINDS:
        kind = "int64" if array.dtype.kind in "iu" else "float64"
    flat = array.astype(kind).ravel().tolist()
    return {"array": flat, "shape": list(array.shape), "kind": kind}


def _read_array(message):
    flat, shape, kind = message["array"], message.get("shape"), message.get("kind")
    if kind not in KINDS or not isinstance(flat, list) or not isinstance(shape, list):
        raise ValueError("not an array")
    if len(flat) > LARGEST or len(shape) > 32:
        raise ValueError("too large an array")
    numbers = all(type(number) in (bool, int, float) for number in flat)
    sizes = all(type(size) is int and 0 <= size <= LARGEST for size in shape)
    if not numbers or not sizes or len(flat) != np.prod(shape, dtype=float):
        raise ValueError("not an array")
    try:
        return np.array(flat, kind).reshape(shape)
    except (OverflowError, ValueError):
        raise ValueError("not an array") from None
