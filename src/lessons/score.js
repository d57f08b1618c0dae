// The score against signed distance, and what turning the key against the query does to it.
// Everything is computed here. Needs controls.js and turning.js in front of it.

const PLOT = { left: 34, right: 330, top: 44, bottom: 236 };
const ALL = -1;

const up = (value) => PLOT.top + ((PLOT.bottom - PLOT.top) * (1 - value)) / 2;
/** An angle in -180 ... 180 degrees, in radians. */
const wrap = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

function chart(pairs, reach, across) {
  const grid = [-1, 0, 1].map(
    (value) => `<path d="M${PLOT.left} ${up(value)}H${PLOT.right}" stroke="${value ? "#dcdcdc" : "#777"}"/>` +
      text(PLOT.left - 6, up(value) + 4, signed(value, 0), 'text-anchor="end"'),
  );
  const ticks = [-reach, -reach / 2, 0, reach / 2, reach].map(
    (tick) => `<path d="M${across(tick)} ${PLOT.bottom}v5" stroke="#777"/>` +
      text(across(tick), PLOT.bottom + 19, signed(tick, 0), `text-anchor="${tick === reach ? "end" : "middle"}"`),
  );
  const thin = '<path class="lessons-pair" fill="none" stroke="#777" stroke-opacity=".4"/>';
  return drawing(
    276,
    text(4, 16, "Score: thin lines one pair each, bold their mean") +
      `<path d="M${across(0)} ${PLOT.top}V${PLOT.bottom}" stroke="#777"/>` + grid.join("") + ticks.join("") +
      thin.repeat(pairs) +
      `<path class="lessons-chosen" fill="none" stroke="${ORANGE}" stroke-width="1.5"/>
      <path class="lessons-mean" fill="none" stroke="${BLUE}" stroke-width="2" stroke-linejoin="round"/>
      <path class="lessons-peak" stroke="${BLUE}" stroke-dasharray="3 3"/>` +
      text(0, PLOT.top - 8, "", 'class="lessons-peak-label"') +
      text((PLOT.left + PLOT.right) / 2, 272, "distance m − n in tokens; right: key in the past", 'text-anchor="middle"'),
  );
}

export default {
  render({ model, el }) {
    const [invFreq, reach] = ["_inv_freq", "_reach"].map((name) => model.get(name));
    const distances = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
    const across = (distance) => PLOT.left + ((PLOT.right - PLOT.left) * (distance + reach)) / (2 * reach);
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = chart(invFreq.length, reach, across);
    const picture = card.firstChild;
    const part = (name) => card.querySelector(`.lessons-${name}`);
    const pairs = [...card.querySelectorAll(".lessons-pair")];

    const turn = (value) => {
      if (model.get("pair") === ALL) return write(model, { tokens: value, phases: invFreq.map((w) => wrap(w * value)) });
      const phases = [...model.get("phases")];
      phases[model.get("pair")] = value / DEGREES;
      return write(model, { phases });
    };
    const slider = makeSlider("turn of the key", { min: -reach, max: reach }, (value) => {
      player.stop();
      turn(value);
    });
    const player = makePlayer(pace(60, 500), {
      at: () => slider.range.value - slider.range.min,
      last: () => slider.range.max - slider.range.min,
      go: (step) => turn(step + Number(slider.range.min)),
    });
    const names = ["all pairs, like a position", ...invFreq.map((w, i) => `pair ${i}, ${signed((2 * Math.PI) / w, 0)} tokens a turn`)];
    const options = names.map((name, i) => make("option", "", { value: i - 1 }, [name]));
    const choice = make("select", "lessons-choice", { "aria-label": "what to turn" }, options);
    choice.addEventListener("change", () => {
      player.stop();
      write(model, { pair: Number(choice.value) });
    });
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });
    const line = (f) => `M${distances.map((d) => `${across(d).toFixed(1)} ${up(f(d)).toFixed(1)}`).join("L")}`;

    const update = () => {
      const [phases, chosen] = [model.get("phases"), model.get("pair")];
      choice.value = chosen;
      const limit = chosen === ALL ? reach : 180;
      slider.range.min = -limit;
      slider.range.max = limit;
      const value = chosen === ALL ? model.get("tokens") : Math.round(phases[chosen] * DEGREES);
      slider.show(value, `${signed(value, 0)}${chosen === ALL ? " tokens" : "\u00b0"}`);
      pairs.forEach((path, i) => path.setAttribute("d", line((d) => pairScore(invFreq[i], phases[i], d))));
      part("chosen").setAttribute("d", chosen === ALL ? "" : pairs[chosen].getAttribute("d"));
      const scores = distances.map((d) => meanScore(invFreq, phases, d));
      part("mean").setAttribute("d", line((d) => scores[d + reach]));
      const highest = Math.max(...scores);
      const peak = distances[scores.indexOf(highest)];
      part("peak").setAttribute("d", `M${across(peak)} ${PLOT.top}V${PLOT.bottom}`);
      const label = part("peak-label");
      label.textContent = `peak at ${signed(peak, 0)}`;
      label.setAttribute("x", across(peak));
      label.setAttribute("text-anchor", peak > reach / 2 ? "end" : peak < -reach / 2 ? "start" : "middle");
      numbers.textContent = `highest ${signed(highest, 3)} at distance ${signed(peak, 0)}; at 0: ${signed(scores[reach], 3)}`;
      picture.setAttribute("aria-label", `Score against distance from ${signed(-reach, 0)} to ${reach}: ` +
        `highest, ${signed(highest, 3)}, at distance ${signed(peak, 0)}; ${signed(scores[reach], 3)} at distance 0.`);
    };

    const root = makeRoot("lessons-figure lessons-turning");
    root.style.maxWidth = "440px"; // here, since the book's theme overrules a class
    root.append(card, choice, make("div", "lessons-controls", {}, [player.button, slider.range]), slider.caption, numbers);
    return mount(el, root, player, model, ["phases", "pair", "tokens"], update);
  },
};
