"""What the tests hand to worker processes, which import it by this name."""

import time

from lessons import experiments, recipes, studies
from lessons.model import ModelConfig
from lessons.workers import tick

WORK = experiments._work  # before a test puts ``work`` in its place


def double(number):
    tick(), tick()
    return 2 * number


def fails_at(number, bad):
    if number == bad:
        raise ZeroDivisionError(f"number {number}")
    return number


def beat(path):
    """Writes the time until the process ends."""
    while True:
        with open(path, "w") as file:
            file.write(str(time.monotonic()))
        time.sleep(0.05)


def measure(name, seed, folder, tick):
    if name == "breaks":
        raise ZeroDivisionError("in a run")
    tick()
    return {"loss": {"64": seed / 2}, "folder": str(folder)}


def changed(name, seed, folder, tick):
    return {"loss": {"64": seed / 3}, "folder": str(folder)}


def study(names=("a", "b"), code=(measure,), **fields):
    """A study of recipes that train nothing."""
    given = {name: recipes.Recipe(name.upper(), (recipes.NONE,), steps=2) for name in names}
    config = ModelConfig(13, 16, 2, 2)
    return studies.Study(
        **{"recipes": given, "config": config, "run": measure, "code": code} | fields
    )


def work(name, *job):
    """A run of the study "tiny", which the worker's own copy of the package does not have."""
    studies.STUDIES["tiny"] = study(("a", "breaks") if "breaks" in job else ("a", "b"))
    return WORK(name, *job)
