"""What every position scheme is: four hooks, one check of the positions, tables that stay right.

A scheme can act in three places: ``embed`` adds to the embeddings, ``rotate`` turns queries and
keys, ``bias`` adds to the scores.  ``scale`` is the fourth hook, a switch: it multiplies the query.
A model calls all four and never asks which scheme it has; the schemes themselves are in ``layers``.
"""

import weakref

import torch
from torch import nn

FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


class PositionScheme(nn.Module):
    """The hooks, doing nothing.  A subclass overrides the place where its scheme acts."""

    max_len = None  # rows of the table; None: defined at every position

    def __init__(self):
        super().__init__()
        self._sources = {}
        self._passed = None

    def embed(self, x, positions):
        """Token embeddings (batch, seq, d_model) with what the scheme adds to them."""
        return x

    def rotate(self, x, positions):
        """Queries or keys (..., seq, head_dim), turned by their positions."""
        return x

    def bias(self, q_positions, k_positions):
        """What is added to the scores: (heads, q_len, k_len), batched if the positions are.

        It depends on positions alone, never on content, on purpose: None means no bias.
        """
        return None

    def scale(self, q_positions):
        """What the query is multiplied by: 1, or a tensor that broadcasts to (..., q_len, 1)."""
        return 1

    def shift(self, k, offset):
        """Cached keys as they would be ``offset`` tokens further on.

        What acts on the scores alone leaves no trace in a key, so the keys come back as they are.
        """
        return k

    def check(self, positions, name="positions"):
        """Refuse positions that are no integers or lie outside the table, before any look-up.

        On a GPU a failed look-up would poison the whole process.  One tensor is read once, however
        many layers ask, and again after it was written to.  Where it has no values to be read, as
        in compiled code (``span``), the look-up itself raises.
        positions: (seq,) or (batch, seq), int64 or int32.  name: what the error calls them.
        Raises TypeError for another kind or dtype, ValueError for another shape or a position that
        the table does not have.
        """
        whole(positions, name)
        if positions.ndim not in (1, 2):
            raise ValueError(f"{name} must be (seq,) or (batch, seq), got {shape(positions)}")
        if self.max_len is None or torch.compiler.is_compiling():
            return
        # In inference mode tensors count no writes, so nothing tells whether one was changed.
        writes = None if positions.is_inference() else positions._version
        if self._passed and self._passed[0]() is positions and self._passed[1] == writes:
            return
        found = span(positions)
        if found is None:
            return
        low, high = found
        if low < 0 or high >= self.max_len:
            raise ValueError(
                f"{name} must lie in 0 … {self.max_len - 1} (max_len {self.max_len}), got "
                f"{low} … {high}, length {positions.shape[-1]}, in {shape(positions)}"
            )
        self._passed = None if writes is None else (weakref.ref(positions), writes)

    def _add_table(self, name, source):
        """A buffer that ``_apply`` can always fill again from its NumPy source."""
        self._sources[name] = source
        self.register_buffer(name, _table(source), persistent=False)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        # .to(bfloat16) has rounded the tables and to_empty has left them unfilled: both are mended
        # here, where every such move passes through.
        for name, source in self._sources.items():
            setattr(self, name, _table(source, getattr(self, name).device))
        return self

    def __getstate__(self):
        # Which tensor was read last is nothing to keep, and a weak reference cannot be pickled.
        return self.__dict__ | {"_passed": None}

    def __prepare_scriptable__(self):
        # torch.jit.script asks here first, and would end in words about Python's syntax.
        raise TypeError(f"{type(self).__name__} cannot be scripted: use torch.export or compile it")


def span(values):
    """(least, greatest) of whole numbers, or None where there is nothing to be read.

    That is: no numbers; compiled or exported code, where reading would break the graph; the meta
    device; ``torch.func.vmap``, under which one tensor stands for many.
    """
    if values.is_meta or values.numel() == 0 or torch.compiler.is_compiling():
        return None
    try:
        low, high = torch.stack(torch.aminmax(values)).tolist()
    except RuntimeError:  # torch has no public word for a tensor that vmap has made
        return None
    return low, high


def tensor(value, name):
    """Refuse what is no dense torch tensor, or one that hides some of its numbers."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a torch tensor, got {type(value).__name__}")
    if value.layout != torch.strided or value.is_nested:
        got = "a nested one" if value.is_nested else value.layout
        raise TypeError(f"{name} must be a dense tensor, got {got}")
    if isinstance(value, torch.masked.MaskedTensor):
        raise TypeError(
            f"{name} must be a plain tensor, got MaskedTensor, whose mask would be lost"
        )


def floats(value, name):
    """Refuse what is no tensor in which one can compute: complex, whole, quantized or 8 bits."""
    tensor(value, name)
    if value.dtype not in FLOATS:
        raise TypeError(
            f"{name} must hold floating-point numbers of 16 bits or more, got {value.dtype}"
        )


def whole(value, name):
    """Refuse what is no tensor of int64 or int32."""
    tensor(value, name)
    if value.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be int64 or int32, got {value.dtype}")


def beside(value, name, x, x_name):
    """Refuse a tensor that lies on another device than x."""
    tensor(value, name)
    if value.device != x.device:
        raise ValueError(
            f"{name} must be on the device of {x_name}, {x.device}, got {value.device}"
        )


def rows(x, name, positions, positions_name):
    """Refuse x that is not (..., seq, channels) of floats, and positions that are not its rows'."""
    floats(x, name)
    tensor(positions, positions_name)
    if x.ndim < 2:
        raise ValueError(f"{name} must be (..., seq, channels), got {shape(x)}")
    batch_fits = positions.ndim < 2 or (x.ndim >= 3 and positions.shape[0] == x.shape[0])
    if positions.ndim > 2 or not batch_fits or positions.shape[-1:] not in ((), x.shape[-2:-1]):
        batch = f" or ({x.shape[0]}, {x.shape[-2]})" if x.ndim >= 3 else ""
        raise ValueError(
            f"{positions_name} must be ({x.shape[-2]},){batch} for {name} of {shape(x)}, "
            f"got {shape(positions)}"
        )


def shape(tensor):
    """A tensor's shape in the words of an error."""
    return f"shape {tuple(tensor.shape)}"


def _table(source, device=None):
    """float32 or int64, a copy; without a device, on the one that the caller's context names."""
    dtype = torch.float32 if source.dtype.kind == "f" else torch.int64
    return torch.tensor(source, dtype=dtype, device=device)
