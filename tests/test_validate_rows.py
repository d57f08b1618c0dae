"""What belongs to x's rows, in every shape up to three axes: taken only for rows or batches."""

from itertools import product

import numpy as np
import pytest

from lessons import validate_rows

SHAPES = [(5, 4), (3, 5, 4), (3, 2, 5, 4), (3, 2, 6, 5, 4)]  # no two axes alike, but for the batch
UP_TO_3_AXES = [shape for axes in (1, 2, 3) for shape in product(range(1, 7), repeat=axes)]


def taken(function, *given):
    try:
        return function(*given)
    except ValueError as error:
        assert " must " in str(error)  # the refusal, not NumPy's
        return None


@pytest.mark.parametrize("x_shape", SHAPES)
def test_positions_are_those_of_rows_or_of_a_batch_of_rows(x_shape):
    x = np.zeros(x_shape)
    allowed = {(5,), (3, 5)} if x.ndim > 2 else {(5,)}
    for shape in UP_TO_3_AXES:
        array = np.arange(np.prod(shape)).reshape(shape)
        given = taken(validate_rows.row_positions, array, x)
        assert (given is not None) == (shape in allowed), shape
        if given is not None and shape == (3, 5):
            for batch in range(3):
                rows = np.broadcast_to(given, x_shape[:-1])[batch]
                np.testing.assert_array_equal(rows, np.broadcast_to(array[batch], rows.shape))


@pytest.mark.parametrize("x_shape", SHAPES)
def test_angles_are_those_of_rows_or_of_a_batch_of_rows(x_shape):
    x = np.zeros(x_shape)
    rows = {(5, 1), (5, 2)}
    allowed = rows | {(3, *shape) for shape in rows} if x.ndim > 2 else rows
    for shape in UP_TO_3_AXES:
        array = np.arange(np.prod(shape)).reshape(shape)
        given = taken(validate_rows.row_angles, array, x)
        assert (given is not None) == (shape in allowed), shape
        if given is not None and shape == (3, 5, 2):
            for batch in range(3):
                turns = np.broadcast_to(given, (*x_shape[:-1], 2))[batch]
                np.testing.assert_array_equal(turns, np.broadcast_to(array[batch], turns.shape))


@pytest.mark.parametrize(("pairs", "fits"), [(1, True), (3, True), (4, False), (6, False)])
def test_pairs_are_counted_in_twos(pairs, fits):
    given = taken(validate_rows.rotatable, np.zeros((5, 6)), np.ones(pairs))
    assert (given is not None) == fits


@pytest.mark.parametrize("axes", [2, 3, 4, 5])
def test_channels_are_those_of_the_last_axis_however_many_there_are(axes):
    x = np.zeros((3,) * (axes - 1) + (4,))  # every other axis is odd, and too short for two pairs
    assert taken(validate_rows.rotatable, x, [1, 1]) is not None
    assert taken(validate_rows.rotatable, x, [1, 1, 1]) is None
    assert taken(validate_rows.rotatable, np.swapaxes(x, 0, -1), [1]) is None


def test_the_smallest_x_is_one_row_of_one_pair():
    x, inv_freq = validate_rows.rotatable(np.ones((1, 2)), [1])
    assert x.shape == (1, 2) and inv_freq.tolist() == [1]
