"""The laws behind the exercises of lesson 03, learned tables."""

import numpy as np

from lessons import pretrained, validate
from lessons.exercises import number

PAD = 1  # RoBERTa's id of the padding token, and the row that padding looks up


def _gpt2_parameters(answer):
    from lessons.layers import Learned  # torch, only for whoever asks

    claimed = number(answer)
    held = sum(weight.numel() for weight in Learned(d_model=768, max_len=1024).parameters())
    if claimed != held:
        return f"not {claimed:.10g}: that is {claimed / held:.4g} times what the layer holds."
    return None


def _roberta_positions(answer):
    if not callable(answer):
        return _counted_from_two([5, 6, 7, 1, 1], answer)
    texts = ([5, 6, 7, 1, 1], [1, 1, 8, 9], [4], [1], [3, 1, 3, 3, 1])
    problems = (_counted_from_two(ids, answer(ids)) for ids in texts)
    return next((problem for problem in problems if problem), None)


def _counted_from_two(ids, answer):
    """Padding looks up row PAD, and the real tokens count on from the row after it."""
    rows = validate.positions(answer, "the rows", max_axes=1)
    if rows.shape != (len(ids),):
        return f"the ids {ids} need {len(ids)} rows, got {rows.size}."
    next_row = PAD + 1
    for place, (token, row) in enumerate(zip(ids, rows, strict=True)):
        expected = PAD if token == PAD else next_row
        if row != expected:
            kind = "padding" if token == PAD else f"real token number {next_row - PAD}"
            return f"in {ids}, index {place} is {kind} and does not look up row {row:.0f}."
        next_row += token != PAD
    return None


def _stretched(answer):
    table = pretrained.position_table("minilm").rows
    if not callable(answer):
        return _midpoints(table, answer)
    small = np.random.default_rng(3).normal(size=(5, 3))
    problems = (_midpoints(rows, answer(rows.copy())) for rows in (table, small))
    return next((problem for problem in problems if problem), None)


def _midpoints(table, answer):
    """Even rows are the old ones; an odd row lies half-way between its neighbours a and b."""
    rows = validate.finite(answer, "the stretched table")
    expected = (2 * len(table) - 1, table.shape[1])
    if rows.shape != expected:
        return f"a table of {table.shape} must become {expected}, got {rows.shape}."
    moved = np.abs(rows[::2] - table).max(-1)
    if moved.max() > 1e-7:
        worst = int(moved.argmax())
        return f"row {2 * worst} must be the old row {worst}, and is off by {moved[worst]:.2g}."
    a, b, odd = table[:-1], table[1:], rows[1::2]
    square = np.sum(odd**2, -1)
    law = np.sum((a + b) ** 2, -1) / 4
    worst = int(np.abs(square - law).argmax())
    if abs(square[worst] - law[worst]) > 1e-6:
        return (
            f"row {2 * worst + 1} has the squared norm {square[worst]:.4f}, "
            f"and ¼‖a + b‖² is {law[worst]:.4f}."
        )
    # A vector of the right length may still point elsewhere: the step to a must be half of b − a.
    step, half = np.linalg.norm(odd - a, axis=-1), np.linalg.norm(b - a, axis=-1) / 2
    worst = int(np.abs(step - half).argmax())
    if abs(step[worst] - half[worst]) > 1e-6:
        return (
            f"row {2 * worst + 1} is {step[worst]:.4f} away from its left neighbour, "
            f"and half a step is {half[worst]:.4f}."
        )
    return None


LAWS = {
    "3.1": _gpt2_parameters,
    "3.2": _roberta_positions,
    "3.3": _stretched,
}
