"""What a page shows before its scripts have come, or without them: formulas, and where to look.

MathJax sets the formulas in the browser; until it has come, on a slow line or for ever, a reader
would see TeX. Browsers draw MathML themselves, so each formula is followed by its own, and gives
way to MathJax in one step (pages.js), so that few lines move. MathJax translates, in node while
the book is built: both are the same formula.
"""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
MATHJAX = "_build/tools/mathjax"  # where `make book` puts it
TRANSLATOR = Path(__file__).with_name("tex_to_mathml.js")
FORMULA = re.compile(
    r'<(span|div) class="(?:\w+ )?math notranslate nohighlight"[^>]*>'
    r"\s*\\([(\[])(?P<tex>.*?)\\[)\]]\s*</\1>(?!<span class=.still-math)",
    re.DOTALL,
)
VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">.*?</script>(?!<noscript>)',
    re.DOTALL,
)
NEEDS_SCRIPTS = (
    "<noscript><p>Here stands a figure that moves, which needs JavaScript. "
    "The picture before it says the same standing still.</p></noscript>"
)
SPACE = re.compile(r">\s+<")
MATHJAX_ALONE = re.compile(r' (?:data-mjx-[\w-]+|xmlns)="[^"]*"')
ENTITY = re.compile(r"&#x[0-9A-F]+;")
# Browsers set "sin x" as "sinx": MathML leaves that space to them, TeX does not.
FUNCTION = re.compile(r"<mo>\u2061</mo>(?!<mo|<mrow><mo)")


def translate(folder, formulas):
    """The MathML of pairs (TeX, displayed or not), as short as it can be written."""
    node = shutil.which("node")  # `make book` puts the environment's programs on the path
    if node is None or not (folder / "node-main.js").is_file():
        return None
    done = subprocess.run(
        [node, TRANSLATOR, folder],
        input=json.dumps(formulas),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tidy(text) for text in json.loads(done.stdout)]


def tidy(text):
    text = MATHJAX_ALONE.sub("", SPACE.sub("><", text))
    text = ENTITY.sub(lambda found: unescape(found[0]), text)
    return FUNCTION.sub('<mo>\u2061</mo><mspace width="0.17em"/>', text)


def pair(found):
    """What a formula on a page says in TeX, and whether it stands in a line of its own."""
    return unescape(found["tex"]).strip(), found[1] == "div"


def write_fallbacks(app, exception):
    if exception or app.builder.format != "html":
        return
    pages = {path: path.read_text("utf8") for path in Path(app.outdir).rglob("*.html")}
    formulas = sorted({pair(found) for text in pages.values() for found in FORMULA.finditer(text)})
    translated = translate(Path(app.srcdir) / MATHJAX, formulas)
    if translated is None:
        LOGGER.info("No node or no MathJax for it: formulas are TeX until MathJax comes.")
    mathml = dict(zip(formulas, translated or (), strict=False))

    def behind(found):
        math = mathml.get(pair(found))
        return found[0] + (f'<span class="still-math">{math}</span>' if math else "")

    for path, text in pages.items():
        changed = VIEW.sub(rf"\g<0>{NEEDS_SCRIPTS}", FORMULA.sub(behind, text))
        if changed != text:
            path.write_text(changed, "utf8")


def setup(app):
    app.connect("build-finished", write_fallbacks)
    return {"version": "1", "parallel_read_safe": True}
