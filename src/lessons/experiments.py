"""Train and measure every model that lessons 07 and 08 read about: python -m lessons.experiments.

Runs that are in the files already, made by the same code, are not made again.  Two processes work
side by side with one thread each, for two threads each would be many times slower.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import platform
import time
from pathlib import Path

import numpy as np
import torch

from lessons import atomic, checkpoint, recipes, studies, validate
from lessons.corpus import corpus
from lessons.fingerprint import code_hash
from lessons.recall_task import share_right as recall
from lessons.results import DATA
from lessons.training import loss_by_length, train
from lessons.workers import PROCESSES, Workers, tick

__all__ = ["corpus", "loss_by_length", "main", "quick", "recall", "run", "train"]

SEEDS = (1, 2, 3)
QUICK = ("rope", "sinusoidal", "alibi")
QUICK_STEPS = 200


def main(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lessons.experiments",
        description="Train and measure the models of lessons 07 and 08.",
    )
    parser.add_argument("study", nargs="*", help=f"of {', '.join(studies.STUDIES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="three schemes, 200 steps, no files")
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the results")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.study if name not in studies.STUDIES]
    if unknown:
        parser.error(f"study must be one of {', '.join(studies.STUDIES)}, got {unknown[0]}")
    if options.quick:
        for name, ratio in quick().items():
            print(f"{recipes.TEXT[name].label:<12} perplexity at 1024 / at 64: {ratio:.2f}")
        return
    for study in options.study or studies.STUDIES:
        run(study, options.out)


def run(study, out, seeds=SEEDS, only=None):
    """Make the runs of a study that its file lacks; the file is whole after every run.

    study: a name in ``studies.STUDIES``.  out: folder.  only: names of recipes, default all.
    Returns the path of the file.
    """
    made = studies.STUDIES[validate.choice(study, "study", tuple(studies.STUDIES))].recipes
    names = [validate.choice(name, "only", tuple(made)) for name in only or made]
    path = Path(out) / f"{study}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    state = _opened(path, study)
    state["runs"] = [run for run in state["runs"] if run["recipe"] in made]
    todo = [(name, seed) for seed in seeds for name in names if not _has(state, study, name, seed)]
    more = studies.STUDIES[study].more_steps
    steps = [made[name].steps + more for name, _ in todo]
    with Workers(sum(steps)) as pool:
        for result in pool.each(_work, [(study, *job, str(out)) for job in todo]):
            same = (result["recipe"], result["seed"])
            state["runs"] = [r for r in state["runs"] if (r["recipe"], r["seed"]) != same]
            state["runs"] = sorted([*state["runs"], result], key=_order(study))
            _write(path, state)
    return path


def quick():
    """{recipe: perplexity at 1024 / perplexity at 64} after 200 steps, in about a minute."""
    with Workers(QUICK_STEPS * len(QUICK)) as pool:
        return dict(pool.each(_quick_work, [(name,) for name in QUICK]))


def _quick_work(name):
    made, _ = studies.train_text(name, 1, tick, QUICK_STEPS)
    loss = loss_by_length(made, corpus().held_out, (64, 1024))
    return name, math.exp(loss[1024] - loss[64])


def _work(study, name, seed, out):
    started = time.perf_counter()
    found = studies.STUDIES[study].run(name, seed, Path(out), tick)
    seconds = round(time.perf_counter() - started, 1)
    if study == "extrapolation" and seed == 1 and name in studies.SHIPPED:
        about = provenance(study)
        del about["recipes"], about["config"]  # the file has its own
        checkpoint.describe(Path(out) / f"{name}.npz", **about, seconds=seconds)
    return {
        "recipe": name,
        "seed": seed,
        "made_by": _made_by(study, name),
        "seconds": seconds,
        **found,
    }


def _made_by(study, name):
    """The hash of a recipe's data; a label is no part of it."""
    recipe = dataclasses.asdict(studies.STUDIES[study].recipes[name]) | {"label": None}
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:16]


def _has(state, study, name, seed):
    made_by = _made_by(study, name)
    return any(
        (run["recipe"], run["seed"], run["made_by"]) == (name, seed, made_by)
        for run in state["runs"]
    )


def _order(study):
    names = list(studies.STUDIES[study].recipes)
    return lambda run: (names.index(run["recipe"]), run["seed"])


def _opened(path, study):
    """The file's runs, if this code made them, under a description that is up to date."""
    about = provenance(study)
    if not path.exists():
        return about | {"runs": []}
    state = json.loads(path.read_text())
    # As JSON has them: a tuple comes back as a list.
    same = json.loads(json.dumps(about))
    if all(state.get(key) == same[key] for key in ("code_sha256", "corpus_sha256", "config")):
        return about | {"runs": state["runs"]}
    print(f"{path.name} was made by other code, sizes or corpus: starting anew")
    return about | {"runs": []}


def provenance(study):
    """What a study's numbers depend on, as JSON values."""
    made = studies.STUDIES[study]
    return {
        "command": f"python -m lessons.experiments {study}",
        "code_sha256": code_hash(*made.code),
        "corpus_sha256": corpus().sha256,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "processor": platform.machine(),
        "processes": PROCESSES,
        "config": dataclasses.asdict(made.config),
        "recipes": {name: dataclasses.asdict(recipe) for name, recipe in made.recipes.items()},
    }


def _write(path, state):
    with atomic.replacing(path) as written:
        written.write_text(json.dumps(state, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
