"""How a case of an assignment judges what came back: values first, then the likeliest slip.

A judge takes one answer and returns None, or a Finding.  Its ``law`` and ``off`` may be shown to a
student who is being graded, so they hold no number of the case; ``where`` is for public examples.
"""

import numpy as np

from lessons.tasks import Case, Finding

# Answers may come in float32.
TOLERANCE = 1e-4


def case(about, points, arguments, judge):
    """A Case of one call."""
    return Case(about, points, (tuple(arguments),), lambda answers: judge(answers[0]))


def several(about, points, calls):
    """A Case of several calls, each (arguments, judge): the first that fails is told."""
    arguments, judges = zip(*calls, strict=True)

    def judge(answers):
        found = (one(answer) for one, answer in zip(judges, answers, strict=True))
        return next((finding for finding in found if finding), None)

    return Case(about, points, tuple(map(tuple, arguments)), judge)


def values(right, slips=None, *, tolerance=TOLERANCE, law="a value is not right"):
    """Whether the answer is right to within tolerance · max(1, |right|).

    slips: law -> what a likely mistake returns; the first that the answer agrees with names the
    failure.
    """
    right = np.asarray(right, float)

    def judge(answer):
        given, finding = numbers(answer, right.shape)
        if finding:
            return finding
        bound = tolerance * max(1.0, np.abs(right).max(initial=0))
        error = np.abs(given - right)
        if (error <= bound).all():
            return None
        where = _place(given, right, error > bound)
        return Finding(_likely(given, slips or {}, bound) or law, float(error.max()), where)

    return judge


def parts(names, judges):
    """The answer as one part for each name, each with its own judge."""

    def judge(answer):
        several = isinstance(answer, list) or (isinstance(answer, np.ndarray) and answer.ndim > 0)
        given = list(answer) if several else []
        if len(given) != len(names):
            return Finding(f"{len(names)} results are asked for: {', '.join(names)}")
        for name, part, one in zip(names, given, judges, strict=True):
            if finding := one(part):
                return finding._replace(law=f"{name}: {finding.law}")
        return None

    return judge


def anything(answer):
    """The judge of a part that another case judges."""


def numbers(answer, shape):
    """(array, None) if the answer is finite numbers of this shape, else (None, Finding)."""
    if answer is None:
        return None, Finding("nothing came back: the function has no return")
    try:
        array = np.asarray(answer, float)
    except (TypeError, ValueError):
        return None, Finding("numbers are asked for")
    if array.shape != tuple(shape):
        # An array of one number is as good as the number.
        if shape == () and array.size == 1:
            array = array.reshape(())
        else:
            where = f"{_size(shape)} should come back, and {_size(array.shape)} did"
            return None, Finding("the shape is not the one asked for", None, where)
    if not np.isfinite(array).all():
        return None, Finding("NaN or infinity came back")
    return array, None


def shown(number):
    """A number in a sentence: four digits, no more."""
    return f"{float(number):.4g}".replace("-", "−")


def _likely(given, slips, bound):
    for law, slip in slips.items():
        wrong = np.asarray(slip, float)
        if wrong.shape == given.shape and (np.abs(given - wrong) <= bound).all():
            return law
    return None


def _place(given, right, wrong):
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = f"at [{', '.join(map(str, index))}] it" if index else "it"
    return f"{place} is {shown(given[index])} and should be {shown(right[index])}"


def _size(shape):
    return f"shape {tuple(shape)}" if shape else "one number"
