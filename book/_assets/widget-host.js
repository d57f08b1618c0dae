// Draws the book's moving figures on a page that has no kernel.
//
// The figures are anywidgets: a plain ES module and a plain state, both saved in the page by the
// build. The usual host (html-manager and require.js) weighs a megabyte, mostly for widgets that
// this book does not use; what an anywidget needs of it is the small model below.
//
// A classic script, not a module: browsers load no modules from file://, where a page must move too.

(async () => {
  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

  function decode({ path, encoding, data }, state) {
    if (encoding !== "base64") throw new Error(`a buffer is saved as ${encoding}, not base64`);
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const parent = path.slice(0, -1).reduce((value, key) => value[key], state);
    parent[path.at(-1)] = new DataView(bytes.buffer);
  }

  class Model {
    constructor({ state, buffers = [] }) {
      this.state = structuredClone(state);
      this.listeners = new Map();
      for (const buffer of buffers) decode(buffer, this.state);
    }
    get(name) {
      return this.state[name];
    }
    set(name, value) {
      if (this.state[name] === value) return;
      this.state[name] = value;
      this.emit(`change:${name}`, value);
      this.emit("change", value);
    }
    save_changes() {} // there is no kernel to tell
    send() {}
    on(name, listener) {
      if (!this.listeners.has(name)) this.listeners.set(name, new Set());
      this.listeners.get(name).add(listener);
    }
    off(name, listener) {
      if (listener) this.listeners.get(name)?.delete(listener);
      else this.listeners.delete(name);
    }
    emit(name, value) {
      for (const listener of this.listeners.get(name) ?? []) listener(value);
    }
  }

  async function load(source) {
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    try {
      const module = await import(address);
      const widget = module.default;
      return typeof widget === "function" ? await widget() : widget;
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  const saved = JSON.parse(document.querySelector(STATE).textContent).state;
  const started = new Map(); // model id -> promise of { model, widget }, shared by its views

  function start(id) {
    if (!started.has(id)) {
      const model = new Model(saved[id]);
      const ready = load(model.get("_esm")).then(async (widget) => {
        await widget.initialize?.({ model });
        return { model, widget };
      });
      started.set(id, ready);
    }
    return started.get(id);
  }

  const styled = new Set(); // several figures of one kind bring the same style sheet

  for (const script of document.querySelectorAll(VIEW)) {
    const { model_id: id } = JSON.parse(script.textContent);
    const { model, widget } = await start(id);
    const css = model.get("_css");
    if (css && !styled.has(css)) {
      styled.add(css);
      document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
    }
    const el = document.createElement("div");
    script.after(el);
    await widget.render({ model, el });
  }
})();
