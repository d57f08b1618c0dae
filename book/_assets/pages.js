// What a page does for readers with a keyboard or a slow line, and for paper.

(() => {
  // MathJax takes over from the page's MathML in one step: both, or neither, would move the lines.
  if (window.MathJax) {
    window.MathJax.startup = {
      async pageReady() {
        document.documentElement.dataset.math = "mathjax";
        await window.MathJax.startup.defaultPageReady();
        for (const math of document.querySelectorAll(".still-math")) math.remove();
      },
    };
  }

  // A part that scrolls sideways is reached with Tab and moved with the arrows, in every browser.
  // The theme sees to code; formulas and tables are the book's own.
  const SCROLLS = 'table, .math, mjx-container[display="true"]';

  function letScroll() {
    for (const part of document.querySelectorAll(`.bd-article :is(${SCROLLS})`)) {
      if (part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "auto") {
        part.tabIndex = 0;
      } else if (part.tabIndex === 0) {
        part.removeAttribute("tabindex");
      }
    }
  }

  let waiting;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(letScroll, 200);
  };
  addEventListener("resize", later);
  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    later();
  });
  document.addEventListener("toggle", later, true);

  // What closes gives the focus back to the button that opened it; the theme drops it at the click.
  let pressed;
  addEventListener("click", ({ target }) => {
    pressed = target.closest("button") ?? pressed;
  }, true);
  addEventListener("close", () => setTimeout(() => pressed?.focus()), true);

  // Paper is light, and nothing on it can be opened.
  let theme;
  let opened = [];
  addEventListener("beforeprint", () => {
    const { dataset } = document.documentElement;
    theme ??= dataset.theme;
    dataset.theme = "light";
    opened = [...document.querySelectorAll(".bd-article details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
    theme = undefined;
    for (const details of opened) details.open = false;
  });
})();
