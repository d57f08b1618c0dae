// What a patch of a picture sees: the mean score of the query patch with every patch, as a colour.
// Everything is computed here. Needs controls.js in front of it.

const LEFT = 22; // of the grid, whose sides are labelled
const TOP = 22;
const WIDTH = 312;
const LOWEST = 0.25; // the darkest colour; equal patches have score 1
// Viridis, as the still map before the figure has it; between two of these the colour is mixed.
const COLOURS = ["#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884",
  "#44bf70", "#7ad151", "#bddf26", "#fde725"];

/** From purple to yellow, and the lighter the higher the score. */
const colour = (score) => {
  const place = (COLOURS.length - 1) * Math.min(1, Math.max(0, (score - LOWEST) / (1 - LOWEST)));
  const below = Math.min(COLOURS.length - 2, Math.floor(place));
  const mixed = [1, 3, 5].map((digit) => {
    const [from, to] = [0, 1].map((step) => parseInt(COLOURS[below + step].slice(digit, digit + 2), 16));
    return Math.round(from + (to - from) * (place - below));
  });
  return `rgb(${mixed.join(" ")})`;
};

/** The mean over the pairs of cos(angle of q - angle of k), for every patch k. */
function scores({ positions, sections, invFreq }, q) {
  return positions[0].map((_, k) => {
    const turns = invFreq.map((w, i) => (positions[sections[i]][q] - positions[sections[i]][k]) * w);
    return turns.reduce((sum, turn) => sum + Math.cos(turn), 0) / turns.length;
  });
}

function drawing(rows, columns, size) {
  const corner = (i) => `x="${LEFT + size * (i % columns)}" y="${TOP + size * Math.floor(i / columns)}"`;
  const cells = Array.from({ length: rows * columns }, (_, i) => `<rect ${corner(i)} width="${size}" height="${size}"/>`);
  const bottom = TOP + size * rows;
  const legend = Array.from({ length: 16 }, (_, i) =>
    `<rect x="${140 + 8 * i}" y="${bottom + 10}" width="8.5" height="12" fill="${colour(LOWEST + (1 - LOWEST) * (i / 15))}"/>`);
  return `<svg viewBox="0 0 340 ${bottom + 28}" role="img">` +
    text(LEFT, 14, `columns 0 \u2026 ${columns - 1}`) +
    text(14, TOP, `rows 0 \u2026 ${rows - 1}`, 'transform="rotate(-90 14 22)" text-anchor="end"') +
    `<g class="lessons-patches" stroke="#fff" stroke-width=".6">${cells.join("")}</g>
    <rect class="lessons-query" width="${size}" height="${size}" fill="none" stroke="#000" stroke-width="3" pointer-events="none"/>` +
    text(LEFT, bottom + 21, "mean score") + legend.join("") + text(134, bottom + 21, LOWEST, 'text-anchor="end"') +
    text(274, bottom + 21, 1) + "</svg>";
}

export default {
  render({ model, el }) {
    const [rows, columns, schemes] = ["_rows", "_columns", "_schemes"].map((name) => model.get(name));
    const size = WIDTH / Math.max(rows, columns);
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = drawing(rows, columns, size);
    const svg = card.firstElementChild;
    const [patches, query] = ["patches", "query"].map((name) => svg.querySelector(`.lessons-${name}`));

    // The slider runs through the patches as one reads; its up and down keys move by a row.
    const at = () => model.get("row") * columns + model.get("column");
    const go = (patch) => write(model, { row: Math.floor(patch / columns), column: patch % columns });
    const last = rows * columns - 1;
    const slider = makeSlider("query patch", { min: 0, max: last, longest: "row 00, column 00" }, (patch) => {
      player.stop();
      go(patch);
    });
    slider.range.addEventListener("keydown", (event) => {
      const to = at() + { ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (Number.isNaN(to)) return; // another key
      event.preventDefault();
      player.stop();
      if (to >= 0 && to <= last) go(to);
    });
    const player = makePlayer(pace(250, 1000), { at, last: () => last, go });

    const drag = (event) => {
      if (!event.buttons) return;
      player.stop();
      const corner = svg.getBoundingClientRect();
      const scale = 340 / corner.width;
      const along = (point, from, count) => Math.min(count - 1, Math.max(0, Math.floor((point * scale - from) / size)));
      const [row, column] = [along(event.clientY - corner.top, TOP, rows), along(event.clientX - corner.left, LEFT, columns)];
      write(model, { row, column });
    };
    patches.addEventListener("pointerdown", (event) => {
      patches.setPointerCapture(event.pointerId); // so that a drag may leave the grid and come back
      drag(event);
    });
    patches.addEventListener("pointermove", drag);
    const choices = makeChoices("scheme", schemes.map(({ name }) => name), (scheme) => write(model, { scheme }));
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });

    const show = () => {
      const [r, c, scheme] = ["row", "column", "scheme"].map((name) => model.get(name));
      const found = scores(schemes.find(({ name }) => name === scheme), at());
      [...patches.children].forEach((patch, i) => patch.setAttribute("fill", colour(found[i])));
      query.setAttribute("x", LEFT + size * c);
      query.setAttribute("y", TOP + size * r);
      slider.show(at(), `row ${r}, column ${c}`);
      choices.show(scheme);
      // The start of the next row is what follows the end of a row when the picture is flattened.
      const word = (r2, c2) => (r2 < rows && c2 < columns ? found[r2 * columns + c2].toFixed(4) : "none");
      const said = [`right ${word(r, c + 1)}`, `below ${word(r + 1, c)}`, `start of next row ${word(r + 1, 0)}`];
      numbers.replaceChildren(...["Mean score:", ...said].map((words) => make("span", "", {}, [words])));
      svg.setAttribute("aria-label", `${rows} rows of ${columns} patches, ${scheme}; query in row ${r}, column ${c}. ` +
        `Mean score with the patch to the ${said[0]}, ${said[1]}, ${said[2]}; lowest anywhere ${Math.min(...found).toFixed(4)}.`);
    };

    const root = makeRoot("lessons-figure lessons-grid");
    root.style.maxWidth = "440px"; // here, since the book's theme overrules a class
    root.append(card, make("div", "lessons-controls", {}, [player.button, slider.range]), slider.caption, choices.group, numbers);
    return mount(el, root, player, model, ["row", "column", "scheme"], show);
  },
};
