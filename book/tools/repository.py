"""Where the book is: its repository, its pages, and the notebooks that Colab and Kaggle open.

The address is written once, in `_config.yml`. `GITHUB_REPOSITORY`, which every run of GitHub
Actions has, overrides it, so a fork's site names the fork. `PAGES_URL` says where GitHub serves
that repository's pages, if that follows from no name: a domain of one's own.
"""

import os
import re

from stages import ROOT, StageFailed

PLACEHOLDER = "OWNER"  # in place of an account, as long as the book has none
BRANCH = "colab"  # where the publishing workflow puts the notebooks with their address in them
FORM = re.compile(r"[\w.-]+/[\w.-]+")


def configured():
    """`OWNER/NAME` as `_config.yml` has it."""
    text = (ROOT / "_config.yml").read_text("utf8")
    found = re.search(r"^ +url: *https://github\.com/([\w.-]+/[\w.-]+?)/? *$", text, re.M)
    if not found:
        raise StageFailed("_config.yml has no `repository: url: https://github.com/OWNER/NAME`.")
    return found[1]


def for_site():
    """`OWNER/NAME` that the built pages link to: a fork's own, where GitHub Actions builds it."""
    given = os.environ.get("GITHUB_REPOSITORY")
    if given and not FORM.fullmatch(given):
        raise StageFailed(f"GITHUB_REPOSITORY has to be ACCOUNT/NAME, not {given!r}.")
    return given or configured()


def required():
    """The same for what cannot be done without an address: never the placeholder."""
    address = for_site()
    if not known(address):
        raise StageFailed(
            "The book has no address yet: say where it is, GITHUB_REPOSITORY=ACCOUNT/NAME."
        )
    return address


def known(address):
    """Whether somebody's account stands in the address, not the placeholder."""
    return not address.startswith(f"{PLACEHOLDER}/")


def pages_url(address):
    """Where the pages of a repository are: below the account's host, or at its root."""
    given = os.environ.get("PAGES_URL")
    if given and address == os.environ.get("GITHUB_REPOSITORY"):
        return given.rstrip("/")
    owner, name = address.split("/")
    host = f"{owner}.github.io".lower()
    return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"


def open_in(address, name):
    """{service: link} that opens `notebooks/NAME.ipynb`, as the branch has it."""
    path = f"{address}/blob/{BRANCH}/notebooks/{name}.ipynb"
    return {
        "Colab": f"https://colab.research.google.com/github/{path}",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src=https://github.com/{path}",
    }


def renamed(text, old, new):
    """A text that names one repository and its pages, with another's in their place."""
    pages = [pages_url(address) for address in (old, new)]
    hosts = [url.split("://")[1] for url in pages]
    new_for = dict([(old, new), pages, hosts])
    # Whole names alone, for an address may begin or end another; in one pass, for a new one may
    # hold the old.
    either = "|".join(map(re.escape, new_for))
    return re.sub(rf"(?<![\w.-])(?:{either})(?![\w-])", lambda found: new_for[found[0]], text)
