"""Laws of checks, verdicts and messages: whatever comes in, and what must come back of it."""

import ast
import contextlib
import importlib
import inspect
import io
import json
import pkgutil

import kinds
import numpy as np
import pytest
import torch
from drawn import FAR, about, inv_freqs, ladders, near, normal, rows, seeds, slow, whole
from hypothesis import given
from hypothesis import strategies as st
from test_validate import public

import lessons
from lessons import exercises, show, tasks, tasks_judges, validate, validate_rows, wire

arrays = st.builds(normal, seeds, st.integers(1, 3), st.integers(1, 4))
counts = st.lists(st.integers(1, FAR), min_size=1, max_size=5)
masks = st.lists(st.booleans(), min_size=1, max_size=6)
# What is good comes back, and goes in again: a check of what was checked changes nothing.
GOOD = {
    validate.positions: rows(),
    validate.finite: arrays,
    validate.logits: arrays,
    validate.inverse_frequencies: inv_freqs,
    validate.geometric: ladders,
    validate.vector: inv_freqs,
    validate.counts: counts,
    validate.padding_mask: masks,
    validate.count: st.integers(1, 2**31 - 1),
    validate.offset: whole,
    validate.real: st.floats(allow_nan=False, allow_infinity=False),
    validate.function: st.sampled_from([len, max, exercises.verdict]),
    validate_rows.paired: st.builds(normal, seeds, st.integers(1, 3), st.just(4)),
}


@about(*GOOD)
@pytest.mark.parametrize("check", GOOD, ids=lambda check: check.__name__)
@given(st.data())
def test_what_is_good_comes_back_as_it_was_and_passes_again(check, data):
    value = data.draw(GOOD[check])
    name = [] if check is validate_rows.paired else ["value"]
    once = check(value, *name)
    np.testing.assert_array_equal(once, value)
    again = check(once, *name)
    np.testing.assert_array_equal(again, once)
    assert type(again) is type(once)
    for dress in kinds.same(value).values():
        np.testing.assert_array_equal(check(dress, *name), once)


@about(validate.heads, validate.choice, validate.windows, validate.has_shape, validate.kind)
@given(st.integers(1, 128), st.integers(1, 64), st.text(max_size=5), arrays, whole)
def test_a_check_takes_what_fits_and_shows_what_does_not(n_heads, d_model, word, array, number):
    def said(check, *given):
        try:
            check(*given)
        except ValueError as error:
            return str(error)
        return None

    wrong = said(validate.heads, n_heads, d_model)
    assert (wrong is None) == (d_model % n_heads == 0) and str(n_heads) in (wrong or str(n_heads))
    assert (said(validate.choice, word, "word", ("a", "b")) is None) == (word in ("a", "b"))
    assert validate.windows([None, n_heads], 2) == (None, n_heads)
    assert str(d_model) in (said(validate.windows, [n_heads] * (d_model + 1), d_model))
    assert validate.has_shape(array, "array", array.shape) is array
    assert str(array.shape) in said(validate.has_shape, array, "array", (9, *array.shape))
    assert validate.kind(number) == f"{number} (int)" and validate.kind(array) == "ndarray"


@about(validate.position_pair, validate.grid, validate_rows.rotatable, validate_rows.row_angles)
@about(validate.queries_keys_values, validate.score_terms)
@given(seeds, rows(), rows(), st.integers(1, 3), st.integers(1, 4))
def test_what_belongs_together_comes_back_in_float64(seed, q, k, batch, pairs):
    for found, wanted in zip(validate.position_pair(q, k), (q, k), strict=True):
        assert found.dtype == np.float64 and found.tolist() == wanted.tolist()
    x, w = normal(seed, batch, 2, len(q), 2 * pairs).astype(np.float32), np.ones(pairs)
    wide = validate_rows.rotatable(x, w)[0]
    assert wide.dtype == np.float64 and (wide == x).all()
    angles = normal(seed, batch, len(q), pairs)
    shaped = validate_rows.row_angles(angles, x)
    near(np.broadcast_to(shaped, (*x.shape[:-1], pairs))[:, 0], angles, 0)
    ids, sections, _ = validate.grid(np.stack([q, q]), [0, 1] * pairs, np.ones(2 * pairs))
    assert ids.shape == (2, len(q)) and sections.dtype == np.int64
    for found in validate.queries_keys_values(x, x, x):
        near(found, x, 0)
    mask = normal(seed, len(q), len(q)) > 0
    bias, same = validate.score_terms(x[0, 0, :, :1], mask, (batch, len(q), len(q)))
    assert bias.dtype == np.float64 and (same == mask).all()


messages = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False),
    lambda parts: st.lists(parts.filter(lambda part: part is None or isinstance(part, list))),
)


@about(wire.encode, wire.decode, wire.NotNumbers)
@given(
    messages,
    seeds,
    st.sampled_from(wire.KINDS),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(), st.integers(0, 9)),
)
def test_what_crosses_arrives_as_it_was_sent(message, seed, kind, shape, words):
    def sent(value, boxes=None):
        box = None if boxes is None else boxes.__getitem__
        return wire.decode(json.loads(json.dumps(wire.encode(value, boxes))), box)

    assert sent(message) == message
    array = np.array(4 * normal(seed, *shape)).astype(kind)
    for dressed in (array, torch.from_numpy(array), array.astype(array.dtype.newbyteorder())):
        found = sent(dressed)
        assert found.dtype == kind and found.shape == tuple(shape) and (found == array).all()
    for exact in ([1, 2.5], (True, False)):
        assert sent(exact).tolist() == list(exact)
    assert sent([words, "text", len], []) == [words, "text", len]
    for refused in (words, "text", len, object(), {1}):
        with pytest.raises(wire.NotNumbers):
            wire.encode(refused)


def printed(function, *given):
    with contextlib.redirect_stdout(io.StringIO()) as told:
        function(*given)
    return told.getvalue().removesuffix("\n")


EXERCISES = sorted(
    exercise
    for module in pkgutil.iter_modules(lessons.__path__)
    if module.name.startswith("laws_")
    for exercise in importlib.import_module(f"lessons.{module.name}").LAWS
)
numbers = st.integers() | st.floats() | st.sampled_from([0, 1, -1, 0.5])
answers = (
    numbers
    | st.lists(numbers, max_size=4)
    | st.tuples(numbers, numbers)
    | st.lists(st.lists(numbers, max_size=3), max_size=3)
    | arrays
    | st.text(max_size=3)
    | st.sampled_from(list(kinds.BAD.values())).map(lambda make: make())
    | st.sampled_from([len, np.sin, np.ones_like, lambda *given: given, lambda *given: given[0]])
)


@about(exercises.verdict, exercises.check)
@slow(4)
@given(answers)
def test_any_answer_to_any_exercise_gets_one_sentence(answer):
    for exercise in EXERCISES:
        assert printed(exercises.check, exercise, answer) == exercises.verdict(exercise, answer)[1]
        right, sentence = exercises.verdict(exercise, answer)
        assert isinstance(right, bool) and sentence.startswith(f"{exercise}: "), sentence
        assert sentence.endswith(".") and "\n" not in sentence and len(sentence) < 400, sentence


@about(exercises.number, exercises.parts)
@given(st.floats(-1e100, 1e100), st.lists(st.integers(), min_size=1, max_size=4))
def test_a_number_is_the_same_in_any_brackets_and_parts_come_apart(number, parts):
    for dressed in (number, [number], [[number]], np.array(number), np.float64(number)):
        assert exercises.number(dressed) == number
    assert exercises.parts(parts, *"abcd"[: len(parts)]) == parts
    with pytest.raises(ValueError, match=f"got {len(parts)}$"):
        exercises.parts(parts, *"abcdef"[: len(parts) + 1])


CODED = [task for name in tasks.NAMES for task in tasks.assignment(name).tasks if task.function]


@about(tasks.assignment, tasks.cases, tasks.judged, tasks.example)
@slow(4)
@given(st.integers(0, 2**63 - 1), answers)
def test_points_add_up_for_every_seed_and_any_answer_is_judged(seed, answer):
    for task in CODED:
        assert task in tasks.assignment(task.id[:2]).tasks
        assert np.isfinite(len(tasks.example(task.id)))
        found = tasks.cases(task, seed)
        assert abs(sum(case.points for case in found) - task.points) < 1e-9
        try:
            answer = wire.decode(wire.encode(answer))
        except wire.NotNumbers:
            answer = None
        for case in found:
            finding = tasks.judged(case, [answer] * len(case.calls))
            assert finding is None or (isinstance(finding, tasks.Finding) and finding.law)


@about(tasks.verdict, tasks.check)
@slow(4)
@given(answers)
def test_whatever_a_function_returns_its_verdict_is_one_sentence(answer):
    for task in CODED:
        written = lambda *given: answer  # noqa: E731
        right, sentence = tasks.verdict(task.id, written)
        assert printed(tasks.check, task.id, written) == sentence
        assert not right and sentence.startswith(f"{task.id}: ") and sentence.endswith(".")
        assert "\n" not in sentence, sentence


@about(tasks_judges.values, tasks_judges.numbers, tasks_judges.parts, tasks_judges.anything)
@about(tasks_judges.case, tasks_judges.several, tasks_judges.shown)
@given(arrays, st.floats(1e-3, 1e3), st.floats(1e-9, 1e9))
def test_a_judge_takes_what_is_right_in_float32_and_names_a_likely_slip(right, off, number):
    judge = tasks_judges.values(right, {"the sign is turned": -right}, law="not right")
    assert judge(right) is judge(right.astype(np.float32)) is judge(right.tolist()) is None
    assert judge(right + off).law in ("not right", "the sign is turned")
    slip = judge(-right)
    assert slip is None or slip.law == "the sign is turned"
    assert tasks_judges.numbers(right, right.shape)[1] is None
    assert tasks_judges.numbers(right, (9, *right.shape))[1] is not None
    both = tasks_judges.parts(["a", "b"], [judge, tasks_judges.anything])
    assert both([right, None]) is None and both([right + off, None]).law.startswith("a: ")
    assert tasks_judges.case("", 1, [1], judge).judge([right]) is None
    calls = tasks_judges.several("", 1, [([1], judge), ([2], tasks_judges.anything)])
    assert calls.judge([right, 0]) is None and calls.judge([right + off, 0]) is not None
    assert abs(float(tasks_judges.shown(number).replace("−", "-")) - number) <= 5e-4 * number


SHOWABLE = [
    thing
    for name in ("rope", "layers", "scaling", "model", "cache", "criteria", "show", "tasks", "wire")
    for thing in public(importlib.import_module(f"lessons.{name}"))
]


def without_docs(tree):
    for node in ast.walk(tree):
        kinds = ast.FunctionDef | ast.ClassDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return ast.dump(tree)


@about(show.show, show.without_docstrings)
@given(st.sampled_from(SHOWABLE))
def test_what_is_shown_is_the_same_code_without_a_docstring(thing):
    source = inspect.getsource(thing)
    code = show.without_docstrings(source)
    assert ast.dump(ast.parse(code)) == without_docs(ast.parse(source))
    assert code in show.show(thing).data
