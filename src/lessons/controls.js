// The parts that the moving figures share. Python puts this text in front of theirs, because a
// widget's script has to be one module that imports nothing.

/** An element with a class, attributes and children. */
function make(tag, className, attributes = {}, children = []) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A text in a drawing. */
const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${words}</text>`;

/** The widget's outer element; its keys belong to its own controls, not to a notebook. */
function makeRoot(className) {
  // JupyterLab catches arrow keys before they arrive here unless told not to.
  const root = make("div", className, { "data-lm-suppress-shortcuts": "true" });
  root.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
  return root;
}

/** A native range with its name and, in an <output>, its value in words, with room for the longest. */
function makeSlider(name, { min, max, step = 1, longest = "" }, onInput) {
  const range = make("input", "lessons-range", { type: "range", min, max, step, "aria-label": name });
  // The range announces its value itself; a second voice would repeat it.
  const value = make("output", "lessons-value", { "aria-live": "off" });
  range.addEventListener("input", () => onInput(Number(range.value)));
  return {
    range,
    caption: make("div", "lessons-caption", {}, [
      make("span", "lessons-name", {}, [name]),
      make("span", "lessons-slot", { "data-longest": longest }, [value]),
    ]),
    show(number, words) {
      range.value = number;
      range.setAttribute("aria-valuetext", words);
      value.textContent = words;
    },
  };
}

/** A row of buttons, one for each name, of which one is pressed. */
function makeChoices(label, names, onChoice) {
  const buttons = names.map((name) => {
    const button = make("button", "lessons-choice", { type: "button" }, [name]);
    button.addEventListener("click", () => onChoice(name));
    return button;
  });
  return {
    group: make("div", "lessons-controls lessons-choices", { role: "group", "aria-label": label }, buttons),
    show: (name) => buttons.forEach((button) => button.setAttribute("aria-pressed", button.textContent === name)),
  };
}

/** Milliseconds between two steps of a player: more for readers who want less motion. */
const pace = (usual, calm) => (window.matchMedia("(prefers-reduced-motion: reduce)").matches ? calm : usual);

/**
 * A play/pause button. It goes on from where the figure stands, begins again when that
 * is the end, and stops at the end. `steps` tells {at, last, go}; nothing starts by itself.
 */
function makePlayer(milliseconds, steps) {
  const word = make("span");
  const button = make("button", "lessons-play", { type: "button" }, [make("span", "lessons-icon"), word]);
  let timer = null;
  const show = () => {
    word.textContent = timer === null ? "Play" : "Pause";
    button.classList.toggle("lessons-playing", timer !== null);
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    show();
  };
  const advance = () => {
    // The view is gone (a cell was run again): don't move a figure that nobody sees.
    if (!button.isConnected) return stop();
    steps.go(steps.at() + 1);
    if (steps.at() >= steps.last()) stop();
  };
  button.addEventListener("click", () => {
    if (timer !== null) return stop();
    if (steps.at() >= steps.last()) steps.go(0);
    timer = setInterval(advance, milliseconds);
    show();
  });
  show();
  return { button, stop };
}

/** Draw again whenever one of the traits changes, until the returned function is called. */
function follow(model, traits, show) {
  const events = traits.map((name) => `change:${name}`);
  for (const event of events) model.on(event, show);
  return () => {
    for (const event of events) model.off(event, show);
  };
}

/** Put a figure on the page, drawn now and again with each trait; what is returned takes it away. */
function mount(el, root, player, model, traits, show) {
  el.append(root);
  show();
  const leave = follow(model, traits, show);
  return () => {
    player.stop();
    leave();
  };
}

/** Write traits, and tell the kernel where there is one. */
function write(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}
