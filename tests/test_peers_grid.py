"""RoPE on a grid beside Hugging Face's models that see: the same queries, the same ids.

Their angles are float32 products, so at id p they are off by up to 1.2e-7 · p radians.
"""

import os

import numpy as np
import pytest
import torch

from lessons import frequencies, rope

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here is to be downloaded

B, H, D, THETA = 2, 3, 128, 10_000.0
W = frequencies.inverse_frequencies(D, THETA)


def peer(module):
    """A module of transformers, which takes seconds to load: loaded when it is needed."""
    return pytest.importorskip(module, reason=f"{module} is of the extra 'peers'")


def text_and_picture(start):
    """Ids (3, seq): four tokens of text, a picture of 3 rows and 5 columns, two tokens of text."""
    picture = np.indices((1, 3, 5)).reshape(3, -1) + 4
    text = np.tile(np.r_[0:4, 9:11], (3, 1))
    return start + np.concatenate([text[:, :4], picture, text[:, 4:]], axis=1)


IDS = np.stack([text_and_picture(start) for start in (0, 3000)], axis=1)  # (3, batch, seq)


def queries(seq_len):
    x = np.random.default_rng(11).normal(size=(B, H, seq_len, D))
    return x, torch.from_numpy(x)


MODELS = {
    "qwen2_vl": ("Qwen2VLTextConfig", "Qwen2VLRotaryEmbedding", (16, 24, 24), "blocks"),
    "qwen3_vl": ("Qwen3VLTextConfig", "Qwen3VLTextRotaryEmbedding", (24, 20, 20), "interleaved"),
}


def model(name, counts):
    """The model's code, and its rotary part with these sections."""
    config, part = MODELS[name][:2]
    settings = getattr(peer("transformers"), config)(
        hidden_size=H * D,
        num_attention_heads=H,
        head_dim=D,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": THETA,
            "mrope_section": list(counts),
        },
    )
    module = peer(f"transformers.models.{name}.modeling_{name}")
    return module, getattr(module, part)(settings)


def assert_as_near_as_float32_angles_allow(theirs, ours, x, ids):
    np.testing.assert_allclose(
        theirs, ours, rtol=0, atol=(2e-6 + 1.2e-7 * ids.max()) * np.abs(x).max()
    )


@pytest.mark.parametrize("name", MODELS)
def test_time_row_column_equals(name):
    *_, counts, layout = MODELS[name]
    module, embedding = model(name, counts)
    x, tensor = queries(IDS.shape[-1])
    cos, sin = embedding(tensor, torch.from_numpy(IDS))
    theirs = module.apply_rotary_pos_emb(tensor, tensor, cos, sin)[0].numpy()

    def ours(ids, layout):
        return rope.rotate_by(x, rope.grid_angles(ids, sections(layout), W))

    def sections(layout):
        return rope.grid_sections(counts, layout=layout)

    assert_as_near_as_float32_angles_allow(theirs, ours(IDS, layout), x, IDS)
    other = {"blocks": "interleaved", "interleaved": "blocks"}[layout]
    for wrong in (ours(IDS, other), ours(IDS[[0, 2, 1]], layout)):
        with pytest.raises(AssertionError):
            assert_as_near_as_float32_angles_allow(theirs, wrong, x, IDS)


def test_interleaving_where_rows_and_columns_ask_for_more_than_every_third_pair():
    """There the model's code stops at the last pair and leaves to time what they lack; ours keeps
    the counts."""
    _, embedding = model("qwen3_vl", (16, 24, 24))
    found = []
    for axis in range(3):
        ids = torch.zeros(3, 1, 1)
        ids[axis] = 1
        sin = embedding(torch.zeros(1), ids)[1]
        found.append(int((sin[0, 0, : D // 2] != 0).sum()))
    assert found == [22, 21, 21]
    ours = rope.grid_sections((16, 24, 24), layout="interleaved")
    assert np.bincount(ours).tolist() == [16, 24, 24]


def test_axial_equals_the_eye_of_qwen2_vl():
    module = peer("transformers.models.qwen2_vl.modeling_qwen2_vl")
    settings = peer("transformers.models.qwen2_vl.configuration_qwen2_vl").Qwen2VLVisionConfig(
        embed_dim=H * D,
        num_heads=H,
        rope_parameters={"rope_type": "axial", "rope_theta": THETA},
    )
    ids = np.indices((3, 5)).reshape(2, -1) + np.array([[2], [700]])
    x, tensor = queries(15)
    # Its ids are (patches, 2), its rows (patches, heads, head_dim).
    cos, sin = module.Qwen2VLVisionRotaryEmbedding(settings)(tensor, torch.from_numpy(ids.T))
    rows = tensor.transpose(1, 2)
    theirs = module.apply_rotary_pos_emb_vision(rows, rows, cos, sin)[0].transpose(1, 2).numpy()
    inv_freq = np.tile(frequencies.inverse_frequencies(D // 2, THETA), 2)
    sections = rope.grid_sections([D // 4, D // 4])
    ours, swapped = (
        rope.rotate_by(x, rope.grid_angles(each, sections, inv_freq)) for each in (ids, ids[::-1])
    )
    assert_as_near_as_float32_angles_allow(theirs, ours, x, ids)
    with pytest.raises(AssertionError):
        assert_as_near_as_float32_angles_allow(theirs, swapped, x, ids)
