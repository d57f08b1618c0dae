"""The checks of the exercises that close each lesson: an answer goes in, one sentence comes out.

A check computes the law that the question is about; it never compares with a stored answer.
The laws of lesson NN are in ``laws_NN``, one function an exercise: None if the law holds for the
answer, else a sentence that says where it fails.
"""

import importlib.util
import re

import numpy as np

from lessons import validate


def check(exercise, answer):
    """Print the verdict on an answer; ``...`` means that there is none yet.

    exercise: the number printed with it, such as "1.2".  answer: what the exercise asks for.
    Raises ValueError or TypeError that names exercise, whatever the answer is.
    """
    print(verdict(exercise, answer)[1])


def verdict(exercise, answer):
    """(right, sentence): whether the law holds for the answer, and if not, where it fails."""
    if not isinstance(exercise, str):
        got = validate.kind(exercise)
        raise TypeError(f'exercise must be a string such as "1.2", got {got}')
    law = _law(exercise)
    if any(part is ... for part in (answer if isinstance(answer, (tuple, list)) else [answer])):
        return False, f"{exercise}: not answered yet."
    try:
        problem = law(answer)
    except Exception as error:  # whatever was handed in, a student reads a sentence, not a trace
        problem = f"the answer could not be used: {str(error).rstrip('.')}."
    return problem is None, f"{exercise}: {'right.' if problem is None else problem}"


def number(value):
    """The answer as one float, whatever kind of number it is."""
    array = validate.finite(value, "the number")
    if array.size != 1:
        raise ValueError(f"one number is asked for, got shape {array.shape}")
    return float(array.reshape(()))


def parts(answer, *names):
    """The parts of the answer, one for each name."""
    given = list(answer) if np.iterable(answer) else [answer]
    if len(given) != len(names):
        asked = f"{len(names)} parts are asked for ({', '.join(names)})"
        raise ValueError(f"{asked}, got {len(given)}")
    return given


def _law(exercise):
    """The law of an exercise; a lesson's laws are imported when one of them is asked for."""
    if re.fullmatch(r"\d{1,2}\.\d", exercise):
        module = f"lessons.laws_{int(exercise.partition('.')[0]):02d}"
        if importlib.util.find_spec(module):
            laws = importlib.import_module(module).LAWS
            if exercise in laws:
                return laws[exercise]
    raise ValueError(f'exercise must be a number printed with one, such as "1.2", got {exercise!r}')
