"""Find a Chromium for the page tests, or get one."""

import os
import shutil
import sys
from pathlib import Path

from environment import PYTHON
from stages import StageFailed, run

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
DOWNLOADED = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")


def find():
    """The machine's own Chromium or Chrome, else one that Playwright downloaded, else None."""
    if found := next(filter(None, map(shutil.which, NAMES)), None):
        return found
    if MAC.exists():
        return str(MAC)
    cache = "Library/Caches" if sys.platform == "darwin" else ".cache"
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / cache / "ms-playwright"
    return next((str(path) for way in DOWNLOADED for path in sorted(Path(folder).glob(way))), None)


def provide(note):
    """A browser by any means: the machine's, Playwright's, and as root apt's; or None."""
    ways = [([PYTHON, "-m", "playwright", "install", "chromium"], "browser-playwright.log")]
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt = "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium"
        ways.append((["sh", "-c", apt], "browser-apt.log"))
    for command, log in ways:
        if found := find():
            break
        try:
            run(command, log, "This way to a browser failed.")
        except StageFailed:
            continue
    found = find()
    if found is None and os.environ.get("REQUIRE_BROWSER") == "1":
        raise StageFailed(
            "There is no Chromium here, none could be installed, and "
            "REQUIRE_BROWSER=1 forbids to go on without the browser tests."
        )
    note(found or "NONE: the browser tests will be skipped")
    return found
