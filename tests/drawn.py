"""What the property tests draw, how often they draw it, and a record of what they are about.

Every run draws the same examples, so that a build never fails by chance.  To search on, with 50
times as many and new ones each time:

    HYPOTHESIS_PROFILE=long .venv/bin/python -m pytest tests/test_properties*.py

What it finds is printed with the arguments: mend it, and keep them as a plain test.
"""

import os

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from lessons.frequencies import inverse_frequencies

EXAMPLES = 20
for name, times in (("book", 1), ("long", 50)):
    settings.register_profile(
        name,
        deadline=None,
        database=None,
        derandomize=name == "book",
        max_examples=times * EXAMPLES,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),  # explaining takes minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))


def slow(share=4):
    """For a law whose examples take long: a fraction of them, in both profiles."""
    return settings(max_examples=max(2, settings().max_examples // share))


LAWS = {}  # function or class -> the tests that hold its laws


def about(*things):
    """Which functions and classes a law is about; ``test_properties`` asks for every public one."""

    def record(test):
        for thing in things:
            LAWS.setdefault(thing, []).append(test)
        return test

    return record


FAR = 2**20
EPS = np.finfo(float).eps
TURN = 8 * EPS * FAR  # how far the rounding of an angle at FAR can move a sum of two turns

seeds = st.integers(0, 2**31 - 9)
whole = st.integers(-FAR, FAR)
thetas = st.floats(1, 1e9)
even_dims = st.integers(1, 32).map(lambda pairs: 2 * pairs)
pairings = st.sampled_from(["half", "interleaved"])
# Frequencies as a model has them, falling, and as anybody may make them up.
falling = st.builds(inverse_frequencies, even_dims, st.floats(1.5, 1e9))
ladders = st.builds(
    inverse_frequencies, st.integers(2, 64).map(lambda pairs: 2 * pairs), st.floats(1.5, 1e9)
)
made_up = st.lists(st.floats(0, 10), min_size=1, max_size=16).map(np.array)
inv_freqs = falling | made_up
NUMPY_WHOLE = (np.int64, np.int32, np.float64, np.float32)  # each of them holds 2**20


@st.composite
def rows(draw, least=1, most=6, low=-FAR, high=FAR):
    """Positions (seq,) in one of the dtypes that hold them, far apart or side by side."""
    place = draw(st.sampled_from([st.integers(low, high), st.integers(max(low, -8), 8)]))
    found = draw(st.lists(place, min_size=least, max_size=most))
    return np.array(found, draw(st.sampled_from(NUMPY_WHOLE)))


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def near(found, wanted, bound):
    """No entry farther than ``bound`` from the wanted one, in an array of the same shape."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=bound)
