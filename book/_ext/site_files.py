"""The files of the site that no page is made of: for crawlers, for lost readers, for hosts."""

from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes

NOT_FOUND = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Not found: {title}</title>
<link rel="icon" href="{root}_static/favicon.svg">
<style>
:root {{ color-scheme: light dark; font: 1.125rem/1.6 system-ui, sans-serif; }}
body {{ max-width: 38rem; margin: 4rem auto; padding: 0 1rem; }}
input, button {{ font: inherit; }}
</style>
</head>
<body>
<h1>There is no such page</h1>
<p>The address may be mistyped, or the page may have moved. These are the pages of
<a href="{root}index.html">{title}</a>:</p>
<ul>
{pages}
</ul>
<form action="{root}search.html"><p><label>Or search for
<input type="search" name="q"></label> <button>Search</button></p></form>
</body>
</html>
"""
URL = "<url><loc>{}</loc></url>"
SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}
</urlset>
"""


def set_site_links(app, config):
    """`site:name` in a page is that file on the published site, the fork's where a fork builds."""
    config.myst_url_schemes = {
        **dict.fromkeys(("http", "https", "mailto")),
        "site": config.html_baseurl + "{{path}}",
    }


def describe_the_lesson(app, pagename, templatename, context, doctree):
    """A page's description begins with its first sentence, not with the words "Open in Colab".

    The page itself is written already: what is taken away here is missed on cards only.
    """
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        if paragraph.astext().startswith("Open in Colab"):
            paragraph.parent.remove(paragraph)
            return


def in_reading_order(env):
    """The pages of the table of contents, as it lists them."""
    order, todo = [], [env.config.root_doc]
    while todo:
        name = todo.pop(0)
        order.append(name)
        todo = [*env.toctree_includes.get(name, ()), *todo]
    return order


def write_site_files(app, exception):
    """A sitemap, robots.txt, .nojekyll, and a 404 page for addresses at any depth.

    GitHub Pages answers with 404.html wherever a page is missing, so its links start at the
    site's root, which is `/NAME/` on the host; it has its own few styles for the same reason.
    """
    if exception or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl
    names = in_reading_order(app.env)
    pages = [URL.format(escape(f"{base}{app.builder.get_target_uri(name)}")) for name in names]
    root = urlsplit(base).path
    links = [
        f'<li><a href="{root}{app.builder.get_target_uri(name)}">'
        f"{escape(app.env.titles[name].astext())}</a></li>"
        for name in names
    ]
    title = escape(app.config.html_title)
    files = {
        "sitemap.xml": SITEMAP.format("\n".join(pages)),
        "robots.txt": f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n",
        "404.html": NOT_FOUND.format(title=title, root=root, pages="\n".join(links)),
        ".nojekyll": "",  # names that begin with an underscore are files like any other
    }
    for name, text in files.items():
        (out / name).write_text(text, "utf8")


def setup(app):
    app.connect("config-inited", set_site_links)
    app.connect("html-page-context", describe_the_lesson, priority=400)
    app.connect("build-finished", write_site_files)
    return {"version": "1", "parallel_read_safe": True}
