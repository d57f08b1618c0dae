"""A notebook as it is given out: with the book's address in it, and links that lead there.

On the branch `colab`, beside the pages and behind each page's download button a notebook is alone:
its first cell knows where the book is, and each link to a file of the repository is a whole one.

Standard library only: the workflow that writes the branch has nothing else.
"""

import json
import posixpath
import re

import bootstrap
import repository
from stages import ROOT

FOLDER = "notebooks"
LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s#]+)(?:#([^)\s]+))?\)")
PAGE = re.compile(r"(?:root|file): (\S+)")
# What docutils makes of a heading: no sign but letters and figures, and no figure first.
NO_LETTER, NO_START = re.compile(r"[^a-z0-9]+"), re.compile(r"^[-0-9]+|-+$")


def names():
    """The notebooks that are given out, below `notebooks/` and without their ending."""
    folder = ROOT / FOLDER
    found = [*sorted(folder.glob("[0-9]*.ipynb")), *sorted(folder.glob("assignments/*.ipynb"))]
    return [path.relative_to(folder).with_suffix("").as_posix() for path in found]


def given_out(name, address):
    """The text of a saved notebook for readers of the book at an address."""
    return addressed((ROOT / FOLDER / f"{name}.ipynb").read_text("utf8"), name, address)


def addressed(text, name, address):
    """A notebook's text with an address; as long as the book has none, the text as it is."""
    if not repository.known(address):
        return text
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cell["source"] = whole_links(cell["source"], name, address)
    bootstrap.apply(notebook, name, new_code_cell, address)
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def new_code_cell(source):
    empty = {"execution_count": None, "metadata": {}, "outputs": []}
    return {"cell_type": "code", "source": source} | empty


def whole_links(text, name, address):
    """A notebook's text whose links to files beside it lead to the pages, or to the repository."""
    site = repository.pages_url(address)
    pages = PAGE.findall((ROOT / "_toc.yml").read_text("utf8"))

    def whole(found):
        path = posixpath.normpath(posixpath.join(FOLDER, posixpath.dirname(name), found[1]))
        if not (ROOT / path).exists():
            return found[0]
        page = posixpath.splitext(path)[0]
        if page not in pages:
            return f"](https://github.com/{address}/blob/main/{path}{hashed(found[2])})"
        place = NO_START.sub("", NO_LETTER.sub("-", found[2] or ""))
        return f"]({site}/{page}.html{hashed(place)})"

    return LINK.sub(whole, text)


def hashed(place):
    return f"#{place}" if place else ""
