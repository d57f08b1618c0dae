"""The long runs: what is done is not done again, what breaks off leaves whole files."""

import dataclasses
import json
import os
import subprocess
import sys

import jobs
import pytest

from lessons import experiments, recipes, studies
from lessons.model import ModelConfig


class Inline:
    """Stands for the worker processes, in this one; counts the steps it was told of."""

    totals: list

    def __init__(self, total):
        self.totals.append(total)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def each(self, function, todo):
        for job in todo:
            yield function(*job)


@pytest.fixture
def tiny(monkeypatch):
    """A study "tiny" that can be changed, run in this process; its runs so far are ``calls``."""

    class Tiny:
        calls, totals = [], []

        def set(self, *names, **fields):
            made = jobs.study(names or ("a", "b"), **fields)
            run = made.run

            def counted(name, seed, folder, tick):
                self.calls.append((name, seed))
                return run(name, seed, folder, tick)

            made = dataclasses.replace(made, run=counted)
            monkeypatch.setitem(studies.STUDIES, "tiny", made)

        def take(self):
            done, self.calls[:] = list(self.calls), []
            return done

    made = Tiny()
    made.set()
    monkeypatch.setattr(experiments, "Workers", type("Pool", (Inline,), {"totals": made.totals}))
    return made


def read(path):
    return json.loads(path.read_text("utf8"))


def pairs(path):
    return [(run["recipe"], run["seed"]) for run in read(path)["runs"]]


ALL = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]


# What a file holds.


def test_a_study_makes_every_recipe_with_every_seed(tiny, tmp_path):
    path = experiments.run("tiny", tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "tiny.json"
    assert pairs(path) == ALL
    assert tiny.take() == [(n, s) for s in (1, 2, 3) for n in "ab"]  # a seed of all, then the next
    assert tiny.totals == [12]
    for run in read(path)["runs"]:
        assert run["loss"] == {"64": run["seed"] / 2} and run["seconds"] >= 0
        assert run["folder"] == str(path.parent)
    assert [each.name for each in path.parent.iterdir()] == ["tiny.json"]


def test_the_file_says_how_it_was_made(tiny, tmp_path):
    about = read(experiments.run("tiny", tmp_path, seeds=(1,)))
    assert about["command"] == "python -m lessons.experiments tiny"
    assert len(about["code_sha256"]) == len(about["corpus_sha256"]) == 64
    assert about["corpus_sha256"] == experiments.corpus().sha256
    made = studies.STUDIES["tiny"]
    assert about["code_sha256"] == experiments.code_hash(*made.code)
    assert about["config"] == dataclasses.asdict(made.config)
    assert about["recipes"]["a"]["label"] == "A" and list(about["recipes"]) == ["a", "b"]
    assert {"python", "torch", "numpy", "processor", "processes"} <= set(about)


def test_the_folder_is_there_before_the_first_run(tiny, tmp_path):
    tiny.set(run=lambda name, seed, folder, tick: {"there": folder.is_dir()})
    assert read(experiments.run("tiny", tmp_path / "new", (1,)))["runs"][0]["there"]


# What is not done again.


def test_runs_that_are_in_the_file_are_not_made_again(tiny, tmp_path):
    path = experiments.run("tiny", tmp_path, seeds=(1, 2), only=["b"])
    assert tiny.take() == [("b", 1), ("b", 2)]
    experiments.run("tiny", tmp_path)
    assert tiny.take() == [("a", 1), ("a", 2), ("a", 3), ("b", 3)]
    whole = path.read_bytes()
    experiments.run("tiny", tmp_path)
    assert tiny.take() == [] and path.read_bytes() == whole and tiny.totals[-1] == 0
    assert pairs(path) == ALL


def test_an_interruption_between_runs_loses_nothing(tiny, tmp_path):
    def breaks(name, seed, folder, tick):
        if (name, seed) == ("b", 2):
            raise KeyboardInterrupt
        return jobs.measure(name, seed, folder, tick)

    tiny.set(run=breaks)
    with pytest.raises(KeyboardInterrupt):
        experiments.run("tiny", tmp_path)
    path = tmp_path / "tiny.json"
    assert pairs(path) == [("a", 1), ("a", 2), ("b", 1)]
    tiny.take(), tiny.set()
    experiments.run("tiny", tmp_path)
    assert pairs(path) == ALL and tiny.take() == [("b", 2), ("a", 3), ("b", 3)]


def test_an_interruption_while_writing_leaves_the_old_file(tiny, tmp_path, monkeypatch):
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    whole = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *names: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            experiments.run("tiny", tmp_path, seeds=(2,))
    assert path.read_bytes() == whole


def test_other_code_sizes_or_corpus_start_anew(tiny, tmp_path, capsys):
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    tiny.take(), tiny.set(code=(jobs.changed,))
    experiments.run("tiny", tmp_path, seeds=(1,), only=["b"])
    assert tiny.take() == [("b", 1)] and pairs(path) == [("b", 1)]
    assert "tiny.json was made by other code" in capsys.readouterr().out
    path.write_text(json.dumps(read(path) | {"corpus_sha256": "other"}))
    experiments.run("tiny", tmp_path, seeds=(2,), only=["a"])
    assert pairs(path) == [("a", 2)] and "or corpus" in capsys.readouterr().out
    tiny.set(code=(jobs.changed,), config=ModelConfig(13, 16, 4, 2))
    experiments.run("tiny", tmp_path, seeds=(3,), only=["a"])
    assert pairs(path) == [("a", 3)] and "sizes" in capsys.readouterr().out


def test_a_stale_file_stands_until_the_first_new_run_is_there(tiny, tmp_path):
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    whole = path.read_bytes()
    tiny.set("breaks", code=(jobs.changed,))
    with pytest.raises(ZeroDivisionError):
        experiments.run("tiny", tmp_path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "change",
    [{"steps": 3}, {"windows": (4, None)}, {"embedding_scale": 1.0}, {"schemes": (recipes.T5,)}],
)
def test_a_changed_recipe_is_made_again_and_no_other(tiny, tmp_path, change):
    path = experiments.run("tiny", tmp_path, seeds=(1, 2))
    made = dict(studies.STUDIES["tiny"].recipes)
    made["b"] = dataclasses.replace(made["b"], **change)
    tiny.take(), tiny.set(recipes=made)
    experiments.run("tiny", tmp_path, seeds=(1, 2))
    assert tiny.take() == [("b", 1), ("b", 2)] and pairs(path) == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]


def test_another_label_or_order_changes_nothing_else(tiny, tmp_path):
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    made = studies.STUDIES["tiny"].recipes
    renamed = {name: dataclasses.replace(made[name], label="new") for name in ("b", "a")}
    tiny.take(), tiny.set(recipes=renamed)
    experiments.run("tiny", tmp_path, seeds=(1, 2), only=["a"])
    assert tiny.take() == [("a", 2)] and pairs(path) == [("b", 1), ("a", 1), ("a", 2)]


def test_runs_of_a_recipe_that_is_gone_are_dropped(tiny, tmp_path):
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    tiny.take(), tiny.set("b", "c")
    experiments.run("tiny", tmp_path, seeds=(1,))
    assert tiny.take() == [("c", 1)] and pairs(path) == [("b", 1), ("c", 1)]


def test_in_worker_processes_a_run_that_raises_leaves_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "_work", jobs.work)  # imported by name in the workers
    monkeypatch.setitem(studies.STUDIES, "tiny", jobs.study())
    path = experiments.run("tiny", tmp_path, seeds=(1,))
    assert pairs(path) == [("a", 1), ("b", 1)]
    whole = path.read_bytes()
    monkeypatch.setitem(studies.STUDIES, "tiny", jobs.study(("a", "b", "breaks")))
    with pytest.raises(ZeroDivisionError, match="in a run"):
        experiments.run("tiny", tmp_path, seeds=(1,), only=["breaks"])
    assert path.read_bytes() == whole


# Refusals and the command line.


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"study": "other"}, ValueError, "study must be one of extrapolation.* got 'other'"),
        ({"study": None}, TypeError, "study must be one of"),
        ({"only": ["a", "z"]}, ValueError, "only must be one of a, b, got 'z'"),
        ({"only": [3]}, TypeError, "only must be one of a, b"),
    ],
)
def test_run_names_what_it_does_not_know(tiny, tmp_path, given, kind, said):
    with pytest.raises(kind, match=f"^{said}"):
        experiments.run(**{"study": "tiny", "out": tmp_path / "new"} | given)
    assert tiny.calls == [] and not (tmp_path / "new").exists()


def test_the_command_runs_what_it_was_asked_for(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(experiments, "run", lambda *given: asked.append(given))
    experiments.main(["recall", "extension", "--out", str(tmp_path)])
    assert asked == [("recall", tmp_path), ("extension", tmp_path)]
    asked.clear(), experiments.main([])
    assert asked == [(name, experiments.DATA) for name in studies.STUDIES]


def test_quick_compares_1024_with_64_and_writes_nothing(monkeypatch, capsys):
    monkeypatch.setattr(experiments, "Workers", type("Pool", (Inline,), {"totals": []}))
    trained = []
    monkeypatch.setattr(
        studies, "train_text", lambda *given: trained.append(given) or (given[0], 0)
    )
    loss = {"rope": 1.5, "sinusoidal": 2.5, "alibi": 1.0}
    monkeypatch.setattr(
        experiments, "loss_by_length", lambda made, text, lengths: {64: 1.0, 1024: loss[made]}
    )
    experiments.main(["--quick"])
    assert [(name, seed, steps) for name, seed, _, steps in trained] == [(n, 1, 200) for n in loss]
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said] == ["1.65", "4.48", "1.00"]  # e^0.5, e^1.5, e^0


def test_an_unknown_study_is_a_sentence(capsys):
    with pytest.raises(SystemExit) as error:
        experiments.main(["recal"])
    assert error.value.code == 2
    assert (
        "study must be one of extrapolation, recall, extension, got recal"
        in capsys.readouterr().err
    )


def test_help_comes_without_a_warning():
    command = [sys.executable, "-W", "error", "-m", "lessons.experiments", "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--quick" in answer.stdout and "extrapolation, recall, extension" in answer.stdout
    assert answer.stderr == ""
