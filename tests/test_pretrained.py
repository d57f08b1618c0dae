"""lessons.pretrained: the stored table is the one taken, and of a far file only the table is read.

No test asks another machine: a small safetensors file is served from this one.
"""

import hashlib
import http.server
import json
import re
import threading
from importlib import resources

import numpy as np
import pytest

from lessons import pretrained

VALUES = np.arange(12, dtype="<f4").reshape(4, 3) / 7
FOLDER = resources.files("lessons") / "data"


def safetensors(tensors):
    """The bytes of a safetensors file, by the format's description."""
    header, start = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, array) in tensors.items():
        end = start + array.nbytes
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    values = b"".join(array.tobytes() for _, array in tensors.values())
    return len(text).to_bytes(8, "little") + text + values


NOISE = np.full(1000, 9, "<f4")
GOOD = safetensors({"wte.weight": ("F32", NOISE), "wpe.weight": ("F32", VALUES)})


@pytest.fixture
def hub(monkeypatch):
    """A server in the Hub's place; ``hub.file`` is what it serves, ``hub.sent`` counts bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server = self.server
            server.asked.append(self.path)
            if server.moved and self.path != server.moved:
                self.send_response(302)
                self.send_header("Location", server.moved)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            first, last = map(int, re.findall(r"\d+", self.headers["Range"]))
            whole = server.status == 200
            body = server.file if whole else server.file[first : last + 1]
            server.sent += len(body)
            self.send_response(server.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.file, server.status, server.moved = GOOD, 206, None
    server.asked, server.sent = [], 0
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setattr(pretrained, "HUB", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setitem(
        pretrained.ON_THE_HUB, "gpt2", ("openai-community/gpt2", "wpe.weight", (4, 3), "MIT")
    )
    yield server
    server.shutdown()
    server.server_close()


def test_the_stored_table_is_the_one_that_was_taken():
    table = pretrained.position_table("minilm")
    record = json.loads((FOLDER / "minilm_positions.json").read_text("utf8"))
    assert table.rows.shape == (512, 384) and table.rows.dtype == np.float64
    half = table.rows.astype(np.float16)
    np.testing.assert_array_equal(half, table.rows)
    assert hashlib.sha256(half.tobytes()).hexdigest() == record["sha256_of_float16_values"]
    assert record["sha256_of_wheel"].startswith("b9a0018dff09")
    assert record["largest_rounding"] < 1e-4
    assert "all-MiniLM-L6-v2" in table.source and "Apache-2.0" in table.licence


def test_the_stored_table_has_the_norms_known_of_it():
    norms = np.linalg.norm(pretrained.position_table("minilm").rows, axis=1)
    assert abs(norms[0] - 2.36) < 0.005
    assert norms[1:].min() > 0.39 and np.median(norms) < 0.49


def test_every_call_gives_an_array_of_its_own():
    pretrained.position_table("minilm").rows[:] = 0
    assert np.abs(pretrained.position_table("minilm").rows).max() > 0.1


def test_only_the_table_is_read_of_a_far_file(hub):
    table = pretrained.position_table("gpt2")
    np.testing.assert_array_equal(table.rows, VALUES.astype(np.float64))
    assert table.rows.dtype == np.float64
    assert table.source == "openai-community/gpt2, wpe.weight" and table.licence == "MIT"
    assert set(hub.asked) == {"/openai-community/gpt2/resolve/main/model.safetensors"}
    assert hub.sent == len(GOOD) - NOISE.nbytes


def test_a_redirection_keeps_the_range(hub):
    hub.moved = "/elsewhere/file"
    np.testing.assert_array_equal(pretrained.position_table("gpt2").rows, VALUES)
    assert hub.sent == len(GOOD) - NOISE.nbytes


def test_what_the_hub_is_asked_for():
    for name, shape in (("gpt2", (1024, 768)), ("bert", (512, 768))):
        repository, tensor, expected, licence = pretrained.ON_THE_HUB[name]
        assert expected == shape and repository.count("/") == 1
        assert tensor.endswith(".weight") and licence


@pytest.mark.parametrize("status", [404, 401, 500])
def test_an_error_of_the_hub_says_what_to_do(hub, status):
    hub.status = status
    with pytest.raises(ConnectionError, match=rf"cannot be reached \(.*{status}.*\). .*minilm"):
        pretrained.position_table("gpt2")


def test_no_hub_says_what_to_do(monkeypatch):
    monkeypatch.setattr(pretrained, "HUB", "http://127.0.0.1:9")  # nothing listens there
    with pytest.raises(ConnectionError, match=r"127.0.0.1:9/google-bert.* cannot be reached"):
        pretrained.position_table("bert")


def test_a_host_that_sends_everything_is_refused_before_it_is_read(hub):
    hub.status = 200
    with pytest.raises(RuntimeError, match="must send the 8 bytes from 0 on, got status 200"):
        pretrained.position_table("gpt2")


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b"<html> nothing here </html>", "is no safetensors file: its header would have"),
        (b"\0" * 8, "its header would have 0 bytes"),
        (b"abc", "must send the 8 bytes from 0 on, got status 206 and 3 bytes"),
        (GOOD[:-1], "must send the 48 bytes from"),
        (b"\x04" + b"\0" * 7 + b"[1,2", "does not list the tensor 'wpe.weight'"),
        (b"\x02" + b"\0" * 7 + b"[]", "does not list the tensor 'wpe.weight'"),
        (safetensors({"wte.weight": ("F32", NOISE)}), "does not list the tensor 'wpe.weight'"),
        (safetensors({"wpe.weight": ("F32", VALUES.T)}), r"float32 (4, 3), got F32 (3, 4)"),
        (safetensors({"wpe.weight": ("F16", VALUES.astype("<f2"))}), "got F16 (4, 3)"),
    ],
)
def test_a_file_that_is_not_the_table_is_refused(hub, file, sentence):
    hub.file = file
    with pytest.raises(RuntimeError, match=re.escape(sentence)):
        pretrained.position_table("gpt2")


@pytest.mark.parametrize("name", ["GPT2", "", "llama", "minilm "])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match=f"name must be one of minilm, gpt2, bert, got {name!r}"):
        pretrained.position_table(name)


@pytest.mark.parametrize("name", [None, 2, ["minilm"], True])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(TypeError, match="name must be one of minilm, gpt2, bert"):
        pretrained.position_table(name)
