"""The exercises of lesson 08: right answers pass, wrong ideas get a sentence with a number."""

import numpy as np

RIGHT = [
    ("8.1", 10_000 * 4 ** (128 / 126)),
    ("8.1", 40_890),
    ("8.2", (29, 6, 29)),
    ("8.2", np.array([29.0, 6, 29])),
    ("8.3", (28_694, 45_000)),
    ("8.3", [26_962, 58_500.0]),  # the narrow stretch, and nearly the last base that fails
]
WRONG = [
    ("8.1", 40_000, "divides the last pair by 3.9143, not by 4"),  # the exponent 1
    ("8.1", 10_000 * 4 ** (126 / 128), "divides the last pair by 3.8317"),
    ("8.1", 10_000 * 4 ** (64 / 62), "divides the last pair by 4.0"),  # d counts pairs
    ("8.1", 2_500, "a base of 2500 turns every pair faster"),
    ("8.1", 0, "a base is a positive number, got 0"),
    ("8.1", 1e6, "not by 4"),
    ("8.2", (35, 0, 29), "pair i = 29 turns 3.411 times within 8192 tokens, so it is blended"),
    ("8.2", (28, 7, 29), "pair i = 28 turns 4.187 times within 8192 tokens, so it is kept, not "),
    (
        "8.2",
        (29, 5, 30),
        "pair i = 34 turns 1.224 times within 8192 tokens, so it is blended, not d",
    ),
    ("8.2", (29, 7, 28), "pair i = 35 turns 0.997 times"),
    ("8.2", (29, 29, 6), "so it is divided, not blended"),
    ("8.2", (29, 6, 28), "three counts of 64 pairs are asked for, got 29, 6, 28"),
    ("8.2", (28.5, 6.5, 29), "got 28.5, 6.5, 29"),
    ("8.2", (-1, 6, 59), "got -1, 6, 59"),
    ("8.3", (10_000, 45_000), "θ = 10000 does not hold: K is -0.1307 at distance 4060"),
    ("8.3", (32_200, 45_000), "must lie below 30000, got 32200"),  # the fit of the paper
    ("8.3", (29_200, 45_000), "θ = 29200 does not hold"),  # past the stretch
    ("8.3", (28_694, 60_000), "θ = 60000 does not fail: its lowest K is 0.0"),
    ("8.3", (28_694, 29_200), "must lie above 40000, and below 10¹², got 29200"),
    ("8.3", (45_000, 28_694), "must lie below 30000, got 45000"),
    ("8.3", (28_694, 1e13), "got 1e+13"),
    ("8.3", (-5, 45_000), "got -5"),
]
UNUSABLE = [
    (None, None, None),
    (1, 2),
    (1, 2, 3, 4),
    (float("nan"), 45_000),
    np.full(3, np.inf),
    np.full(2, 1e300),
    np.zeros((0, 3)),
    "29",
]
