"""Training and the losses over length, against sums written out by hand on a tiny model."""

import math

import pytest
import torch
import torch.nn.functional as F
from tiny import FAR, VOCAB, make

from lessons import training

GENERATOR = torch.Generator().manual_seed(0)
TEXT = bytes(torch.randint(VOCAB, (600,), generator=GENERATOR).tolist())
IDS = torch.tensor(list(TEXT))


def by_hand(model, start, end, mask=None):
    """Losses of the tokens start + 1 … end, read from start on, one at a time."""
    logits = model(IDS[None, start:end], mask=mask)[0].double()
    return [-F.log_softmax(row, -1)[IDS[start + n + 1]].item() for n, row in enumerate(logits)]


# Losses.


def test_the_mean_loss_of_pieces_laid_end_to_end():
    model = make("rope")
    found = training.loss_by_length(model, TEXT, (8, 24), n_tokens=48)
    assert list(found) == [8, 24]
    for length, mean in found.items():
        losses = [
            x for start in range(0, 48, length) for x in by_hand(model, start, start + length)
        ]
        assert len(losses) == 48
        assert mean == pytest.approx(sum(losses) / 48, abs=1e-6)


def test_the_same_targets_whatever_the_length(monkeypatch):
    seen = {}
    monkeypatch.setattr(
        training, "_losses", lambda model, pieces, mask: pieces[:, 1:].clone().double()
    )
    for length in (8, 16, 48):
        found = training.position_losses(make(), TEXT, length, n_tokens=48)
        assert found.shape == (48 // length, length)
        seen[length] = found.flatten().tolist()
    assert seen[8] == seen[16] == seen[48] == IDS[1:49].double().tolist()


def test_positions_of_overlapping_pieces():
    model = make("alibi")
    found = training.position_losses(model, TEXT, 12, n_tokens=40, stride=6)
    assert found.shape == (5, 12) and found.dtype == torch.float64
    for piece, row in enumerate(found):
        assert row.tolist() == pytest.approx(by_hand(model, 6 * piece, 6 * piece + 12), abs=1e-6)


def test_many_pieces_are_read_in_parts():
    model, text = make(), TEXT * 40
    whole = training.position_losses(model, text, 4, n_tokens=20_000)
    assert whole.shape == (5000, 4)  # 2048 pieces at a time
    near_end = training.position_losses(model, text[4 * 4900 :], 4, n_tokens=400)
    torch.testing.assert_close(whole[4900:], near_end, rtol=0, atol=1e-6)


def test_a_window_at_test_hides_what_is_farther():
    model = make("rope")
    found = training.position_losses(model, TEXT, 12, window=3, n_tokens=12)
    m = torch.arange(12)
    distance = m[:, None] - m
    wanted = by_hand(model, 0, 12, (distance >= 0) & (distance < 3))
    assert found[0].tolist() == pytest.approx(wanted, abs=1e-6)
    free = training.position_losses(model, TEXT, 12, n_tokens=12)
    assert torch.equal(found[0, :3], free[0, :3]) and (found[0, 4:] != free[0, 4:]).all()
    for wide in (12, 100):
        assert torch.equal(
            training.position_losses(model, TEXT, 12, window=wide, n_tokens=12), free
        )


@pytest.mark.parametrize("width", [1, 5, 20])
def test_a_sliding_window_gives_every_target_a_full_context(width):
    model = make("rope")
    found = training.last_losses(model, TEXT, width, n_targets=7, reach=20)
    targets = torch.linspace(20, len(TEXT) - 1, 7).long().tolist()
    assert targets[0] == 20 and targets[-1] == len(TEXT) - 1
    assert found.tolist() == pytest.approx(
        [by_hand(model, t - width, t)[-1] for t in targets], abs=1e-6
    )


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        (name, name != "none" and "alibi" not in name)
        for name in ("none", "alibi", "t5", "rope", "learned", "local rope, global none")
    ],
)
def test_none_where_a_scheme_is_not_defined(name, ends):
    ends = ends and name != "t5"
    model, text = make(name), TEXT
    found = training.loss_by_length(model, text, (FAR, FAR + 1), n_tokens=FAR + 1)
    assert found[FAR] > 0 and (found[FAR + 1] is None) == ends
    assert (training.position_losses(model, text, FAR + 1) is None) == ends
    assert (training.last_losses(model, text, FAR + 1, n_targets=2, reach=FAR + 1) is None) == ends
    assert training.defined(model, FAR) and training.defined(model, FAR + 1) != ends


def test_measuring_leaves_no_gradient_and_changes_nothing():
    model = make("t5")
    before = [p.clone() for p in model.parameters()]
    losses = training.position_losses(model, TEXT, 8, n_tokens=16)
    assert not losses.requires_grad and all(p.grad is None for p in model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


# Training.


def test_tokens_are_the_bytes():
    assert training.as_tokens(bytes(range(256))).tolist() == list(range(256))
    assert training.as_tokens("é".encode()).tolist() == [195, 169]


@pytest.mark.parametrize("name", ["none", "learned, t5", "local rope, global none"])
def test_training_learns_a_text_that_repeats(name):
    model, text = make(name), bytes(range(VOCAB)) * 20
    start = training.loss_by_length(model, text, [16], n_tokens=128)[16]
    ticks = []
    last = training.train(
        model, text, steps=30, seed=0, seq_len=16, batch=4, lr=0.03, tick=lambda: ticks.append(1)
    )
    end = training.loss_by_length(model, text, [16], n_tokens=128)[16]
    assert len(ticks) == 30 and end < 0.6 * start and 0 < last < start


def test_a_seed_makes_the_run_and_nothing_else_does():
    def trained(seed, disturb=0):
        torch.manual_seed(disturb)
        model = make("t5")
        loss = training.train(model, TEXT, steps=3, seed=seed, seq_len=8, batch=2)
        return loss, [p.detach().clone() for p in model.parameters()]

    (one, weights), (same, again), (other, _) = trained(0), trained(0, 7), trained(1)
    assert one == same != other
    assert all(torch.equal(a, b) for a, b in zip(weights, again, strict=True))


def test_windows_are_drawn_over_the_whole_text_and_targets_are_the_next_bytes(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        training, "fit", lambda model, batch, **given: drawn.append(batch(GENERATOR))
    )
    text = bytes(range(40))
    training.train(None, text, steps=1, seed=0, seq_len=8, batch=4000)
    tokens, targets = drawn[0]
    assert tokens.shape == targets.shape == (4000, 8)
    assert (targets == tokens + 1).all() and (tokens[:, 1:] == tokens[:, :-1] + 1).all()
    assert tokens.min() == 0 and targets.max() == 39  # from the first byte to the last


def test_the_learning_rate_warms_up_and_falls_to_a_tenth(monkeypatch):
    rates, step = [], torch.optim.AdamW.step
    monkeypatch.setattr(
        torch.optim.AdamW,
        "step",
        lambda self: rates.append(self.param_groups[0]["lr"]) or step(self),
    )
    data = IDS[None, :4], IDS[None, 1:5]
    training.fit(make("none", n_layers=1), lambda generator: data, steps=200, seed=0, lr=0.01)
    assert len(rates) == 200
    assert rates[0] == pytest.approx(0.01 / 50) and rates[24] == pytest.approx(0.005, rel=0.05)
    assert max(rates) == rates[49] == pytest.approx(0.0088, rel=0.02)
    assert rates[50:] == sorted(rates[50:], reverse=True)
    assert rates[-1] == pytest.approx(0.001, rel=0.01)


def test_targets_of_minus_100_are_not_learned_from():
    ids, hidden = IDS[None, :9], IDS[None, 1:10].clone()
    hidden[:, ::2] = training.IGNORED
    model = make("alibi")
    wanted = [loss for n, loss in enumerate(by_hand(model, 0, 9)) if n % 2]
    found = training.fit(model, lambda generator: (ids, hidden), steps=1, seed=0)
    assert found == pytest.approx(math.fsum(wanted) / 4, abs=1e-5)


# Refusals.


def losses(**given):
    return lambda: training.position_losses(**{"model": make(), "text": TEXT, "length": 8} | given)


def last(**given):
    few = {"width": 4, "reach": 8}
    return lambda: training.last_losses(**{"model": make(), "text": TEXT} | few | given)


def run(**given):
    return lambda: training.train(**{"model": make(), "text": TEXT, "steps": 1, "seed": 0} | given)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: training.as_tokens("text"), TypeError, "text must be bytes, got str"),
        (lambda: training.as_tokens(bytearray(3)), TypeError, "text must be bytes, got bytearray"),
        (run(text=None), TypeError, "text must be bytes, got NoneType"),
        (run(steps=0), ValueError, "steps must be at least 1, got 0"),
        (run(steps=1.5), ValueError, "steps must be a whole number, got 1.5"),
        (run(seed=-1), ValueError, "seed must be at least 0, got -1"),
        (run(seed=None), TypeError, "seed must be a number, got NoneType"),
        (run(seq_len=0), ValueError, "seq_len must be at least 1, got 0"),
        (run(batch="4"), TypeError, "batch must be a number, got '4'"),
        (run(seq_len=600), ValueError, "text must be longer than 600 bytes, got 600"),
        (run(text=b""), ValueError, "text must be longer than 64 bytes, got 0"),
        (run(lr="fast"), TypeError, "lr must be a number, got 'fast'"),
        (run(lr=-0.1), ValueError, "lr must be at least 0, got -0.1"),
        (run(lr=math.nan), ValueError, "lr must be finite, got nan"),
        (losses(text="text"), TypeError, "text must be bytes, got str"),
        (losses(length=0), ValueError, "length must be at least 1, got 0"),
        (losses(length="8"), TypeError, "length must be a number, got '8'"),
        (
            losses(length=600, model=make("none")),
            ValueError,
            "text must be longer than 600 bytes, got 600",
        ),
        (losses(n_tokens=7), ValueError, "n_tokens must be at least 8, got 7"),
        (losses(n_tokens=None), TypeError, "n_tokens must be a number, got NoneType"),
        (losses(stride=0), ValueError, "stride must be at least 1, got 0"),
        (losses(stride=1.5), ValueError, "stride must be a whole number, got 1.5"),
        (losses(window=True), TypeError, "window must be a number, got True"),
        (losses(window=-9, length=8), ValueError, "window must be at least 1, got -9"),
        (losses(window=0), ValueError, "window must be at least 1, got 0"),
        (losses(window=2.5), ValueError, "window must be a whole number, got 2.5"),
        (
            lambda: training.last_losses(make(), TEXT, 0),
            ValueError,
            "width must be at least 1, got 0",
        ),
        (last(width=9, reach=8), ValueError, r"width must be at most reach \(8\), got 9"),
        (last(reach=600), ValueError, "text must be longer than 600 bytes, got 600"),
        (last(reach=0), ValueError, "reach must be at least 1, got 0"),
        (last(n_targets=0), ValueError, "n_targets must be at least 1, got 0"),
        (last(n_targets="4"), TypeError, "n_targets must be a number, got '4'"),
        (
            lambda: training.last_losses(make(), None, 4),
            TypeError,
            "text must be bytes, got NoneType",
        ),
    ],
)
def test_refusals(call, kind, said):
    with pytest.raises(kind, match=f"^{said}"):
        call()
