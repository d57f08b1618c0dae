"""lessons.variants: every step is the same rotation; and the benchmarks that use them."""

import json
import logging
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from conftest import ROOT

from lessons import frequencies, layers, rope, variants

SHAPE = (2, 3, 17, 32)
INV_FREQ = frequencies.inverse_frequencies(32)
EAGER = [name for name in variants.VARIANTS if name != "compiled"]
BENCH = ROOT / "tests" / "bench"


@pytest.fixture
def tables():
    return variants.tables(17, 32)


def entries(dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(7).normal(size=SHAPE)).to(dtype)


def right(x, name, positions=range(17)):
    pairing = "interleaved" if name in variants.INTERLEAVED else "half"
    return rope.rotate(x.double().detach().numpy(), positions, INV_FREQ, pairing=pairing)


@pytest.mark.parametrize("name", EAGER)
def test_each_step_is_the_rotation(name, tables):
    x = entries()
    out = variants.build(name, *tables)(x)
    assert out.shape == x.shape and out.dtype == x.dtype
    np.testing.assert_allclose(out, right(x, name), atol=2e-6)


@pytest.mark.parametrize("name", EAGER)
def test_in_float64_they_agree_to_rounding(name):
    angles = torch.from_numpy(rope.angles(range(17), INV_FREQ))
    out = variants.build(name, angles.cos(), angles.sin())(entries(torch.float64))
    np.testing.assert_allclose(out, right(entries(), name), atol=1e-6)
    exact = right(entries(torch.float64), name)
    np.testing.assert_allclose(out, exact, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in EAGER if n not in variants.WITHOUT_GRADIENT])
def test_the_gradient_is_the_turn_back(name, tables):
    x, grad_out = entries().requires_grad_(), entries() + 1
    variants.build(name, *tables)(x).backward(grad_out)
    back = right(grad_out, name, [-n for n in range(17)])
    np.testing.assert_allclose(x.grad, back, atol=2e-6)


@pytest.mark.parametrize("name", sorted(variants.WITHOUT_GRADIENT))
def test_what_has_no_gradient_says_so(name, tables):
    with pytest.raises(RuntimeError, match="grad"):
        variants.build(name, *tables)(entries().requires_grad_())


def test_the_compiled_one_is_the_plain_formula_in_one_graph(tables, monkeypatch):
    """Through the eager backend, which needs no C++ compiler; at two lengths."""
    compile_ = torch.compile
    seen = {}

    def eager(function, **options):
        seen.update(options)
        return compile_(function, backend="eager", **options)

    monkeypatch.setattr(torch, "compile", eager)
    out = variants.build("compiled", *tables)(entries())
    assert seen == {"fullgraph": True}
    np.testing.assert_allclose(out, right(entries(), "compiled"), atol=2e-6)


def test_the_layer_and_the_steps_agree(tables):
    x = entries()
    for name in ("halves", "complex"):
        pairing = "interleaved" if name in variants.INTERLEAVED else "half"
        layer = layers.Rotary(INV_FREQ, 17, pairing=pairing)
        turned = layer.rotate(x, torch.arange(17))
        np.testing.assert_allclose(variants.build(name, *tables)(x), turned, atol=1e-6)


def test_rotate_half_is_a_quarter_turn():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert variants.rotate_half(x).tolist() == [-3, -4, 1, 2]
    assert variants.rotate_half(variants.rotate_half(x)).tolist() == (-x).tolist()


def test_tables_are_rounded_once():
    cos, sin = variants.tables(65_536, 128)
    angles = rope.angles([65_535], frequencies.inverse_frequencies(128))[0]
    assert cos.dtype == sin.dtype == torch.float32 and cos.shape == (65_536, 64)
    assert np.array_equal(cos[-1].numpy(), np.cos(angles).astype(np.float32))
    assert np.array_equal(sin[-1].numpy(), np.sin(angles).astype(np.float32))
    # Angles in float32, as the fault has them, are off by thousands of roundings.
    single = np.float32(65_535) * np.float32(frequencies.inverse_frequencies(128))
    assert np.abs(np.cos(single) - cos[-1].numpy()).max() > 1e-3


def test_bytes_moved():
    assert variants.bytes_moved((1, 32, 4096, 128), torch.float32) == 134_217_728
    assert variants.bytes_moved((1, 32, 4096, 128), torch.bfloat16) == 67_108_864
    assert variants.bytes_moved([3], torch.float64) == 48
    assert variants.bytes_moved((2**30, 2**30), torch.float32) == 2**63


def test_measure_takes_turns_and_leaves_out_the_first_call():
    order = []

    def note(name):
        return lambda x: order.append(name) or x.clone()

    times = variants.measure({"a": note("a"), "b": note("b")}, torch.ones(3), rounds=2)
    assert order == ["a", "b"] * 3
    assert set(times) == {"a", "b"} and all(time > 0 for time in times.values())


def test_measure_with_gradient():
    asked = []

    def function(x):
        asked.append((x.requires_grad, torch.is_grad_enabled()))
        return 2 * x

    x = torch.ones(3)
    variants.measure({"f": function}, x, rounds=1, backward=True)
    variants.measure({"f": function}, x, rounds=1)
    assert asked == [(True, True)] * 2 + [(False, False)] * 2
    assert not x.requires_grad and x.grad is None


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda c, s: variants.build("fast", c, s), ValueError, "name"),
        (lambda c, s: variants.build(3, c, s), TypeError, "name"),
        (lambda c, s: variants.build("halves", c.numpy(), s), TypeError, "cos"),
        (lambda c, s: variants.build("halves", c, s.long()), TypeError, "sin"),
        (lambda c, s: variants.build("halves", c[0], s), ValueError, "cos"),
        (lambda c, s: variants.build("halves", c[:, :0], s), ValueError, "cos"),
        (lambda c, s: variants.build("halves", c, s[1:]), ValueError, "sin"),
        (lambda c, s: variants.tables(0, 32), ValueError, "seq_len"),
        (lambda c, s: variants.tables(4, 31), ValueError, "head_dim"),
        (lambda c, s: variants.tables(4, 32, 0.5), ValueError, "theta"),
        (lambda c, s: variants.bytes_moved((1, 0), torch.float32), ValueError, "shape"),
        (lambda c, s: variants.bytes_moved((), torch.float32), ValueError, "shape"),
        (lambda c, s: variants.bytes_moved((1, 2), "float32"), TypeError, "dtype"),
        (lambda c, s: variants.measure({"f": 1}, c), TypeError, r"functions\['f'\]"),
        (lambda c, s: variants.measure({}, c, rounds=0), ValueError, "rounds"),
        (lambda c, s: variants.saved("tpu"), ValueError, "machine"),
    ],
)
def test_refusals(call, error, named, tables):
    with pytest.raises(error, match=named):
        call(*tables)


SLOW_TO_SAY = """
import contextlib, io, sys
from lessons import variants
said = io.StringIO()
with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
    first, again = variants.can_compile(), variants.can_compile()
assert first == again and said.getvalue() == "", said.getvalue()
print(first)
"""


def compiles(**env):
    """What a new process says, whose caches are its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SLOW_TO_SAY],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=True,
    )
    return {"True": True, "False": False}[done.stdout.strip()]


def test_can_compile_is_tried_and_not_guessed(tmp_path):
    """A program is there and says that all went well, but there is nothing to be loaded."""
    compiler = shutil.which("true")
    assert compiler
    assert not compiles(CXX=compiler, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))


def test_can_compile_is_no_where_torch_was_told_not_to_compile():
    assert not compiles(TORCH_COMPILE_DISABLE="1")


def test_can_compile_compiles_one_line_once_and_is_silent(monkeypatch, caplog):
    made = []

    def loud(function, **options):
        def said(x):
            warnings.warn("slower on this Python", RuntimeWarning, stacklevel=1)
            logging.getLogger("torch").warning("a toolkit without its GPU")
            return function(x)

        made.append(options)
        return said

    monkeypatch.setattr(torch, "compile", loud)
    variants.can_compile.cache_clear()
    assert variants.can_compile() and variants.can_compile()
    assert made == [{"fullgraph": True}]
    assert caplog.text == "" and logging.root.isEnabledFor(logging.WARNING)
    variants.can_compile.cache_clear()


def test_saved_gives_the_newest_or_none(tmp_path, monkeypatch):
    monkeypatch.setattr(variants.resources, "files", lambda package: tmp_path)
    assert variants.saved("cpu") is None
    data = tmp_path / "data"
    data.mkdir()
    assert variants.saved("gpu") is None
    for name, date in [("cpu", "2026-09-01"), ("gpu_a", "2026-10-02"), ("gpu_b", "2026-09-30")]:
        (data / f"rope_{name}.json").write_text(json.dumps({"date": date, "name": name}))
    assert variants.saved("cpu")["name"] == "cpu"
    assert variants.saved("gpu")["name"] == "gpu_a"


def test_a_saved_benchmark_says_what_it_was():
    for machine in ("cpu", "gpu"):
        result = variants.saved(machine)
        if result is not None:
            assert {"command", "date", "machine", "versions", "config"} <= set(result)


def test_without_a_gpu_the_gpu_benchmark_says_so_and_stops():
    ran = subprocess.run(
        [sys.executable, BENCH / "rope_gpu.py"],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2 and ran.stderr == ""
    assert ran.stdout.count("\n") == 1 and "needs an NVIDIA GPU" in ran.stdout


def test_the_cpu_benchmark_refuses_to_time_what_is_not_the_rotation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import rope as bench

    shape = (1, 2, 16, 32)
    bench.check(
        {"right": (lambda x: torch.from_numpy(right(x, "halves", range(16))), "half")}, shape
    )
    with pytest.raises(AssertionError, match="identity is"):
        bench.check({"identity": (lambda x: x, "half")}, shape)
    with pytest.raises(AssertionError, match="other layout"):
        function = variants.build("complex", *variants.tables(16, 32))
        bench.check({"other layout": (function, "half")}, shape)


def test_only_the_peers_may_be_off_as_float32_angles_are(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import rope as bench

    shape = (1, 2, 1024, 32)

    def off(x):
        turned = rope.rotate(x.double().numpy(), range(1024), INV_FREQ)
        return torch.from_numpy(turned) + 2e-5

    bench.check({"a library": (off, "half")}, shape)
    with pytest.raises(AssertionError, match="ours: off is"):
        bench.check({"ours: off": (off, "half")}, shape)


def test_the_peak_of_a_call_does_not_hide_behind_an_earlier_one(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import alibi_memory

    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("only Linux can set the peak back")
    np.ones(50_000_000)  # 400 MB, and freed
    rise, kept = alibi_memory.peak_rise(lambda: np.ones(10_000_000))
    assert kept.nbytes <= rise + 1e6 and rise < 1.5 * kept.nbytes


def test_the_peers_of_the_benchmark_are_the_rotation(monkeypatch):
    for module in ("transformers", "rotary_embedding_torch", "x_transformers", "diffusers"):
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(BENCH))
    import rope as bench

    functions = bench.peers(64, 128)
    assert len(functions) == 6
    bench.check(functions, (1, 2, 64, 128))
