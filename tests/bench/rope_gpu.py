"""Rotary position embedding on an NVIDIA GPU: right first, then how near to the copy bandwidth.

    python tests/bench/rope_gpu.py            check, time, print, and save the result
    python tests/bench/rope_gpu.py --no-save  the same without writing a file

Every variant is compared with the float64 rotation on fresh random inputs. It is then timed with
CUDA events on tensors far larger than the card's L2 cache, forward and with its gradient, in
float32 and, where the card computes in it, bfloat16; a copy is timed in the same rounds. The result
goes to src/lessons/data/rope_gpu_<card>.json, which lesson 05 shows. Exit code 2: no GPU.
"""

import argparse
import functools
import json
import platform
import re
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from lessons import frequencies, rope, variants

DATA = Path(__file__).resolve().parents[2] / "src" / "lessons" / "data"
HEADS, SEQ_LEN, HEAD_DIM = 32, 4096, 128
CHECKED = (2, 4, 4096, HEAD_DIM)
TIMES_L2 = 8  # x alone is at least this many times the cache
ROUNDS, CALLS, WARM_UP = 9, 10, 5


def functions(seq_len, dtype):
    """{name: function of x}: float32 tables, float32 arithmetic, and x's dtype comes back."""
    cos, sin = (table.cuda() for table in variants.tables(seq_len, HEAD_DIM))
    made = {}
    for name in variants.VARIANTS:
        if name == "compiled":
            if not variants.can_compile():
                continue
            # The casts are compiled too: bfloat16 is read and written, float32 stays in registers.
            made[name] = torch.compile(_cast(variants.halves(cos, sin), dtype), fullgraph=True)
        else:
            made[name] = _cast(variants.build(name, cos, sin), dtype)
    return made


def _cast(function, dtype):
    return lambda x: function(x.float()).to(dtype)


def check(dtype):
    """{name: largest error} against float64 on fresh inputs; more than rounding is refused."""
    x = torch.randn(CHECKED, device="cuda").to(dtype)
    exact = x.double().cpu().numpy()
    inv_freq = frequencies.inverse_frequencies(HEAD_DIM)
    # Float32 arithmetic everywhere; in bfloat16 one rounding of the result, 2^-8 of each entry.
    arithmetic = 2e-6 * float(np.abs(exact).max())
    rounding = {torch.float32: 0, torch.bfloat16: 2**-8}[dtype]
    errors = {}
    for name, function in functions(CHECKED[-2], dtype).items():
        pairing = "interleaved" if name in variants.INTERLEAVED else "half"
        right = rope.rotate(exact, range(CHECKED[-2]), inv_freq, pairing=pairing)
        with torch.no_grad():
            error = np.abs(function(x).double().cpu().numpy() - right)
        errors[name] = float(error.max())
        if name == "matrices" and torch.backends.cuda.matmul.allow_tf32:
            continue  # a matrix product in TF32 is allowed to be off; nothing else is
        over = error - rounding * np.abs(right) - arithmetic
        if over.max() > 0:
            raise AssertionError(f"{name} in {dtype} is {over.max():.2g} beyond its roundings off")
    return errors


def timed(work):
    """Milliseconds a call of each function, the median of rounds in which all take turns."""
    for function in work.values():
        for _ in range(WARM_UP):
            function()
    taken = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, function in work.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            for _ in range(CALLS):
                function()
            end.record()
            torch.cuda.synchronize()
            taken[name].append(start.elapsed_time(end) / CALLS)
    return {name: statistics.median(times) for name, times in taken.items()}


def backward(function, x, gradient):
    return lambda: torch.autograd.grad(function(x), x, gradient)


def times(dtype, batch):
    """Milliseconds forward, and forward with backward, of a copy and of every variant."""
    x = torch.randn(batch, HEADS, SEQ_LEN, HEAD_DIM, device="cuda").to(dtype)
    out = torch.empty_like(x)
    made = functions(SEQ_LEN, dtype)
    with torch.no_grad():
        work = {"copy": lambda: out.copy_(x)}
        work |= {name: functools.partial(function, x) for name, function in made.items()}
        forward = timed(work)
    x.requires_grad_()
    gradient = torch.ones_like(x)
    # The yardstick of this column is two copies: of x, and of the gradient.
    work = {"copy": lambda: (x.detach().clone(), gradient.clone())}
    work |= {
        name: backward(function, x, gradient)
        for name, function in made.items()
        if name not in variants.WITHOUT_GRADIENT
    }
    both = timed(work)
    return tuple(x.shape), forward, both


def measure(dtype, batch):
    errors = check(dtype)
    shape, forward, both = times(dtype, batch)
    moved = variants.bytes_moved(shape, dtype)
    rows = {
        name: {
            "forward_ms": ms,
            "GB_per_s": moved / ms / 1e6,
            "share_of_copy": forward["copy"] / ms,
            "forward_backward_ms": both.get(name),
            "share_of_two_copies": both["copy"] / both[name] if name in both else None,
            "largest_error": errors.get(name),
        }
        for name, ms in forward.items()
    }
    return {"shape": list(shape), "bytes_moved": moved, "rows": rows}


def bench():
    card = torch.cuda.get_device_properties(0)
    dtypes = [torch.float32]
    if torch.cuda.is_bf16_supported(including_emulation=False):
        dtypes.append(torch.bfloat16)
    results = {}
    for dtype in dtypes:
        one = HEADS * SEQ_LEN * HEAD_DIM * dtype.itemsize
        batch = max(1, -(-TIMES_L2 * card.L2_cache_size // one))
        results[str(dtype).removeprefix("torch.")] = measure(dtype, batch)
    return {
        "command": "python tests/bench/rope_gpu.py",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{card.name}, {card.total_memory / 2**30:.0f} GiB, "
        f"L2 {card.L2_cache_size / 2**20:.0f} MiB",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
        },
        "config": {"rounds": ROUNDS, "calls": CALLS, "warm_up": WARM_UP},
        "results": results,
    }


def show(result):
    print(result["machine"])
    print(", ".join(f"{name} {version}" for name, version in result["versions"].items()))
    for dtype, found in result["results"].items():
        print(f"\n{dtype}, {'×'.join(map(str, found['shape']))}")
        print(f"{'':<14}{'forward ms':>11}{'GB/s':>8}{'of a copy':>11}", end="")
        print(f"{'and backward ms':>17}{'of two copies':>15}")
        for name, row in found["rows"].items():
            back = row["forward_backward_ms"]
            back = "–" if back is None else f"{back:.3f}{row['share_of_two_copies']:15.0%}"
            print(
                f"{name:<14}{row['forward_ms']:11.3f}{row['GB_per_s']:8.0f}"
                f"{row['share_of_copy']:11.0%}{back:>{17 if back == '–' else 32}}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-save", action="store_true", help="write no file")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("This benchmark needs an NVIDIA GPU, and torch sees none on this machine.")
        return 2
    result = bench()
    show(result)
    if not options.no_save:
        DATA.mkdir(exist_ok=True)
        card = re.sub(r"\W+", "_", torch.cuda.get_device_name(0)).strip("_").lower()
        path = DATA / f"rope_gpu_{card}.json"
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf8")
        print(f"\nwritten to {path.relative_to(DATA.parents[2])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
