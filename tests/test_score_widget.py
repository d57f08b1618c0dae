"""lessons.score_widget: the page's numbers, hands and curves are NumPy's."""

import re

import numpy as np
import pytest

from lessons import frequencies, rope
from lessons.score_widget import Hands, ScoreCurve

W = frequencies.inverse_frequencies(16)
QUERIES, KEYS = np.random.default_rng(4).uniform(-np.pi, np.pi, (2, 8))


def minus(text):
    return text.replace("-", "−")


def vector(angles):
    """Pairs of equal size at these angles, interleaved, with norm 1 together."""
    return np.stack([np.cos(angles), np.sin(angles)], -1).reshape(1, -1) / np.sqrt(len(angles))


def scores_of(query, key, distance, inv_freq):
    """⟨R_m q, R_n k⟩ for n = 0 and every distance m."""
    q = np.repeat(query, len(distance), 0)
    return (rope.rotate(q, distance, inv_freq, pairing="interleaved") @ key[0]).ravel()


def lines(page, name):
    ends = "lines => lines.map(l => ['x1', 'y1', 'x2', 'y2'].map(n => Number(l.getAttribute(n))))"
    return np.array(page.eval_on_selector_all(f".lessons-{name}", ends)).T


def check_hands(page, n, distance, inv_freq=W, queries=QUERIES, keys=KEYS):
    score = scores_of(vector(queries), vector(keys), [distance], inv_freq)[0]
    m = n + distance
    assert page.inner_text(".lessons-numbers") == minus(f"m = {m}, n = {n}: score {score:.4f}")
    said = page.get_attribute("svg", "aria-label")
    assert said.startswith(f"Query at {m}, key at {n}: ")
    assert said.endswith(minus(f"Score {score:.4f}."))
    cosines = [minus(f"{c:.2f}") for c in np.cos(queries - keys + distance * inv_freq)]
    assert page.locator(".lessons-cosine").all_text_contents() == cosines
    for name, angle in (("query", queries + m * inv_freq), ("key", keys + n * inv_freq)):
        x1, y1, x2, y2 = lines(page, name)
        radius = np.hypot(x2 - x1, y2 - y1)
        np.testing.assert_allclose((x2 - x1) / radius, np.cos(angle), atol=1e-9)
        np.testing.assert_allclose((y1 - y2) / radius, np.sin(angle), atol=1e-9)


def points(page, name):
    path = page.get_attribute(f".lessons-{name}", "d")
    return np.array(re.findall(r"[ML](\S+) (\S+?)(?=L|$)", path), dtype=float).T


def check_curve(page, phases, inv_freq=W, reach=200):
    distance = np.arange(-reach, reach + 1)
    query, key = vector(np.zeros(len(phases))), vector(np.asarray(phases))
    scores = scores_of(query, key, distance, inv_freq)
    peak, top, middle = distance[scores.argmax()], scores.max(), scores[reach]
    assert page.inner_text(".lessons-numbers") == minus(
        f"highest {top:.3f} at distance {peak}; at 0: {middle:.3f}"
    )
    said = page.get_attribute("svg", "aria-label")
    assert minus(f"highest, {top:.3f}, at distance {peak};") in said
    assert page.text_content(".lessons-peak-label") == minus(f"peak at {peak}")
    x, y = points(page, "mean")
    grid = [float(found) for found in re.findall(r"M34 (\S+)H", page.inner_html("svg"))]
    zero, one = grid[1], grid[2]
    np.testing.assert_allclose((zero - y) / (zero - one), scores, atol=1e-3)
    assert one < zero  # on the screen, up is less
    assert len(x) == 2 * reach + 1
    np.testing.assert_allclose(x, np.linspace(34, x[-1], 2 * reach + 1), atol=0.1)
    assert x[-1] > 300


@pytest.mark.parametrize(("n", "distance"), [(0, 0), (0, 7), (37, 0), (500, 100)])
def test_hands_are_numpys(open_widget, n, distance):
    check_hands(open_widget(Hands(W, QUERIES, KEYS, n, distance)), n, distance)


def test_fewer_pairs_and_other_frequencies(open_widget):
    w = frequencies.inverse_frequencies(6, 500)
    queries, keys = QUERIES[:3], KEYS[:3]
    check_hands(open_widget(Hands(w, queries, keys, 41, 5)), 41, 5, w, queries, keys)
    page = open_widget(ScoreCurve(w, 11, reach=60))
    check_curve(page, 11 * w, w, 60)


def test_sliding_both_leaves_the_score_and_distance_changes_it(open_widget):
    page = open_widget(Hands(W, QUERIES, KEYS, 3, 7))
    both, apart = page.locator("input").all()
    before = page.text_content(".lessons-score"), page.get_attribute(".lessons-bar", "d")
    both.focus()
    page.keyboard.press("ArrowRight")
    check_hands(page, 4, 7)
    page.keyboard.press("End")
    check_hands(page, 500, 7)
    assert before == (page.text_content(".lessons-score"), page.get_attribute(".lessons-bar", "d"))
    assert both.get_attribute("aria-valuetext") == "500, m = 507"
    apart.focus()
    page.keyboard.press("ArrowLeft")
    check_hands(page, 500, 6)
    assert before != (page.text_content(".lessons-score"), page.get_attribute(".lessons-bar", "d"))
    assert page.evaluate("saves") >= 3


def test_hands_play_through_the_positions_and_pause(open_widget):
    page = open_widget(Hands(W, QUERIES, KEYS, 0, 7))
    page.click(".lessons-play")
    page.clock.run_for(600)
    page.click(".lessons-play")
    page.clock.run_for(600)
    check_hands(page, 10, 7)


@pytest.mark.parametrize("tokens", [0, 17, -200, 200])
def test_curve_is_numpys_and_peaks_where_the_key_was_turned_to(open_widget, tokens):
    page = open_widget(ScoreCurve(W, tokens))
    check_curve(page, tokens * W)
    assert page.text_content(".lessons-peak-label") == minus(f"peak at {tokens}")


def test_one_drag_turns_all_pairs_another_only_one(open_widget):
    page = open_widget(ScoreCurve(W, 16))
    page.focus("input")
    page.keyboard.press("ArrowRight")
    check_curve(page, 17 * W)
    assert page.get_attribute("input", "aria-valuetext") == "17 tokens"
    page.select_option("select", "3")
    check_curve(page, 17 * W)
    page.focus("input")
    page.keyboard.press("Home")
    phases = 17 * W
    phases[3] = -np.pi
    check_curve(page, phases)
    assert page.get_attribute("input", "aria-valuetext") == "−180°"
    np.testing.assert_allclose(points(page, "chosen"), [p for p in points(page, "pair >> nth=3")])
    page.select_option("select", "-1")
    check_curve(page, phases)
    assert page.get_attribute("input", "aria-valuetext") == "17 tokens"
    page.focus("input")
    page.keyboard.press("End")
    check_curve(page, 200 * W)


def test_curve_plays_and_a_kernel_can_set_it(open_widget):
    page = open_widget(ScoreCurve(W, -10))
    page.click(".lessons-play")
    page.clock.run_for(600)
    page.click(".lessons-play")
    check_curve(page, np.zeros(8))
    page.evaluate("model.set('phases', [1, 2, 3, 4, 5, 6, 7, 8])")
    check_curve(page, np.arange(1, 9))


@pytest.mark.parametrize(
    ("widget", "right", "wrong"),
    [
        ("hands", "Math.cos(w * distance - phase)", "Math.cos(w * distance + phase)"),
        ("hands", "queries[i] + m * w, keys[i] + n * w", "queries[i] + n * w, keys[i] + m * w"),
        ("hands", "y - RADIUS * Math.sin(angle)", "y + RADIUS * Math.sin(angle)"),
        ("curve", "Math.cos(w * distance - phase)", "Math.cos(w * distance + phase)"),
        ("curve", "i - reach)", "reach - i)"),
        ("curve", "(1 - value)) / 2", "(1 + value)) / 2"),
    ],
)
def test_the_comparison_would_notice_a_wrong_script(open_widget, widget, right, wrong):
    made = Hands(W, QUERIES, KEYS, 37, 7) if widget == "hands" else ScoreCurve(W, 17)
    assert made._esm.count(right) == 1
    page = open_widget(made, script=made._esm.replace(right, wrong))
    with pytest.raises(AssertionError):
        check_hands(page, 37, 7) if widget == "hands" else check_curve(page, 17 * W)


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("kind", ["hands", "curve"])
def test_it_fits_a_phone_and_nothing_moves(open_widget, kind, width):
    widget = Hands(W, QUERIES, KEYS, 500, 100) if kind == "hands" else ScoreCurve(W, 200, 2)
    page = open_widget(widget, width)
    box = "document.querySelector('.lessons-figure').getBoundingClientRect().height"
    heights = set()
    for key in ("Home", "ArrowRight", "End"):
        page.locator("input").first.press(key)
        heights.add(page.evaluate(box))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("""() => [...document.querySelectorAll('svg text')].every((t) => {
          if (!t.textContent) return true;
          const text = t.getBoundingClientRect();
          const frame = t.closest('svg').getBoundingClientRect();
          const inside = text.left >= frame.left - 0.5 && text.right <= frame.right + 0.5;
          return inside && text.height >= 11;
        })""")
    assert len(heights) == 1
    for control in page.locator("button, input, select").all():
        assert control.bounding_box()["height"] >= 44


@pytest.mark.parametrize(
    ("make", "arguments", "error", "named"),
    [
        (Hands, {"inv_freq": np.ones(9)}, ValueError, "inv_freq"),
        (Hands, {"inv_freq": [-1.0] * 8}, ValueError, "inv_freq"),
        (Hands, {"q_angles": [0.0]}, ValueError, "q_angles"),
        (Hands, {"k_angles": [np.nan] * 8}, ValueError, "k_angles"),
        (Hands, {"position": 501}, ValueError, "position"),
        (Hands, {"position": True}, TypeError, "position"),
        (Hands, {"distance": -1}, ValueError, "distance"),
        (Hands, {"distance": 0.5}, ValueError, "distance"),
        (Hands, {"max_position": 0}, ValueError, "max_position"),
        (Hands, {"max_distance": "9"}, TypeError, "max_distance"),
        (ScoreCurve, {"inv_freq": np.ones(9)}, ValueError, "inv_freq"),
        (ScoreCurve, {"inv_freq": [1.0, 0.0]}, ValueError, "inv_freq"),
        (ScoreCurve, {"tokens": 201}, ValueError, "tokens"),
        (ScoreCurve, {"tokens": 1.5}, ValueError, "tokens"),
        (ScoreCurve, {"pair": 8}, ValueError, "pair"),
        (ScoreCurve, {"pair": None}, TypeError, "pair"),
        (ScoreCurve, {"reach": 15}, ValueError, "reach"),
    ],
)
def test_refusals(make, arguments, error, named):
    usual = {"inv_freq": W}
    if make is Hands:
        usual |= {"q_angles": QUERIES, "k_angles": KEYS}
    with pytest.raises(error, match=named):
        make(**usual | arguments)


def test_a_kernel_reads_and_sets_within_the_range():
    hands, curve = Hands(W, QUERIES, KEYS, 5, 6), ScoreCurve(W, 7, 1)
    assert repr(hands) == "Hands(pairs=8, position=5, distance=6)"
    assert repr(curve) == "ScoreCurve(pairs=8, tokens=7, pair=1)"
    np.testing.assert_allclose(np.exp(1j * np.array(curve.phases)), np.exp(7j * W))
    for widget, name, value in (
        (hands, "position", 501),
        (hands, "distance", 101),
        (curve, "tokens", 201),
        (curve, "pair", 8),
        (curve, "phases", [1.0]),
    ):
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
