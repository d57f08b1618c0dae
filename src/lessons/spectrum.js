// What a rule for longer contexts makes of every wavelength, beside the saved perplexity.
// The frequencies are rescaled here. Needs controls.js in front of it.

const [STEPS, LAST] = [6, 24]; // of the slider: an octave of the factor, all four octaves
const [FAST, SLOW, HIGH, LOW] = [32, 1, 4, 1]; // turns within L: the bounds of YaRN, of Llama 3
const PLOT = { left: 46, right: 322, top: 40, bottom: 214 };
const [DECADES, NEVER] = [[0.4, 6.4], 26]; // the wavelength axis; where pairs lie that stand still
const COLOURS = ["#d55e00", "#0072b2", "#009e73", "#b0568f", "#757575", "#3a93c9"];

const clamp = (x) => Math.min(1, Math.max(0, x));
/** (1 - kept) w / s + kept w, where kept is a function of the pair. */
const blend = (w, s, kept) => w.map((x, i) => (1 - kept(x, i)) * (x / s) + kept(x, i) * x);
const turns = (x, length) => (length * x) / (2 * Math.PI);

/** YaRN as the authors' code has it: the ramp is linear in the index of the pair. */
function yarn(w, s, length) {
  const dim = 2 * w.length;
  const theta = (w[0] / w[w.length - 1]) ** (dim / (dim - 2));
  const at = (beta) => (dim * Math.log(turns(w[0], length) / beta)) / (2 * Math.log(theta));
  const first = Math.max(Math.floor(at(FAST)), 0);
  const last = Math.max(Math.min(Math.ceil(at(SLOW)), dim - 1), first + 0.001);
  return blend(w, s, (_, i) => clamp((last - i) / (last - first)));
}

const RESCALED = {
  "PI": (w, s) => w.map((x) => x / s),
  "NTK": (w, s) => w.map((x, i) => x / s ** (i / (w.length - 1))),
  "YaRN": yarn,
  "Llama 3": (w, s, length) => blend(w, s, (x) => clamp((turns(x, length) - LOW) / (HIGH - LOW))),
  "raise \u03b8": (w, s, length, theta) => w.map((_, i) => theta ** (-i / w.length)),
  "truncate": (w, s, length) => w.map((x) => (turns(x, length) > 1 ? x : 0)),
};

const across = (part) => PLOT.left + (PLOT.right - PLOT.left) * part;
const up = (part) => PLOT.bottom - (PLOT.bottom - PLOT.top) * part;
const tall = (wave) => (wave === Infinity ? NEVER : up((Math.log10(wave) - DECADES[0]) / (DECADES[1] - DECADES[0])));
const axis = (x, label) => `<path d="M${PLOT.left} ${PLOT.bottom}H${PLOT.right}" stroke="#777"/>${x}` +
  text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 34, label, 'text-anchor="middle"');
const below = (part, words) => text(across(part), PLOT.bottom + 17, words, 'text-anchor="middle"');
const beside = (y, words) => `<path d="M${PLOT.left} ${y}H${PLOT.right}" stroke="#e4e4e4"/>` +
  text(PLOT.left - 5, y + 4, words, 'text-anchor="end"');

/** A wavelength in words: one decimal where it is small. */
const said = (wave) => (wave === Infinity ? "never" : wave < 1000 ? wave.toFixed(1) : Math.round(wave).toLocaleString("en-US").replaceAll(",", "\u202f"));

function waves(count, length) {
  const ticks = [1, 2, 3, 4, 5, 6].map((power) => beside(tall(10 ** power), power < 4 ? 10 ** power : `10<tspan dy="-4" font-size="9">${power}</tspan>`));
  const pairs = [...Array(count).keys()].map((i) => below((i + 0.5) / count, i));
  return `<svg viewBox="0 0 340 254" role="img">${text(4, 12, "Wavelength in tokens, log scale")}${beside(NEVER, "never")}` +
    ticks.join("") + axis(pairs.join(""), "pair i, fastest first") +
    `<path d="M${PLOT.left} ${tall(length)}H${PLOT.right}" stroke="#222" stroke-dasharray="5 3"/>` +
    text(PLOT.right, tall(length) + 14, `L = ${length}`, 'text-anchor="end"') + `<g></g></svg>`;
}

export default {
  render({ model, el }) {
    const [w, length, theta, rules] = ["_inv_freq", "_trained", "_theta", "_rules"].map((name) => model.get(name));
    const all = rules.flatMap(({ inside, beyond }) => [...inside, ...beyond]).map(Math.log);
    const [low, high] = [Math.min(...all) - 0.1, Math.max(...all) + 0.1];
    const level = (perplexity) => up((Math.log(perplexity) - low) / (high - low));
    const curve = (values) => `M${values.map((value, i) => `${across(i / LAST).toFixed(1)} ${level(value).toFixed(1)}`).join("L")}`;
    const ticks = [2, 3, 5, 7, 10, 15, 20, 30, 50].filter((value) => Math.log(value) > low && Math.log(value) < high);
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = waves(w.length, length) + `<svg viewBox="0 0 340 254" role="img">` +
      text(4, 12, "Perplexity without tuning, log scale") + ticks.map((value) => beside(level(value), value)).join("") +
      axis([0, 6, 12, 18, 24].map((step) => below(step / LAST, 2 ** (step / STEPS))).join(""), "factor s, log scale") +
      `<path d="M60 24h22" stroke="#222" stroke-width="2.5"/>${text(87, 28, `at ${4 * length} tokens`)}` +
      `<path d="M188 24h22" stroke="#222" stroke-width="2" stroke-dasharray="4 3"/>${text(215, 28, `at ${length} tokens`)}<g></g></svg>`;
    const [dots, curves] = card.querySelectorAll("g");

    const [at, go] = [() => model.get("step"), (step) => write(model, { step })];
    const slider = makeSlider("factor", { min: 0, max: LAST, longest: "16.00" }, (step) => {
      player.stop();
      go(step);
    });
    const player = makePlayer(pace(300, 1200), { at, last: () => LAST, go });
    const choices = makeChoices("rule", rules.map(({ name }) => name), (rule) => write(model, { rule }));
    // Each button has the colour of its curve.
    [...choices.group.children].forEach((button, i) => (button.style.borderBottom = `5px solid ${COLOURS[i]}`));
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });

    const show = () => {
      const [step, chosen] = [at(), rules.findIndex(({ name }) => name === model.get("rule"))];
      const { name, inside, beyond } = rules[chosen];
      const s = 2 ** (step / STEPS);
      const [before, after] = [w, RESCALED[name](w, s, length, theta)].map((list) => list.map((x) => (x ? (2 * Math.PI) / x : Infinity)));
      const colour = COLOURS[chosen];
      dots.innerHTML = after.map((wave, i) => {
        const [x, y] = [across((i + 0.5) / w.length), tall(wave)];
        return `<path d="M${x} ${tall(before[i])}V${y}" stroke="#999"/><circle cx="${x}" cy="${y}" r="5" stroke="${colour}"
          stroke-width="2" fill="${wave > length ? "#fff" : colour}"><title>pair ${i}: ${said(before[i])}, now ${said(wave)}</title></circle>`;
      }).join("");
      const others = rules.map((rule, i) => `<path d="${curve(rule.beyond)}" fill="none" stroke="${COLOURS[i]}" stroke-opacity=".8"/>`);
      curves.innerHTML = others.join("") + [[beyond, 2.5, ""], [inside, 2, "4 3"]].map(([values, width, dashes]) =>
        `<path class="lessons-curve" d="${curve(values)}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dashes}"/>
        <circle cx="${across(step / LAST)}" cy="${level(values[step])}" r="4.5" fill="${colour}" stroke="#fff"/>`).join("");
      slider.show(step, s.toFixed(2));
      choices.show(name);
      const turning = `${after.filter((wave) => wave <= length).length} of ${w.length} pairs make a turn within ${length} tokens`;
      const ends = `wavelengths ${said(after[0])} \u2026 ${said(after[w.length - 1])}`;
      const found = `perplexity ${beyond[step].toFixed(2)} at ${4 * length} tokens, ${inside[step].toFixed(2)} at ${length}`;
      numbers.replaceChildren(...[turning, ends, found].map((words) => make("span", "", {}, [words])));
      dots.parentNode.setAttribute("aria-label", `Rule ${name}, factor ${s.toFixed(2)}: ${turning}; ${ends}.`);
      curves.parentNode.setAttribute("aria-label", `Rule ${name}, factor ${s.toFixed(2)}: ${found}.`);
    };

    const root = makeRoot("lessons-figure lessons-spectrum");
    root.style.maxWidth = "760px"; // here, since the book's theme overrules a class
    root.append(card, make("div", "lessons-controls", {}, [player.button, slider.range]), slider.caption, choices.group, numbers);
    return mount(el, root, player, model, ["step", "rule"], show);
  },
};
