"""Checkpoints: the model that comes back, and every kind of file that is none of ours."""

import dataclasses
import json
import pickle
import random

import numpy as np
import pytest
import torch
from tiny import FAR, HEADS, VOCAB, D, W, tokens

from lessons import checkpoint, recipes
from lessons.model import ModelConfig

ROTARY = ("Rotary", {"inv_freq": W.tolist(), "max_len": FAR})
T5 = ("T5Bias", {"n_heads": HEADS})
LOG = ("LogQueries", {"inner": ("NoPosition", {}), "original_max_len": 4})
KINDS = {
    "rope": ([ROTARY], None),
    "t5": ([T5], (3, None)),
    "learned": ([("Learned", {"d_model": D, "max_len": FAR})], None),
    "sinusoidal": ([("Sinusoidal", {"d_model": D, "max_len": FAR})], None),
    "mixed": ([ROTARY, LOG], (3, None)),
}


def made(name="rope"):
    schemes, windows = KINDS[name]
    config = ModelConfig(VOCAB, D, HEADS, 2, windows, embedding_scale=1.5)
    return recipes.build(config, schemes, seed=3), schemes


@pytest.fixture
def path(tmp_path):
    model, schemes = made()
    checkpoint.save(tmp_path / "model.npz", model, schemes, seed=3)
    return tmp_path / "model.npz"


# What comes back.


@pytest.mark.parametrize("name", KINDS)
def test_a_model_comes_back_with_its_config_schemes_and_notes(name, tmp_path):
    model, schemes = made(name)
    about = {"seed": 3, "corpus": "abc", "list": [1, None]}
    checkpoint.save(tmp_path / "a.npz", model, schemes, **about)
    again, found = checkpoint.load(tmp_path / "a.npz")
    assert found == about and again.config == model.config and not again.training
    assert [type(s) for s in again.schemes] == [type(s) for s in model.schemes]
    for key, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value.half().float()), key
    shared = len(schemes) == 1
    assert (again.schemes[0] is again.schemes[1]) == shared
    # A second round changes nothing: the weights are float16 already.
    checkpoint.save(tmp_path / "b.npz", again, schemes, **about)
    twice, _ = checkpoint.load(str(tmp_path / "b.npz"))
    assert torch.equal(twice(tokens()), again(tokens()))


def test_float16_changes_the_logits_little(path):
    model, _ = made()
    wanted, found = model(tokens()), checkpoint.load(path)[0](tokens())
    assert 0 < (wanted - found).abs().max() < 2e-3 * wanted.abs().max()
    loss = [torch.logsumexp(x, -1).mean().item() for x in (wanted, found)]
    assert loss[0] == pytest.approx(loss[1], rel=1e-4)


def test_loading_draws_no_random_numbers(path):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    checkpoint.load(path)
    assert torch.equal(torch.get_rng_state(), before)


# Writing.


def test_an_interrupted_write_leaves_the_old_file(path, monkeypatch):
    old, (model, schemes) = path.read_bytes(), made("t5")

    def cut_off(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", cut_off)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(path, model, schemes)
    assert path.read_bytes() == old


def test_nothing_is_left_beside_the_file(path):
    model, schemes = made("t5")
    checkpoint.save(path, model, schemes)
    assert [each.name for each in path.parent.iterdir()] == ["model.npz"]
    assert checkpoint.load(path)[0].config.windows == (3, None)


def test_describing_adds_to_what_a_file_says_and_leaves_the_model(path):
    before, about = checkpoint.load(path)
    assert checkpoint.describe(path, seconds=1.5, seed=4) is None
    after, told = checkpoint.load(path)
    assert about == {"seed": 3} and told == {"seed": 4, "seconds": 1.5}
    assert after.config == before.config
    for key, value in before.state_dict().items():
        assert torch.equal(after.state_dict()[key], value), key
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"^path must be a checkpoint"):
        checkpoint.describe(path, seconds=2)
    assert path.read_bytes() == b"something else"


# Files that are none of ours.


def refused(path, said=""):
    with pytest.raises(ValueError, match=r"^path must be a checkpoint of this book") as error:
        checkpoint.load(path)
    assert str(path) in str(error.value) and said in str(error.value)


def test_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        checkpoint.load(tmp_path / "none.npz")


def test_a_file_that_was_cut_off_anywhere(path):
    whole = path.read_bytes()
    for end in [0, 1, 3, 4, 30, *range(100, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:end])
        refused(path)


def test_a_damaged_byte_is_noticed_or_harmless(path):
    whole, wanted, rng = path.read_bytes(), checkpoint.load(path)[0](tokens()), random.Random(0)
    noticed = 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            found = checkpoint.load(path)[0](tokens())
        except ValueError as error:
            assert str(path) in str(error)
            noticed += 1
        else:
            assert torch.equal(found, wanted)
    assert noticed > 30


class Runs:
    """What a pickle could do: a file appears when it is loaded."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return open, (str(self.target), "w")


def test_a_pickle_inside_is_not_run(path, tmp_path):
    harm = tmp_path / "harm"
    np.savez(path, head=np.array([Runs(harm)], dtype=object))
    refused(path)
    path.write_bytes(pickle.dumps(Runs(harm)))
    refused(path)
    torch.save({"head": Runs(harm)}, path)
    refused(path)
    assert not harm.exists()


def test_files_of_other_kinds(path):
    np.savez(path, weight=np.ones(3))
    refused(path, "head")
    with open(path, "wb") as file:
        np.save(file, np.ones(3))
    refused(path)
    for content in (b"", b"PK\x03\x04", b"{}", b"\x00" * 1000, "Grüße".encode()):
        path.write_bytes(content)
        refused(path)
    path.unlink()
    path.mkdir()
    refused(path)


def rewritten(path, change):
    """The file with another head; weights as they are."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    text = arrays.pop("head").item()
    head = (
        change(text)
        if change.__code__.co_varnames[0] == "text"
        else json.dumps(change(json.loads(text)))
    )
    with open(path, "wb") as file:
        np.savez_compressed(file, head=head, **arrays)


def config(**fields):
    return lambda head: head | {"config": head["config"] | fields}


HEADS_OF_OTHERS = {
    "no json": (lambda text: text[:-5], ""),
    "no text": (lambda text: 3.5, ""),
    "a list": (lambda head: [head], ""),
    "empty": (lambda head: {}, "format"),
    "another format": (lambda head: head | {"format": "other 2"}, "its format is 'other 2'"),
    "a config without sizes": (lambda head: head | {"config": {}}, ""),
    "a field unknown": (config(dropout=0.1), "dropout"),
    "heads that do not divide": (config(n_heads=3), "n_heads must divide d_model"),
    "another vocabulary": (config(vocab_size=VOCAB + 1), "embedding.weight"),
    "more layers": (config(n_layers=3), "blocks.2"),
    "fewer layers": (config(n_layers=1), "blocks.1"),
    "windows for others": (config(windows=[3]), "windows must be one a layer (2)"),
    "no schemes": (lambda head: head | {"schemes": []}, "scheme must be one, or 2"),
    "a scheme unknown": (lambda head: head | {"schemes": [["xPos", {}]]}, "'xPos'"),
    "code for a scheme": (lambda head: head | {"schemes": [["nn", {}]]}, "'nn'"),
    "arguments unknown": (lambda head: head | {"schemes": [["Alibi", {"heads": 2}]]}, "heads"),
    "half a scheme": (lambda head: head | {"schemes": [["LogQueries", {}]]}, "inner"),
    "a scheme with weights": (
        lambda head: head | {"schemes": [["T5Bias", {"n_heads": 2}]]},
        "schemes",
    ),
    "no notes": (lambda head: {key: head[key] for key in head if key != "about"}, "about"),
}


@pytest.mark.parametrize(("change", "said"), HEADS_OF_OTHERS.values(), ids=HEADS_OF_OTHERS)
def test_a_head_that_does_not_fit(change, said, path):
    rewritten(path, change)
    refused(path, said)


def test_a_head_written_again_as_it_was_is_fine(path):
    rewritten(path, lambda head: head)
    assert dataclasses.asdict(checkpoint.load(path)[0].config)["d_model"] == D
