"""What the book asks of Sphinx beyond its settings: addresses, fresh pages, light pages."""

import re
import sys
from pathlib import Path

import joined
import site_files
import without_scripts
from docutils import nodes
from sphinx.util import logging

# Where the book is, and what a notebook says of it, the tools of the build know.
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import addressed
import launch
import repository

LOGGER = logging.getLogger(__name__)
EMPTY_HEADER = re.compile(r'<th class="head">\s*(?:<p>\s*</p>)?\s*</th>')
# What begins a line of its own in our docstrings: an argument, what comes back, what is refused.
DOC_LINE = re.compile(
    r"[a-z_]\w*(, [a-z_]\w*)*(\([\w, ]*\))?(?=:| ->)|\w+Error(?=:)|(Returns|Raises|Source)\b"
)
LITERAL = re.compile(r"(``[^`]*``)")
WIDGET_MODULE = "anywidget"
# Where no line may end: in 62 832, and before the sign in 15 %.
IN_NUMBER = re.compile(r"(?<=\d) (?=\d{3}(?!\d)|%)")
MARKS = re.compile(r"[,.;:!?)]+")
AS_WRITTEN = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def set_addresses(app, config):
    """Point every link of the theme at this repository, or at the fork that builds the site."""
    options = config.html_theme_options
    address = repository.for_site()
    url = f"https://github.com/{address}"
    options["repository_url"] = url
    options["extra_footer"] = (
        f'<p>Code <a href="{url}/blob/main/LICENSE">MIT</a>, '
        'text <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>.</p>'
    )
    options["navbar_persistent"] = []  # the theme's second search box, above the first
    config.html_baseurl = f"{repository.pages_url(address)}/"
    config.ogp_site_url = config.html_baseurl


def set_scripts(app, config):
    """MathJax from our own copy where `make book` fetched one; our host for the figures."""
    if (Path(app.srcdir) / "book/_assets/vendor/mathjax/tex-chtml.js").exists():
        config.mathjax_path = "vendor/mathjax/tex-chtml.js"
    else:
        LOGGER.info("No vendored MathJax: pages will ask the default CDN for it.")
    # Behind the style sheet on a slow line: text is read before formulas are set.
    late = {"defer": "defer", "fetchpriority": "low"}
    config.mathjax_options = late
    config.nb_ipywidgets_js = {"widget-host.js": late}


def in_the_name_of_the_fork(text):
    """A text whose addresses are those of the repository that builds the site."""
    return repository.renamed(text, repository.configured(), repository.for_site())


def name_the_fork(app, docname, source):
    """Links that a page writes out itself, such as a notebook's Colab line, follow the fork."""
    source[0] = in_the_name_of_the_fork(source[0])


def name_the_fork_in_downloads(app, exception):
    """So do the sources that each page offers to download; a notebook is alone there."""
    if exception:
        return
    sources = Path(app.outdir) / "_sources"
    for path in sources.rglob("*"):
        if path.is_file():
            text = in_the_name_of_the_fork(path.read_text("utf8"))
            if path.suffix == ".ipynb":
                name = path.relative_to(sources / addressed.FOLDER).with_suffix("").as_posix()
                text = addressed.addressed(text, name, repository.for_site())
            path.write_text(text, "utf8")


def depend_on_helpers(app, doctree):
    """A page that runs or shows `lessons` is stale once any file of src/lessons has changed.

    Sphinx only sees the notebook; without this an incremental build publishes old numbers.
    """
    env = app.env
    if not env.doc2path(env.docname).endswith(".ipynb") and env.docname != "book/api":
        return
    for path in sorted((Path(app.srcdir) / "src/lessons").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            env.note_dependency(str(path))


def keep_numbers_whole(app, doctree):
    for text in list(doctree.findall(nodes.Text)):
        whole = IN_NUMBER.sub("\u00a0", text)
        if whole != text and not isinstance(text.parent, AS_WRITTEN):
            text.parent.replace(text, nodes.Text(whole))


def keep_marks_with_formulas(app, doctree):
    """To a browser a formula is a picture, behind which a line may end: also before a comma."""
    for formula in list(doctree.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (marks := MARKS.match(after)):
            after.parent.replace(after, nodes.Text(after[marks.end() :]))
            whole = nodes.inline(classes=["whole"])
            formula.replace_self(whole)
            whole += [formula, nodes.Text(marks[0])]


def escape_bars(app, what, name, obj, options, lines):
    """In our docstrings |x| is an absolute value, not a substitution of reStructuredText."""
    for place, line in enumerate(lines):
        parts = LITERAL.split(line)
        parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
        lines[place] = "".join(parts)


def keep_lines(app, what, name, obj, options, lines):
    """Our docstrings say one thing a line; reStructuredText would run those lines together."""
    kept, inside = [], False
    for line in lines:
        item = DOC_LINE.match(line)
        if item and not inside:
            kept.append("")
        inside = bool(line.strip()) and (inside or item is not None)
        if item:
            line = f"| **{item[0]}**{line[item.end() :]}"
        elif inside:
            line = f"  {line.strip()}"
        kept.append(line)
    lines[:] = kept


def refuse_other_widgets(app, pagename, templatename, context, doctree):
    """Only anywidgets move on a page: widget-host.js draws nothing else, so say so early."""
    for script in context.get("script_files", []):
        attributes = getattr(script, "attributes", {})
        if attributes.get("type") != "application/vnd.jupyter.widget-state+json":
            continue
        modules = set(re.findall(r'"_view_module": "([^"]+)"', attributes["body"]))
        if foreign := modules - {WIDGET_MODULE, "@jupyter-widgets/base"}:
            LOGGER.warning("%s shows widgets that would not move: %s", pagename, sorted(foreign))


def mend_for_screen_readers(app, pagename, templatename, context, doctree):
    """Three things that axe finds in what docutils and myst-nb write."""
    body = context.get("body", "")
    # The role of an entry of a bibliography, which ARIA has since withdrawn.
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    # A name that hides the words shown ("Show code cell source").
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    # The empty corner of a table is a cell, for it is the header of nothing.
    context["body"] = EMPTY_HEADER.sub("<td></td>", body)


def drop_icon_fonts(app, exception):
    """Take Font Awesome's fonts and script out of the site; nothing refers to them any more."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in (static / "scripts").glob("fontawesome*"):
        path.unlink()
    for path in (static / "vendor" / "fontawesome").rglob("*.*"):
        path.unlink()
    for path in static.rglob("*.map"):
        path.unlink()


def setup(app):
    # Jupyter Book sets this for sphinx_comments, which our list of extensions leaves out.
    app.add_config_value("comments_config", {}, "")
    app.connect("config-inited", set_addresses)
    app.connect("config-inited", set_scripts)
    app.connect("source-read", name_the_fork)
    app.connect("build-finished", name_the_fork_in_downloads)
    app.connect("doctree-read", depend_on_helpers)
    app.connect("doctree-read", keep_numbers_whole)
    app.connect("doctree-read", keep_marks_with_formulas)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-process-docstring", keep_lines)
    app.connect("html-page-context", refuse_other_widgets, priority=900)
    app.connect("html-page-context", mend_for_screen_readers)
    app.connect("build-finished", drop_icon_fonts)
    joined.setup(app)
    launch.setup(app)
    site_files.setup(app)
    without_scripts.setup(app)
    return {"version": "1", "parallel_read_safe": True}
