"""First paint and time to interactive on a slow line, beside Jupyter Book's defaults.

Run by hand, on a quiet machine, after `make book`:

    .venv/bin/python tests/bench/pages.py [runs]

The same pages are built once more with Jupyter Book's default settings, and both sites are
visited in turns, by a fresh Chromium on a slow 4G line with a CPU four times slower. The default
pages ask other hosts for MathJax, require.js and html-manager; the same packages, from npm, answer
under those hosts' names from this machine, gzipped, over TLS with a certificate of its own.
(require.js comes unminified from npm, some 15 kB more, without the page's check of its hash.)
"""

import functools
import gzip
import http.server
import os
import re
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "book" / "tools")]

import browser  # noqa: E402
import vendor  # noqa: E402
from conftest import FLAGS, SITE  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

PAGES = ("book/intro.html", "book/notation.html", "notebooks/02_sinusoidal.html")
PAGES += ("notebooks/04_rope.html", "notebooks/07_train_short.html")
LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
SLOWER_CPU = 4
QUIET = 5000  # ms without a long task: from there on a page answers at once
PACKAGES = ("mathjax@3", "@jupyter-widgets/html-manager@1.0.6", "requirejs@2.3.4")
PACKAGES += ("anywidget@0.11",)
HOSTS = ("cdn.jsdelivr.net", "cdnjs.cloudflare.com", "unpkg.com")
CONFIG = """\
title: Positional Encoding, Executed
author: the authors
only_build_toc_files: true
execute: {execute_notebooks: "off"}
parse:
  myst_enable_extensions:
    [amsmath, attrs_inline, colon_fence, deflist, dollarmath, substitution, tasklist]
repository: {url: https://github.com/OWNER/positional-encoding-lessons, branch: main}
launch_buttons: {colab_url: https://colab.research.google.com}
html: {use_edit_page_button: true, use_repository_button: true, use_issues_button: true}
bibtex_bibfiles: [book/references.bib]
sphinx: {extra_extensions: [sphinx.ext.autodoc, sphinx.ext.napoleon]}
"""
WATCH = """(() => {
  window.long = [];
  new PerformanceObserver((list) => window.long.push(
    ...list.getEntries().map((e) => [e.startTime, e.startTime + e.duration])
  )).observe({type: 'longtask', buffered: true});
})()"""
READ = """() => ({
  now: performance.now(), long: window.long,
  first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  ready: performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart,
})"""


def build_default(folder):
    """The same pages with default settings, from the notebooks as the book's build ran them."""
    for name in ("_toc.yml", "LICENSE"):
        shutil.copy2(ROOT / name, folder)
    skip = shutil.ignore_patterns("_ext", "_assets", "tools", "locks")
    shutil.copytree(ROOT / "book", folder / "book", ignore=skip)
    shutil.copytree(ROOT / "_build/jupyter_execute/notebooks", folder / "notebooks")
    (folder / "_config.yml").write_text(CONFIG, "utf8")
    command = [Path(sys.executable).parent / "jupyter-book", "build", "-q", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for page in (folder / "_build/html").rglob("*.html"):
        text = page.read_text("utf8")
        page.write_text(re.sub(r' integrity="sha256-[^"]*"', "", text), "utf8")
    return folder / "_build/html"


def fetch_packages(folder):
    """Each package in a folder of its own name, so that an address's path can be looked up."""
    for package in PACKAGES:
        name = re.sub("(?<=.)@[^@]*$", "", package)
        target = folder / name
        target.mkdir(parents=True)
        command = [vendor.find_npm(), "pack", package, "--silent", "--pack-destination", target]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (archive,) = target.glob("*.tgz")
        subprocess.run(["tar", "xzf", archive, "-C", target, "--strip-components=1"], check=True)


class Host(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, gzipped and with the connection kept, as the usual hosts do."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def find(self, path):
        return Path(self.directory) / path.lstrip("/")

    def do_GET(self):
        path = self.find(urlsplit(self.path).path)
        body, packed = pack(path) if path.is_file() else (b"", False)
        self.send_response(200 if path.is_file() else 404)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Access-Control-Allow-Origin", "*")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Packages(Host):
    """The same for the packages, by the addresses that those hosts give their files."""

    def find(self, path):
        if path.startswith("/ajax/libs/require.js/"):
            return Path(self.directory) / "requirejs" / "require.js"
        found = re.match(r"/(?:npm/)?((?:@[^/]+/)?[^/@]+)(?:@[^/]*)?/(.*)", path)
        target = Path(self.directory) / found[1] / found[2]
        return target if target.suffix else target.with_suffix(".js")


@functools.cache
def pack(path):
    content = path.read_bytes()
    if path.suffix in (".png", ".woff", ".woff2"):
        return content, False
    return gzip.compress(content, 6), True


def serve(handler, folder, certificate=None):
    """The port on which the folder is served."""
    bound = functools.partial(handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), bound)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def certificate(folder):
    target = folder / "host.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-keyout", target, "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    target.write_text(target.read_text() + (folder / "cert.pem").read_text())
    return target


def visit(chromium, address):
    """First contentful paint, time to interactive (both ms), kilobytes and requests of a visit."""
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.send("Network.emulateNetworkConditions", LINE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_CPU})
    sizes = []
    # Pictures that a page holds itself are no requests: nothing came over the line.
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.add_init_script(WATCH)
    page.goto(address, wait_until="networkidle", timeout=180_000)
    while True:
        page.wait_for_timeout(QUIET + 500)
        seen = page.evaluate(READ)
        last = max((end for _, end in seen["long"]), default=0)
        if seen["now"] - last > QUIET:
            break
    context.close()
    return seen["first"], interactive(seen), sum(sizes) / 1000, sum(map(bool, sizes))


def interactive(seen):
    """The end of the last long task before the first five quiet seconds after the first paint."""
    at = seen["first"]
    for begin, end in sorted(seen["long"]):
        if begin - at > QUIET:
            break
        at = max(at, end)
    return max(at, seen["ready"])


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "book").mkdir()
        (folder / "packages").mkdir()
        default = build_default(folder / "book")
        fetch_packages(folder / "packages")
        far = serve(Packages, folder / "packages", certificate(folder))
        ports = {"default": serve(Host, default), "ours": serve(Host, SITE)}
        rules = ", ".join(f"MAP {host} 127.0.0.1:{far}" for host in HOSTS)
        flags = [*FLAGS, f"--host-resolver-rules={rules}", "--ignore-certificate-errors"]
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, median of {runs} runs")
        print(
            f"{'page':30} {'':8} {'first paint':>12} {'interactive':>12} {'kB':>6} {'requests':>8}"
        )
        with sync_playwright() as driver:
            for page in PAGES:
                found = {site: [] for site in ports}
                for _ in range(runs):
                    for site, port in ports.items():
                        chromium = driver.chromium.launch(
                            executable_path=browser.find(), args=flags
                        )
                        found[site].append(visit(chromium, f"http://127.0.0.1:{port}/{page}"))
                        chromium.close()
                report(page, found)


def report(page, found):
    rows = {}
    for site, visits in found.items():
        rows[site] = row = [statistics.median(column) for column in zip(*visits, strict=True)]
        first, ready, size, count = row
        print(f"{page:30} {site:8} {first:9.0f} ms {ready:9.0f} ms {size:6.0f} {count:8.0f}")
    ratios = [mine / theirs for mine, theirs in zip(rows["ours"], rows["default"], strict=True)]
    first, ready, size, count = ratios
    print(f"{'':30} {'ratio':8} {first:12.2f} {ready:12.2f} {size:6.2f} {count:8.2f}", flush=True)


if __name__ == "__main__":
    main()
