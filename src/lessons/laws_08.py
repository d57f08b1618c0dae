"""The laws behind the exercises of lesson 08, longer contexts."""

import numpy as np

from lessons import frequencies, scaling
from lessons.exercises import number, parts

DIM = 128  # channels of the heads in all three exercises
LONGEST = 4096  # of exercise 8.3


def _ntk_base(answer):
    theta = number(answer)
    if theta <= 0:
        return f"a base is a positive number, got {theta:g}."
    if theta < 10_000:
        return f"a base of {theta:g} turns every pair faster than 10000 does, but the first."
    new = frequencies.inverse_frequencies(DIM, theta)
    divisor = frequencies.inverse_frequencies(DIM)[-1] / new[-1]
    if abs(divisor / 4 - 1) > 1e-5:
        return f"the base {theta:g} divides the last pair by {divisor:.4f}, not by 4."
    return None


def _llama_3_pairs(answer):
    given = [number(part) for part in parts(answer, "kept", "blended", "divided")]
    if sum(given) != DIM // 2 or min(given) < 0 or any(part != int(part) for part in given):
        counts = ", ".join(f"{n:g}" for n in given)
        return f"three counts of {DIM // 2} pairs are asked for, got {counts}."
    inv_freq = frequencies.inverse_frequencies(DIM, 500_000)
    divisors = inv_freq / scaling.llama3(inv_freq, 8, 8192)
    kept, divided = (int(np.isclose(divisors, fate).sum()) for fate in (1, 8))
    right = np.repeat(["kept", "blended", "divided"], [kept, DIM // 2 - kept - divided, divided])
    said = np.repeat(["kept", "blended", "divided"], np.array(given, dtype=int))
    wrong = np.flatnonzero(right != said)
    if wrong.size == 0:
        return None
    pair = int(wrong[0])
    turns = 8192 / frequencies.wavelengths(inv_freq)[pair]
    return (
        f"pair i = {pair} turns {turns:.3f} times within 8192 tokens, so it is {right[pair]}, "
        f"not {said[pair]}."
    )


def _bases(answer):
    holds, fails = (number(part) for part in parts(answer, "one that holds", "one that fails"))
    if not 1 <= holds < 30_000:
        return f"the first base must lie below 30000, got {holds:g}."
    if not 40_000 < fails <= 1e12:
        return f"the second base must lie above 40000, and below 10¹², got {fails:g}."
    lowest, distance = _lowest(holds)
    if lowest < 0:
        return f"θ = {holds:g} does not hold: K is {lowest:.4f} at distance {distance}."
    lowest, distance = _lowest(fails)
    if lowest >= 0:
        return f"θ = {fails:g} does not fail: its lowest K is {lowest:.4f}, at {distance}."
    return None


def _lowest(theta):
    """The smallest K up to the longest distance, and where it is."""
    distance = np.arange(1, LONGEST + 1)
    curve = frequencies.mean_cosine(distance, frequencies.inverse_frequencies(DIM, theta))
    return float(curve.min()), int(distance[curve.argmin()])


LAWS = {
    "8.1": _ntk_base,
    "8.2": _llama_3_pairs,
    "8.3": _bases,
}
