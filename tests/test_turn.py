"""A rotation of pairs in torch: both pairings, anyhow in memory, and by its tables."""

import numpy as np
import pytest
import torch
from drawn_torch import LAYOUTS
from torch.func import jvp, vmap
from torch_schemes import normal

from lessons import rope, turn

PAIRINGS = {"half": turn.half, "interleaved": turn.interleaved}
EVERY = pytest.mark.parametrize("pairing", PAIRINGS)
TWO = torch.float64
# What torch loads for the first forward derivative of a process calls its own old compiler.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def tables(angles):
    return torch.from_numpy(np.cos(angles)), torch.from_numpy(np.sin(angles))


ANGLES = np.random.default_rng(0).normal(size=(5, 3))


def test_there_is_one_for_each_pairing_of_the_book():
    assert list(PAIRINGS) == list(rope.PAIRINGS)


@EVERY
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pairs_turn_by_their_angles_wherever_they_lie(pairing, layout):
    x = LAYOUTS[layout](normal(2, 5, 6, dtype=TWO))
    wanted = rope.rotate_by(x.numpy(), ANGLES, pairing=pairing)
    np.testing.assert_allclose(PAIRINGS[pairing](x, *tables(ANGLES)), wanted, atol=1e-12)


@EVERY
def test_under_vmap_too_they_turn_wherever_they_lie(pairing):
    # The mapped axis has an odd step, which nothing within sees.
    x = normal(4 * 5 * 6 + 7, dtype=TWO).as_strided((4, 5, 6), (31, 6, 1), 1)
    act = lambda x: PAIRINGS[pairing](x, *tables(ANGLES))  # noqa: E731
    torch.testing.assert_close(vmap(act)(x), torch.stack([act(row) for row in x]))


@EVERY
@pytest.mark.parametrize("which", ["cos", "sin", "both"])
def test_the_tables_have_a_derivative_both_ways(pairing, which):
    x, found = normal(2, 5, 6, dtype=TWO), dict(zip(("cos", "sin"), tables(ANGLES), strict=True))
    moving = {name: table for name, table in found.items() if which in (name, "both")}
    act = lambda moved: PAIRINGS[pairing](x, **(found | moved))  # noqa: E731
    along = {name: torch.randn_like(table) for name, table in moving.items()}
    # It is linear in them, so a difference is the derivative.
    wanted = act({name: moving[name] + along[name] for name in moving}) - act({})
    torch.testing.assert_close(jvp(act, (moving,), (along,))[1], wanted)
    given = {name: table.clone().requires_grad_() for name, table in moving.items()}
    pulled = torch.autograd.grad(act(given), list(given.values()), wanted)
    total = sum((one * along[name]).sum() for name, one in zip(given, pulled, strict=True))
    torch.testing.assert_close(total, wanted.square().sum())
