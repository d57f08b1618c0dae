"""The laws behind the exercises of lesson 04, RoPE as matrices."""

import numpy as np

from lessons import frequencies, rope, validate
from lessons.exercises import parts


def _three_is_one_cubed(answer):
    matrix = validate.finite(answer, "the matrix")
    if matrix.shape != (4, 4):
        return f"the matrix must be (4, 4), got {matrix.shape}."
    determinant = np.linalg.det(matrix)
    if abs(determinant - 1) > 1e-9:
        return f"a rotation has determinant 1, this matrix has {determinant:.4g}."
    one = rope.matrix(1, frequencies.inverse_frequencies(4), pairing="interleaved")
    error = np.abs(matrix - np.linalg.matrix_power(one, 3))
    if error.max() > 1e-9:
        row, column = np.unravel_index(error.argmax(), error.shape)
        return f"it is not R_1³: entry ({row}, {column}) is off by {error.max():.2g}."
    return None


def _peak_at_17(answer):
    k_for = validate.function(answer, "the answer")
    inv_freq = frequencies.inverse_frequencies(64)
    distance = np.arange(513)
    for seed in (17, 18, 19):
        q = np.random.default_rng(seed).normal(size=64)
        k = validate.has_shape(validate.finite(k_for(q.copy()), "k"), "k", (64,))
        # The query at position 512, the key at 512 − distance.
        query = rope.rotate(q[None], [512], inv_freq, pairing="interleaved")[0]
        keys = rope.rotate(np.tile(k, (513, 1)), 512 - distance, inv_freq, pairing="interleaved")
        scores = keys @ query
        if np.ptp(scores) < 1e-9:
            return f"the score is {scores[0]:.4g} at every distance: there is no peak."
        peak = int(scores.argmax())
        if peak != 17:
            there = f"{scores[peak]:.4g} there, {scores[17]:.4g} at 17"
            return f"the score peaks at the key {peak} back: {there}."
    return None


def _random_rotation(rng):
    q, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    q[:, 0] *= np.sign(np.linalg.det(q))
    return q


def _a_basis_of_planes(answer):
    in_planes = validate.function(answer, "the answer")
    rng = np.random.default_rng(43)
    for _ in range(3):
        rotation = _random_rotation(rng)
        basis, inv_freq = parts(in_planes(rotation.copy()), "B", "ω")
        basis = validate.has_shape(validate.finite(basis, "B"), "B", (8, 8))
        inv_freq = validate.has_shape(validate.inverse_frequencies(inv_freq, "ω"), "ω", (4,))
        error = np.abs(basis.T @ basis - np.eye(8)).max()
        if error > 1e-9:
            return f"B is not orthogonal: BᵀB misses the identity by {error:.2g}."
        error = np.abs(basis.T @ rotation @ basis - rope.matrix(1, inv_freq)).max()
        if error > 1e-9:
            return f"BᵀAB misses rope.matrix(1, ω) by {error:.2g}."
    return None


LAWS = {
    "4.1": _three_is_one_cubed,
    "4.2": _peak_at_17,
    "4.3": _a_basis_of_planes,
}
