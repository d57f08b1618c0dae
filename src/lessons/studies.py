"""What each study of the book trains and measures, one run at a time (lessons 07 and 08)."""

from collections.abc import Callable
from dataclasses import dataclass

from lessons import (
    attention_layer,
    checkpoint,
    extension,
    layers,
    model,
    per_layer,
    recall_task,
    recipes,
    results,
    training,
    turn,
)
from lessons.corpus import corpus
from lessons.model import ModelConfig

LENGTHS = (64, 128, 256, 512, 1024)
WINDOWS = (64, 128, 256, 512)
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
RECALL_LENGTHS = (64, 128, 256, 512, 1024, 2048)
SHIPPED = results.MODELS  # their weights go into the package


@dataclass(frozen=True)
class Study:
    """One file of results.

    recipes: name -> Recipe.  config: the sizes, but for what a recipe changes.
    run: function of (name, seed, folder, tick) that gives the numbers.
    code: what the numbers depend on; the file carries its hash.
    more_steps: that a run takes after those of its recipe, for the time left.
    """

    recipes: dict
    config: ModelConfig
    run: Callable
    code: tuple
    more_steps: int = 0


def train_text(name, seed, tick=None, steps=None):
    """The trained model of a recipe and its last training loss."""
    recipe = recipes.TEXT[name]
    made = recipes.build(recipes.text_config(recipe), recipe.schemes, seed)
    steps = steps or recipe.steps
    loss = training.train(made, corpus().train, steps=steps, seed=seed, tick=tick)
    return made.eval(), loss


def read_text(name, seed, folder, tick):
    """Train on text, then measure: pieces of each length, test windows, sliding windows."""
    made, loss = train_text(name, seed, tick)
    held_out = corpus().held_out
    if seed == 1 and name in SHIPPED:
        recipe = recipes.TEXT[name]
        checkpoint.save(
            folder / f"{name}.npz",
            made,
            recipe.schemes,
            seed=seed,
            steps=recipe.steps,
            corpus=corpus().sha256,
        )
    by_position = training.position_losses(made, held_out, 256, n_tokens=32_768, stride=64)
    last = {w: training.last_losses(made, held_out, w) for w in WIDTHS}
    return {
        "train_loss": _rounded(loss),
        "loss": _rounded(training.loss_by_length(made, held_out, LENGTHS)),
        "windowed": {
            window: _rounded(
                training.loss_by_length(
                    made,
                    held_out,
                    [length for length in LENGTHS if length > window],
                    window=window,
                )
            )
            for window in WINDOWS
        },
        "last": {w: None if a is None else _rounded(a.mean().item()) for w, a in last.items()},
        "by_position": None if by_position is None else _rounded(by_position.mean(0).tolist()),
    }


def reach_back(name, seed, folder, tick):
    """Train on the recall task, then ask at each length; "none" also with larger queries."""
    recipe = recipes.RECALL[name]
    made = recipes.build(recipes.recall_config(), recipe.schemes, seed)
    recall_task.learn(made, steps=recipe.steps, seed=seed, tick=tick)
    found = {"share": _shares(made.eval())}
    if name == "none":
        first, last = recipe.schemes
        log_queries = ("LogQueries", {"inner": last, "original_max_len": recipes.TRAIN_LEN})
        larger = recipes.build(recipes.recall_config(), (first, log_queries), seed)
        larger.load_state_dict(made.state_dict())
        found["share_log_queries"] = _shares(larger.eval())
    return found


def _shares(made):
    return {n: _rounded(recall_task.share_right(made, n)) for n in RECALL_LENGTHS}


def _rounded(value):
    """Four decimals: the seventh digit of a trained loss moves with the processor."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return None if value is None else round(value, 4)


def longer(name, seed, folder, tick):
    """Train RoPE on text at 64, then read and tune at 256 by every rule."""
    made, _ = train_text(name, seed, tick)
    return _rounded(extension.measure(made, seed, tick))


CORE = (
    per_layer.PerLayer,
    model.TinyTransformer,
    model._Block,
    attention_layer.CausalSelfAttention.forward,
    attention_layer.may_look,
    attention_layer.attend,
    attention_layer.score_terms,
    turn.half,
    turn._TurnHalf,
    layers.Alibi.bias,
    layers.T5Bias.bias,
    layers._add_rows,
    layers.LogQueries.scale,
    training,
)
STUDIES = {
    "extrapolation": Study(
        recipes.TEXT, recipes.text_config(recipes.TEXT["rope"]), read_text, (*CORE, read_text)
    ),
    "recall": Study(
        recipes.RECALL, recipes.recall_config(), reach_back, (*CORE, recall_task, reach_back)
    ),
    "extension": Study(
        {"rope": recipes.TEXT["rope"]},
        recipes.text_config(recipes.TEXT["rope"]),
        longer,
        (*CORE, extension),
        extension.STEPS * sum(rule.tuned for rule in extension.RULES.values()),
    ),
}
