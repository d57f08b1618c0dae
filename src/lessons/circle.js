// Sixteen neighbouring positions as dots on the unit circle, in three number formats. The rounding
// is done here. Needs controls.js in front of it.

const DOTS = 16;
const LAST = 32768;
const CENTRE = 170;
const RADIUS = 132;
const BLUE = "#0072b2";
const ORANGE = "#b34700";

/** Round to a bfloat16, to even where two are equally near: the upper half of a float32. */
function toBfloat16(number) {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, number);
  const bits = view.getUint32(0);
  view.setUint32(0, ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0);
  return view.getFloat32(0);
}

/** position · omega as each format computes it; the product itself is a float32 everywhere. */
const ANGLES = {
  "float32": (n, w) => Math.fround(Math.fround(n) * Math.fround(w)),
  "positions in bf16": (n, w) => Math.fround(toBfloat16(n) * Math.fround(w)),
  "frequencies in bf16": (n, w) => Math.fround(Math.fround(n) * toBfloat16(w)),
};

// 0, 1, 2, 3, then each power of two and three starts between it and the next.
const STARTS = [0, 1, 2, 3];
for (let power = 4; power < LAST; power *= 2) STARTS.push(...[1, 1.25, 1.5, 1.75].map((part) => part * power));
STARTS.push(LAST);

const grouped = (number) => number.toLocaleString("en-US").replaceAll(",", "\u202f");
const at = (angle, radius) => [CENTRE + radius * Math.cos(angle), CENTRE - radius * Math.sin(angle)];

/** What the figure shows: right and computed angles, how many differ, and the largest error. */
function reading(start, format, omega) {
  const positions = Array.from({ length: DOTS }, (_, i) => start + i);
  const right = positions.map((n) => n * omega);
  const angles = positions.map((n) => ANGLES[format](n, omega));
  const errors = angles.map((angle, i) => Math.abs(angle - right[i]) / omega);
  return { right, angles, different: new Set(angles).size, tokens: Math.max(...errors) };
}

function drawing() {
  const many = (name, attributes) => `<circle class="lessons-${name}" ${attributes}/>`.repeat(DOTS);
  return `<svg viewBox="0 0 340 340" role="img">
    <circle cx="${CENTRE}" cy="${CENTRE}" r="${RADIUS}" fill="none" stroke="#bbb"/>
    <path d="M${CENTRE - 8} ${CENTRE}h16M${CENTRE} ${CENTRE - 8}v16" stroke="#bbb"/>
    ${many("ring", `r="7.5" fill="none" stroke="${BLUE}" stroke-width="1.6"`)}
    ${many("dot", `r="4.5" fill="${ORANGE}"`)}
    <circle cx="96" cy="146" r="7.5" fill="none" stroke="${BLUE}" stroke-width="1.6"/>
    <text x="110" y="151">right, in float64</text>
    <circle cx="96" cy="196" r="4.5" fill="${ORANGE}"/>
    <text class="lessons-format" x="110" y="201"></text>
  </svg>`;
}

export default {
  render({ model, el }) {
    const omega = model.get("_omega");
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = drawing();
    const svg = card.firstElementChild;
    const parts = (name) => [...card.querySelectorAll(`.lessons-${name}`)];
    const rings = parts("ring");
    const dots = parts("dot");

    // The nearest step below a start that a kernel has set between two steps.
    const step = () => STARTS.findLastIndex((start) => start <= model.get("start"));
    const toStep = (index) => write(model, { start: STARTS[index] });
    const start = makeSlider("first of 16 positions", { min: 0, max: STARTS.length - 1, longest: grouped(LAST) }, (index) => {
      player.stop();
      toStep(index);
    });
    const player = makePlayer(400, { at: step, last: () => STARTS.length - 1, go: toStep });
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });
    const choices = makeChoices("number format", model.get("_formats"), (format) => write(model, { format }));

    const show = () => {
      const format = model.get("format");
      const first = model.get("start");
      const { right, angles, different, tokens } = reading(first, format, omega);
      const place = (circles, turns) => circles.forEach((circle, i) => {
        const [x, y] = at(turns[i], RADIUS);
        circle.setAttribute("cx", x.toFixed(2));
        circle.setAttribute("cy", y.toFixed(2));
      });
      place(rings, right);
      place(dots, angles);
      card.querySelector(".lessons-format").textContent = format;
      choices.show(format);
      start.show(step(), grouped(first));
      const error = tokens < 0.05 ? "below 0.05" : tokens.toFixed(1);
      numbers.replaceChildren(
        make("span", "", {}, [`different dots: ${different} of ${DOTS}`]),
        make("span", "", {}, [`largest error: ${error} tokens`]),
      );
      svg.setAttribute("aria-label", `Positions ${first} to ${first + DOTS - 1}, ${format}: ` +
        `${different} different dots of ${DOTS}; the largest error is ${error} tokens.`);
    };

    const root = makeRoot("lessons-figure lessons-circle");
    root.style.maxWidth = "420px"; // here, since the book's theme overrules a class
    root.append(
      card,
      make("div", "lessons-controls", {}, [player.button, start.range]), start.caption, choices.group, numbers,
    );
    return mount(el, root, player, model, ["start", "format"], show);
  },
};
