// Sphinx's search, for readers: the lesson before the function, and summaries of the text alone.
// Behind searchtools.js in the joined file of the search page.

// A page of the book that has the word in a title (15) comes before a function's entry (up to 26).
Scorer.score = ([page, , , , score]) => (page === "book/api" ? score - 12 : score);

// A summary of the article without its code, of a formula's two forms with the one that reads as
// text, and with a sign between a term and what it means.
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector(".bd-article");
  if (!article) return "";
  for (const lost of article.querySelectorAll(
    "h1, .headerlink, script, style, nav, .cell_input, .math:has(+ .still-math), noscript",
  )) {
    lost.remove();
  }
  for (const term of article.querySelectorAll("dt")) term.append(": ");
  const part = (anchor && article.querySelector(anchor)) || article;
  let text = part.textContent;
  // Behind a term its other names and what it means.
  for (let next = part; next?.matches("dt"); text += next?.textContent ?? "") {
    next = next.nextElementSibling;
  }
  return text.replace("Open in Colab", "").trim();
};

Documentation.addTranslations({
  locale: "en",
  plural_expr: "(n != 1)",
  messages: {
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.":
      "No page has all of these words. Try fewer, or one as the papers write it: RoPE, ALiBi, NTK.",
  },
});
