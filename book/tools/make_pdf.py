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
    if (width(table) > room + 1) { table.style.zoom = room / width(table) * 0.985; shrunk.push(table); }
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
    from pypdf import PdfReader

    FOLDER.mkdir(parents=True, exist_ok=True)
    names, base = reading_order()
    page_file, first = FOLDER / "book.html", FOLDER / "first.pdf"
    begins = None
    with sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu"]
        chromium = driver.chromium.launch(executable_path=browser.find(), args=flags)
        for output in (first, target):
            text, titles = print_edition.document(
                SITE, "../html", names, base, *settings(), pages=begins
            )
            page_file.write_text(text, "utf8")
            print_page(chromium, page_file, output)
            reader = PdfReader(output)
            begins = {
                title: reader.get_destination_page_number(entry) + 1
                for title, entry in zip(titles, chapters(reader), strict=True)
            }
        chromium.close()
    print(f"{len(reader.pages)} sheets")


def chapters(reader):
    """The entries of the outline's first level; those below them are lists."""
    return [entry for entry in reader.outline if not isinstance(entry, list)]


def print_page(chromium, source, target):
    page = chromium.new_page(viewport={"width": WIDTH, "height": 1000}, device_scale_factor=2)
    page.set_default_timeout(600_000)
    page.emulate_media(media="print", color_scheme="light")
    page.goto(source.as_uri(), wait_until="load")
    page.evaluate("window.MathJax.startup.promise")
    views = page.locator('script[type*="widget-view"]').count()
    page.wait_for_function(
        "n => document.querySelectorAll('.lessons-figure').length >= n", arg=views
    )
    page.evaluate("document.fonts.ready")
    page.evaluate(SHRINK)
    page.pdf(
        path=target, format="A4", margin=MARGIN, print_background=True, outline=True, tagged=True,
        display_header_footer=True, header_template="<span></span>", footer_template=FOOTER,
    )
    page.close()


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
