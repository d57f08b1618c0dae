"""ALiBi's two ways, a bias tensor and a score_mod: how far a call lifts the peak of the memory.

    python tests/bench/alibi_memory.py bias 4096        one way, as JSON

`rope.py` runs each way in a process of its own, since a peak never comes down again.
"""

import contextlib
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from lessons import layers, variants

WARM_UP = 256


def measured(way, seq_len):
    """ALiBi's attention, causal, 8 heads of 64 channels: a bias tensor, or a score_mod."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    scheme = layers.Alibi(8)
    slopes = scheme.slopes
    # Without dynamic, the long run would compile again, and its peak would be the compiler's.
    attend = torch.compile(flex_attention, dynamic=True)

    def bias(q, k, v):
        positions = torch.arange(q.shape[-2])
        added = scheme.bias(positions, positions)
        future = positions[None, :] > positions[:, None]
        # Four axes: with three, torch takes a slower way that needs twice the memory.
        added = added.masked_fill_(future, -torch.inf)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=added[None])

    def score_mod(q, k, v):
        def penalty(score, batch, head, q_index, k_index):
            return score - slopes[head] * (q_index - k_index)

        def causal(batch, head, q_index, k_index):
            return q_index >= k_index

        seq_len = q.shape[-2]
        mask = create_block_mask(causal, None, None, seq_len, seq_len, device="cpu")
        return attend(q, k, v, score_mod=penalty, block_mask=mask)

    function = {"bias": bias, "score_mod": score_mod}[way]
    rng = torch.Generator().manual_seed(5)
    short = torch.randn(3, 1, 8, WARM_UP, 64, generator=rng)
    q, k, v = torch.randn(3, 1, 8, seq_len, 64, generator=rng)
    with torch.no_grad():
        function(*short)  # compiles, which takes memory too, and starts the threads
        rise, out = peak_rise(lambda: function(q, k, v))
    return {"bytes": rise, "row": out[0, :, -1].flatten().tolist()}


def peak_rise(function):
    """(bytes, result): how far a call lifts the process's peak above what it holds before.

    Linux can set the peak back to what is held now; elsewhere an earlier peak hides a part.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = peak_bytes()
    out = function()
    return peak_bytes() - before, out


def peak_bytes():
    """The largest memory that this process has held, on Linux since the peak was set back."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def compared(seq_len):
    """Peak bytes that each way adds at seq_len, each in a process of its own."""
    answers = {}
    for way in ("bias", "score_mod"):
        if way == "score_mod" and not variants.can_compile():
            continue
        command = [sys.executable, __file__, way, str(seq_len)]
        answers[way] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    rows = [np.array(answer["row"]) for answer in answers.values()]
    if len(rows) == 2 and np.abs(rows[0] - rows[1]).max() > 1e-5:
        raise AssertionError("the two ways of ALiBi give different outputs")
    return {way: answer["bytes"] for way, answer in answers.items()}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
