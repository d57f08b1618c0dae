"""Position tables that real models learned, as plain arrays (lesson 03).

"minilm" is part of the package; "gpt2" and "bert" come from the Hugging Face Hub when asked for.
Only the table is read: a safetensors file starts with a list of its tensors and of the bytes where
each one lies, so two small requests fetch 3 MB (GPT-2) or 1.5 MB (BERT) of a much larger file.
"""

import json
import math
import urllib.request
from importlib import resources
from typing import NamedTuple

import numpy as np

from lessons import validate

HUB = "https://huggingface.co"
SECONDS = 30  # to wait for an answer
LONGEST_HEADER = 10_000_000  # bytes; those of GPT-2 and BERT have some 15 000

# name: (repository, tensor, its shape, licence on the model's card)
ON_THE_HUB = {
    "gpt2": ("openai-community/gpt2", "wpe.weight", (1024, 768), "MIT"),
    "bert": (
        "google-bert/bert-base-uncased",
        "bert.embeddings.position_embeddings.weight",
        (512, 768),
        "Apache-2.0",
    ),
}


class Table(NamedTuple):
    """A learned table (max_len, d_model), the model it was taken from, and under which licence."""

    rows: np.ndarray
    source: str
    licence: str


def position_table(name):
    """The learned position table of a trained model: row n was added to the token at position n.

    name: "minilm" (512 × 384, all-MiniLM-L6-v2, stored here in half precision), "gpt2" (1024 × 768)
    or "bert" (512 × 768, bert-base-uncased); the last two need a connection.
    Returns Table: float64 rows (max_len, d_model), source, licence.
    Raises ValueError or TypeError that names name; ConnectionError where the Hub cannot be reached;
    RuntimeError where it answers with something else than the table.
    Source: the models' files; ``book/tools/take_minilm.py`` took the stored one.
    """
    name = validate.choice(name, "name", ("minilm", *ON_THE_HUB))
    if name == "minilm":
        folder = resources.files("lessons") / "data"
        record = json.loads((folder / "minilm_positions.json").read_text("utf8"))
        with (folder / "minilm_positions.npy").open("rb") as file:
            rows = np.load(file)
        return Table(rows.astype(np.float64), record["source"], record["licence"])
    repository, tensor, shape, licence = ON_THE_HUB[name]
    url = f"{HUB}/{repository}/resolve/main/model.safetensors"
    return Table(_remote_tensor(url, tensor, shape), f"{repository}, {tensor}", licence)


def _remote_tensor(url, tensor, shape):
    """One float32 tensor of a safetensors file, by its bytes, as float64.

    The file: 8 bytes with the header's length, little-endian; the header, JSON; then the values.
    """
    length = int.from_bytes(_bytes(url, 0, 8), "little")
    if not 2 <= length <= LONGEST_HEADER:
        raise RuntimeError(f"{url} is no safetensors file: its header would have {length} bytes")
    try:
        entry = json.loads(_bytes(url, 8, 8 + length))[tensor]
        dtype, found, (start, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"{url} does not list the tensor {tensor!r}: {error!r}") from None
    if dtype != "F32" or found != shape or end - start != 4 * math.prod(shape):
        raise RuntimeError(f"{tensor} in {url} must be float32 {shape}, got {dtype} {found}")
    values = np.frombuffer(_bytes(url, 8 + length + start, 8 + length + end), "<f4")
    return values.reshape(shape).astype(np.float64)


def _bytes(url, start, end):
    """Bytes start … end − 1 of a file on the web."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-{end - 1}"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            status, found = answer.status, answer.read(end - start)
    except OSError as error:  # urllib's errors and time-outs are all OSErrors
        raise ConnectionError(
            f"{url} cannot be reached ({error}). Try again with a connection to it, or use "
            'position_table("minilm"), which needs none.'
        ) from None
    if status != 206 or len(found) != end - start:
        raise RuntimeError(
            f"{url} must send the {end - start} bytes from {start} on, "
            f"got status {status} and {len(found)} bytes"
        )
    return found
