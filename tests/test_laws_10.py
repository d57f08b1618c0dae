"""The exercises of lesson 10: right answers pass, wrong ideas get a sentence with a number."""

import numpy as np

SHARE = (1 + 5 * 1024 / 131_072) / 6
TWO_QUARTERS = (2 * np.pi * 1e6 ** (30 / 32), 2 * np.pi * 1e6 ** (30 / 128), 7, 0)
# 36 GiB; a full layer of 2^20 tokens takes 4 GiB, so 8 leave 4 GiB for 40 windows.
DESIGN = ([26_214] * 5 + [None]) * 8
RIGHT = [
    ("10.1", SHARE),
    ("10.1", 0.173),
    ("10.2", TWO_QUARTERS),
    ("10.2", [2.65e6, 160, 7, 0]),
    ("10.3", DESIGN),
    ("10.3", ([26_214] * 5 + [2**20]) * 8),
    ("10.3", [100, 26_214, 26_214, 26_214, 52_000, None] * 8),
]
WRONG = [
    ("10.1", 1 / 6, "0.1667 counts the windowed layers as nothing: each holds 1024"),
    ("10.1", 1 - SHARE, "0.8268 is not the share"),
    ("10.1", 1 / SHARE, "is not the share: 8 full and 40 windowed layers hold together 0.173"),
    ("10.1", 5 / 6, "0.8333 is not the share"),
    ("10.2", (160, 2.65e6, 0, 7), "computed again: the slowest of the 16 pairs turns at 2.37e-06"),
    ("10.2", (2.65e6, 5.06e6, 7, 0), "truncated: the slowest of the 16 pairs"),
    ("10.2", (2 * np.pi * 1e6, 160, 7, 0), "not 6.283e+06 tokens"),
    ("10.2", (2.65e6, 160, 8, 0), "7 of 16 wavelengths are longer than 8192 tokens, not 8"),
    ("10.2", (2.65e6, 160, 7, 7), "truncated: 0 of 16 wavelengths"),
    ("10.3", [None] * 48, "the cache takes 192.00 GiB, 167503724544 bytes more than 36"),
    ("10.3", ([26_215] * 5 + [None]) * 8, "the cache takes 36.00 GiB, 98304 bytes more"),
    ("10.3", ([1024] * 5 + [None]) * 8, "the cache takes 32.16 GiB of 36"),
    ("10.3", [26_214] * 48, "only 0 layers see everything, 8 are asked for"),
    ("10.3", [26_214] * 40 + [None] * 8, "layer 5 is windowed number 6 in a row"),
    ("10.3", DESIGN[:47], "must be a list of 48 windows"),
    ("10.3", 26_214, "must be a list of 48 windows"),
]
UNUSABLE = [
    [0] * 48,
    [-1] * 48,
    [1.5] * 48,
    ["wide"] * 48,
    (np.nan, 160, 7, 0),
    (np.inf, 160, 7, 0),
    np.full(4, 1e300),
    np.zeros((0, 4)),
]
