"""The saved results: made by this code and whole, and the models still do what the files say."""

import json
import platform

import pytest

from lessons import checkpoint, experiments, recipes, studies, training
from lessons.corpus import corpus
from lessons.fingerprint import code_hash

REDO = "run `python -m lessons.experiments`"
EVERY = pytest.mark.parametrize("study", studies.STUDIES)


def saved(study):
    path = experiments.DATA / f"{study}.json"
    assert path.exists(), f"{path.name} is missing: {REDO} {study}"
    return json.loads(path.read_text("utf8"))


@EVERY
def test_this_code_made_them(study):
    hashed = code_hash(*studies.STUDIES[study].code)
    assert saved(study)["code_sha256"] == hashed, f"other code made them: {REDO} {study}"


@EVERY
def test_every_recipe_has_three_seeds_and_was_made_as_it_is_now(study):
    runs = {(run["recipe"], run["seed"]): run["made_by"] for run in saved(study)["runs"]}
    wanted = {
        (name, seed): experiments._made_by(study, name)
        for name in studies.STUDIES[study].recipes
        for seed in experiments.SEEDS
    }
    assert runs == wanted, f"recipes have changed: {REDO} {study}"
    assert len(experiments.SEEDS) == 3


@EVERY
def test_they_say_how_they_were_made(study):
    about = saved(study)
    assert about["command"] == f"python -m lessons.experiments {study}"
    for key in ("python", "torch", "numpy", "processor", "processes", "corpus_sha256"):
        assert about[key], key
    assert all(run["seconds"] > 0 for run in about["runs"])


@EVERY
def test_the_corpus_is_the_one_of_that_python(study):
    about = saved(study)
    if about["python"] == platform.python_version():
        assert about["corpus_sha256"] == corpus().sha256


@pytest.mark.parametrize("name", studies.SHIPPED)
def test_a_kept_model_still_loses_what_the_file_says(name):
    model, about = checkpoint.load(experiments.DATA / f"{name}.npz")
    assert about["seed"] == 1 and about["steps"] == recipes.TEXT[name].steps
    assert model.config == recipes.text_config(recipes.TEXT[name])
    file = saved("extrapolation")
    run = next(r for r in file["runs"] if (r["recipe"], r["seed"]) == (name, 1))
    assert about["corpus"] == file["corpus_sha256"]
    same = file["python"] == platform.python_version()
    # Another Python reads other texts; float16 weights change the fourth decimal.
    found = training.loss_by_length(model, corpus().held_out, (64, 256))
    for length, loss in found.items():
        assert loss == pytest.approx(run["loss"][str(length)], rel=0.01 if same else 0.05)


def test_the_package_stays_small():
    size = sum(path.stat().st_size for path in experiments.DATA.iterdir())
    assert size < 4_000_000
