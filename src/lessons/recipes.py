"""The models that lesson 07 compares, each written as data: a name, schemes, windows, steps.

A scheme is a pair (class name in ``layers``, arguments), so that a saved file can carry it and a
model can be built from the file alone.
"""

from dataclasses import dataclass

import torch

from lessons import layers, validate
from lessons.frequencies import inverse_frequencies, wavelengths
from lessons.model import ModelConfig, TinyTransformer
from lessons.scaling import truncated

TRAIN_LEN = 64
FARTHEST = 4096  # rows of every table that is not learned
STEPS = 400
D_MODEL, N_HEADS, N_LAYERS = 96, 4, 3
LOCAL = 16  # window of the layers that are local


@dataclass(frozen=True)
class Recipe:
    """A model to train and how long; ``schemes`` holds one pair for all layers, or one a layer."""

    label: str
    schemes: tuple
    windows: tuple | None = None
    steps: int = STEPS
    embedding_scale: float | None = None


def scheme(name, arguments):
    """A position scheme from the name of its class and its arguments, as a saved file has them.

    Raises ValueError for a name that ``layers`` does not have, TypeError for wrong arguments.
    """
    if validate.choice(name, "name", NAMES) == "LogQueries":
        inner, length = arguments["inner"], arguments["original_max_len"]
        return layers.LogQueries(scheme(*inner), length)
    return getattr(layers, name)(**arguments)


def build(config, schemes, seed):
    """A TinyTransformer with seeded first values.

    config: ModelConfig.  schemes: pairs (name, arguments), one for all layers or one a layer.
    """
    if not isinstance(schemes, (list, tuple)):
        got = validate.kind(schemes)
        raise TypeError(f"schemes must be a list of pairs (name, arguments), got {got}")
    for pair in schemes:
        if not (isinstance(pair, (list, tuple)) and len(pair) == 2):
            raise TypeError(f"schemes must hold pairs (name, arguments), got {type(pair).__name__}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(validate.count(seed, "seed", minimum=0))
        made = [scheme(*pair) for pair in schemes]
        return TinyTransformer(config, made[0] if len(made) == 1 else made)


def text_config(recipe):
    """Sizes of the model that reads text: 0.36 million parameters."""
    return ModelConfig(256, D_MODEL, N_HEADS, N_LAYERS, recipe.windows, recipe.embedding_scale)


def recall_config():
    """Sizes of the model of the recall task: the first layer is local in every recipe.

    Its embeddings are not multiplied: what the first layer adds to them must be loud enough for
    the second to find.
    """
    return ModelConfig(64, 64, 4, 2, (8, None), 1.0)


def rotary(head_dim, theta=10_000.0, longest=None):
    """The pair for a rotary scheme; pairs with wavelengths of ``longest`` or more do not turn."""
    inv_freq = inverse_frequencies(validate.count(head_dim, "head_dim", even=True), theta)
    if longest is not None:
        inv_freq[wavelengths(inv_freq) >= longest] = 0.0
    return "Rotary", {"inv_freq": inv_freq.tolist(), "max_len": FARTHEST}


NAMES = ("NoPosition", "Sinusoidal", "Learned", "Rotary", "Alibi", "T5Bias", "LogQueries")
NONE = ("NoPosition", {})
ROPE = rotary(D_MODEL // N_HEADS)
TRUNCATED = rotary(D_MODEL // N_HEADS, longest=TRAIN_LEN)
WAVES = ("Sinusoidal", {"d_model": D_MODEL, "max_len": FARTHEST})
TABLE = ("Learned", {"d_model": D_MODEL, "max_len": TRAIN_LEN})
ALIBI = ("Alibi", {"n_heads": N_HEADS})
T5 = ("T5Bias", {"n_heads": N_HEADS})
LOCAL_THEN_GLOBAL = (LOCAL, LOCAL, None)

TEXT = {
    "rope": Recipe("RoPE", (ROPE,)),
    "sinusoidal": Recipe("sinusoidal", (WAVES,)),
    "alibi": Recipe("ALiBi", (ALIBI,)),
    "none": Recipe("none", (NONE,)),
    # Beside embeddings of scale 1 a learned table never gets loud enough in so few steps; models
    # with learned tables do not multiply their embeddings.
    "learned": Recipe("learned", (TABLE,), embedding_scale=1.0),
    "t5": Recipe("T5 bias", (T5,)),
    "local_none": Recipe("local RoPE, global none", (ROPE, ROPE, NONE), LOCAL_THEN_GLOBAL),
    "local_truncated": Recipe(
        "local RoPE, global truncated", (ROPE, ROPE, TRUNCATED), LOCAL_THEN_GLOBAL
    ),
    "local_rope": Recipe("local RoPE, global RoPE", (ROPE,), LOCAL_THEN_GLOBAL),
    "truncated": Recipe("RoPE, truncated", (TRUNCATED,)),
    "none_longer": Recipe("none, 3 × the steps", (NONE,), steps=3 * STEPS),
    "learned_scaled": Recipe("learned, embeddings × √d", (TABLE,)),
    "sinusoidal_unscaled": Recipe("sinusoidal, embeddings × 1", (WAVES,), embedding_scale=1.0),
}

RECALL_HEAD = 16
FIRST = rotary(RECALL_HEAD)
QUARTER = ("Rotary", FIRST[1] | {"inv_freq": truncated(FIRST[1]["inv_freq"], 1 / 4).tolist()})
RECALL_STEPS = 800
RECALL = {
    "none": Recipe("none", (FIRST, NONE), steps=RECALL_STEPS),
    "rope": Recipe("RoPE", (FIRST, FIRST), steps=RECALL_STEPS),
    # It takes twice the steps until ALiBi can do the task at the length it is trained at.
    "alibi": Recipe("ALiBi", (FIRST, ALIBI), steps=2 * RECALL_STEPS),
    "t5": Recipe("T5 bias", (FIRST, T5), steps=RECALL_STEPS),
    "truncated": Recipe("RoPE, fastest quarter", (FIRST, QUARTER), steps=RECALL_STEPS),
}
