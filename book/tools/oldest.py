"""Refuse a Python that is too old, before it meets the other tools, which it may not even parse."""

import os
import sys

OLDEST = (3, 11)


def refusal():
    """The sentence that refuses this Python, or None."""
    if sys.version_info >= OLDEST:
        return None
    needed, name = ".".join(map(str, OLDEST)), os.path.basename(sys.executable)
    found = sys.version.split()[0]
    return f"This book needs Python {needed} or newer, and `{name}` is {found}: " + (
        "name a newer one, as in `make book PYTHON=python3.12`."
    )


if __name__ == "__main__":
    sys.exit(refusal())
