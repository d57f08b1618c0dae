"""One style sheet and one script for every page, in place of the theme's nineteen.

Each file that a page names is a request; on a slow line ten small ones take longer than one.
Only files that all pages share are joined: MathJax and the host of the figures stay apart.
"""

import hashlib
import re
from importlib import resources
from pathlib import Path

from pydata_sphinx_theme.pygments import overwrite_pygments_css
from sphinx.builders.html._assets import _JavaScript

STYLES_FIRST = ("basic.css", "styles/pydata-sphinx-theme.css")  # what the theme's page names itself
SCRIPTS_LAST = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")
OPTIONS = "documentation_options.js"
APART = ("vendor/", "widget-host.js")
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
SEARCH = ("language_data.js", "searchtools.js", "search.js")

ADDRESS = re.compile(r"url\((?![\"']?(?:data:|https?:|#))[\"']?([^)\"']+)[\"']?\)")
ICON_FONT = re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}")
ICON_NAME = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"\\?[^"]{1,5}"\}')
CHARSET = re.compile(r'@charset "[^"]*";')
# A page opened as a file may read no other file: search shows titles there, without excerpts.
FILES_TELL_TITLES = """
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"""


def local(file):
    """A style sheet's or script's name below _static; None: it has no file there."""
    name = str(getattr(file, "filename", None) or "").split("?")[0]
    return name.removeprefix("_static/") if name.startswith("_static/") else None


def join_files(app, pagename, templatename, context, doctree):
    """Name the joined files on a page, in place of those that they hold."""
    if app.builder.format != "html" or "css_files" not in context:
        return
    # The theme puts its colours for code in the dark there only after the last page was written.
    overwrite_pygments_css(app)
    static = Path(app.outdir) / "_static"
    styles = [*STYLES_FIRST, *filter(None, map(local, context["css_files"]))]
    scripts, kept, options = [], [], ""
    context["widget_state"] = ""
    for script in context["script_files"]:
        name = local(script)
        if name == OPTIONS:
            options = read(static, name) + FILES_TELL_TITLES
        elif name and not name.startswith(APART):
            scripts.append(name)
        elif script.attributes.get("type") == WIDGET_STATE:
            # To the end of the page: half a megabyte that nobody needs before the first line.
            context["widget_state"] = script.attributes["body"]
        else:
            kept.append(script)
    if pagename == "search":
        # Behind what they call, before what asks whether they are there.
        place = scripts.index("doctools.js") + 1
        scripts[place:place] = SEARCH
    scripts += SCRIPTS_LAST
    # The options first, for the theme's inline scripts add to them; then what is deferred.
    context["script_files"] = [_JavaScript(None, body=options), *kept]
    context["css_files"] = []
    context["joined_css"] = joined(static, tuple(dict.fromkeys(styles)), "css")
    context["joined_js"] = joined(static, tuple(dict.fromkeys(scripts)), "js")


def joined(static, names, kind):
    """The name below _static of the file that holds the named ones, in their order."""
    text = "\n".join(PREPARE[kind](name, read(static, name)) for name in names)
    name = f"book-{hashlib.sha256(text.encode()).hexdigest()[:12]}.{kind}"
    target = static / name
    if not target.exists():
        target.write_text(text, "utf8")
    return name


def read(static, name):
    """A file below _static; myst-nb copies its one there only after the pages are written."""
    if name.startswith("mystnb."):
        return resources.files("myst_nb.static").joinpath("mystnb.css").read_text("utf8")
    return (static / name).read_text("utf8")


def style(name, text):
    """A style sheet from elsewhere below _static, without the icon font that no page shows."""
    text = ICON_NAME.sub("", ICON_FONT.sub("", CHARSET.sub("", text)))
    folder = Path(name).parent

    def move(found):
        # Resolved by hand: `folder/../x` names a file beside the folder, there or not.
        parts = []
        for part in (folder / found[1]).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        return f'url("{"/".join(parts)}")'

    return ADDRESS.sub(move, text)


def script(name, text):
    # Behind a semicolon "use strict" of one file is a word, not an order to all that follow.
    return f";\n{text}"


PREPARE = {"css": style, "js": script}


def setup(app):
    app.connect("html-page-context", join_files, priority=950)
    return {"version": "1", "parallel_read_safe": True}
