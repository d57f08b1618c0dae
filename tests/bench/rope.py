"""Rotary position embedding on this machine's CPU, as a multiple of a plain copy; peers beside it.

    python tests/bench/rope.py                the table (needs the packages of the extra "peers")
    python tests/bench/rope.py --save         also write src/lessons/data/rope_cpu.json
    python tests/bench/rope.py --small        a small size, to see that everything runs

Every function is first compared with the float64 rotation, then timed in rounds in which all take
turns. Run it alone: on busy cores the eager functions, which move more memory, look worse.
"""

import argparse
import functools
import importlib.metadata
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import alibi_memory
import numpy as np
import torch

from lessons import frequencies, layers, rope, variants

DATA = Path(__file__).resolve().parents[2] / "src" / "lessons" / "data"
PEERS = ("transformers", "rotary-embedding-torch", "x-transformers", "diffusers")
SIZES = {"full": (1, 32, 4096, 128), "small": (1, 2, 256, 128)}
ALIBI = {"full": 4096, "small": 512}
# The goal, the faster side and the slower side: factor · faster ≤ slower.
COMPILED = "ours: compiled"
GOALS = [
    ("compiled at most 1.2 × clone", 1 / 1.2, COMPILED, ["clone"]),
    ("compiled 4 × faster than transformers", 4, COMPILED, ["transformers, half"]),
    (
        "compiled 6 × faster than rotary-embedding-torch",
        6,
        COMPILED,
        ["rotary-embedding-torch, interleaved"],
    ),
    ("compiled 6 × faster than x-transformers", 6, COMPILED, ["x-transformers, interleaved"]),
    (
        "Rotary, half, no slower than any peer",
        1,
        "ours: Rotary, half",
        ["transformers, half", "diffusers, half"],
    ),
    (
        "Rotary, interleaved, no slower than any peer",
        1,
        "ours: Rotary, interleaved",
        [
            "diffusers, interleaved",
            "diffusers, interleaved, complex",
            "rotary-embedding-torch, interleaved",
            "x-transformers, interleaved",
        ],
    ),
]


def ours(seq_len, head_dim):
    """{name: (function of x, pairing)} of this book: the layer and the steps of the speed story."""
    inv_freq = frequencies.inverse_frequencies(head_dim)
    positions = torch.arange(seq_len)
    functions = {}
    for pairing in rope.PAIRINGS:
        layer = layers.Rotary(inv_freq, seq_len, pairing=pairing)
        rotate = functools.partial(layer.rotate, positions=positions)
        functions[f"ours: Rotary, {pairing}"] = rotate, pairing
    cos, sin = variants.tables(seq_len, head_dim)
    for name in variants.VARIANTS:
        if name == "compiled" and not variants.can_compile():
            print("There is no C++ compiler here, so nothing is compiled.", file=sys.stderr)
            continue
        pairing = "interleaved" if name in variants.INTERLEAVED else "half"
        functions[f"ours: {name}"] = variants.build(name, cos, sin), pairing
    return functions


def peers(seq_len, head_dim):
    """{name: (function of x, pairing)} of the libraries, each with its tables made beforehand."""
    from diffusers.models.embeddings import apply_rotary_emb
    from rotary_embedding_torch import RotaryEmbedding
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
    from x_transformers.x_transformers import RotaryEmbedding as XRotary
    from x_transformers.x_transformers import apply_rotary_pos_emb as x_apply

    cos, sin = variants.tables(seq_len, head_dim)
    halves = tuple(torch.cat([table, table], -1) for table in (cos, sin))
    pairs = tuple(table.repeat_interleave(2, -1) for table in (cos, sin))
    turns = torch.complex(cos, sin)[None]
    wide = tuple(table[None] for table in halves)
    lucid = RotaryEmbedding(dim=head_dim)
    freqs, scale = XRotary(head_dim)(torch.arange(seq_len))

    def llama(x):
        # It turns q and k in one call; a k without heads costs nothing.
        return apply_rotary_pos_emb(x, x[:, :0], *wide)[0]

    def lumina(x):
        return apply_rotary_emb(x.transpose(1, 2), turns, use_real=False).transpose(1, 2)

    return {
        "transformers, half": (llama, "half"),
        "diffusers, half": (
            lambda x: apply_rotary_emb(x, halves, use_real_unbind_dim=-2),
            "half",
        ),
        "diffusers, interleaved": (lambda x: apply_rotary_emb(x, pairs), "interleaved"),
        "diffusers, interleaved, complex": (lumina, "interleaved"),
        "rotary-embedding-torch, interleaved": (lucid.rotate_queries_or_keys, "interleaved"),
        "x-transformers, interleaved": (lambda x: x_apply(x, freqs, scale), "interleaved"),
    }


def check(functions, shape):
    """Refuse to time a function that is not the rotation."""
    x = torch.from_numpy(np.random.default_rng(5).normal(size=shape)).float()
    seq_len, head_dim = shape[-2:]
    inv_freq = frequencies.inverse_frequencies(head_dim)
    largest = float(x.abs().max())
    for name, (function, pairing) in functions.items():
        # The peers build float32 angles, whose rounding grows with the position; we do not.
        growth = 0 if name.startswith("ours") else 1.2e-7 * seq_len
        tolerance = (2e-6 + growth) * largest
        right = rope.rotate(x.numpy(), range(seq_len), inv_freq, pairing=pairing)
        with torch.no_grad():
            error = np.abs(function(x).numpy() - right).max()
        if error > tolerance:
            raise AssertionError(f"{name} is {error:.2g} off the rotation, above {tolerance:.2g}")


def machine():
    """What this machine is, in words."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = models[0].split(":", 1)[1].strip() if models else name
    return f"{name}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"


def versions(packages):
    found = {"python": platform.python_version()}
    return found | {package: importlib.metadata.version(package) for package in packages}


def bench(size, rounds):
    """The whole result as a dict."""
    shape = SIZES[size]
    functions = ours(*shape[-2:]) | peers(*shape[-2:])
    check(functions, shape)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    timed = {"clone": torch.clone} | {name: function for name, (function, _) in functions.items()}
    forward = variants.measure(timed, x, rounds=rounds)
    with_gradient = {
        name: function
        for name, function in timed.items()
        if name.removeprefix("ours: ") not in variants.WITHOUT_GRADIENT
    }
    both = variants.measure(with_gradient, x, rounds=rounds, backward=True)
    return {
        "command": "python tests/bench/rope.py" + ("" if size == "full" else f" --{size}"),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(("torch", "numpy", *PEERS)),
        "config": {
            "shape": list(shape),
            "dtype": "float32",
            "rounds": rounds,
            "alibi_tokens": ALIBI[size],
        },
        "pairing": {name: pairing for name, (_, pairing) in functions.items()},
        "forward_seconds": forward,
        "forward_backward_seconds": both,
        "alibi_peak_bytes": alibi_memory.compared(ALIBI[size]),
    }


def show(result):
    forward, both = result["forward_seconds"], result["forward_backward_seconds"]
    clone = forward["clone"]
    moved = variants.bytes_moved(result["config"]["shape"], torch.float32)
    print(result["machine"])
    print(", ".join(f"{name} {version}" for name, version in result["versions"].items()))
    shape = "×".join(map(str, result["config"]["shape"]))
    print(f"clone of {shape} float32: {1e3 * clone:.1f} ms, {moved / clone / 1e9:.1f} GB/s\n")
    print(f"{'multiples of clone()':<38}{'forward':>9}{'and backward':>14}")
    for name, seconds in sorted(forward.items(), key=lambda item: item[1]):
        back = f"{both[name] / clone:14.2f}" if name in both else f"{'no gradient':>14}"
        print(f"{name:<38}{seconds / clone:9.2f}{back}")
    tokens = result["config"]["alibi_tokens"]
    print(f"\nALiBi, {tokens} tokens, 8 heads: memory at the peak of a call")
    for way, peak in result["alibi_peak_bytes"].items():
        print(f"{way:<38}{peak / 1e6:9.0f} MB")
    print()
    for goal, factor, fast, slow in GOALS:
        if fast not in forward:
            verdict = "not measured"
        else:
            ratio = min(forward[name] for name in slow) / forward[fast]
            verdict = "met" if ratio >= factor else f"NOT MET ({ratio:.2f})"
        print(f"{verdict:<16}{goal}")
    if COMPILED in both:
        verdict = "met" if both[COMPILED] <= 2.6 * clone else "NOT MET"
        print(f"{verdict:<16}compiled, forward and backward at most 2.6 × clone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write src/lessons/data/rope_cpu.json")
    parser.add_argument("--small", action="store_true", help="a small size, for a quick look")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.save and options.small:
        parser.error("--save is for the full size")
    result = bench("small" if options.small else "full", options.rounds)
    show(result)
    if options.save:
        DATA.mkdir(exist_ok=True)
        path = DATA / "rope_cpu.json"
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf8")
        print(f"\nwritten to {path.relative_to(DATA.parents[2])}")


if __name__ == "__main__":
    main()
