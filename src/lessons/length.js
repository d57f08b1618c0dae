// Perplexity against length for the models of lesson 07, under a window at test; or their recall.
// Needs controls.js in front of it.

const PLOT = { left: 34, right: 328, top: 30, bottom: 222 };
const STEPS = 8; // of the slider, an octave of windows
const ROWS = 6; // lines of the fullest view
const UNASKED = "none (recall)";
const AXES = {
  perplexity: { name: "perplexity, log scale", ticks: [4, 8, 16, 32, 64], low: 3.5, high: 80, digits: 1 },
  recall: { name: "share of the values named", ticks: [0, 0.25, 0.5, 0.75, 1], low: 0, high: 1.04, digits: 2 },
};

/** Where the window lies among the measured ones: the one before it, and the part of the way on. */
function place(windows, window) {
  const after = windows.findIndex((one) => one <= window);
  if (windows[after] === window) return [after, 0];
  const before = after - 1;
  return [before, Math.log2(windows[before] / window) / Math.log2(windows[before] / windows[after])];
}

/** Lowest, middle and highest of the seeds at each length, or null where the scheme is undefined. */
function summary({ values }, windows, window, read) {
  const [before, part] = values.length > 1 ? place(windows, window) : [0, 0];
  const between = (seed, i) => {
    const from = values[before][i][seed];
    return part ? from + part * (values[before + 1][i][seed] - from) : from;
  };
  return values[0].map((seeds, i) => {
    if (seeds.includes(null)) return null;
    const found = seeds.map((_, seed) => between(seed, i));
    const mean = found.reduce((sum, one) => sum + one, 0) / found.length;
    return [Math.min(...found), mean, Math.max(...found)].map(read);
  });
}

export default {
  render({ model, el }) {
    const [views, windows] = ["_views", "_windows"].map((name) => model.get(name));
    const card = make("div", "lessons-card lessons-panels");
    const at = () => Math.round(STEPS * Math.log2(windows[0] / model.get("window")));
    const go = (step) => write(model, { window: Math.round(windows[0] / 2 ** (step / STEPS)) });
    const last = () => STEPS * Math.log2(windows[0] / windows.at(-1));
    const slider = makeSlider("window", { min: 0, max: last(), longest: "939 tokens, in between" }, (step) => (player.stop(), go(step)));
    const player = makePlayer(pace(200, 1000), { at, last, go });
    const choices = makeChoices("models", views.map(({ name }) => name), (view) => (player.stop(), write(model, { view })));
    const legend = make("output", "lessons-legend", { "aria-live": "off" });

    const show = () => {
      const [tokens, name] = ["window", "view"].map((trait) => model.get(trait));
      const { lengths, lines } = views.find((view) => view.name === name);
      const recall = lines[0].values.length === 1; // one table, without windows
      const axis = recall ? AXES.recall : AXES.perplexity;
      const scale = recall ? (value) => value : Math.log;
      const across = (i) => PLOT.left + 8 + ((PLOT.right - PLOT.left - 16) * i) / (lengths.length - 1);
      const up = (value) => PLOT.bottom -
        ((PLOT.bottom - PLOT.top) * (scale(value) - scale(axis.low))) / (scale(axis.high) - scale(axis.low));
      const point = (i, value) => `${across(i).toFixed(1)} ${up(value).toFixed(1)}`;
      const measured = recall || windows.includes(tokens);
      const found = lines.map((line) => summary(line, windows, tokens, recall ? (share) => share : Math.exp));
      const drawn = lines.map(({ colour, dashes }, k) => {
        const known = found[k].map((seeds, i) => [i, seeds]).filter(([, seeds]) => seeds);
        const path = (which, list = known) => list.map(([i, seeds]) => point(i, seeds[which])).join("L");
        const dots = known.map(([i, [, middle]]) =>
          `<circle cx="${across(i).toFixed(1)}" cy="${up(middle).toFixed(1)}" r="3" stroke="${colour}" fill="${measured ? colour : "#fff"}"/>`);
        return `<path class="lessons-band" d="M${path(0)}L${path(2, [...known].reverse())}Z" fill="${colour}" opacity=".18"/>` +
          `<path class="lessons-line" d="M${path(1)}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>` + dots.join("");
      });
      const grid = axis.ticks.map((tick) => `<path d="M${PLOT.left} ${up(tick).toFixed(1)}H${PLOT.right}" stroke="#dcdcdc"/>` +
        text(PLOT.left - 5, (up(tick) + 4).toFixed(1), tick, 'text-anchor="end"'));
      const ticks = lengths.map((length, i) => text(across(i).toFixed(1), PLOT.bottom + 18, length, 'text-anchor="middle"'));
      const number = (seeds, which, digits = 2) => (seeds ? seeds[which].toFixed(digits) : "\u2013");
      const words = recall ? UNASKED : tokens === windows[0] ? "none" : `${tokens} tokens${measured ? "" : ", in between"}`;
      const said = lines.map(({ label }, k) => {
        const end = found[k].at(-1);
        return `${label} ${number(found[k][0], 1)} and ${end ? `${number(end, 1)} (seeds ${number(end, 0)} to ${number(end, 2)})` : "undefined"}`;
      });
      const label = `${recall ? "Share of the values named" : "Perplexity"}, window at test: ${words}. ` +
        `At ${lengths[0]} and at ${lengths.at(-1)}: ${said.join("; ")}.`;
      card.innerHTML = `<svg viewBox="0 0 340 262" role="img" aria-label="${label}">` + text(4, 15, axis.name) + grid.join("") +
        ticks.join("") + text(181, 256, recall ? "length of the sequence, tokens" : "length of the pieces, bytes", 'text-anchor="middle"') +
        drawn.join("") + "</svg>";
      // As many rows in every view, so that none moves the page.
      legend.replaceChildren(row("", "", "at", [lengths[0], lengths.at(-1), "seeds"]), ...Array.from({ length: ROWS }, (_, k) => {
        if (!lines[k]) return row("", "", "\u00a0", ["", "", ""]);
        const [first, end] = [found[k][0], found[k].at(-1)];
        const [start, low, middle, high] = [[first, 1], [end, 0], [end, 1], [end, 2]].map((one) => number(...one, axis.digits));
        return row(lines[k].colour, lines[k].dashes, lines[k].label, [start, middle, end ? `${low}\u2013${high}` : "\u2013"]);
      }));
      slider.show(at(), words);
      for (const control of [slider.range, player.button]) control.disabled = recall;
      choices.show(name);
    };
    const row = (colour, dashes, label, numbers) => {
      const line = make("span", "lessons-key");
      line.innerHTML = colour && `<svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true"><path d="M0 4H24" stroke="${colour}" stroke-width="3" stroke-dasharray="${dashes}"/></svg>`;
      return make("span", "lessons-row", {}, [line, ...[label, ...numbers].map((words) => make("span", "", {}, [words, " "]))]);
    };

    const root = makeRoot("lessons-figure lessons-length");
    root.style.maxWidth = "560px"; // here, since the book's theme overrules a class
    root.append(card, make("div", "lessons-controls", {}, [player.button, slider.range]), slider.caption, choices.group, legend);
    return mount(el, root, player, model, ["window", "view"], show);
  },
};
