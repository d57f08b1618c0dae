// What hands.js and score.js share: the score of turned pairs, and the parts of a drawing.
// Needs controls.js in front of it.

const BLUE = "#0072b2";
const ORANGE = "#b34700";
const DEGREES = 180 / Math.PI;

const signed = (number, digits) => number.toFixed(digits).replace("-", "\u2212");
const drawing = (height, inside) => `<svg viewBox="0 0 340 ${height}" role="img">${inside}</svg>`;

/** What a pair of norm 1 adds to the score when the key started `phase` ahead of the query. */
const pairScore = (w, phase, distance) => Math.cos(w * distance - phase);

/** The mean over the pairs: the score of a query and a key of norm 1 with pairs of equal size. */
const meanScore = (invFreq, phases, distance) =>
  invFreq.reduce((sum, w, i) => sum + pairScore(w, phases[i], distance), 0) / invFreq.length;
