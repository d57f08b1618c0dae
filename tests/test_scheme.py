"""The check of positions, the refusals of every hook, and whether the check can be fooled."""

import copy
import gc
import weakref

import numpy as np
import pytest
import torch
from torch_schemes import D, H, T, W, normal

from lessons import layers

TABLES = {
    "sinusoidal": (layers.Sinusoidal(D, 64), "embed", (2, T, D)),
    "learned": (layers.Learned(D, 64), "embed", (2, T, D)),
    "half": (layers.Rotary(W, 64), "rotate", (2, H, T, D)),
    "interleaved": (layers.Rotary(W[:4], 64, pairing="interleaved"), "rotate", (2, H, T, D)),
}
BIASES = {"alibi": layers.Alibi(H), "t5": layers.T5Bias(H)}


@pytest.fixture
def reads(monkeypatch):
    """How often positions were read, as a list that grows."""
    seen, aminmax = [], torch.aminmax
    monkeypatch.setattr(torch, "aminmax", lambda t: seen.append(t) or aminmax(t))
    return seen


# Refusals.


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("start", "length", "low", "high"), [(50, 17, 50, 66), (64, 17, 64, 80), (-1, 17, -1, 15)]
)
def test_positions_outside_the_table_are_named(name, start, length, low, high):
    scheme, hook, shape = TABLES[name]
    for n in (torch.arange(length) + start, (torch.arange(length) + start).expand(2, -1).int()):
        with pytest.raises(ValueError, match="positions must lie in 0 … 63") as error:
            getattr(scheme, hook)(normal(*shape), n)
        for shown in ("max_len 64", f"{low} … {high}", f"length {length}", str(tuple(n.shape))):
            assert shown in str(error.value)


@pytest.mark.parametrize("name", TABLES)
def test_the_whole_table_may_be_used(name):
    scheme, hook, shape = TABLES[name]
    for n in (torch.arange(64 - T, 64), torch.arange(T)):
        assert torch.isfinite(getattr(scheme, hook)(normal(*shape), n)).all()


def test_one_row_too_far_is_enough():
    n = torch.zeros(2, T, dtype=torch.int64)
    n[1, 3] = 64
    with pytest.raises(ValueError, match="0 … 64"):
        TABLES["half"][0].rotate(normal(2, H, T, D), n)


WRONG_KIND = [
    (np.arange(T), "torch tensor, got ndarray"),
    (list(range(T)), "torch tensor, got list"),
    (range(T), "torch tensor, got range"),
    (None, "torch tensor, got NoneType"),
    (3, "torch tensor, got int"),
    (torch.arange(T).float(), "int64 or int32, got torch.float32"),
    (torch.arange(T).bfloat16(), "int64 or int32, got torch.bfloat16"),
    (torch.arange(T).bool(), "int64 or int32, got torch.bool"),
    (torch.arange(T).short(), "int64 or int32, got torch.int16"),
]
WRONG_SHAPE = [torch.tensor(3), torch.zeros(2, 1, T, dtype=torch.int64)]


def ask(name, n):
    """The hook in which the scheme acts, on positions n."""
    if name in BIASES:
        return BIASES[name].bias(n, torch.arange(T))
    scheme, hook, shape = TABLES[name]
    return getattr(scheme, hook)(normal(*shape), n)


@pytest.mark.parametrize("name", [*TABLES, *BIASES])
def test_positions_of_another_kind_are_refused(name):
    argument = "q_positions" if name in BIASES else "positions"
    for n, said in WRONG_KIND:
        with pytest.raises(TypeError, match=rf"^{argument} must be (a )?{said}"):
            ask(name, n)
    for n in WRONG_SHAPE:
        with pytest.raises(ValueError, match=rf"^{argument} must be \(seq,\) or \(batch, seq\)"):
            ask(name, n)


@pytest.mark.parametrize("name", BIASES)
def test_biases_name_the_keys_and_a_batch_that_does_not_fit(name):
    with pytest.raises(TypeError, match=r"^k_positions must be a torch tensor"):
        BIASES[name].bias(torch.arange(T), np.arange(T))
    three, two = torch.zeros(3, T, dtype=torch.int64), torch.zeros(2, 5, dtype=torch.int64)
    for q, k, said in ((three, two, "3.*got 2"), (two[:1], three, "1.*got 3")):
        with pytest.raises(ValueError, match=rf"^k_positions must have the batch .*{said}"):
            BIASES[name].bias(q, k)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shape", [(T - 1,), (T + 1,), (3, T), (1, T), (2, T - 1), (H, T)])
def test_positions_that_are_not_those_of_x(name, shape):
    scheme, hook, x_shape = TABLES[name]
    with pytest.raises(ValueError, match=r"^positions must be \(17,\) or \(2, 17\) for x of"):
        getattr(scheme, hook)(normal(*x_shape), torch.zeros(shape, dtype=torch.int64))


@pytest.mark.parametrize("name", TABLES)
def test_x_of_another_kind_is_refused(name):
    scheme, hook, shape = TABLES[name]
    for x, said in (
        (normal(*shape).numpy(), "a torch tensor, got ndarray"),
        (None, "a torch tensor, got NoneType"),
        (normal(*shape).long(), "floating-point numbers of 16 bits or more, got torch.int64"),
        (normal(*shape).cfloat(), "floating-point numbers of 16 bits or more, got torch.complex64"),
    ):
        with pytest.raises(TypeError, match=rf"^x must (be|hold) {said}"):
            getattr(scheme, hook)(x, torch.arange(T))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *((name, (T,)) for name in TABLES),
        ("sinusoidal", (T, D)),
        ("learned", (2, T, D - 1)),
        ("sinusoidal", (2, H, T, D)),
        ("half", (2, H, T, D - 2)),
        ("half", (2, H, T, D + 1)),
        ("interleaved", (2, H, T, 7)),
        ("interleaved", (2, H, T, 9)),
    ],
)
def test_x_of_another_shape_is_refused(name, shape):
    scheme, hook, _ = TABLES[name]
    with pytest.raises(ValueError, match=r"^x must be \(") as error:
        getattr(scheme, hook)(normal(*shape), torch.arange(T))
    assert str(shape) in str(error.value)


@pytest.mark.parametrize(
    ("offset", "kind", "said"),
    [
        (2.5, ValueError, "2.5"),
        (2**31, ValueError, "2147483648"),
        (True, TypeError, "True"),
        ("3", TypeError, "'3'"),
        (np.arange(T), TypeError, "ndarray"),
        (None, TypeError, "NoneType"),
        (torch.tensor(1.0), TypeError, "torch.float32"),
        (torch.tensor(True), TypeError, "torch.bool"),
        (torch.zeros(T + 1, dtype=torch.int64), ValueError, "(18,)"),
        (torch.zeros(1, dtype=torch.int64), ValueError, "(1,)"),
        (torch.zeros(3, T, dtype=torch.int64), ValueError, "(3, 17)"),
        (torch.zeros(2, H, T, dtype=torch.int64), ValueError, "(2, 3, 17)"),
    ],
    ids=str,
)
def test_an_offset_that_is_none(offset, kind, said):
    with pytest.raises(kind, match=r"^offset must") as error:
        TABLES["half"][0].shift(normal(2, H, T, D), offset)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "k", [None, np.ones((T, D)), torch.ones(D), torch.ones(T, D - 2), torch.ones(T, D).int()]
)
def test_keys_that_cannot_be_shifted(k):
    with pytest.raises((TypeError, ValueError), match=r"^k must"):
        TABLES["half"][0].shift(k, 3)


# One reading of a tensor.


def test_one_tensor_is_read_once_however_many_layers_ask(reads):
    scheme, q, n = layers.Rotary(W, 64), normal(2, H, T, D), torch.arange(T)
    for _ in range(5):
        scheme.rotate(q, n), scheme.check(n)
    assert len(reads) == 1
    layers.Alibi(H).bias(n, n), layers.NoPosition().check(n)
    assert len(reads) == 1  # no table, nothing to read for


def outside(scheme, n):
    with pytest.raises(ValueError, match="must lie in 0 … 63"):
        scheme.check(n)


def test_a_tensor_that_was_written_to_is_read_again(reads):
    scheme, n = layers.Rotary(W, 64), torch.arange(T)
    scheme.check(n)
    for write in (lambda: n.add_(60), lambda: n.fill_(-1), lambda: n[3:].fill_(99)):
        n.copy_(torch.arange(T))
        scheme.check(n)
        write()
        outside(scheme, n)
    view = n[:3]
    n.zero_()
    scheme.check(n)
    view += 64
    outside(scheme, n)


def test_a_tensor_that_was_refused_is_refused_again():
    scheme, n = layers.Rotary(W, 64), torch.arange(T) + 60
    outside(scheme, n), outside(scheme, n)


def test_a_new_tensor_at_the_old_ones_address():
    scheme = layers.Rotary(W, 64)
    for _ in range(200):
        scheme.check(torch.arange(T))
        gc.collect(0)
        outside(scheme, torch.arange(T) + 60)


def test_an_equal_tensor_and_another_scheme_are_read_for_themselves(reads):
    first, second, n = layers.Rotary(W, 64), layers.Rotary(W, 8), torch.arange(T)
    first.check(n), first.check(n.clone())
    assert len(reads) == 2
    with pytest.raises(ValueError, match="max_len 8"):
        second.check(n)


def test_inference_mode_counts_no_writes_so_every_call_reads(reads):
    scheme = layers.Rotary(W, 64)
    with torch.inference_mode():
        n = torch.arange(T)
        scheme.check(n)
        n += 60
        outside(scheme, n)
    outside(scheme, n)
    usual = torch.arange(T)
    scheme.check(usual)
    with torch.inference_mode():
        usual += 60
        outside(scheme, usual)


def test_copies_start_afresh(reads):
    scheme, n = layers.Rotary(W, 64), torch.arange(T)
    scheme.check(n)
    for twin in (copy.deepcopy(scheme), copy.copy(scheme)):
        twin.check(n)
    assert len(reads) == 3


def test_nothing_keeps_the_positions_alive():
    scheme, n = layers.Rotary(W, 64), torch.arange(T)
    scheme.rotate(normal(H, T, D), n)
    alive = weakref.ref(n)
    del n
    gc.collect()
    assert alive() is None


def test_a_faulty_memo_by_address_would_be_caught():
    class ByAddress(layers.Rotary):
        def check(self, positions, name="positions"):
            if self._passed != id(positions):
                super().check(positions, name)
            self._passed = id(positions)

    with pytest.raises(pytest.fail.Exception):
        n, scheme = torch.arange(T), ByAddress(W, 64)
        scheme.check(n)
        n += 60
        outside(scheme, n)
