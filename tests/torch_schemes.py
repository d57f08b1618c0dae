"""What the tests of the torch half share: shapes whose axes all differ, positions far apart."""

import functools

import numpy as np
import torch

from lessons import frequencies, layers, rope

B, H, T, D = 2, 3, 17, 32
MAX_LEN = 65_536
W = frequencies.inverse_frequencies(D)
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def positions(batch=B, seq=T, seed=0, dtype=torch.int64):
    """(batch, seq), in no order and with gaps, different in each row, 0 and 65 535 among them."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.choice(MAX_LEN, seq, replace=False) for _ in range(batch)])
    rows[:, 3], rows[:, 5] = MAX_LEN - 1 - np.arange(batch), np.arange(batch)
    return torch.tensor(rows, dtype=dtype)


def normal(*shape, seed=0, dtype=torch.float32):
    """The same numbers in every dtype, but for its rounding."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


PARTIAL = frequencies.inverse_frequencies(D // 4)
ROTARY = {
    "half": (W, {}),
    "interleaved": (W, {"pairing": "interleaved"}),
    "partial": (PARTIAL, {}),
    "partial interleaved": (PARTIAL, {"pairing": "interleaved"}),
}


@functools.cache
def rotary(name="half", factor=1.0):
    inv_freq, options = ROTARY[name]
    return layers.Rotary(inv_freq, MAX_LEN, attention_factor=factor, **options)


def by_numpy(name, x, positions):
    inv_freq, options = ROTARY[name]
    return rope.rotate(x.double().numpy(), positions.numpy(), inv_freq, **options)


def t5(heads=H):
    scheme = layers.T5Bias(heads)
    torch.nn.init.normal_(scheme.weight, generator=torch.Generator().manual_seed(1))
    return scheme


def assert_near(ours, wanted, dtype=None):
    """Within 1e-6 of the float64 values, and half a step of a coarser dtype on top."""
    dtype = dtype or ours.dtype
    wanted = torch.as_tensor(wanted)
    assert ours.dtype == dtype and ours.shape == wanted.shape
    step = torch.finfo(dtype).eps if dtype in (torch.bfloat16, torch.float16) else 0
    scale = max(1.0, wanted.abs().max().item())
    torch.testing.assert_close(ours.double(), wanted.double(), rtol=0.51 * step, atol=1e-6 * scale)


def same_but_for_rounding(one, other):
    """The same sums, taken by another path of the processor: at most a few last bits apart."""
    torch.testing.assert_close(one, other, rtol=0, atol=4 * torch.finfo(one.dtype).eps * 8)


def tells_apart(law, right, *faulty):
    """The law holds for ours, and the same assertion rejects each fault."""
    law(right)
    for fault in faulty:
        try:
            law(fault)
        except (AssertionError, ValueError):
            continue
        raise AssertionError(f"{law.__name__} lets the fault through")
