"""lessons.frequencies: the geometric ladder of frequencies, its wavelengths, and the log law."""

import numpy as np
import pytest

from lessons import frequencies, sinusoidal

DECADES = [(10, 20), (30, 60), (100, 200), (300, 600), (1000, 2000), (3000, 6000)]


def window_means(function):
    return np.array([function(np.arange(low, high)).mean() for low, high in DECADES])


def test_values_by_hand():
    np.testing.assert_allclose(frequencies.inverse_frequencies(4), [1, 0.01], rtol=1e-15)
    np.testing.assert_allclose(frequencies.inverse_frequencies(2), [1])
    np.testing.assert_allclose(frequencies.inverse_frequencies(4, theta=100), [1, 0.1])
    np.testing.assert_allclose(frequencies.inverse_frequencies(3, theta=8), [1, 0.25])
    np.testing.assert_array_equal(frequencies.inverse_frequencies(1), [1])
    np.testing.assert_array_equal(frequencies.inverse_frequencies(6, theta=1), [1, 1, 1])


@pytest.mark.parametrize("theta", [1.5, 100, 10_000.0, 500_000])
@pytest.mark.parametrize("dim", [2, 5, 64, 127, 128, 512])
def test_one_step_of_the_ladder_is_theta_to_the_2_over_dim(dim, theta):
    inv_freq = frequencies.inverse_frequencies(dim, theta)
    assert inv_freq.shape == (-(-dim // 2),) and inv_freq.dtype == np.float64
    assert inv_freq[0] == 1
    np.testing.assert_allclose(inv_freq[:-1] / inv_freq[1:], theta ** (2 / dim), rtol=1e-12)


def test_the_default_base_is_10000():
    np.testing.assert_allclose(frequencies.inverse_frequencies(64)[-1], 1.3335e-4, rtol=1e-4)


@pytest.mark.parametrize(("dim", "longest"), [(64, 47_117), (128, 54_410), (512, 60_611)])
def test_longest_wavelength(dim, longest):
    lengths = frequencies.wavelengths(frequencies.inverse_frequencies(dim))
    assert round(lengths[-1]) == longest
    assert lengths[0] == 2 * np.pi
    assert np.all(np.diff(lengths) > 0)


def test_no_width_reaches_62832():
    for dim in [*range(1, 200), 512, 1024, 4096, 2**16]:
        longest = frequencies.wavelengths(frequencies.inverse_frequencies(dim))[-1]
        assert longest < 2 * np.pi * 10_000


def test_a_pair_that_never_turns_has_an_infinite_wavelength():
    lengths = frequencies.wavelengths([2 * np.pi, 0.0, -0.0, 1e-320])
    np.testing.assert_array_equal(lengths, [1, np.inf, np.inf, np.inf])


def test_the_fastest_hand_alone_is_back_after_710_tokens():
    assert abs(frequencies.mean_cosine([710], [1.0])[0] - 1) < 2e-9
    assert frequencies.mean_cosine([710], frequencies.inverse_frequencies(64))[0] < 0.5


@pytest.mark.parametrize("d_model", [2, 6, 64])
def test_mean_cosine_is_the_cosine_similarity_of_two_encodings(d_model):
    distance = np.array([[0, 1, -1], [17, -250, 4096]])
    inv_freq = frequencies.inverse_frequencies(d_model, 1000)
    far = sinusoidal.encode(distance + 12_345, d_model, 1000)
    here = sinusoidal.encode([12_345], d_model, 1000)[0]
    cosines = far @ here / (np.linalg.norm(far, axis=-1) * np.linalg.norm(here))
    similarity = frequencies.mean_cosine(distance, inv_freq)
    assert similarity.shape == distance.shape
    np.testing.assert_allclose(similarity, cosines, atol=1e-11)


def test_mean_cosine_is_1_at_0_and_even():
    inv_freq, distance = frequencies.inverse_frequencies(32), np.arange(1000)
    similarity = frequencies.mean_cosine(distance, inv_freq)
    assert similarity[0] == 1 and similarity[1:].max() < 1
    np.testing.assert_array_equal(similarity, frequencies.mean_cosine(-distance, inv_freq))


def test_measured_windows_follow_the_log_law():
    inv_freq = frequencies.inverse_frequencies(512)
    measured = window_means(lambda distance: frequencies.mean_cosine(distance, inv_freq))
    np.testing.assert_allclose(measured, [0.646, 0.525, 0.394, 0.275, 0.144, 0.030], atol=1e-3)
    law = window_means(frequencies.log_law)
    np.testing.assert_allclose(law, [0.649, 0.527, 0.396, 0.276, 0.145, 0.026], atol=1e-3)
    assert np.abs(measured - law).max() < 0.005


@pytest.mark.parametrize(
    ("dim", "theta", "first"),
    [(64, 1e4, 725), (128, 1e4, 1707), (512, 1e4, 3284), (128, 5e5, 18_438)],
)
def test_first_distance_of_negative_similarity(dim, theta, first):
    inv_freq = frequencies.inverse_frequencies(dim, theta)
    similarity = frequencies.mean_cosine(np.arange(first + 1), inv_freq)
    assert similarity[-1] < 0 and similarity[:-1].min() >= 0


@pytest.mark.parametrize("theta", [1.5, 100, 10_000.0, 500_000])
def test_each_tenfold_distance_costs_ln_10_over_ln_theta(theta):
    law = frequencies.log_law([[1, 10], [100, 1000]], theta)
    cost = np.log(10) / np.log(theta)
    np.testing.assert_allclose(np.diff(law.ravel()), -cost)
    np.testing.assert_allclose(law[0, 0], 1 - np.euler_gamma / np.log(theta))
    np.testing.assert_allclose(frequencies.log_law([theta * 0.5614594836], theta), 0, atol=1e-9)


def test_with_10000_a_tenfold_distance_costs_a_quarter_and_the_line_ends_at_5615():
    np.testing.assert_allclose(np.diff(frequencies.log_law([10.0, 100.0])), -0.25)
    above, below = frequencies.log_law([5614, 5615])
    assert above > 0 > below
