"""The torch half under way: dtypes, devices, meta, copies on disk."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch
from torch_schemes import (
    DTYPES,
    B,
    D,
    H,
    T,
    W,
    assert_near,
    normal,
    positions,
)

from lessons import alibi, layers, relative, rope, sinusoidal

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
LONG = 4096
N = np.arange(LONG)
TABLES = {  # what each fixed table must hold, float64
    "sinusoidal": (lambda: layers.Sinusoidal(6, LONG), {"table": sinusoidal.encode(N, 6)}),
    "rotary": (
        lambda: layers.Rotary(W[::4], LONG, attention_factor=1.5),
        {
            "cos": 1.5 * np.cos(rope.angles(N, W[::4])),
            "sin": 1.5 * np.sin(rope.angles(N, W[::4])),
        },
    ),
    "alibi": (lambda: layers.Alibi(12), {"slopes": alibi.slopes(12)}),
    "t5": (
        lambda: layers.T5Bias(3),
        {"begins": relative.t5_begins()},
    ),
}


def assert_tables(name, scheme, device="cpu"):
    for table, wanted in TABLES[name][1].items():
        held = getattr(scheme, table)
        assert held.dtype == (torch.int64 if wanted.dtype == np.int64 else torch.float32)
        assert held.device.type == device
        assert torch.equal(held.cpu(), torch.tensor(wanted, dtype=held.dtype))


class Wrapped(torch.nn.Module):
    """A scheme as a model holds it."""

    def __init__(self, scheme):
        super().__init__()
        self.scheme, self.other = scheme, torch.nn.Linear(2, 2)


MOVES = {
    "bfloat16": lambda m: m.to(torch.bfloat16),
    "half": lambda m: m.half(),
    "double": lambda m: m.double(),
    "there and back": lambda m: m.half().bfloat16().float(),
    "type": lambda m: m.type(torch.float16),
    "deepcopy": copy.deepcopy,
    "deepcopy of bfloat16": lambda m: copy.deepcopy(m.bfloat16()),
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "meta": lambda m: m.to("meta").to_empty(device="cpu"),
    "bfloat16 on meta": lambda m: m.to("meta").bfloat16().to_empty(device="cpu"),
    "share_memory": lambda m: m.share_memory(),
    "requires_grad and eval": lambda m: m.requires_grad_(False).eval(),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", TABLES)
def test_tables_survive(name, move):
    scheme = TABLES[name][0]()
    used = torch.arange(4)
    scheme.check(used)  # what was checked must not stand in the way of a copy
    assert_tables(name, scheme)
    assert_tables(name, MOVES[move](scheme))
    assert_tables(name, MOVES[move](Wrapped(TABLES[name][0]())).scheme)


@pytest.mark.parametrize("name", TABLES)
def test_tables_survive_being_made_on_meta_or_under_another_default(name):
    with torch.device("meta"):
        scheme = TABLES[name][0]()
    assert all(t.is_meta for t in (*scheme.buffers(), *scheme.parameters()))
    assert_tables(name, scheme.to_empty(device="cpu"))
    try:
        torch.set_default_dtype(torch.float64)
        assert_tables(name, TABLES[name][0]())
        torch.set_default_dtype(torch.bfloat16)
        assert_tables(name, TABLES[name][0]())
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
@pytest.mark.parametrize("name", TABLES)
def test_tables_survive_the_way_to_the_gpu(name):
    assert_tables(name, TABLES[name][0]().cuda(), "cuda")
    assert_tables(name, TABLES[name][0]().to("cuda", torch.bfloat16).half().cpu())
    with torch.device("cuda"):
        assert_tables(name, TABLES[name][0](), "cuda")


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_in_no_checkpoint(name):
    scheme = TABLES[name][0]()
    assert not set(scheme.state_dict()) & set(TABLES[name][1])
    scheme.load_state_dict(scheme.state_dict(), strict=True, assign=True)
    file = io.BytesIO()
    torch.save(scheme, file)
    file.seek(0)
    assert_tables(name, torch.load(file, weights_only=False))


def test_trained_tables_round_trip_and_can_be_drawn_again_after_meta():
    for scheme in (layers.Learned(4, 8), layers.T5Bias(2)):
        torch.nn.init.normal_(scheme.weight)
        twin = type(scheme)(*((4, 8) if isinstance(scheme, layers.Learned) else (2,)))
        twin.load_state_dict(scheme.state_dict())
        assert torch.equal(twin.weight, scheme.weight)
        assert torch.equal(pickle.loads(pickle.dumps(scheme)).weight, scheme.weight)
    with torch.device("meta"):
        learned, t5 = layers.Learned(64, 512), layers.T5Bias(2)
    learned.to_empty(device="cpu").reset_parameters()
    t5.to_empty(device="cpu").reset_parameters()
    assert 0.015 < learned.weight.std() < 0.025 and not t5.weight.any()


def test_a_table_is_a_copy_that_nobody_shares():
    first, second = layers.T5Bias(3), layers.T5Bias(3)
    first.begins.zero_()
    assert_tables("t5", second)
    assert_tables("t5", first.to("cpu"))  # any move fills it again


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_comes_in_decides_what_comes_out(dtype, model, device):
    """The model's dtype moves the trained weights only; x's dtype comes back, tables stay exact."""
    n = positions().to(device) % 4096
    x = normal(B, T, D, dtype=dtype).to(device)
    q = normal(B, H, T, D, dtype=dtype).to(device)
    rotary = layers.Rotary(W, 4096).to(device, model)
    out = rotary.rotate(q, n)
    wanted = rope.rotate(q.double().cpu().numpy(), n.cpu().numpy(), W)
    assert_near(out.cpu(), wanted, dtype)
    back = rotary.shift(out.double(), -n)
    assert back.dtype == torch.float64
    added = layers.Sinusoidal(D, 4096).to(device, model).embed(x, n)
    wanted = x.double().cpu() + torch.tensor(sinusoidal.encode(n.cpu().numpy(), D))
    assert_near(added.cpu(), wanted, dtype)
    learned = layers.Learned(D, 4096).to(device, model)
    wanted = x.double() + learned.weight.detach()[n].double()
    assert_near(learned.embed(x, n).detach().cpu(), wanted.cpu(), dtype)
    assert layers.Alibi(H).to(device, model).bias(n, n).dtype == torch.float32
    wide = torch.float64 if model == torch.float64 else torch.float32
    assert layers.T5Bias(H).to(device, model).bias(n, n).dtype == wide


def test_autocast_changes_nothing():
    q, n, x = normal(B, H, T, D), positions() % 4096, normal(B, T, D)
    rotary, added = layers.Rotary(W, 4096), layers.Sinusoidal(D, 4096)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(rotary.rotate(q, n), (usual := rotary.rotate(q, n)))
        assert usual.dtype == torch.float32
    assert torch.equal(rotary.rotate(q, n), usual)
    with torch.autocast("cpu", torch.bfloat16):
        assert added.embed(x, n).dtype == layers.Alibi(H).bias(n, n).dtype == torch.float32


def test_shapes_on_meta_cost_no_numbers():
    with torch.device("meta"):
        q, x, n = torch.empty(B, H, T, D), torch.empty(B, T, D), torch.arange(T)
        assert layers.Rotary(W, 64).rotate(q, n).shape == q.shape
        assert layers.Rotary(W, 64).shift(q, 3).shape == q.shape
        assert layers.Sinusoidal(D, 64).embed(x, n).shape == x.shape
        assert layers.Learned(D, 64).embed(x, n).shape == x.shape
        assert layers.Alibi(H).bias(n, n).shape == layers.T5Bias(H).bias(n, n).shape == (H, T, T)


# Shift, in every dtype.

ROTARY = {"half": layers.Rotary(W, 64), "partial": layers.Rotary(W[:4], 64, pairing="interleaved")}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ROTARY)
def test_shift_is_a_pure_rotation_by_a_signed_offset(name, dtype):
    scheme, k = ROTARY[name], normal(B, H, T, D, dtype=dtype)
    options = {"pairing": scheme.pairing}
    far = positions() * torch.tensor([[1], [-1]])
    alike = (0, 7, -7, 65_535, -65_535, np.int64(-5), torch.tensor(-9))
    for offset in (*alike, far, far[1], far.int()):
        rows = np.broadcast_to(np.asarray(offset), (T,)) if np.ndim(offset) == 0 else offset.numpy()
        wanted = rope.rotate(k.double().numpy(), rows, scheme.inv_freq, **options)
        assert_near(scheme.shift(k, offset), wanted, dtype)


def test_shift_moves_rotated_keys_and_leaves_out_the_attention_factor():
    scheme, k = layers.Rotary(W, 65_536, attention_factor=1.25), normal(B, H, T, D).double()
    n = positions() // 2
    for offset in (-n, torch.tensor(100), 30_000):
        moved = scheme.shift(scheme.rotate(k, n), offset)
        assert_near(moved, scheme.rotate(k, n + torch.as_tensor(offset)))
    assert_near(scheme.shift(scheme.shift(k, 40_000), -40_000), k)
    faulty = scheme.rotate(scheme.rotate(k, n), 100 * torch.ones(T, dtype=torch.int64))
    with pytest.raises(AssertionError):
        assert_near(faulty, scheme.rotate(k, n + 100))
