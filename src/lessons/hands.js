// A query and a key as clock hands: sliding both together turns the hands, and no angle between
// them changes. Everything is computed here. Needs controls.js and turning.js in front of it.

const RADIUS = 33;
const BAR = { left: 20, right: 320, top: 262 };
const along = (value) => BAR.left + ((BAR.right - BAR.left) * (value + 1)) / 2;
const centre = (i) => [44 + 84 * (i % 4), 74 + 106 * Math.floor(i / 4)];

function faces(pairs) {
  const dials = Array.from({ length: pairs }, (_, i) => {
    const [x, y] = centre(i);
    const hand = (name, colour, dash) =>
      `<line class="lessons-${name}" x1="${x}" y1="${y}" stroke="${colour}" stroke-width="3" stroke-linecap="round" ${dash}/>`;
    return `<circle cx="${x}" cy="${y}" r="${RADIUS}" fill="#fff" stroke="#8a8a8a"/>
      <path class="lessons-wedge" fill="#777" fill-opacity=".25"/>
      ${hand("query", BLUE, "")}${hand("key", ORANGE, 'stroke-dasharray="6 5"')}
      ${text(x, y + RADIUS + 17, "", 'class="lessons-cosine" text-anchor="middle"')}`;
  });
  return drawing(
    318,
    `<path d="M8 14h22" stroke="${BLUE}" stroke-width="3"/>${text(36, 18, "query at m")}
    <path d="M122 14h22" stroke="${ORANGE}" stroke-width="3" stroke-dasharray="6 5"/>${text(150, 18, "key at n")}
    ${text(8, 35, "Below each pair: cosine of the angle between")}` +
      dials.join("") +
      text(8, 252, "", 'class="lessons-score"') +
      `<path d="M${BAR.left} ${BAR.top}H${BAR.right}V${BAR.top + 18}H${BAR.left}Z" fill="#fff" stroke="#8a8a8a"/>
      <path class="lessons-bar" fill="${BLUE}"/>` +
      [-1, 0, 1].map((value) => text(along(value), BAR.top + 34, signed(value, 0), 'text-anchor="middle"')).join("") +
      text(8, 314, "score: the mean of the cosines", 'font-size="12"'),
  );
}

export default {
  render({ model, el }) {
    const [invFreq, queries, keys] = ["_inv_freq", "_q_angles", "_k_angles"].map((name) => model.get(name));
    const phases = keys.map((angle, i) => angle - queries[i]);
    const card = make("div", "lessons-card lessons-panels");
    card.innerHTML = faces(invFreq.length);
    const picture = card.firstChild;
    const parts = (name) => [...card.querySelectorAll(`.lessons-${name}`)];
    const [wedges, query, key, cosines] = ["wedge", "query", "key", "cosine"].map(parts);

    const both = makeSlider("slide both, n", { min: 0, max: model.get("_max_position") }, (position) => {
      player.stop();
      write(model, { position });
    });
    const player = makePlayer(pace(60, 500), {
      at: () => model.get("position"),
      last: () => model.get("_max_position"),
      go: (position) => write(model, { position }),
    });
    const apart = makeSlider("distance m − n", { min: 0, max: model.get("_max_distance") }, (distance) => write(model, { distance }));
    const numbers = make("output", "lessons-numbers", { "aria-live": "off" });

    const update = () => {
      const [n, distance] = [model.get("position"), model.get("distance")];
      const m = n + distance;
      invFreq.forEach((w, i) => {
        const [x, y] = centre(i);
        // Counter-clockwise from three o'clock; on the screen y grows downwards.
        const tip = (angle) => [x + RADIUS * Math.cos(angle), y - RADIUS * Math.sin(angle)];
        const [from, to] = [queries[i] + m * w, keys[i] + n * w];
        for (const [hand, angle] of [[query[i], from], [key[i], to]]) {
          const [x2, y2] = tip(angle);
          hand.setAttribute("x2", x2);
          hand.setAttribute("y2", y2);
        }
        // The smaller way round from the query to the key.
        const left = Math.sin(to - from) >= 0 ? 0 : 1;
        wedges[i].setAttribute("d", `M${x} ${y}L${tip(from)}A${RADIUS} ${RADIUS} 0 0 ${left} ${tip(to)}Z`);
        cosines[i].textContent = signed(pairScore(w, phases[i], distance), 2);
      });
      const score = signed(meanScore(invFreq, phases, distance), 4);
      const [low, high] = [0, Number(score.replace("\u2212", "-"))].map(along).sort((a, b) => a - b);
      card.querySelector(".lessons-bar").setAttribute("d", `M${low} ${BAR.top}H${high}V${BAR.top + 18}H${low}Z`);
      card.querySelector(".lessons-score").textContent = `score ${score}`;
      both.show(n, `${n}, m = ${m}`);
      apart.show(distance, String(distance));
      numbers.textContent = `m = ${m}, n = ${n}: score ${score}`;
      picture.setAttribute("aria-label", `Query at ${m}, key at ${n}: ${invFreq.length} pairs of clock hands, ` +
        `the angles between them depend on the distance ${distance} alone. Score ${score}.`);
    };

    const root = makeRoot("lessons-figure lessons-turning");
    root.style.maxWidth = "440px"; // here, since the book's theme overrules a class
    root.append(
      card,
      make("div", "lessons-controls", {}, [player.button, both.range]), both.caption,
      make("div", "lessons-controls", {}, [apart.range]), apart.caption, numbers,
    );
    return mount(el, root, player, model, ["position", "distance"], update);
  },
};
