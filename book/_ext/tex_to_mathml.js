// [[tex, display], ...] on standard input, a list of MathML on standard output.
// The folder of MathJax's files is the argument.

const formulas = JSON.parse(require("fs").readFileSync(0, "utf8"));
const loader = { load: ["input/tex", "adaptors/liteDOM"] };
require(require("path").resolve(process.argv[2], "node-main.js")).init({ loader }).then((MathJax) => {
  const found = formulas.map(([tex, display]) => MathJax.tex2mml(tex, { display }));
  process.stdout.write(JSON.stringify(found));
});
