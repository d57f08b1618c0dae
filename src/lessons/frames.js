// Pictures drawn beforehand, one shown at a time. Needs controls.js in front of it.

export default {
  render({ model, el }) {
    const [frames, labels, alts] = ["_frames", "_labels", "_alts"].map((name) => model.get(name));
    const [width, height] = model.get("_size");
    const name = model.get("_name");
    const go = (index) => write(model, { index });

    // Width and height fix the aspect ratio, so that nothing on the page moves while stepping.
    const image = make("img", "lessons-frame", { width, height, decoding: "sync" });
    // Decode every frame once; otherwise the first run through them flickers.
    const decoded = frames.map((address) => Object.assign(new Image(), { src: address }));

    const longest = labels.reduce((a, b) => (b.length > a.length ? b : a));
    const slider = makeSlider(name, { min: 0, max: frames.length - 1, longest }, (index) => {
      player.stop();
      go(index);
    });
    const player = makePlayer(model.get("_milliseconds"), {
      at: () => model.get("index"),
      last: () => frames.length - 1,
      go,
    });

    const update = () => {
      const index = model.get("index");
      image.src = decoded[index].src;
      image.alt = alts[index];
      slider.show(index, labels[index]);
    };

    const controls = make("div", "lessons-controls", {}, [player.button, slider.range]);
    const root = makeRoot("lessons-figure lessons-frames");
    root.style.maxWidth = `${Math.round(1.3 * width)}px`;
    root.append(make("div", "lessons-card", {}, [image]), controls, slider.caption);
    return mount(el, root, player, model, ["index"], update);
  },
};
