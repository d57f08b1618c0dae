// How far back each head of ALiBi reaches, for flat contents, while the context grows.
// Everything is computed here. Needs controls.js in front of it.

const SHORTEST = 64;
const OCTAVES = 7; // the context runs from 64 to 64 * 2^7 = 8192 tokens
const STEPS = 8; // of the slider, an octave
const SHARE = 0.95; // of the attention, which defines a span
const NEAR = 64; // tokens whose share is printed
const PLOT = { left: 34, right: 322, top: 46, bottom: 232 };
const WIDEST = 13; // the distance axis runs from 1 to 2^13 tokens

/** Share of the attention on the nearest n keys: slope 0 is no bias, and all keys are alike. */
const share = (slope, n, length) => (slope ? Math.expm1(-slope * n) / Math.expm1(-slope * length) : n / length);

/** The fewest nearest keys that hold 95 % of the attention. */
function span(slope, length) {
  let [low, high] = [0, length];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (share(slope, middle, length) >= SHARE) high = middle;
    else low = middle;
  }
  return high;
}

const across = (n) => PLOT.left + ((PLOT.right - PLOT.left) * Math.log2(n)) / WIDEST;
const up = (value) => PLOT.bottom - (PLOT.bottom - PLOT.top) * value;
const named = (slope) => (slope ? `1/${Math.round(1 / slope)}` : "none");
// Light to dark blue from the steepest to the flattest head: the order can be seen without hues.
const colour = (head) => `hsl(204 100% ${(62 - 6 * head).toFixed(0)}%)`;

function chart(slopes) {
  const grid = [0, 0.5, SHARE].map(
    (value) => `<path d="M${PLOT.left} ${up(value)}H${PLOT.right}" stroke="${value ? "#dcdcdc" : "#777"}"/>` +
      text(PLOT.left - 5, up(value) + 4, value, 'text-anchor="end"'),
  );
  const ticks = [0, 3, 6, 9, 13].map(
    (power) => `<path d="M${across(2 ** power)} ${PLOT.bottom}v5" stroke="#777"/>` +
      text(across(2 ** power), PLOT.bottom + 18, 2 ** power, 'text-anchor="middle"'),
  );
  const heads = slopes.map(
    (slope, head) => slope
      ? `<path class="lessons-curve" fill="none" stroke="${colour(head)}" stroke-width="2"/>
        <circle class="lessons-dot" r="4" fill="${colour(head)}" stroke="#fff"/>`
      : `<path class="lessons-curve" fill="none" stroke="#b34700" stroke-width="2.5" stroke-dasharray="6 3"/>
        <circle class="lessons-dot" r="4.5" fill="#b34700" stroke="#fff"/>`,
  );
  return `<svg viewBox="0 0 340 274" role="img">` +
    text(4, 15, "Share of the attention on the nearest n tokens") + grid.join("") + ticks.join("") +
    text((PLOT.left + PLOT.right) / 2, 268, "n, log scale", 'text-anchor="middle"') + heads.join("") +
    `<path d="M36 31h20" stroke="${colour(4)}" stroke-width="2"/>${text(61, 35, "8 heads, steepest left")}` +
    `<path d="M204 31h20" stroke="#b34700" stroke-width="2.5" stroke-dasharray="6 3"/>${text(229, 35, "no bias")}</svg>`;
}

export default {
  render({ model, el }) {
    const slopes = [...model.get("_slopes"), 0];
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = chart(slopes);
    const [curves, dots] = ["curve", "dot"].map((name) => [...card.querySelectorAll(`.lessons-${name}`)]);

    const place = () => Math.round(STEPS * Math.log2(model.get("seq_len") / SHORTEST));
    const go = (step) => write(model, { seq_len: Math.round(SHORTEST * 2 ** (step / STEPS)) });
    const length = makeSlider("context length", { min: 0, max: STEPS * OCTAVES, longest: "8192 tokens" }, (step) => {
      player.stop();
      go(step);
    });
    const player = makePlayer(pace(150, 800), { at: place, last: () => STEPS * OCTAVES, go });

    const cells = slopes.map((slope) => make("span", "", {}, [make("span", "", {}, [`${named(slope)} `]), make("span")]));
    const columns = make("output", "lessons-columns", { "aria-live": "off" }, cells);
    const near = make("output", "lessons-numbers", { "aria-live": "off" });

    const show = () => {
      const tokens = model.get("seq_len");
      // Whole numbers of tokens, evenly spread on the log axis, and the last one is the context.
      const points = [...new Set(Array.from({ length: 160 }, (_, i) => Math.round(tokens ** (i / 159))))];
      const spans = slopes.map((slope) => span(slope, tokens));
      slopes.forEach((slope, head) => {
        const path = points.map((n) => `${across(n).toFixed(1)} ${up(share(slope, n, tokens)).toFixed(1)}`);
        curves[head].setAttribute("d", `M${path.join("L")}`);
        dots[head].setAttribute("cx", across(spans[head]));
        dots[head].setAttribute("cy", up(share(slope, spans[head], tokens)));
        cells[head].lastChild.textContent = `${spans[head]} `;
      });
      length.show(place(), `${tokens} tokens`);
      const [steep, flat, none] = [slopes[0], slopes[7], 0].map((slope) => share(slope, NEAR, tokens).toFixed(3));
      near.replaceChildren(`The nearest ${NEAR} hold: slope 1/2 ${steep}, 1/256 ${flat}, none ${none}.`);
      card.firstChild.setAttribute("aria-label", `Context of ${tokens} tokens. 95 % of the attention lies within ` +
        `${spans.slice(0, 8).join(", ")} tokens in the eight heads, and within ${spans[8]} without a bias. ` +
        `The nearest ${NEAR} tokens hold ${none} of the attention without a bias.`);
    };

    const root = makeRoot("lessons-figure lessons-spans");
    root.style.maxWidth = "560px"; // here, since the book's theme overrules a class
    root.append(
      card, make("div", "lessons-controls", {}, [player.button, length.range]), length.caption,
      make("div", "lessons-heading", {}, ["Slope, and tokens that hold 95\u00a0%:"]), columns, near,
    );
    return mount(el, root, player, model, ["seq_len"], show);
  },
};
