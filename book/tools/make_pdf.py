"""`make pdf`: the book on paper, printed by Chromium from the built pages.

Each moving figure stands still, with the address where it moves; answers stand at the end of
their chapter. It lies beside the pages afterwards, where the intro links to it.
"""

import os
import re
import sys

import browser
import make_offline
import make_test
import repository
from editions import CHECKS, PDF
from environment import PYTHON
from stages import BUILD, ROOT, SITE, Stages, command_line, run

STAGES = make_offline.STAGES
FOLDER = BUILD / "pdf"
MARGIN = {"top": "17mm", "bottom": "19mm", "left": "18mm", "right": "18mm"}
# As wide as the paper between its margins, so that what is measured on the screen fits the paper.
WIDTH = round((210 - 2 * 18) / 25.4 * 96)
FOOTER = """<div style="width: 100%; text-align: center; font: 8pt sans-serif; color: #444">
<span class="pageNumber"></span></div>"""
PAPER = {
    "format": "A4",
    "margin": MARGIN,
    "print_background": True,
    "outline": True,
    "tagged": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": FOOTER,
}
NUMBER = """sheets => document.querySelectorAll('.contents .page')
  .forEach((place, row) => { place.textContent = sheets[row]; })"""
SHRINK = """() => {
  const width = (element) => element.getBoundingClientRect().width;
  const shrunk = [];
  for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
    const inside = Math.max(...[...formula.children].map(width));
    const room = width(formula.parentElement);
    if (inside <= room) continue;
    const size = parseFloat(getComputedStyle(formula).fontSize);
    formula.style.setProperty('font-size', `${size * room / inside * 0.985}px`, 'important');
    shrunk.push(formula);
  }
  for (const table of document.querySelectorAll('table')) {
    const room = width(table.parentElement);
    if (width(table) <= room + 1) continue;
    table.style.zoom = room / width(table) * 0.985;
    shrunk.push(table);
  }
  return shrunk.length;
}"""


def settings():
    """Title and author, as the book's settings have them."""
    text = (ROOT / "_config.yml").read_text("utf8")
    return [re.search(rf"^{key}: *(.+)$", text, re.M)[1].strip() for key in ("title", "author")]


def reading_order():
    """The pages as the sitemap lists them, which is the order of the table of contents."""
    text = (SITE / "sitemap.xml").read_text("utf8")
    base = f"{repository.pages_url(repository.for_site())}/"
    return re.findall(rf"<loc>{re.escape(base)}(.*?)</loc>", text), base


def print_book(target):
    """Two printings: the first says on which sheet each chapter begins, for the contents."""
    import print_edition
    from playwright.sync_api import sync_playwright
    from pypdf import PdfReader, PdfWriter

    FOLDER.mkdir(parents=True, exist_ok=True)
    names, base = reading_order()
    source = FOLDER / "book.html"
    text = print_edition.document(SITE, "../html", names, base, *settings())
    source.write_text(text, "utf8")
    with sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu"]
        chromium = driver.chromium.launch(executable_path=browser.find(), args=flags)
        page = opened(chromium, source)
        page.pdf(path=FOLDER / "first.pdf", **PAPER)
        begins = sheets(PdfReader(FOLDER / "first.pdf"))
        page.evaluate(NUMBER, begins)
        page.pdf(path=FOLDER / "second.pdf", **PAPER)
        chromium.close()
    writer = PdfWriter(clone_from=FOLDER / "second.pdf")
    say_titles_once(writer)
    writer.write(target)
    found = PdfReader(target)
    # As many digits as before, so that nothing has moved.
    assert sheets(found) == begins and len(begins) == len(names), (begins, sheets(found))
    print(f"{len(found.pages)} sheets")


def say_titles_once(writer):
    """Chromium writes the words of a heading twice into the outline of a tagged PDF."""
    from pypdf.generic import NameObject, TextStringObject

    todo = [writer.root_object["/Outlines"]]
    while todo:
        entry = todo.pop().get_object()
        title = entry.get("/Title", "")
        half = len(title) // 2
        if half and title[:half] == title[half:]:
            entry[NameObject("/Title")] = TextStringObject(title[:half])
        todo += [entry[key] for key in ("/First", "/Next") if key in entry]


def sheets(reader):
    """The number of the sheet on which each entry of the outline's first level begins."""
    entries = (entry for entry in reader.outline if not isinstance(entry, list))
    return [reader.get_destination_page_number(entry) + 1 for entry in entries]


def opened(chromium, source):
    """The one page, its maths and figures drawn, nothing wider than the paper."""
    page = chromium.new_page(viewport={"width": WIDTH, "height": 1000}, device_scale_factor=2)
    page.set_default_timeout(900_000)
    page.emulate_media(media="print", color_scheme="light")
    page.goto(source.as_uri(), wait_until="load")
    page.evaluate("window.MathJax.startup.promise")
    views = page.locator('script[type*="widget-view"]').count()
    page.wait_for_function(
        "n => document.querySelectorAll('.lessons-figure').length >= n", arg=views
    )
    page.evaluate("document.fonts.ready")
    page.evaluate(SHRINK)
    return page


def main():
    stages = Stages(STAGES)
    make_offline.prepare(stages)
    with stages.stage("printing (minutes)") as note:
        part = PDF.with_suffix(".part")
        # With the environment's own Python, which has the browser's driver.
        run([PYTHON, __file__, part], "pdf.log", "The book could not be printed.")
        os.replace(part, PDF)
        note(f"{PDF.stat().st_size / 1e6:.1f} MB")
    make_test.tests(stages, "pdf", [f"{CHECKS}/pdf.py"])
    print(f"The book on paper: {PDF}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print_book(sys.argv[1])
    else:
        command_line(main)
