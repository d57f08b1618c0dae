"""The studies: what a run measures, which models are kept, what the hash of a study covers."""

import pytest

from lessons import checkpoint, fingerprint, recipes, studies, training


@pytest.fixture
def quiet(monkeypatch):
    """Nothing is trained and little is measured."""
    calls = []
    monkeypatch.setattr(
        training, "train", lambda made, text, **given: calls.append(given) or 1.23456
    )
    monkeypatch.setattr(studies, "LENGTHS", (64, 128))
    monkeypatch.setattr(studies, "WINDOWS", (64,))
    monkeypatch.setattr(studies, "WIDTHS", (8, 128))
    for name, small in (("loss_by_length", {"n_tokens": 128}), ("last_losses", {"n_targets": 2})):
        whole = getattr(training, name)
        monkeypatch.setattr(training, name, lambda *a, f=whole, s=small, **k: f(*a, **(s | k)))
    whole = training.position_losses
    monkeypatch.setattr(
        training,
        "position_losses",
        lambda *a, n_tokens, **k: whole(*a, n_tokens=min(n_tokens, 640), **k),
    )
    return calls


@pytest.mark.parametrize("name", ["rope", "learned"])
def test_a_run_on_text_measures_every_way(name, quiet, tmp_path):
    found = studies.read_text(name, 2, tmp_path, None)
    assert quiet == [{"steps": recipes.STEPS, "seed": 2, "tick": None}]
    assert found["train_loss"] == 1.2346
    assert list(found["loss"]) == [64, 128] and list(found["windowed"]) == [64]
    assert list(found["windowed"][64]) == [128] and list(found["last"]) == [8, 128]
    undefined = name == "learned"  # no row beyond the training length
    assert (found["loss"][128] is None) == (found["last"][128] is None) == undefined
    assert found["by_position"] is None if undefined else len(found["by_position"]) == 256
    assert found["loss"][64] == round(found["loss"][64], 4)
    assert list(tmp_path.iterdir()) == []


def test_the_first_seed_of_three_recipes_is_kept(quiet, tmp_path):
    for name, seed in (("alibi", 1), ("alibi", 2), ("none", 1)):
        studies.read_text(name, seed, tmp_path, None)
    assert [path.name for path in tmp_path.iterdir()] == ["alibi.npz"]
    model, about = checkpoint.load(tmp_path / "alibi.npz")
    assert model.config == recipes.text_config(recipes.TEXT["alibi"])
    assert (about["seed"], about["steps"]) == (1, recipes.STEPS)
    assert about["corpus"] == studies.corpus().sha256


def test_shorter_training_is_asked_for_by_steps(quiet):
    studies.train_text("rope", 1, steps=7)
    assert quiet[0]["steps"] == 7


def test_what_is_shipped_is_trained():
    assert set(studies.SHIPPED) <= set(recipes.TEXT)
    for study in studies.STUDIES.values():
        assert study.recipes and len(fingerprint.code_hash(*study.code)) == 64
    assert max(studies.LENGTHS + studies.RECALL_LENGTHS + studies.WIDTHS) <= recipes.FARTHEST
