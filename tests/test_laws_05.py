"""lessons.laws_05: right answers pass, and each wrong idea gets a sentence with a number."""

import numpy as np
import pytest
from answers import assert_right, assert_wrong

from lessons import exercises, frequencies, rope

ORDER = rope.pairing_permutation(8)


def per_head(order):
    """The columns of 24, each head's 8 reordered by ``order``."""
    return np.concatenate([8 * head + order for head in range(3)])


def conversion(q_columns, k_columns, v_columns=slice(None)):
    return lambda q, k, v, n_heads: (q[:, q_columns], k[:, k_columns], v[:, v_columns])


def turned(sign=1, pairing="half", positions=lambda n: n):
    return lambda grad, n, w: rope.rotate(grad, sign * positions(n), w, pairing=pairing)


EACH = per_head(ORDER)
RIGHT = [
    ("5.1", 769),
    ("5.1", np.int64(769)),
    ("5.1", 257 + 4 * 128),
    ("5.2", conversion(EACH, EACH)),
    ("5.2", lambda *given: list(conversion(EACH, EACH)(*given))),
    ("5.3", turned(-1)),
    ("5.3", lambda grad, n, w: rope.rotate(grad, -np.asarray(n), w).tolist()),
]
WRONG = [
    ("5.1", 768, "not 768: positions up to 256 all survive, 257 already becomes 256"),
    ("5.1", 4096, "keep 128 values"),
    ("5.1", 256, "not 256"),
    ("5.2", lambda q, k, v, n_heads: (q, k, v), "the score of head"),
    ("5.2", conversion(EACH, slice(None)), "after the conversion"),
    ("5.2", conversion(slice(None), EACH), "query"),
    ("5.2", conversion(*2 * [rope.pairing_permutation(24)]), "the score of head"),
    ("5.2", conversion(*2 * [per_head(np.argsort(ORDER))]), "the score of head"),
    ("5.2", lambda q, k, v, n: (q[EACH], k[EACH], v), "the score of head"),
    ("5.2", conversion(EACH, EACH, EACH), "w_v is never rotated, and it was changed by up to"),
    ("5.3", turned(1), "at position 7 it differs from autograd's gradient by"),
    ("5.3", lambda grad, n, w: grad, "at position 7"),
    ("5.3", turned(-1, "interleaved"), "at position 7"),
    ("5.3", turned(-1, positions=lambda n: np.arange(len(n))), "at position 7"),
    ("5.3", lambda grad, n, w: rope.rotate(grad, -n, np.float32(w)), "gradient by 1.4e-08"),
    ("5.3", lambda grad, n, w: -rope.rotate(grad, -n, w), "gradient by"),
]
UNUSABLE = [
    ("5.1", "many"),
    ("5.1", lambda: 769),
    ("5.2", EACH),
    ("5.2", lambda q, k: (q, k)),
    ("5.2", lambda q, k, v, n: (q, k)),
    ("5.2", lambda q, k, v, n: (q[:8], k, v)),
    ("5.2", lambda q, k, v, n: (q * np.nan, k, v)),
    ("5.3", 0.0),
    ("5.3", lambda grad: grad),
    ("5.3", lambda grad, n, w: grad[0]),
    ("5.3", lambda grad, n, w: None),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_right_answers_pass(exercise, answer):
    assert_right(exercise, answer)


@pytest.mark.parametrize(("exercise", "answer", "number"), WRONG)
def test_wrong_ideas_get_a_sentence_with_a_number(exercise, answer, number):
    sentence = assert_wrong(exercise, answer, number)
    assert any(letter.isdigit() for letter in sentence.removeprefix(f"{exercise}: "))


@pytest.mark.parametrize(("exercise", "answer"), UNUSABLE)
def test_what_cannot_be_used_gets_a_sentence_and_never_a_trace(exercise, answer):
    right, sentence = exercises.verdict(exercise, answer)
    assert not right and sentence.startswith(f"{exercise}: ")
    assert "could not be used" in sentence


def test_an_answer_cannot_change_what_it_is_judged_by():
    def spoil(q, k, v, n_heads):
        for w in (q, k, v):
            w[:] = 0
        return q, k, v

    assert not exercises.verdict("5.2", spoil)[0]

    def spoil_gradient(grad, n, w):
        grad[:] = 0
        return grad

    assert not exercises.verdict("5.3", spoil_gradient)[0]


def test_the_frequencies_of_the_checks_are_the_books():
    """Interleaved and half scores agree only through the permutation, at positions from 3 on."""
    from lessons import laws_05

    rng = np.random.default_rng(0)
    x, w_q, w_k = rng.normal(size=(6, 24)), *rng.normal(size=(2, 24, 24))
    scores = laws_05._scores(x, w_q, w_k, "interleaved")
    q, k = ((x @ w)[:, 8:16] for w in (w_q, w_k))
    m, inv_freq = np.arange(3, 9), frequencies.inverse_frequencies(8)
    q, k = (rope.rotate(a, m, inv_freq, pairing="interleaved") for a in (q, k))
    np.testing.assert_allclose(scores[1], q @ k.T / np.sqrt(8), atol=1e-12)
