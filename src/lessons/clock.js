// Sinusoidal pairs as clock hands, and what they add up to: the mean similarity at a
// distance. Everything is computed here. Needs controls.js in front of it.

const EULER = 0.5772156649015329;
const HANDS = 8;
const RADIUS = 34;
const TRAIL = 6; // tokens whose sweep stays visible; 6 rad is almost the whole fast clock
const DECADES = 6; // the distance axis runs from 1 to 10^6, so that the line's foot stays on it
const PLOT = { left: 36, right: 326, top: 34, bottom: 232, low: -0.2 };
const BLUE = "#0072b2";
const ORANGE = "#b34700";

const signed = (number) => number.toFixed(3).replace("-", "\u2212");
const tidy = (number) => Number(number.toPrecision(3));
const grouped = (number) => tidy(number).toLocaleString("en-US").replaceAll(",", "\u202f");

/** inv_freq[i] = theta^(-2i/d), radians per token. */
const inverseFrequencies = (dim, theta) =>
  Array.from({ length: dim / 2 }, (_, i) => theta ** ((-2 * i) / dim));

/** K(distance) = (2/d) * sum of cos(inv_freq[i] * distance). */
const similarity = (invFreq, distance) =>
  invFreq.reduce((sum, w) => sum + Math.cos(w * distance), 0) / invFreq.length;

/** The log law, and the distance at which it reaches 0. */
const law = (theta, distance) => 1 - (Math.log(distance) + EULER) / Math.log(theta);
const footOf = (theta) => theta * Math.exp(-EULER);

// Whole distances, evenly spread on the log axis.
const DISTANCES = [...new Set(Array.from({ length: 420 }, (_, i) => Math.round(10 ** ((DECADES * i) / 419))))];

const across = (distance) => PLOT.left + ((PLOT.right - PLOT.left) * Math.log10(distance)) / DECADES;
const up = (value) => PLOT.bottom - ((PLOT.bottom - PLOT.top) * (value - PLOT.low)) / (1 - PLOT.low);
const centre = (hand) => [44 + 84 * (hand % 4), 88 + 104 * Math.floor(hand / 4)];
const drawing = (inside) =>
  `<svg viewBox="0 0 340 276" role="img">${inside}</svg>`;

function clocks(dim) {
  const faces = Array.from({ length: HANDS }, (_, hand) => {
    const [x, y] = centre(hand);
    return `<circle cx="${x}" cy="${y}" r="${RADIUS}" fill="#fff" stroke="#8a8a8a"/>
      <path class="lessons-sweep" fill="${BLUE}" fill-opacity=".22"/>
      <line class="lessons-hand" x1="${x}" y1="${y}" stroke="${BLUE}" stroke-width="3" stroke-linecap="round"/>
      <circle class="lessons-tip" r="4.5" fill="${BLUE}"/>
      ${text(x, y + RADIUS + 16, "", 'class="lessons-wavelength" text-anchor="middle"')}`;
  });
  return drawing(
    text(10, 16, `${HANDS} of ${dim / 2} pairs. The tip of each hand is its pair:`) +
      text(10, 34, "height = sin ω<tspan font-style='italic'>n</tspan>, across = cos ω<tspan font-style='italic'>n</tspan>") +
      faces.join("") +
      text(10, 268, `Numbers: tokens for one turn. Shade: last ${TRAIL} tokens.`, 'font-size="12"'),
  );
}

function chart() {
  const grid = [0, 0.5, 1].map(
    (value) => `<path d="M${PLOT.left} ${up(value)}H${PLOT.right}" stroke="${value ? "#dcdcdc" : "#777"}"/>` +
      text(PLOT.left - 6, up(value) + 4, value, 'text-anchor="end"'),
  );
  const ticks = Array.from({ length: DECADES + 1 }, (_, power) => {
    const words = power < 4 ? 10 ** power : `10<tspan dy="-5" font-size="9.5">${power}</tspan>`;
    return `<path d="M${across(10 ** power)} ${PLOT.bottom}v5" stroke="#777"/>` +
      text(across(10 ** power), PLOT.bottom + 19, words, 'text-anchor="middle"');
  });
  return drawing(
    text(4, 16, "Mean similarity K at distance Δ") + grid.join("") + ticks.join("") +
      text((PLOT.left + PLOT.right) / 2, 268, "distance Δ in tokens, log scale", 'text-anchor="middle"') +
      `<path class="lessons-curve" fill="none" stroke="${BLUE}" stroke-width="2" stroke-linejoin="round"/>
      <path class="lessons-law" fill="none" stroke="${ORANGE}" stroke-width="2" stroke-dasharray="7 4"/>
      <circle class="lessons-foot" cy="${up(0)}" r="5" fill="${ORANGE}"/>` +
      text(0, up(0) + 19, "", `class="lessons-foot-label" fill="${ORANGE}"`) +
      `<path d="M214 54h22" stroke="${BLUE}" stroke-width="2"/>${text(242, 58, "K(Δ)")}
      <path d="M214 74h22" stroke="${ORANGE}" stroke-width="2" stroke-dasharray="7 4"/>${text(242, 78, "log law")}`,
  );
}

export default {
  render({ model, el }) {
    const dim = model.get("_d_model");
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = clocks(dim) + chart();
    const [left, right] = card.children;
    const part = (name) => card.querySelector(`.lessons-${name}`);
    const parts = (name) => [...card.querySelectorAll(`.lessons-${name}`)];

    const toPosition = (position) => write(model, { position });
    const position = makeSlider("position n", { min: 0, max: model.get("_max_position") }, (value) => {
      player.stop();
      toPosition(value);
    });
    const player = makePlayer(pace(50, 500), {
      at: () => model.get("position"),
      last: () => model.get("_max_position"),
      go: toPosition,
    });
    // Three digits, so that the θ on the label is the θ computed with.
    const theta = makeSlider("base θ", { min: 1, max: 6, step: 0.05 }, (power) => write(model, { theta: tidy(10 ** power) }));
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });

    const hands = { sweep: parts("sweep"), hand: parts("hand"), tip: parts("tip"), wavelength: parts("wavelength") };
    const circle = (w, p) => ((((w * p) / (2 * Math.PI)) % 1) * 360).toFixed(0);
    let invFreq;
    const shown = (hand) => invFreq[(hand * invFreq.length) / HANDS];

    const showPosition = () => {
      const p = model.get("position");
      const tail = Math.min(TRAIL, p);
      for (let hand = 0; hand < HANDS; hand += 1) {
        const w = shown(hand);
        const [x, y] = centre(hand);
        // Counter-clockwise from three o'clock; on the screen y grows downwards.
        const point = (tokens) => [x + RADIUS * Math.cos(w * tokens), y - RADIUS * Math.sin(w * tokens)];
        const [tipX, tipY] = point(p);
        hands.hand[hand].setAttribute("x2", tipX);
        hands.hand[hand].setAttribute("y2", tipY);
        hands.tip[hand].setAttribute("cx", tipX);
        hands.tip[hand].setAttribute("cy", tipY);
        const wide = w * tail > Math.PI ? 1 : 0;
        hands.sweep[hand].setAttribute("d", `M${x} ${y}L${point(p - tail)}A${RADIUS} ${RADIUS} 0 ${wide} 0 ${tipX} ${tipY}Z`);
      }
      position.show(p, String(p));
      left.setAttribute("aria-label", `Position ${p}: eight clock hands at base θ ${grouped(model.get("theta"))}. ` +
        `The fastest stands at ${circle(shown(0), p)} degrees, the slowest at ${circle(shown(7), p)}.`);
    };

    const showTheta = () => {
      const base = model.get("theta");
      invFreq = inverseFrequencies(dim, base);
      hands.wavelength.forEach((label, hand) => {
        label.textContent = grouped((2 * Math.PI) / shown(hand));
      });
      const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
      part("curve").setAttribute("d", path(DISTANCES.map((n) => [across(n), up(similarity(invFreq, n))])));
      const foot = footOf(base);
      part("law").setAttribute("d", path([1, foot].map((n) => [across(n), up(law(base, n))])));
      part("foot").setAttribute("cx", across(foot));
      const label = part("foot-label");
      label.textContent = `0 at ${grouped(foot)}`;
      const late = across(foot) > 200;
      label.setAttribute("x", across(foot) + (late ? 6 : -6));
      label.setAttribute("text-anchor", late ? "end" : "start");
      theta.show(Math.log10(base), grouped(base));
      const at = [10, 100, 1000].map((n) => signed(similarity(invFreq, n)));
      numbers.replaceChildren(...at.map((value, i) => make("span", "", {}, [`K(${10 ** (i + 1)}) = ${value} `])));
      right.setAttribute("aria-label", `Mean similarity at base θ ${grouped(base)}: ${at[0]} at distance 10, ` +
        `${at[1]} at 100, ${at[2]} at 1000. The straight line of the log law reaches 0 at distance ${grouped(foot)}.`);
      showPosition();
    };

    const root = makeRoot("lessons-figure lessons-clock");
    root.append(
      card,
      make("div", "lessons-controls", {}, [player.button, position.range]), position.caption,
      make("div", "lessons-controls", {}, [theta.range]), theta.caption, numbers,
    );
    el.append(root);
    showTheta();
    const leave = [follow(model, ["position"], showPosition), follow(model, ["theta"], showTheta)];
    return () => {
      player.stop();
      leave.forEach((one) => one());
    };
  },
};
