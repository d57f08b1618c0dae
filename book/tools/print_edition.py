"""The built pages as one page for paper: the same text, with answers at the end of each chapter.

Needs Beautiful Soup, which the book's theme brings.
"""

import json
import re
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
STYLE = Path(__file__).with_name("print.css")
LOST_ON_PAPER = ".headerlink, .toctree-wrapper, nav, button, noscript, .still-math"
DOCUMENT = """\
<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="{site}/_static/{sheet}">
<style>{style}</style>
<script>window.MathJax = {{"options": {{"processHtmlClass":
  "tex2jax_process|mathjax_process|math|output_area"}}}}</script>
<script defer src="{site}/_static/vendor/mathjax/tex-chtml.js"></script>
<script defer src="{site}/_static/widget-host.js"></script>
</head>
<body>
<main class="bd-content"><div class="bd-article">
<section class="cover">
<p class="cover-title">{title}</p>
<p>{author}</p>
<p>The book as it stands at<br><a href="{address}">{address}</a></p>
<p>Figures that move there stand still here; code can be run there, and answers are closed.</p>
<p class="licence">Text and figures CC BY 4.0, code MIT.</p>
</section>
<section class="contents"><p class="contents-title">Contents</p>
<ol>{contents}</ol></section>
{chapters}
</div></main>
{state}
</body>
</html>
"""
ENTRY = '<li><a href="#{id}">{title}</a><span class="page">000</span></li>'


class Chapter:
    """One built page, ready to stand in one document with the others."""

    def __init__(self, site, base, name, address, chapters):
        self.base, self.name, self.address, self.chapters = base, name, address, chapters
        self.id = slug(name)
        page = BeautifulSoup((site / name).read_text("utf8"), "html.parser")
        self.states = [script.string for script in page.select(f'script[type="{STATE}"]')]
        self.body = page.select_one("article.bd-article")
        self.new = page.new_tag
        for lost in self.body.select(LOST_ON_PAPER):
            lost.decompose()
        self.title = self.body.h1.get_text().strip()
        self.say_what_moves()
        self.open_or_move()
        self.name_apart()

    def say_what_moves(self):
        for script in self.body.select(f'script[type="{VIEW}"]'):
            line = self.new("p", attrs={"class": "moves"})
            line.append("This figure moves on the web page: ")
            line.append(self.link(self.address + self.name, self.address + self.name))
            script.parent.append(line)

    def link(self, target, text):
        link = self.new("a", href=target)
        link.string = text
        return link

    def open_or_move(self):
        """Paper closes no answer: answers stand at the end of their chapter, the rest is open."""
        answers = []
        for details in self.body.find_all("details"):
            title = details.summary.extract().get_text(" ").strip()
            box = self.new("div", attrs={"class": "aside"})
            box.extend(list(details.contents))
            if "hide" in details.get("class", []):
                details.replace_with(box)
                continue
            if "answer" not in title.lower():
                box.insert(0, self.heading(title))
                details.replace_with(box)
                continue
            if title == "Answer":
                title = f"Answer {len(answers) + 1}"
            box["class"], box["id"] = "answer", f"answer-{len(answers) + 1}"
            place = self.new("p", attrs={"class": "to-answer", "id": f"asked-{len(answers) + 1}"})
            place.append(self.link(f"#{box['id']}", f"{title}: at the end of this chapter"))
            details.replace_with(place)
            back = self.heading("")
            back.append(self.link(f"#{place['id']}", title))
            box.insert(0, back)
            answers.append(box)
        if answers:
            section = self.new("section", attrs={"class": "answers"})
            title = self.new("h2")
            title.string = "Answers"
            section.extend([title, *answers])
            self.body.append(section)

    def heading(self, text):
        line = self.new("p", attrs={"class": "aside-title"})
        line.string = text
        return line

    def name_apart(self):
        """Anchors that are this chapter's own; links inside the book lead to its place on paper."""
        for part in self.body.select("[id]"):
            part["id"] = f"{self.id}--{part['id']}"
        for part in self.body.select("[src]"):
            if not urlsplit(part["src"]).scheme:
                part["src"] = f"{self.base}/{self.path(part['src'])}"
        for link in self.body.select("a[href]"):
            target = urlsplit(link["href"])
            if target.scheme or target.netloc:
                continue
            name = self.path(target.path) if target.path else self.name
            if name not in self.chapters:
                link["href"] = self.address + name
            elif target.fragment:
                link["href"] = f"#{slug(name)}--{target.fragment}"
            else:
                link["href"] = f"#{slug(name)}"

    def path(self, relative):
        """A path that this page names, from the site's root."""
        return normpath(join(Path(self.name).parent.as_posix(), relative))


def slug(name):
    return re.sub(r"\W+", "-", name.removesuffix(".html"))


def document(site, base, names, address, title, author):
    """The text of the one page.

    site: the folder of the built pages; base: its address as the new page names it.
    names: the pages in reading order; address: where the site is published.
    """
    chapters = [Chapter(site, base, name, address, names) for name in names]
    sheet = next((site / "_static").glob("book-*.css")).name
    entries = [ENTRY.format(id=one.id, title=one.title) for one in chapters]
    bodies = [
        f'<section class="chapter" id="{one.id}">{one.body.decode_contents()}</section>'
        for one in chapters
    ]
    # One host draws the figures of all chapters, from one table of their states.
    states = {}
    for one in chapters:
        for text in one.states:
            states |= json.loads(text)["state"]
    state = json.dumps({"state": states}).replace("</", "<\\/")
    return DOCUMENT.format(
        title=title,
        author=author,
        address=address,
        site=base,
        sheet=sheet,
        style=STYLE.read_text("utf8"),
        contents="".join(entries),
        chapters="\n".join(bodies),
        state=f'<script type="{STATE}">{state}</script>',
    )
