"""Fixtures of the tests with a browser: the built book, a watched page, a widget by itself."""

import functools
import http.server
import os
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"
sys.path.insert(0, str(ROOT / "book" / "tools"))

DESKTOP, PHONE = (1280, 900), (375, 800)
VIEW = "application/vnd.jupyter.widget-view+json"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Whether each text of a drawing lies inside it and can be read.
TEXTS_FIT = """() => [...document.querySelectorAll('svg text')].every((t) => {
  const [text, frame] = [t, t.closest('svg')].map((e) => e.getBoundingClientRect());
  return text.left >= frame.left && text.right <= frame.right && text.height >= 11;
})"""


def lesson_pages():
    """The built pages that the table of contents names, as addresses below the site."""
    written = [*(SITE / "book").glob("*.html"), *(SITE / "notebooks").rglob("*.html")]
    return sorted(path.relative_to(SITE).as_posix() for path in written)


def widget_pages():
    return [name for name in lesson_pages() if VIEW in (SITE / name).read_text("utf8")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def site():
    """The address of the built book, served as a host serves it."""
    if not lesson_pages():
        pytest.fail("there is no built book: run `make book` first")
    handler = functools.partial(Quiet, directory=SITE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def chromium():
    import browser

    path = browser.find()
    if path is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail("REQUIRE_BROWSER=1, and there is no Chromium here")
        pytest.skip("NO BROWSER: this test did not run")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        instance = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def bubblewrap():
    """The path of bubblewrap, where the walls of the grader's sandbox can be built."""
    from lessons import grade_sandbox

    try:
        return grade_sandbox.require()
    except grade_sandbox.NoSandbox as error:
        if os.environ.get("REQUIRE_SANDBOX") == "1":
            pytest.fail(f"REQUIRE_SANDBOX=1: {error}")
        pytest.skip(f"NO SANDBOX: this test did not run. {error}")


class Watched:
    """A browser page that may ask its own host only, with what it asked and complained about."""

    def __init__(self, chromium, site, size, theme):
        self.site = site
        self.outside, self.bad, self.complaints, self.asked = [], [], [], set()
        self.context = chromium.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)),
            color_scheme=theme,
            reduced_motion="no-preference",
        )
        self.page = self.context.new_page()
        self.page.route("**/*", self.guard)
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", self.answered)

    def guard(self, route):
        address = route.request.url
        if address.startswith(self.site):
            self.asked.add(address.removeprefix(self.site).split("?")[0])
            route.continue_()
        elif address.startswith(("data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(address)
            route.abort()

    def heard(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    def answered(self, response):
        if response.status >= 400:
            self.bad.append(f"{response.status} {response.url}")

    def open(self, name):
        """Go to a page of the book and wait until its maths and figures stand."""
        self.page.goto(self.site + name, wait_until="networkidle")
        self.page.evaluate("window.MathJax?.startup?.promise")
        views = self.page.locator(f'script[type="{VIEW}"]').count()
        self.page.wait_for_function(
            "count => document.querySelectorAll('.lessons-figure').length >= count", arg=views
        )
        return self.page


@pytest.fixture
def watch(chromium, site):
    """Make watched pages: `watch(size=PHONE, theme="dark")`; each is closed after the test."""
    made = []

    def make(size=DESKTOP, theme="light"):
        made.append(Watched(chromium, site, size, theme))
        return made[-1]

    yield make
    for watched in made:
        watched.context.close()


# What a widget's script needs of Jupyter: get, set, save_changes, on, off.
MODEL = """async ([script, style, state]) => {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  const heard = {};
  window.saves = 0;
  window.model = {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      for (const f of heard[`change:${name}`] ?? []) f();
    },
    save_changes: () => { window.saves += 1; },
    on: (event, f) => (heard[event] ??= []).push(f),
    off: (event, f) => { heard[event] = heard[event].filter((g) => g !== f); },
  };
  const blob = new Blob([script], { type: "text/javascript" });
  const { default: widget } = await import(URL.createObjectURL(blob));
  window.cleanup = widget.render({ model: window.model, el: document.querySelector("#here") });
  window.listeners = () => Object.values(heard).flat().length;
}"""


@pytest.fixture
def open_widget(chromium):
    """open_widget(widget, width=700): a page that shows it; script errors fail the test."""
    pages = []

    def open_(widget, width=700, script=None, **options):
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        pages.append((page, errors))
        # Time stands still but for page.clock.run_for: a slow machine changes no result.
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        page.set_content("<html lang=en><title>t</title><body><div id=here></div></body></html>")
        python_only = ("_esm", "_css", "layout")
        state = {k: v for k, v in widget.get_state().items() if k not in python_only}
        page.evaluate(MODEL, [script or widget._esm, widget._css, state])
        return page

    yield open_
    for page, errors in pages:
        page.close()
        assert not errors
