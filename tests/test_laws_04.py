"""The laws of lesson 04's exercises: right answers pass, each wrong idea gets its number."""

import numpy as np

from lessons import frequencies, rope

W4, W64 = frequencies.inverse_frequencies(4), frequencies.inverse_frequencies(64)


def turned(tokens, pairing="interleaved", pairs=32):
    """Keys q turned by ``tokens``; where pairs < 32, by the first pairs only."""
    w = np.where(np.arange(32) < pairs, W64, 0)
    return lambda q: rope.rotate(q[None], [tokens], w, pairing=pairing)[0]


def by_eigenvectors(rotation):
    values, vectors = np.linalg.eig(rotation)
    upper = values.imag > 0
    u = np.sqrt(2) * vectors[:, upper]
    return np.concatenate([u.real, -u.imag], axis=1), np.angle(values[upper])


def by_planes(rotation):
    _, basis = np.linalg.eigh(rotation + rotation.T)
    basis = basis[:, rope.pairing_permutation(8)]
    turns = basis.T @ rotation @ basis
    sines, cosines = np.diagonal(turns[4:, :4]), np.diagonal(turns[:4, :4])
    basis[:, 4:] *= np.sign(sines)
    return basis, np.arctan2(np.abs(sines), cosines)


def other_order(rotation):
    basis, inv_freq = by_eigenvectors(rotation)
    return basis[:, [0, 4, 1, 5, 2, 6, 3, 7]], inv_freq


RIGHT = [
    ("4.1", rope.matrix(3, W4, pairing="interleaved")),
    ("4.1", rope.matrix(-3, W4, pairing="interleaved").T.tolist()),
    ("4.2", turned(17)),
    ("4.2", lambda q: (2 * turned(17)(q)).tolist()),
    ("4.3", by_eigenvectors),
    ("4.3", by_planes),
]

WRONG = [
    ("4.1", rope.matrix(-3, W4, pairing="interleaved"), "not R_1³: entry (0, 1) is off by 0.28"),
    ("4.1", rope.matrix(3, W4), "it is not R_1³"),
    ("4.1", 3 * rope.matrix(1, W4, pairing="interleaved"), "this matrix has 81"),
    ("4.1", np.diag([1.0, -1, 1, 1]), "determinant 1, this matrix has -1"),
    ("4.1", np.eye(3), "must be (4, 4), got (3, 3)"),
    ("4.2", lambda q: q, "peaks at the key 0 back"),
    ("4.2", turned(-17), "back: "),
    ("4.2", turned(16), "peaks at the key 16 back"),
    ("4.2", turned(17, "half"), "back: "),
    ("4.2", turned(17, pairs=1), "back: "),
    ("4.2", lambda q: 0 * q, "the score is 0 at every distance"),
    ("4.3", lambda a: (np.eye(8), np.ones(4)), "BᵀAB misses rope.matrix(1, ω) by 1."),
    ("4.3", lambda a: (2 * np.eye(8), np.ones(4)), "BᵀB misses the identity by 3."),
    ("4.3", other_order, "BᵀAB misses"),
    ("4.3", lambda a: (by_eigenvectors(a)[0].T, by_eigenvectors(a)[1]), "BᵀAB misses"),
    ("4.3", lambda a: (by_eigenvectors(a)[0], np.zeros(4)), "BᵀAB misses"),
]

UNUSABLE = ["R", 1.5, np.full((4, 4), np.nan), lambda q: None, lambda q: 3]
