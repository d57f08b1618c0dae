"""Laws of positions and masks, attention, criteria, costs and configs over drawn inputs."""

import itertools

import numpy as np
import pytest
from drawn import (
    about,
    falling,
    near,
    normal,
    rows,
    seeds,
    slow,
    thetas,
    whole,
)
from hypothesis import given
from hypothesis import strategies as st

from lessons import (
    alibi,
    attention,
    config_rotary,
    config_types,
    configs,
    costs,
    criteria,
    positions,
    rope,
)
from lessons.frequencies import inverse_frequencies, wavelengths

small = st.integers(1, 64)
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@about(attention.softmax)
@given(seeds, shapes, st.floats(-1e6, 1e6), st.floats(0, 1e3))
def test_a_softmax_sums_to_1_and_does_not_see_a_common_shift(seed, shape, shift, scale):
    x = scale * normal(seed, *shape)
    x[normal(seed + 1, *shape) > 1] = -np.inf
    found = attention.softmax(x)
    alive = np.isfinite(x).any(-1)
    near(found.sum(-1), alive, 1e-14)
    assert (found >= 0).all() and (found[np.isneginf(x)] == 0).all()
    near(attention.softmax(x + shift), found, 1e-9)
    near(attention.softmax(x[..., ::-1]), found[..., ::-1], 1e-15)


@about(attention.attend, attention.causal_mask, positions.window_mask)
@given(seeds, rows(), rows(), small, shapes)
def test_attention_sees_what_it_may_in_any_order_of_the_keys(seed, q_at, k_at, window, lead):
    q = normal(seed, *lead, len(q_at), 4)
    k, v = normal(seed + 1, *lead, len(k_at), 4), normal(seed + 2, *lead, len(k_at), 3)
    mask = attention.causal_mask(q_at, k_at) & positions.window_mask(q_at, k_at, window)
    bias = normal(seed + 3, len(q_at), len(k_at))
    out, weights = attention.attend(q, k, v, bias=bias, mask=mask)
    assert (weights[..., ~mask] == 0).all()
    near(weights.sum(-1), np.broadcast_to(mask.any(-1), weights.shape[:-1]), 1e-14)
    near(weights @ v, out, 1e-13)
    order = np.random.default_rng(seed).permutation(len(k_at))
    turned, _ = attention.attend(
        q, k[..., order, :], v[..., order, :], bias=bias[:, order], mask=mask[:, order]
    )
    near(turned, out, 1e-13)
    dark = np.where(mask.any(0)[:, None], v, 1e9)  # what nobody may see changes nothing
    near(attention.attend(q, k, dark, bias=bias, mask=mask)[0], out, 1e-13)


@about(attention.self_attention, attention.random_weights)
@given(seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
def test_without_positions_attention_follows_any_reordering(seed, seq, n_heads, head_dim):
    x, d_model = normal(seed, 2, seq, n_heads * head_dim), n_heads * head_dim
    weights = attention.random_weights(d_model, seed)
    near(weights.w_q, attention.random_weights(d_model, seed).w_q, 0)
    out = attention.self_attention(x, weights, n_heads=n_heads)
    order = np.random.default_rng(seed).permutation(seq)
    turned = attention.self_attention(x[:, order], weights, n_heads=n_heads)
    near(turned, out[:, order], 1e-12)
    near(attention.self_attention(x[0], weights, n_heads=n_heads), out[0], 1e-12)
    # The first token of a causal text sees itself alone, whatever the heads.
    causal = attention.causal_mask(range(seq), range(seq))
    first = attention.self_attention(x, weights, n_heads=n_heads, mask=causal)[:, 0]
    near(first, x[:, 0] @ weights.w_v @ weights.w_o, 1e-12)


@about(attention.causal_mask, positions.window_mask)
@given(rows(), rows(), whole, st.integers(1, 12))
def test_masks_know_the_distance_alone(q, k, by, window):
    q, k = q.astype(np.int64), k.astype(np.int64)
    causal, near_by = attention.causal_mask(q, k), positions.window_mask(q, k, window)
    assert causal.dtype == near_by.dtype == bool and causal.shape == (len(q), len(k))
    near(attention.causal_mask(q + by, k + by), causal, 0)
    near(positions.window_mask(q + by, k + by, window), near_by, 0)
    near(attention.causal_mask(-k, -q).T, causal, 0)
    near(positions.window_mask(k, q, window).T, near_by, 0)
    assert (near_by <= positions.window_mask(q, k, window + 1)).all()
    both = attention.causal_mask(np.stack([q, q + by]), k)
    assert both.shape == (2, 1, len(q), len(k))
    near(both[1, 0], attention.causal_mask(q + by, k), 0)
    text = range(by, by + 20)
    seen = positions.window_mask(text, text, window) & attention.causal_mask(text, text)
    assert seen.sum(-1).tolist() == [min(i + 1, window) for i in range(20)]


@about(positions.from_padding_mask)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4), st.data())
def test_the_real_tokens_of_a_padded_row_count_from_0(mask, data):
    mask = np.array(mask, data.draw(st.sampled_from([bool, np.int64, np.uint8])))
    found = positions.from_padding_mask(mask)
    assert found.shape == mask.shape and found.dtype == np.int64
    for row, real in zip(found, mask.astype(bool), strict=True):
        assert row[real].tolist() == list(range(real.sum())) and not row[~real].any()
    near(positions.from_padding_mask(mask[0]), found[0], 0)


@about(positions.from_lengths, positions.document_mask)
@given(st.lists(small, min_size=1, max_size=6))
def test_the_lengths_come_back_from_positions_and_from_blocks(lengths):
    found = positions.from_lengths(lengths)
    starts = np.flatnonzero(found == 0)
    assert np.diff([*starts, len(found)]).tolist() == lengths and found.dtype == np.int64
    blocks = positions.document_mask(lengths)
    assert blocks.sum(-1).tolist() == np.repeat(lengths, lengths).tolist()
    assert (blocks == blocks.T).all() and (blocks @ blocks == blocks).all()
    order = np.arange(len(found))
    rows_before = (blocks & attention.causal_mask(order, order)).sum(-1)
    assert (rows_before == found + 1).all()


windows = st.none() | st.lists(st.none() | small, min_size=3, max_size=3)


@about(costs.cache_bytes, costs.score_flops, costs.rotation_flops, costs.bias_flops)
@given(small, small, small, small, windows)
def test_costs_add_over_layers_and_heads_and_windows_never_cost_more(seq, heads, more, dim, window):
    def costly(n_layers, n_heads, windows=None):
        return np.array(
            [
                costs.cache_bytes(seq, n_layers, n_heads, dim, windows=windows),
                costs.score_flops(seq, n_layers, n_heads, dim, windows=windows),
                costs.bias_flops(seq, n_layers, n_heads),
                costs.rotation_flops(n_layers, n_heads, n_heads, 2 * dim),
            ]
        )

    near(costly(3, heads), 3 * costly(1, heads), 0)
    near(costly(3, heads + more), costly(3, heads) + costly(3, more), 0)
    found = costly(3, heads, window)
    assert (found <= costly(3, heads)).all()
    layers = [costly(1, heads, [each]) for each in window or [None] * 3]
    near(sum(layers), found, 0)
    whole_text = sum(costs.score_flops(n, 1, 1, 1) for n in range(1, seq + 1))
    assert whole_text == 2 * seq * (seq + 1)
    halved = costs.cache_bytes(seq, 3, heads, dim, windows=window, shared_kv=True)
    assert 2 * halved == found[0]


@about(costs.bias_bytes)
@given(small, small, small, st.sampled_from([1, 2, 4, 8]))
def test_a_written_bias_has_the_bytes_of_its_array(seq, heads, more, size):
    array = np.zeros((heads, seq, seq), f"f{size}" if size > 1 else np.int8)
    assert costs.bias_bytes(seq, heads, bytes_per_number=size) == array.nbytes
    both = costs.bias_bytes(seq, heads + more)
    assert both == costs.bias_bytes(seq, heads) + costs.bias_bytes(seq, more)


@about(configs.describe, configs.runs, configs.Layer)
@given(
    st.sampled_from(["gemma2", "ministral", "qwen3", "cohere2"]),
    st.lists(st.sampled_from(["full_attention", "sliding_attention"]), min_size=1, max_size=9),
    small,
    st.integers(1, 16),
    thetas,
)
def test_a_config_gives_each_layer_its_window_and_runs_add_up(model, kinds, window, pairs, theta):
    config = {
        "model_type": model,
        "num_hidden_layers": len(kinds),
        "head_dim": 2 * pairs,
        "layer_types": kinds,
        "sliding_window": window,
        "use_sliding_window": True,
        "rope_theta": theta,
    }
    layers = configs.describe(config)
    assert layers == configs.describe({"text_config": config})
    for layer, kind in zip(layers, kinds, strict=True):
        assert layer.window == (window if kind == "sliding_attention" else None)
        turns = model != "cohere2" or kind == "sliding_attention"
        assert layer.scheme == ("rope" if turns else "none")
        assert layer.turning == (2 * pairs if turns else 0)
        if turns:
            slowest = wavelengths(inverse_frequencies(2 * pairs, theta))[-1]
            np.testing.assert_allclose(layer.longest, slowest, rtol=1e-12)
    counted = configs.runs(layers)
    assert [layer for layer, n in counted for _ in range(n)] == list(layers)
    assert all(one[0] != other[0] for one, other in itertools.pairwise(counted))


ONE_SET = [
    model
    for model, code in config_types.TYPES.items()
    if code.scheme == "rope" and not (code.fixed or code.nested or code.held)
]
BETWEEN = st.text("abcdefg_", max_size=6)


@about(config_rotary.of_kind, config_rotary.refuse_unread)
@given(
    st.sampled_from(ONE_SET),
    thetas,
    st.sampled_from([0.0, 0.25, 0.5, 1]),
    BETWEEN,
    st.sampled_from(["rope", "rotary", "theta", "alibi", "nope"]),
)
def test_a_base_and_a_share_are_found_wherever_they_stand(model, theta, share, around, word):
    code = config_types.TYPES[model]
    share = share if code.shares else 1
    keys = {code.base: theta, code.part: share}
    new = {"rope_theta": theta, "partial_rotary_factor": share}
    for rotary in (keys, {"rope_parameters": new}, {"rope_scaling": new}):
        config = {"model_type": model, "head_dim": 8} | rotary
        config_rotary.refuse_unread(config)
        for kind in code.kinds:
            assert config_rotary.of_kind(config, kind) == (theta, share, "default")
        stranger = f"{around}{word}{around}_unheard_of"
        with pytest.raises(ValueError, match=stranger):
            config_rotary.refuse_unread(config | {stranger: 1})


@about(criteria.random_contents, criteria.scheme_logits, criteria.uniqueness)
@about(criteria.growth, criteria.distance_share, criteria.scalability)
@slow()
@given(seeds, st.integers(1, 4), st.integers(1, 4), falling, st.integers(4, 9), st.integers(1, 3))
def test_relative_schemes_have_their_whole_variance_in_the_distance(
    seed, n_heads, n_contents, w, length, factor
):
    contents = criteria.random_contents(
        n_heads=n_heads, head_dim=2 * len(w), n_contents=n_contents, seed=seed
    )
    plain = criteria.scheme_logits(contents)
    turned = criteria.scheme_logits(contents, rotate=lambda x, n: rope.rotate(x, n, w))
    line = criteria.scheme_logits(
        contents, bias=lambda q, k: alibi.bias(alibi.slopes(n_heads), q, k)
    )
    places, by = np.arange(length), int(np.random.default_rng(seed).integers(2**20))
    for logits in (plain, turned, line):
        scores = logits(places, places)
        assert scores.shape == (n_heads, n_contents, length, length)
        near(logits(places + by, places + by), scores, 1e-6)
        share = criteria.distance_share(logits, length)
        assert np.isnan(share) if logits is plain else abs(share - 1) < 1e-6
        gap, (a, b) = criteria.uniqueness(logits, length)
        assert 0 <= a < b < length
        near(gap, np.sqrt(np.mean((scores[..., -1, a] - scores[..., -1, b]) ** 2)), 1e-12)
        found = criteria.scalability(logits, length, factor)
        assert found.defined and 0 <= found.unseen_mass <= 1 + 1e-12 and found.mass_kept >= 0
        if factor == 1:
            near(found[1:], (0, 1), 1e-12)
            assert logits is plain or criteria.growth(logits, plain, length, 1) == 1
    assert criteria.uniqueness(plain, length)[0] == 0
    steeper = criteria.scheme_logits(
        contents, bias=lambda q, k: alibi.bias(8 * alibi.slopes(n_heads), q, k)
    )
    reached = [criteria.growth(logits, plain, length, factor) for logits in (line, steeper)]
    near(*reached, 1e-9)
    assert 1 <= reached[0] <= (factor * length - 1) / (length - 1) * 1.1
