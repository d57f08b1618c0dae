"""Tiny models for the tests: every scheme, alone and mixed, and what is asked of a decode."""

import torch

from lessons import layers
from lessons.frequencies import inverse_frequencies
from lessons.model import ModelConfig, TinyTransformer

VOCAB, D, HEADS, LAYERS, FAR = 13, 16, 2, 2, 64
W = inverse_frequencies(D // HEADS)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def rotary(inv_freq=W, **options):
    return layers.Rotary(inv_freq, FAR, **options)


def sharing(*order):
    """Layers that have one table of biases between them, some through other schemes."""

    def make():
        inner = layers.T5Bias(HEADS)
        once = layers.LogQueries(inner, 4)
        made = {"t5": inner, "log t5": once}
        made |= {"log log t5": layers.LogQueries(once, 8), "other": layers.LogQueries(inner, 6)}
        return [made[name] for name in order]

    return make, None


# name -> (the schemes, made anew; windows)
MODELS = {
    "none": (layers.NoPosition, None),
    "sinusoidal": (lambda: layers.Sinusoidal(D, FAR), None),
    "learned": (lambda: layers.Learned(D, FAR, std=0.5), None),
    "rope": (rotary, None),
    "interleaved": (lambda: rotary(pairing="interleaved"), None),
    "partial": (lambda: rotary(W[:2]), None),
    "louder": (lambda: rotary(attention_factor=1.2), None),
    "alibi": (lambda: layers.Alibi(HEADS), None),
    "t5": (lambda: layers.T5Bias(HEADS), None),
    "log queries": (lambda: layers.LogQueries(rotary(), 4), None),
    "rope windows": (rotary, (3, None)),
    "none windows": (layers.NoPosition, (2, 4)),
    "local rope, global none": (lambda: [rotary(), layers.NoPosition()], (3, None)),
    "alibi, log none": (
        lambda: [layers.Alibi(HEADS), layers.LogQueries(layers.NoPosition(), 4)],
        None,
    ),
    "sinusoidal, rope": (lambda: [layers.Sinusoidal(D, FAR), rotary()], None),
    "learned, t5": (lambda: [layers.Learned(D, FAR), layers.T5Bias(HEADS)], (None, 5)),
    "log t5, t5": sharing("log t5", "t5"),
    "t5, log t5": sharing("t5", "log t5"),
    "two logs of one t5": sharing("log t5", "other"),
    "log log t5, log t5": sharing("log log t5", "log t5"),
    "log t5, log log t5": sharing("log t5", "log log t5"),
    "log log t5, other log": sharing("log log t5", "other"),
}
ADDED = {"sinusoidal", "learned", "sinusoidal, rope", "learned, t5"}


def make(name="rope", dtype=torch.float32, n_layers=LAYERS, **sizes):
    """A model with seeded weights; what starts at 0 or close to it is drawn louder."""
    schemes, windows = MODELS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        config = ModelConfig(VOCAB, D, HEADS, n_layers, windows, **sizes)
        model = TinyTransformer(config, schemes())
        for scheme in model.schemes:
            for weight in scheme.parameters():
                torch.nn.init.normal_(weight, std=0.5)
    return model.to(dtype).eval()


def tokens(batch=2, seq=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (batch, seq), generator=generator)


def in_chunks(model, ids, sizes, cache=None, **given):
    """Logits of all tokens, read a few at a time with a cache."""
    cache = model.new_cache() if cache is None else cache
    return torch.cat([model(part, cache=cache, **given) for part in ids.split(sizes, 1)], 1)


def near(found, wanted, tolerance=None):
    tolerance = tolerance or TOLERANCE[wanted.dtype]
    torch.testing.assert_close(found, wanted, rtol=0, atol=tolerance)
