"""`make serve`: the built book on a free port of this machine, in a browser where there is one."""

import contextlib
import functools
import http.server
import os
import sys
import webbrowser

from stages import SITE, StageFailed, command_line


def main():
    if not (SITE / "index.html").exists():
        raise StageFailed("There is no book to serve yet: run `make book` first.")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    port = int(os.environ.get("PORT", 0))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"The book is at {address} (Ctrl+C stops it)", flush=True)
        if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.name == "nt":
            webbrowser.open(address)
        # Ctrl+C is how one is meant to stop it, so it is no failure.
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    command_line(main)
