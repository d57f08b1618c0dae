"""The repository's address: written once, in `_config.yml`; `GITHUB_REPOSITORY` overrides it."""

import os
import re

from stages import ROOT, StageFailed


def configured():
    """`OWNER/NAME` as `_config.yml` has it."""
    text = (ROOT / "_config.yml").read_text("utf8")
    found = re.search(r"^ +url: *https://github\.com/([\w.-]+/[\w.-]+?)/? *$", text, re.M)
    if not found:
        raise StageFailed("_config.yml has no `repository: url: https://github.com/OWNER/NAME`.")
    return found[1]


def for_site():
    """`OWNER/NAME` that the built pages link to: a fork's own, where GitHub Actions builds it."""
    return os.environ.get("GITHUB_REPOSITORY") or configured()


def pages_url(repository):
    """Where GitHub Pages serves the book of that repository."""
    owner, name = repository.split("/")
    return f"https://{owner}.github.io/{name}"
