"""Laws of the formulas of lessons 02, 04 to 06 and 11 over drawn shapes, dtypes, positions."""

from fractions import Fraction

import numpy as np
from drawn import (
    EPS,
    FAR,
    TURN,
    about,
    even_dims,
    inv_freqs,
    made_up,
    near,
    normal,
    pairings,
    rows,
    seeds,
    thetas,
    whole,
)
from hypothesis import given
from hypothesis import strategies as st

from lessons import alibi, frequencies, relative, rope, sinusoidal

heads = st.integers(1, 128)


@about(frequencies.inverse_frequencies)
@given(st.integers(1, 257), thetas)
def test_frequencies_fall_by_one_share_from_1_and_twice_the_channels_hold_every_one(dim, theta):
    found = frequencies.inverse_frequencies(dim, theta)
    assert found.shape == (-(-dim // 2),) and found.dtype == np.float64
    assert found[0] == 1 and (found > 0).all() and (np.diff(found) <= 0).all()
    np.testing.assert_allclose(found[1:] / found[:-1], theta ** (-2 / dim), rtol=1e-12)
    twice = frequencies.inverse_frequencies(2 * dim, theta)
    np.testing.assert_allclose(twice[::2], found, rtol=1e-13)


@about(frequencies.wavelengths)
@given(inv_freqs)
def test_a_wavelength_is_a_full_turn_and_endless_where_nothing_turns(inv_freq):
    found = frequencies.wavelengths(inv_freq)
    turning = np.isfinite(found)
    np.testing.assert_allclose(found[turning] * inv_freq[turning], 2 * np.pi, rtol=4 * EPS)
    assert (inv_freq[~turning] < 1e-300).all() and turning[inv_freq > 1e-300].all()


@about(frequencies.mean_cosine)
@given(rows(), even_dims, thetas, whole)
def test_the_mean_cosine_is_even_1_at_0_and_that_of_two_encodings(distance, d_model, theta, start):
    inv_freq = frequencies.inverse_frequencies(d_model, theta)
    found = frequencies.mean_cosine(distance, inv_freq)
    assert (np.abs(found) <= 1 + EPS).all() and found.shape == distance.shape
    near(found, frequencies.mean_cosine(-distance, inv_freq), 0)
    near(frequencies.mean_cosine([0], inv_freq), [1], EPS)
    one, other = (
        sinusoidal.encode(np.asarray(n, float), d_model, theta)
        for n in ([start], start + distance.astype(float))
    )
    near((other @ one.T)[:, 0] / (d_model / 2), found, 2 * TURN)


@about(frequencies.log_law)
@given(st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=5), st.floats(1e-3, 1e3), thetas)
def test_the_line_falls_by_the_same_for_every_multiple_and_is_0_where_it_says(distance, by, theta):
    theta += 0.5
    distance = np.array(distance)
    fall = frequencies.log_law(distance, theta) - frequencies.log_law(distance * by, theta)
    near(fall, np.full(distance.shape, np.log(by) / np.log(theta)), 1e-12 / np.log(theta))
    zero = frequencies.log_law([theta * np.exp(-np.euler_gamma)], theta)
    near(zero, [0], 1e-12 / np.log(theta))


@about(sinusoidal.encode)
@given(rows(), st.integers(1, 65), thetas)
def test_encodings_have_norm_half_d_and_an_odd_d_drops_the_last_cosine(positions, d_model, theta):
    found = sinusoidal.encode(positions, d_model, theta)
    assert found.shape == (len(positions), d_model) and found.dtype == np.float64
    inv_freq = frequencies.inverse_frequencies(d_model, theta)
    angles = rope.angles(positions, inv_freq)
    near(found[:, ::2], np.sin(angles), 0)
    near(found[:, 1::2], np.cos(angles)[:, : d_model // 2], 0)
    lost = np.cos(angles[:, -1]) ** 2 if d_model % 2 else 0
    near((found**2).sum(-1) + lost, np.full(len(positions), -(-d_model // 2)), 1e-12)
    near(sinusoidal.encode(positions[:, None], d_model, theta)[:, 0], found, 0)


@about(sinusoidal.shift_matrix, sinusoidal.encode)
@given(rows(), st.integers(-FAR, FAR), even_dims, thetas)
def test_one_matrix_steps_back_from_every_position_and_steps_add_up(positions, by, d_model, theta):
    matrix = sinusoidal.shift_matrix(by, d_model, theta)
    here = sinusoidal.encode(positions, d_model, theta)
    back = sinusoidal.encode(positions.astype(float) - by, d_model, theta)
    near(here @ matrix.T, back, TURN)
    near(back @ matrix, here, TURN)
    near(matrix @ matrix.T, np.eye(d_model), 1e-13)
    twice = sinusoidal.shift_matrix(2 * by, d_model, theta)
    near(matrix @ matrix, twice, TURN)


@about(rope.angles)
@given(rows(), inv_freqs)
def test_an_angle_is_the_product_rounded_once(positions, inv_freq):
    found = rope.angles(positions, inv_freq)
    for n, row in zip(positions, found, strict=True):
        assert row.tolist() == [float(Fraction(int(n)) * Fraction(w)) for w in inv_freq.tolist()]


@st.composite
def turnable(draw):
    """(x, positions, inv_freq): any leading axes, rows or a batch of them, partial or not."""
    lead = draw(st.sampled_from([(), (1,), (2,), (3, 1), (2, 2), (2, 3, 2)]))
    inv_freq = draw(made_up)
    seq, tail = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    x = normal(draw(seeds), *lead, seq, 2 * len(inv_freq) + 2 * tail)
    batch = lead[:1] if lead and draw(st.booleans()) else ()
    n = int(np.prod(batch, dtype=int)) * seq
    positions = np.array(draw(st.lists(whole, min_size=n, max_size=n))).reshape(*batch, seq)
    return x, positions, inv_freq


@about(rope.rotate)
@given(turnable(), pairings)
def test_a_rotation_keeps_every_pair_and_its_way_back_undoes_it(case, pairing):
    x, positions, inv_freq = case
    turned = rope.rotate(x, positions, inv_freq, pairing=pairing)
    channels = 2 * len(inv_freq)
    near(turned[..., channels:], x[..., channels:], 0)
    p = rope.pairing_permutation(channels) if pairing == "interleaved" else np.arange(channels)
    norms = [np.hypot(*np.split(y[..., p], 2, axis=-1)) for y in (x, turned)]
    near(*norms, 1e-13 * np.abs(x).max())
    near(rope.rotate(turned, -positions, inv_freq, pairing=pairing), x, 1e-13 * np.abs(x).max())


@about(rope.rotate, rope.rotate_by, rope.matrix, rope.angles)
@given(turnable(), pairings)
def test_rows_turned_together_are_turned_one_by_one_by_a_matrix_and_by_angles(case, pairing):
    x, positions, inv_freq = case
    turned = rope.rotate(x, positions, inv_freq, pairing=pairing)
    by = rope.rotate_by(x, rope.angles(positions, inv_freq), pairing=pairing)
    near(by, turned, 0)
    for place in np.ndindex(x.shape[:-1]):
        n = positions[place[-1]] if positions.ndim == 1 else positions[place[0], place[-1]]
        row, channels = x[place], 2 * len(inv_freq)
        matrix = rope.matrix(n, inv_freq, pairing=pairing)
        near(turned[place][:channels], matrix @ row[:channels], 1e-13 * np.abs(x).max())


@about(rope.matrix)
@given(whole, whole, inv_freqs, pairings)
def test_turned_back_by_m_and_on_by_n_is_turned_by_n_minus_m(m, n, inv_freq, pairing):
    at_m, at_n = (rope.matrix(p, inv_freq, pairing=pairing) for p in (m, n))
    bound = TURN * max(1, inv_freq.max())
    near(at_m.T @ at_n, rope.matrix(n - m, inv_freq, pairing=pairing), bound)
    near(at_m @ at_m.T, np.eye(len(at_m)), 1e-14)
    near(np.linalg.det(at_m), 1, 1e-12)


@about(rope.rotate)
@given(seeds, whole, whole, whole, even_dims, thetas, pairings)
def test_a_score_knows_the_distance_alone(seed, m, n, further, dim, theta, pairing):
    inv_freq = frequencies.inverse_frequencies(dim, theta)
    q, k = normal(seed, 2, 1, dim)

    def score(m, n):
        turned = [rope.rotate(x, [p], inv_freq, pairing=pairing) for x, p in ((q, m), (k, n))]
        return (turned[0] @ turned[1].T).item()

    near(score(m + further, n + further), score(m, n), 4 * TURN * np.abs(q).max() * dim)


@about(rope.pairing_permutation, rope.rotate, rope.matrix)
@given(turnable(), seeds)
def test_the_two_pairings_are_one_rotation_of_channels_in_another_order(case, seed):
    x, positions, inv_freq = case
    x = x[..., : 2 * len(inv_freq)]
    p = rope.pairing_permutation(x.shape[-1])
    assert sorted(p) == list(range(x.shape[-1])) and p.dtype == np.int64
    one = rope.rotate(x, positions, inv_freq, pairing="interleaved")[..., p]
    near(one, rope.rotate(x[..., p], positions, inv_freq, pairing="half"), 0)
    n = int(positions.flat[0])
    interleaved = rope.matrix(n, inv_freq, pairing="interleaved")
    near(interleaved[np.ix_(p, p)], rope.matrix(n, inv_freq), 0)


counts = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@about(rope.grid_sections)
@given(counts)
def test_sections_give_every_axis_its_share_in_blocks_or_in_turn(shares):
    blocks = rope.grid_sections(shares)
    dealt = rope.grid_sections(shares, layout="interleaved")
    assert np.bincount(blocks).tolist() == np.bincount(dealt).tolist() == shares
    assert (np.diff(blocks) >= 0).all()
    # Dealt in turn, no axis is ahead of another that still has some to get by more than one.
    got = np.cumsum(dealt[:, None] == np.arange(len(shares)), axis=0)
    for a, b in np.ndindex(len(shares), len(shares)):
        waiting = got[:, b] < shares[b]
        assert (got[waiting, a] - got[waiting, b] <= 1).all()


@about(rope.grid_angles, rope.grid_sections)
@given(counts, seeds, st.data())
def test_on_a_grid_a_pair_knows_its_own_axis_and_text_is_one_dimensional(shares, seed, data):
    sections = rope.grid_sections(shares, layout=data.draw(st.sampled_from(rope.LAYOUTS)))
    inv_freq = np.abs(normal(seed, len(sections)))
    lead = data.draw(st.sampled_from([(), (2,), (2, 1)]))
    ids = np.random.default_rng(seed).integers(-FAR, FAR, (len(shares), *lead, 3))
    found = rope.grid_angles(ids, sections, inv_freq)
    assert found.shape == (*lead, 3, len(sections))
    for pair, axis in enumerate(sections):
        near(found[..., pair], ids[axis] * inv_freq[pair], 0)
    text = np.broadcast_to(ids[:1], ids.shape)
    near(rope.grid_angles(text, sections, inv_freq), rope.angles(ids[0], inv_freq), 0)


@about(rope.rotate_by)
@given(turnable(), pairings, seeds)
def test_turns_by_angles_add_up_in_any_order(case, pairing, seed):
    x, positions, inv_freq = case
    one, other = (normal(seed + i, *positions.shape, len(inv_freq)) for i in range(2))
    both = rope.rotate_by(x, one + other, pairing=pairing)
    for first, second in ((one, other), (other, one)):
        turned = rope.rotate_by(x, first, pairing=pairing)
        near(rope.rotate_by(turned, second, pairing=pairing), both, 1e-13 * np.abs(x).max())


@about(alibi.slopes)
@given(heads)
def test_slopes_are_distinct_powers_of_2_and_those_of_fewer_heads_are_among_them(n_heads):
    found = alibi.slopes(n_heads)
    assert found.shape == (n_heads,) and len(set(found)) == n_heads
    assert (found > 0).all() and (found < 1).all()
    power = 2 ** (n_heads.bit_length() - 1)
    near(found[:power], alibi.slopes(power), 0)
    np.testing.assert_allclose(np.sort(found[:power])[::-1], found[0] ** np.arange(1, power + 1))
    assert found[power - 1] == 2.0**-8
    assert np.isin(found, alibi.slopes(2 * power)).all()
    rest = found[power:]
    np.testing.assert_allclose(rest[1:] / rest[:-1], found[0], rtol=1e-12)


@about(alibi.bias)
@given(heads, rows(), rows(), whole, st.booleans())
def test_a_bias_is_a_line_in_the_distance_and_blind_to_a_common_shift(n, q, k, by, symmetric):
    slopes = alibi.slopes(n)
    q, k = q.astype(np.int64), k.astype(np.int64)
    found = alibi.bias(slopes, q, k, symmetric=symmetric)
    assert found.shape == (n, len(q), len(k)) and found.dtype == np.float64
    near(alibi.bias(slopes, q + by, k + by, symmetric=symmetric), found, 0)
    near(alibi.bias(2 * slopes, q, k, symmetric=symmetric), 2 * found, 0)
    for head, i, j in [(0, 0, 0), (n - 1, -1, -1)]:
        distance = abs(int(q[i]) - int(k[j])) if symmetric else int(q[i]) - int(k[j])
        assert found[head, i, j] == -slopes[head] * distance
    back = alibi.bias(slopes, k, q, symmetric=symmetric)
    near(back.swapaxes(-1, -2), found if symmetric else -found, 0)
    batched = alibi.bias(slopes, np.stack([q, q + 1]), k, symmetric=symmetric)
    near(batched[0], found, 0)
    near(batched[1], alibi.bias(slopes, q + 1, k, symmetric=symmetric), 0)


@about(relative.t5_bucket, relative.t5_begins)
@given(st.integers(1, 16), st.integers(1, 10_000), st.booleans(), st.integers(0, FAR - 64))
def test_buckets_are_exact_then_wider_never_fall_and_end_at_the_last(exact, more, both, far):
    per_side = 2 * exact + (2 * (exact == 1))
    exact = per_side // 2
    n_buckets, end = per_side * (2 if both else 1), exact + more
    distance = np.unique(np.r_[0 : 4 * exact, far : far + 64, end - 1, end, end + 1, FAR])
    before = relative.t5_bucket(-distance, n_buckets, end, bidirectional=both)
    after = relative.t5_bucket(distance, n_buckets, end, bidirectional=both)
    assert before.dtype == np.int64 and (np.diff(before) >= 0).all()
    assert (before[distance < exact] == distance[distance < exact]).all()
    assert (before[distance >= end] == per_side - 1).all() and before.max() == per_side - 1
    assert (before[distance >= exact] >= exact).all()
    assert (after[1:] == (before[1:] + per_side if both else 0)).all() and after[0] == 0
