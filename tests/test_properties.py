"""Every public function and class has a law over drawn inputs, or a reason why it has none."""

import importlib
import pkgutil
from pathlib import Path

import drawn
import pytest
from test_validate import called, public

import lessons
from lessons import (
    configs,
    corpus,
    experiments,
    extension,
    pretrained,
    recipes,
    results,
    studies,
    variants,
    workers,
)

# Modules without a law over random inputs; their own tests say what they do.
PAGE = "it draws a page or a figure, and its tests look at that in a browser"
STUDENT = "what students hand in is no random input: its tests hold a folder of mistakes"
EXERCISE = "called by exercises.verdict, which has the law"
ASSIGNED = "its cases are drawn by tasks.cases, which has the law"
APART = {
    **dict.fromkeys(("plots", "widgets"), PAGE),
    **{
        module.name: reason
        for module in pkgutil.iter_modules(lessons.__path__)
        for start, reason in (("grade", STUDENT), ("laws_", EXERCISE), ("tasks_a", ASSIGNED))
        if module.name.startswith(start)
    },
}
CONSTANT = "it takes no input that could be drawn: one answer, which its tests hold"
LONG = "a run of minutes"
CLOCK = "it asks the clock, the machine or a compiler"
ALONE = {
    configs.models: CONSTANT,
    corpus.corpus: CONSTANT,
    pretrained.position_table: CONSTANT,
    recipes.recall_config: CONSTANT,
    results.saved: CONSTANT,
    results.trained: CONSTANT,
    variants.saved: CONSTANT,
    experiments.main: LONG,
    experiments.provenance: CLOCK,
    experiments.quick: LONG,
    experiments.run: LONG,
    extension.losses_without_tuning: LONG,
    extension.measure: LONG,
    extension.tune: LONG,
    studies.Study: CONSTANT,
    studies.longer: LONG,
    studies.reach_back: LONG,
    studies.read_text: LONG,
    studies.train_text: LONG,
    variants.can_compile: CLOCK,
    variants.compiled: CLOCK,
    variants.measure: CLOCK,
    workers.Workers: CLOCK,
    workers.tick: CLOCK,
}


@pytest.fixture(scope="module")
def laws():
    for path in sorted(Path(__file__).parent.glob("test_properties_*.py")):
        importlib.import_module(path.stem)
    return drawn.LAWS


def test_every_public_function_and_class_has_a_law_or_a_reason_why_not(laws):
    seen = set()
    for module in pkgutil.iter_modules(lessons.__path__):
        if module.name in APART or module.name.endswith("_widget"):
            continue
        found = importlib.import_module(f"lessons.{module.name}")
        for thing in public(found):
            seen.add(thing)
            assert thing in laws or thing in ALONE, f"{called(thing)} has no law"
    assert not set(ALONE) & set(laws), "a reason for what has a law"
    assert seen >= set(ALONE), "a reason for what is not there"
