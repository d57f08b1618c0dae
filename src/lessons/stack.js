// The layers of one model after another: colour is the scheme, width the keys a query may see.
// Needs controls.js in front of it.

const PLOT = { left: 12, right: 328, top: 58, bottom: 300 };
const WIDEST = 17; // the axis runs from 1 to 2^17 keys; all keys fill it
const THICKEST = 14; // of a bar, in a model of few layers
const STATE_WIDTH = 26; // of a bar for a layer that keeps a state and has no scores
const COLOURS = {
  added: "#E69F00", rope: "#0072B2", truncated: "#56B4E9", bias: "#009E73", none: "#FFFFFF", state: "#B8B8B8",
};
const LEGEND = [
  ["added", "added"], ["rope", "RoPE"], ["truncated", "truncated RoPE"],
  ["bias", "bias"], ["none", "none"], ["state", "state, no scores"],
];

const across = (keys) => ((PLOT.right - PLOT.left) * Math.log2(keys)) / WIDEST;
const box = (scheme, x, y, width, height) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${COLOURS[scheme]}" stroke="${scheme === "none" ? "#222" : "#fff"}" stroke-width="${scheme === "none" ? 0.8 : 0.5}"/>`;

/** The width of a layer's bar: a window is drawn on the log axis, all keys fill it. */
function wide(scheme, window) {
  if (scheme === "state") return STATE_WIDTH;
  return window ? across(window) : PLOT.right - PLOT.left;
}

function frame() {
  const legend = LEGEND.map(([scheme, words], i) => {
    const [x, y] = [[12, 90, 170][i % 3], 8 + 20 * Math.floor(i / 3)];
    return box(scheme, x, y, 14, 11) + text(x + 19, y + 10, words);
  });
  const ticks = [128, 1024, 8192].map(
    (keys) => `<path d="M${PLOT.left + across(keys)} ${PLOT.bottom}v5" stroke="#777"/>` +
      text(PLOT.left + across(keys), PLOT.bottom + 18, keys, 'text-anchor="middle"'),
  );
  return `<svg viewBox="0 0 340 340" role="img">${legend.join("")}<g></g>` +
    `<path d="M${PLOT.left} ${PLOT.bottom}H${PLOT.right}" stroke="#777"/>${ticks.join("")}` +
    text(PLOT.right, PLOT.bottom + 18, "all", 'text-anchor="end"') +
    text(170, PLOT.bottom + 34, "keys that a query may see, log scale", 'text-anchor="middle"') + "</svg>";
}

export default {
  render({ model, el }) {
    const models = model.get("_models");
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = frame();
    const bars = card.querySelector("g");

    const at = () => model.get("model");
    const go = (index) => write(model, { model: index });
    const last = models.length - 1;
    const title = ({ date, name }) => `${date} ${name}`;
    const counted = (one) => `${one.bars.length} layers: ${one.words}.`;
    const origin = (one) => `${one.note ? `${one.note}. ` : ""}Source: ${one.source}.`;
    const longest = (say) => models.map(say).sort((a, b) => b.length - a.length)[0];
    const slider = makeSlider("model", { min: 0, max: last, longest: longest(title) }, (index) => {
      player.stop();
      go(index);
    });
    const player = makePlayer(pace(900, 2500), { at, last: () => last, go });
    // An unseen copy of the longest text below keeps its place, so that no model moves the page.
    const [words, source] = [counted, origin].map((say) =>
      make("output", "lessons-stack-words", { "aria-live": "off", "data-longest": longest(say) }, [make("span")]));

    const show = () => {
      const one = models[at()];
      const thick = Math.min(THICKEST, (PLOT.bottom - PLOT.top) / one.bars.length);
      // The first layer is the lowest bar.
      bars.innerHTML = one.bars.map(([scheme, keys], i) =>
        box(scheme, PLOT.left, (PLOT.bottom - thick * (i + 1)).toFixed(2), wide(scheme, keys).toFixed(2), thick.toFixed(2)),
      ).join("");
      slider.show(at(), title(one));
      words.firstChild.textContent = counted(one);
      source.firstChild.textContent = origin(one);
      card.firstChild.setAttribute("aria-label", `${one.name}, ${one.date}, ${counted(one)} Source: ${one.source}.`);
    };

    const root = makeRoot("lessons-figure lessons-stack");
    root.style.maxWidth = "560px"; // here, since the book's theme overrules a class
    root.append(card, make("div", "lessons-controls", {}, [player.button, slider.range]), slider.caption, words, source);
    return mount(el, root, player, model, ["model"], show);
  },
};
