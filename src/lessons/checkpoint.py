"""Trained models in files that say what is in them: no pickle, so loading one runs no code."""

import dataclasses
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch

from lessons import atomic, recipes
from lessons.model import ModelConfig

FORMAT = "positional-encoding-lessons checkpoint 1"
# What NumPy, zip, JSON, a config, a scheme and torch raise about a file that is not ours.
FOREIGN = (
    *(ValueError, TypeError, KeyError, AttributeError, OSError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


def save(path, model, schemes, **about):
    """Write a model's weights, as float16, with its config, its schemes and what else is known.

    path: ends in .npz; written beside and moved there, so that no reader meets half a file.
    schemes: the pairs (name, arguments) that the model was built from.  about: JSON values.
    """
    head = {
        "format": FORMAT,
        "config": dataclasses.asdict(model.config),
        "schemes": schemes,
        "about": about,
    }
    weights = {name: value.half().numpy() for name, value in model.state_dict().items()}
    _write(Path(path), head, weights)


def describe(path, **about):
    """Add JSON values to what a checkpoint says about itself: how and by what it was made."""
    _, _, head, weights = _read(Path(path))
    _write(Path(path), head | {"about": head["about"] | about}, weights)


def load(path):
    """The model in a file, ready to evaluate, rebuilt from the scheme names and arguments in it.

    Returns (model, about).
    Raises ValueError that names the path where the file is cut off, damaged, or not one of ours;
    FileNotFoundError where there is none.
    """
    return _read(Path(path))[:2]


def _read(path):
    """(model, about, head, weights as they lie in the file), or the refusals of ``load``."""
    try:
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
        head = json.loads(weights.pop("head").item())
        if head["format"] != FORMAT:
            raise ValueError(f"its format is {head['format']!r}")
        model = recipes.build(ModelConfig(**head["config"]), head["schemes"], seed=0).float()
        model.load_state_dict({name: torch.from_numpy(a).float() for name, a in weights.items()})
        about = head["about"]
    except FileNotFoundError:
        raise
    except FOREIGN as error:
        raise ValueError(
            f"path must be a checkpoint of this book, whole and unchanged: {path} ({error})"
        ) from error
    return model.eval(), about, head, weights


def _write(path, head, weights):
    with atomic.replacing(path) as written, open(written, "wb") as file:
        np.savez_compressed(file, head=json.dumps(head), **weights)
