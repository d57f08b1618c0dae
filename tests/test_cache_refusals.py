"""What the key/value cache refuses, by name and value."""

import numpy as np
import pytest
import torch
from test_cache import ROPE, ROWS, filled, keys
from tiny import FAR

from lessons.cache import KVCache


def refused(kind, said, call):
    with pytest.raises(kind, match=f"^{said}"):
        call()


def test_append_names_what_does_not_fit():
    cache, n = KVCache(2), torch.arange(3)
    good = keys(3)
    for layer, kind, said in (
        (2, ValueError, "layer must lie in 0 … 1, got 2"),
        (-1, ValueError, "layer must be at least 0, got -1"),
        (0.5, ValueError, "layer must be a whole number"),
        ("0", TypeError, "layer must be a number"),
        (True, TypeError, "layer must be a number"),
    ):
        refused(kind, said, lambda layer=layer: cache.append(layer, good, good, n))
    for wrong, kind, said in (
        (None, TypeError, "must be a torch tensor, got NoneType"),
        (good.numpy(), TypeError, "must be a torch tensor, got ndarray"),
        (good.long(), TypeError, "must hold floating-point numbers"),
    ):
        refused(kind, f"k {said}", lambda k=wrong: cache.append(0, k, good, n))
        refused(kind, f"v {said}", lambda v=wrong: cache.append(0, good, v, n))
    refused(ValueError, "k and v must be", lambda: cache.append(0, good[0], good[0], n))
    refused(ValueError, "k and v must be", lambda: cache.append(0, good, good[:1], n))
    refused(TypeError, "positions must be int64", lambda: cache.append(0, good, good, n.float()))
    refused(TypeError, "positions must be a torch", lambda: cache.append(0, good, good, [0, 1, 2]))
    refused(ValueError, "positions must be", lambda: cache.append(0, good, good, n[:2]))
    assert len(cache) == 0
    cache, *_ = filled(torch.arange(3))
    for k in (keys(3, batch=5), keys(3)[:, :1], keys(3)[..., :2]):
        refused(ValueError, "k must have the batch", lambda k=k: cache.append(0, k, k, n))
    refused(ValueError, "v must have", lambda: cache.append(0, good, good[..., :2], n))
    narrow, away = good.bfloat16(), good.to("meta")
    refused(TypeError, "k must be torch.float64 like the", lambda: cache.append(0, narrow, good, n))
    refused(TypeError, "v must be torch.float64 like the", lambda: cache.append(0, good, narrow, n))
    refused(
        ValueError,
        "k must be on the device of positions, cpu",
        lambda: cache.append(0, away, good, n),
    )
    refused(
        ValueError,
        "k must be on the device of the cache, cpu",
        lambda: cache.append(0, away, away, n.to("meta")),
    )
    refused(
        ValueError,
        "positions must be batched as",
        lambda: cache.append(0, good, good, n.expand(2, 3)),
    )
    assert len(cache) == 3


KEEP = [
    ([0, 9], ValueError, r"keep must lie in 0 … 8, got \[0, 9\]"),
    ([-1], ValueError, r"keep must lie in 0 … 8, got \[-1\]"),
    ([1, 2, 1], ValueError, r"keep must name each slot once, got \[1, 2, 1\]"),
    ([0.5], ValueError, "keep must be whole numbers"),
    ([[0, 1]], ValueError, "keep must have 1 to 1 axes"),
    (3, ValueError, "keep must have"),
    ([True], TypeError, "keep must hold real numbers"),
    (None, TypeError, "keep must hold real numbers"),
    (torch.arange(2), TypeError, "keep must be a NumPy array"),
]


@pytest.mark.parametrize(("keep", "kind", "said"), KEEP, ids=lambda value: str(value)[:20])
def test_evict_names_keep(keep, kind, said):
    cache, *_ = filled(torch.arange(9))
    refused(kind, said, lambda: cache.evict(keep))
    assert len(cache) == 9


def test_renumber_names_what_does_not_fit():
    cache, *_ = filled(torch.arange(9))
    both = [ROPE, ROPE]
    for n, kind, said in (
        (np.arange(9), TypeError, "positions must be a torch tensor"),
        (torch.arange(9.0), TypeError, "positions must be int64 or int32"),
        (torch.arange(8), ValueError, "positions must be one for each of the 9 cached keys"),
        (ROWS, ValueError, r"positions must be one for each .*\(2, 9\)"),
        (torch.arange(9) + FAR, ValueError, "positions must lie in 0 … 63"),
    ):
        refused(kind, said, lambda n=n: cache.renumber(n, both))
    n = torch.arange(9)
    refused(
        ValueError, r"schemes must be one a layer \(2\), got 1", lambda: cache.renumber(n, [ROPE])
    )
    refused(TypeError, "schemes must be .* got str", lambda: cache.renumber(n, ["a", "b"]))
    refused(
        ValueError, "positions must be one for each of the 0", lambda: KVCache(2).renumber(n, both)
    )


def test_next_positions_names_seq_len():
    for value, kind in ((-1, ValueError), (1.5, ValueError), ("1", TypeError), (None, TypeError)):
        refused(kind, "seq_len must", lambda value=value: KVCache(1).next_positions(value))
