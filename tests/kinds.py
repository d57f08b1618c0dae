"""Every kind of value that can be handed to an argument, made from one good value.

BAD: values of every type, whatever the argument.  SAME: the good value itself, in another dress.
"""

import decimal
import fractions
import tempfile
import warnings

import numpy as np
import torch


class Odd:
    """A value of a class that nobody knows; the class can be called with anything."""

    def __init__(self, *given, **named):
        pass

    def __repr__(self):
        return "Odd()"


def nothing(*given, **named):
    """Takes anything and gives nothing."""


def generator():
    yield 1.0


BAD = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "text": lambda: "3",
    "no text": lambda: "",
    "bytes": lambda: b"3",
    "an object": Odd,
    "a class": lambda: Odd,
    "a function": lambda: nothing,
    "a mapping": lambda: {"a": 1},
    "a set": lambda: {1, 2},
    "a generator": generator,
    "an ellipsis": lambda: ...,
    "a complex number": lambda: 2j,
    "a decimal": lambda: decimal.Decimal("2.5"),
    "a fraction": lambda: fractions.Fraction(5, 2),
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "zero": lambda: 0,
    "minus zero": lambda: -0.0,
    "minus one": lambda: -1,
    "a half": lambda: 0.5,
    "beyond int32": lambda: 2**31,
    "beyond int64": lambda: 2**63,
    "beyond float64": lambda: 10**400,
    "the smallest number": lambda: 5e-324,
    "the largest number": lambda: 1.7e308,
    "no numbers": list,
    "no numbers in rows": lambda: [[]],
    "one number": lambda: [1.0],
    "a list with None": lambda: [1.0, None],
    "a list with NaN": lambda: [0.0, float("nan")],
    "a list with infinity": lambda: [0.0, float("inf")],
    "a list with a huge number": lambda: [0, 10**400],
    "a list of text": lambda: ["1", "2"],
    "a list of lists of two lengths": lambda: [[1.0], [1.0, 2.0]],
    "bools": lambda: np.array([True, False]),
    "complex numbers": lambda: np.array([1j, 2]),
    "objects": lambda: np.array([1, None], object),
    "dates": lambda: np.array([1, 2], "m8[D]"),
    "records": lambda: np.zeros(2, [("a", float)]),
    "negative numbers": lambda: np.array([-1.0, -2.0]),
    "fractions of one": lambda: np.array([0.25, 0.5]),
    "five axes": lambda: np.zeros((1, 2, 1, 2, 1)),
    "an empty array": lambda: np.zeros((0, 4)),
    "a tensor": lambda: torch.ones(3),
    "a whole tensor": lambda: torch.arange(3),
    "a bool tensor": lambda: torch.ones(3).bool(),
    "a tensor that tracks": lambda: torch.ones(2, 3, requires_grad=True),
    "a tensor without values": lambda: torch.ones(3, device="meta"),
    "a sparse tensor": lambda: torch.eye(3).to_sparse(),
    "a tensor of NaN": lambda: torch.full((3,), float("nan")),
}


def _apart(array):
    """The same numbers with a gap after each."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def _read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


class Table:
    """Rows with names, as other libraries have them: NumPy can make a plain array of one."""

    def __init__(self, rows):
        self.rows = np.asarray(rows)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)


class Interface:
    """As Table, by NumPy's older protocol."""

    def __init__(self, rows):
        self.rows = np.asarray(rows)
        self.__array_interface__ = self.rows.__array_interface__


class Metres(np.ndarray):
    """An array that means more than its numbers."""


def _matrix(array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(array) if array.ndim < 3 else np.ma.array(array)


def _rare(dress):
    """Torch warns of most of these: a prototype, or about to go."""

    def quietly(tensor):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dress(tensor)

    return quietly


def _masked(tensor):
    return torch.masked.masked_tensor(tensor, torch.ones_like(tensor, dtype=torch.bool))


def _by_rows(tensor):
    return tensor.reshape(-1, tensor.shape[-1]).to_sparse_csr()


def _quantized(tensor):
    return torch.quantize_per_tensor(tensor.float(), 0.1, 0, torch.qint8)


# A good value in a dress that NumPy or torch would take off without a word; and numbers so narrow
# that nobody computes in them.
DRESSED_ARRAYS = {
    "masked": np.ma.array,
    "masked throughout": lambda array: np.ma.array(array, mask=True),
    "with fields by name": lambda array: array.view(np.recarray),
    "a matrix": _matrix,
    "a class of arrays": lambda array: array.view(Metres),
    "a table": Table,
    "by an interface": Interface,
    "rows that are masked": lambda array: [np.ma.array(row) for row in np.atleast_1d(array)],
    "rows of a class": lambda array: tuple(np.asarray(row).view(Metres) for row in array),
    "spans of time": lambda array: array.astype("m8[s]"),
    "dates": lambda array: array.astype("M8[s]"),
    "structured": lambda array: np.asarray(array, [("a", array.dtype)]),
}
DRESSED_NUMBERS = {
    "masked": np.ma.array,
    "masked away": lambda number: np.ma.masked,
    "of a class": lambda number: np.array(number).view(Metres),
    "a span of time": lambda number: np.timedelta64(int(number)),
    "days": lambda number: np.timedelta64(int(number), "D"),
    "days without axes": lambda number: np.array(int(number), "m8[D]"),
    "a date": lambda number: np.datetime64(int(number), "D"),
    "a table": Table,
}
FLOATS_OF_8_BITS = [getattr(torch, name) for name in dir(torch) if name.startswith("float8_")]
HIDING_TENSORS = {
    "masked": _rare(_masked),
    "nested": _rare(lambda tensor: torch.nested.nested_tensor([tensor, tensor])),
    "sparse": torch.Tensor.to_sparse,
    "by rows": _rare(_by_rows),
    "for one processor": lambda tensor: tensor.float().to_mkldnn(),
}
DRESSED_TENSORS = HIDING_TENSORS | {
    "complex of 16 bits": _rare(lambda tensor: tensor.to(torch.complex32)),
    "quantized": _rare(_quantized),
    **{str(dtype): lambda tensor, dtype=dtype: tensor.to(dtype) for dtype in FLOATS_OF_8_BITS},
}


def dressed(good):
    """{kind: the value of an argument that must be refused}, as far as it has one."""
    if isinstance(good, bool):
        return {}
    if isinstance(good, (int, float)):
        return {kind: dress(good) for kind, dress in DRESSED_NUMBERS.items()}
    if isinstance(good, (list, np.ndarray)):
        try:
            array = np.array(good)
        except ValueError:
            return {}
        if array.dtype.kind in "iuf" and array.ndim:
            return {kind: dress(array) for kind, dress in DRESSED_ARRAYS.items()}
    if isinstance(good, torch.Tensor) and good.dtype != torch.bool:
        return {kind: dress(good) for kind, dress in DRESSED_TENSORS.items()}
    return {}


def _as(dtype):
    """The same numbers in another type, if it holds them all."""

    def dress(array):
        with np.errstate(all="ignore"):
            other = array.astype(dtype)
        return other if (other.astype(float) == array.astype(float)).all() else array

    return dress


def _mapped(array):
    """In a file, as a large array is read."""
    with tempfile.TemporaryFile() as file:
        mapped = (
            np.memmap(file, array.dtype, "w+", shape=array.shape or (1,)) if array.size else array
        )
        mapped[...] = array
    return mapped


ARRAYS = {
    **{dtype: _as(dtype) for dtype in np.typecodes["AllInteger"] + np.typecodes["Float"]},
    "in a file": _mapped,
    "with gaps": _apart,
    "backwards in memory": lambda array: np.flip(np.flip(array).copy()),
    "by columns": np.asfortranarray,
    "read-only": _read_only,
    "with other byte order": lambda array: array.astype(array.dtype.newbyteorder()),
    "as lists": lambda array: array.tolist(),
}
NUMBERS = {
    "an array without axes": np.array,
    "a NumPy number": lambda number: np.asarray(number)[()],
    "a float": float,
}
TENSORS = {
    "with gaps": lambda tensor: torch.stack([tensor, tensor], -1)[..., 0],
    "by columns": lambda tensor: tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor,
    "int32": lambda tensor: tensor if tensor.is_floating_point() else tensor.int(),
}


def same(good):
    """{kind: the value of an argument in another dress}, as far as it has one."""
    if isinstance(good, bool) or good is None:
        return {}
    if isinstance(good, (int, float)):
        return {kind: dress(good) for kind, dress in NUMBERS.items()}
    if isinstance(good, list):
        try:
            good = np.array(good)
        except ValueError:
            return {}
    if isinstance(good, np.ndarray) and good.dtype.kind in "iuf" and type(good) is np.ndarray:
        return {kind: dress(good) for kind, dress in ARRAYS.items()}
    if isinstance(good, torch.Tensor) and good.dtype != torch.bool:
        return {kind: dress(good) for kind, dress in TENSORS.items()}
    return {}
