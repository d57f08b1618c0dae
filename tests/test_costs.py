"""lessons.costs: counted by hand on small sizes, and against real arrays and arithmetic."""

import numpy as np
import pytest

from lessons import costs, frequencies, rope

LAYERS = 48
FIVE_OF_SIX = ([1024] * 5 + [None]) * 8


def test_the_cache_holds_what_its_arrays_hold():
    kept = [5, 3, 5]  # of 5 tokens, the middle layer has a window of 3
    arrays = [np.zeros((2, 4, tokens, 6), np.float16) for tokens in kept]  # key, value; 4 heads
    held = sum(array.nbytes for array in arrays)
    assert costs.cache_bytes(5, 3, 4, 6, windows=[None, 3, 9]) == held == 1248
    assert costs.cache_bytes(5, 3, 4, 6, windows=[None, 3, 9], shared_kv=True) == held // 2
    assert costs.cache_bytes(5, 3, 4, 6, bytes_per_number=4) == 2 * 3 * 4 * 5 * 6 * 4


def test_five_windowed_layers_of_six_need_a_sixth():
    """CURRICULUM's value, .173; counting the windowed layers as nothing gives .167."""
    full = costs.cache_bytes(131_072, LAYERS, 8, 128)
    mixed = costs.cache_bytes(131_072, LAYERS, 8, 128, windows=FIVE_OF_SIX)
    assert full == 2 * 8 * 128 * 2 * 48 * 131_072 == 25_769_803_776
    assert mixed / full == (1 + 5 * 1024 / 131_072) / 6
    assert f"{mixed / full:.3f}" == "0.173" != f"{1 / 6:.3f}"


def test_a_window_costs_nothing_less_before_it_is_full():
    for seq_len in (1, 1023, 1024):
        windowed = costs.cache_bytes(seq_len, LAYERS, 8, 128, windows=FIVE_OF_SIX)
        assert windowed == costs.cache_bytes(seq_len, LAYERS, 8, 128)


def test_a_latent_cache_is_one_shared_head():
    """DeepSeek-V3's latent cache: 512 numbers and a key of 64 channels, for all heads and k, v."""
    latent = costs.cache_bytes(1, 61, 1, 512 + 64, shared_kv=True)
    assert latent == 61 * 576 * 2
    assert costs.cache_bytes(1, 61, 128, 128) / latent == 2 * 128 * 128 / 576


class Counted(np.ndarray):
    """An array that counts multiplications and additions done with it."""

    flops = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(x) for x in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc in (np.multiply, np.add, np.subtract):
            Counted.flops += result.size
        return result.view(Counted)


def test_a_rotation_takes_three_flops_a_channel():
    x = np.arange(8.0).view(Counted)
    turns = rope.angles([3], frequencies.inverse_frequencies(8))[0]
    cos, sin = np.cos(turns), np.sin(turns)
    Counted.flops = 0
    first = x[:4] * cos - x[4:] * sin
    second = x[:4] * sin + x[4:] * cos
    turned = rope.rotate(np.arange(8.0)[None], [3], frequencies.inverse_frequencies(8))[0]
    assert np.abs(np.concatenate([first, second]) - turned).max() < 1e-12
    assert Counted.flops == 3 * 8
    # One query head and one key head, one layer.
    assert costs.rotation_flops(1, 1, 1, 8) == 2 * Counted.flops
    assert costs.rotation_flops(1, 1, 1, 2) == 2 * 3 * 2  # a single pair
    assert costs.rotation_flops(32, 32, 8, 128) == 3 * 128 * (32 + 8) * 32


def test_attention_and_bias_grow_with_the_keys_and_a_rotation_does_not():
    assert costs.score_flops(10, 1, 1, 4) == 10 * (2 * 4) + 10 * (2 * 4)
    assert costs.score_flops(10, 2, 3, 4, windows=[None, 4]) == 4 * 3 * 4 * (10 + 4)
    assert costs.bias_flops(10, 2, 3) == 2 * 10 * 2 * 3
    # The bias is 1/(2 head_dim) of attention at every length.
    for seq_len in (16, 4096):
        share = costs.bias_flops(seq_len, 32, 32) / costs.score_flops(seq_len, 32, 32, 128)
        assert share == 1 / (2 * 128)


def test_a_bias_written_out_is_as_large_as_its_array():
    assert costs.bias_bytes(7, 3) == np.zeros((3, 7, 7), np.float32).nbytes
    assert costs.bias_bytes(4096, 8) == 536_870_912
    assert costs.bias_bytes(4096, 8, bytes_per_number=2) == 536_870_912 // 2


@pytest.mark.parametrize("windows", [[1024], [None] * 47, [None] * 49, []])
def test_windows_are_one_a_layer(windows):
    with pytest.raises(ValueError, match=rf"windows .*48.* got {len(windows)}"):
        costs.cache_bytes(10, LAYERS, 8, 128, windows=windows)


def test_a_window_is_never_a_negative_index():
    """A window of 0 or −1 would make the cache shrink, not fail."""
    for window in (0, -1):
        with pytest.raises(ValueError, match=f"windows must be at least 1, got {window}"):
            costs.cache_bytes(10, 1, 8, 128, windows=[window])
