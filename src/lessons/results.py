"""The saved results of the long runs, as the lessons read them."""

import json
from pathlib import Path

import numpy as np

from lessons import checkpoint, validate

DATA = Path(__file__).parent / "data"
STUDIES = ("extrapolation", "recall", "extension")
MODELS = ("rope", "sinusoidal", "alibi")


def saved(study):
    """A study's file: how it was made, and under "runs" one entry for each recipe and seed.

    study: "extrapolation", "recall" or "extension".
    Raises ValueError or TypeError that names study.
    """
    validate.choice(study, "study", STUDIES)
    return json.loads((DATA / f"{study}.json").read_text())


def trained(name):
    """A model that ``lessons.experiments`` trained with seed 1, ready to evaluate.

    name: "rope", "sinusoidal" or "alibi".
    Raises ValueError or TypeError that names name.
    """
    validate.choice(name, "name", MODELS)
    return checkpoint.load(DATA / f"{name}.npz")[0]


def by_seed(runs, recipe, *path):
    """What the runs of one recipe hold at a path of keys: float64 with a row for each seed.

    runs: from ``saved(...)["runs"]``.  path: keys; what lies there is a number, a list, or a dict
    of numbers, whose keys stay in order.  None becomes NaN: there the scheme is not defined.
    Raises ValueError for a recipe or a path that the runs do not have.
    """
    rows = []
    for run in runs:
        if run["recipe"] != recipe:
            continue
        for key in path:
            if not isinstance(run, dict) or str(key) not in run:
                raise ValueError(f"path must lead to a number, got {path!r}")
            run = run[str(key)]
        rows.append(list(run.values()) if isinstance(run, dict) else run)
    if not rows:
        raise ValueError(f"recipe must be one of the runs', got {recipe!r}")
    return np.array(rows, dtype=np.float64)
