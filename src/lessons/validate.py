"""The refusals, written once: a bad argument is named, with its value, before anything is computed.

Every function takes the argument and its name, and returns it in the form to compute with.
A wrong kind of object is a ``TypeError``, a wrong value or shape a ``ValueError``.
"""

import numbers

import numpy as np

# Positions are exact in float64 far beyond this; the bound keeps them valid as int32 indices too.
POSITION_LIMIT = 2**31
# Products of two numbers within this bound are finite, so no formula overflows on the way.
FINITE_LIMIT = 1e100
# Arrays that are no more than their numbers.
PLAIN = (np.ndarray, np.memmap)


def positions(value, name="positions", *, max_axes=None):
    """Whole-numbered positions with at least one axis, as float64; negative ones are allowed."""
    array = finite(value, name)
    if array.ndim == 0 or (max_axes is not None and array.ndim > max_axes):
        allowed = "at least 1 axis" if max_axes is None else f"1 to {max_axes} axes"
        raise ValueError(f"{name} must have {allowed}, got shape {array.shape}")
    _refuse(array != np.floor(array), array, f"{name} must be whole numbers")
    _refuse(np.abs(array) >= POSITION_LIMIT, array, f"{name} must lie within ±(2**31 − 1)")
    return array


def count(value, name, *, minimum=1, even=False):
    """A whole number from ``minimum`` to 2**31 − 1, as int; ``even=True`` refuses odd ones."""
    number = offset(value, name)
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    if even and number % 2:
        raise ValueError(f"{name} must be even, got {value!r}")
    return number


def offset(value, name="offset"):
    """A whole number of either sign below 2**31, as int."""
    number = real(value, name)
    if number != int(number):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if abs(number) >= POSITION_LIMIT:
        raise ValueError(f"{name} must lie within ±(2**31 − 1), got {value!r}")
    return int(number)


def real(value, name, *, minimum=None):
    """A finite real number, at least ``minimum``, as float."""
    if type(value) in PLAIN and value.ndim == 0:
        value = value[()]
    # A span of time counts as a whole number in NumPy.
    other = isinstance(value, (bool, np.bool_, np.timedelta64))
    if other or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    return number


def finite(value, name):
    """An array of finite real numbers, none beyond ±1e100, as float64."""
    array = _numeric(value, name)
    _refuse(~np.isfinite(array), array, f"{name} must be finite")
    _refuse(np.abs(array) > FINITE_LIMIT, array, f"{name} must lie within ±{FINITE_LIMIT:g}")
    return array


def inverse_frequencies(value, name="inv_freq", *, minimum=1):
    """``minimum`` or more frequencies in radians per token; 0 means a pair that never turns."""
    array = vector(value, name)
    if array.size < minimum:
        raise ValueError(f"{name} must hold at least {minimum} frequencies, got {array.size}")
    _refuse(array < 0, array, f"{name} must not be negative")
    return array


def geometric(value, name="inv_freq"):
    """At least two positive frequencies, each the same share of the one before (to float32)."""
    array = inverse_frequencies(value, name, minimum=2)
    _refuse(array == 0, array, f"{name} must be above 0")
    powers = np.log(array)
    line = np.linspace(powers[0], powers[-1], len(powers))
    # Float32 tables are off by about 1e-6; a rescaled or bfloat16 ladder by far more.
    if powers[-1] >= powers[0] or (np.abs(powers - line) > 1e-5).any():
        raise ValueError(f"{name} must fall geometrically, ω_0 θ^(−2i/d), got {array}")
    return array


def logits(value, name="x"):
    """Scores with at least one axis, as float64: −inf marks what may not be looked at."""
    array = _numeric(value, name)
    if array.ndim == 0:
        raise ValueError(f"{name} must have at least 1 axis, got shape ()")
    _refuse(np.isnan(array) | np.isposinf(array), array, f"{name} must hold no NaN and no +inf")
    return array


def queries_keys_values(q, k, v):
    """q, k, v with the same leading axes; q and k share head_dim, k and v share k_len."""
    q, k, v = finite(q, "q"), finite(k, "k"), finite(v, "v")
    for name, array in (("q", q), ("k", k), ("v", v)):
        if array.ndim < 2 or array.shape[-1] == 0:
            raise ValueError(f"{name} must be (..., seq, head_dim), got shape {array.shape}")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            "q, k, v must share their leading axes, "
            f"got {q.shape[:-2]}, {k.shape[:-2]}, {v.shape[:-2]}"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"k must have the head_dim of q ({q.shape[-1]}), got {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"v must have the k_len of k ({k.shape[-2]}), got {v.shape[-2]}")
    return q, k, v


def score_terms(bias, mask, shape):
    """bias (float64, −inf allowed) and mask (bool) that broadcast to ``shape``; None passes."""
    if bias is not None:
        bias = _fits(logits(bias, "bias"), "bias", shape)
    if mask is not None:
        mask = _plain(mask, "mask")
        if mask.dtype != bool:
            raise TypeError(f"mask must be bool (True = may look), got dtype {mask.dtype}")
        mask = _fits(mask, "mask", shape)
    return bias, mask


def padding_mask(value, name="mask"):
    """(seq,) or (batch, seq) of bool, or of whole numbers 0 and 1, as bool: True = a real token."""
    array = _plain(value, name)
    # A float mask is mostly one to add, where 0 means the opposite: may look.
    if array.dtype.kind not in "biu":
        raise TypeError(f"{name} must be bool or 0 and 1, got {kind(value)} of {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must be (seq,) or (batch, seq), got shape {array.shape}")
    _refuse((array != 0) & (array != 1), array, f"{name} must hold 0 and 1 only")
    return array.astype(bool)


def function(value, name, *, optional=False):
    """Something that can be called; None passes where it is ``optional``."""
    if not (callable(value) or (optional and value is None)):
        raise TypeError(f"{name} must be a function, got {kind(value)}")
    return value


def has_shape(array, name, shape):
    """``array`` back if its shape is ``shape``."""
    if np.shape(array) != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}, got {np.shape(array)}")
    return array


def vector(value, name):
    """A vector of at least one finite number, as float64."""
    array = finite(value, name)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector, not empty, got shape {array.shape}")
    return array


def choice(value, name, choices):
    """One of a few names."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(choices)}, got {kind(value)}")
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def position_pair(q_positions, k_positions):
    """Positions of queries and keys, (seq,) or (batch, seq), with one batch size between them."""
    q_positions = positions(q_positions, "q_positions", max_axes=2)
    k_positions = positions(k_positions, "k_positions", max_axes=2)
    if q_positions.ndim == k_positions.ndim == 2 and len(q_positions) != len(k_positions):
        raise ValueError(
            f"k_positions must have the batch of q_positions ({len(q_positions)}), "
            f"got {len(k_positions)}"
        )
    return q_positions, k_positions


def counts(value, name="counts"):
    """A vector of whole numbers, each at least 1, as int64."""
    array = positions(vector(value, name), name)
    _refuse(array < 1, array, f"{name} must be at least 1")
    return array.astype(np.int64)


def heads(n_heads, d_model):
    """n_heads as int, once it divides d_model."""
    number = count(n_heads, "n_heads")
    if d_model % number:
        raise ValueError(f"n_heads must divide d_model ({d_model}), got {n_heads}")
    return number


def windows(value, n_layers, name="windows"):
    """A list or tuple with one window a layer, each a count or None, as a tuple; None passes."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a list, one a layer, got {kind(value)}")
    if len(value) != n_layers:
        raise ValueError(f"{name} must be one a layer ({n_layers}), got {len(value)}: {value!r}")
    return tuple(window if window is None else count(window, name) for window in value)


def grid(ids, sections, inv_freq):
    """positions (axes, ..., seq), sections that name the axis of each pair, and inv_freq."""
    ids, inv_freq = positions(ids), inverse_frequencies(inv_freq)
    if ids.ndim < 2 or len(ids) == 0:
        raise ValueError(f"positions must be (axes, ..., seq), got shape {ids.shape}")
    axes = positions(vector(sections, "sections"), "sections")
    _refuse((axes < 0) | (axes >= len(ids)), axes, f"sections must lie in 0 … {len(ids) - 1}")
    has_shape(axes, "sections", inv_freq.shape)
    return ids, axes.astype(np.int64), inv_freq


def _fits(array, name, shape):
    try:
        fits = np.broadcast_shapes(array.shape, shape) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast to the scores {tuple(shape)}, got {array.shape}")
    return array


def _plain(value, name):
    """value as an array, refusing what NumPy would convert silently into something else."""
    dressed = _dressed(value)
    if dressed is not None:
        library, known_as = type(dressed).__module__.partition(".")[0], type(dressed).__name__
        got = f"a {library} {known_as}"
        raise TypeError(f"{name} must be a NumPy array or a sequence of plain numbers, got {got}")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be rectangular, got rows of different lengths") from None


def _dressed(value):
    """What in a value says more than its numbers, or None: NumPy would drop the rest in silence.

    So a masked array loses its mask, a quantity its unit, a matrix its product, a table its index,
    and a torch tensor its device and its gradient.
    """
    if isinstance(value, (list, tuple)):
        return next((part for part in map(_dressed, value) if part is not None), None)
    plain = type(value) in PLAIN or isinstance(value, np.generic)
    says = any(hasattr(value, name) for name in ("__array__", "__array_interface__", "__dlpack__"))
    return value if says and not plain else None


def _numeric(value, name):
    array = _plain(value, name)
    # By class too: other libraries give numbers of 8 bits the letter of NumPy's own.
    known = issubclass(array.dtype.type, (np.integer, np.floating))
    if array.dtype.kind not in "iuf" or not known:
        raise TypeError(f"{name} must hold real numbers, got {kind(value)} of dtype {array.dtype}")
    with np.errstate(over="ignore"):  # a long double may become inf, which the caller refuses
        return array.astype(np.float64)


def _refuse(bad, array, sentence):
    if bad.any():
        raise ValueError(f"{sentence}, got {repr(float(array[bad][0])).removesuffix('.0')}")


def kind(value):
    """A wrong value in the words of an error: its type, with the value where that is short."""
    name = type(value).__name__
    short = isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 1e9)
    return f"{value!r} ({name})" if short or isinstance(value, str) else name
