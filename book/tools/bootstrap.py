"""What every notebook starts with, from one template: its Colab line and its first code cell."""

import re
import tomllib

import repository
from stages import ROOT

OPEN_LINE = re.compile(r"^\[Open in Colab\]\(\S*\).*$", re.M)
TAGS = ["remove-cell", "nbval-ignore-output"]  # not on the page; its output names versions
CELL_ID = "bootstrap"

START = "# Setup: on Colab or Kaggle this installs the book's helpers, nothing else.\n"
# The address is known: the wheel that lies on the book's site, or else the repository.
KNOWN = """\
import importlib.metadata, importlib.util, subprocess, sys, torch
site = "{site}"
book = "https://github.com/{address}"
pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
if importlib.util.find_spec("lessons") is None:
    urls = f"{{site}}/{wheel}", f"{{book}}/archive/refs/heads/main.zip"
    if all(subprocess.call([*pip, url]) for url in urls):
        raise RuntimeError(f"Neither of {{urls}} can be had: turn on the internet, run this again.")
"""
# It is not, as on `main` of a repository that anybody may copy. The working copy may know where
# it came from; Colab's own server, asked as a Jupyter server is, says from where on GitHub it
# opened this notebook (`fileId=https%3A//github.com/...`). The name before the address keeps pip
# from installing something else from there.
ASK = """\
import importlib.metadata, importlib.util, re, subprocess, sys, torch, urllib.parse
book = ""  # its address, https://github.com/..., where neither git nor Colab can tell it
if importlib.util.find_spec("lessons") is None:
    colab = "http://$COLAB_JUPYTER_IP:${{KMP_TARGET_PORT:-9000}}/api/sessions"
    told = subprocess.getoutput(f"git remote get-url origin; curl -sm 5 {{colab}}")
    found = re.search(r"{origin}", book or urllib.parse.unquote(told))
    if not found:
        raise RuntimeError("Write the book's address on GitHub into book = '' and run this again.")
    helpers = f"{package} @ https://github.com/{{found[1]}}/archive/refs/heads/main.zip"
    if subprocess.call([sys.executable, "-m", "pip", "install", "-q", "--no-deps", helpers]):
        raise RuntimeError(f"{{helpers}} can't be had: turn on the internet, or correct book = ''.")
"""
END = """\
    importlib.invalidate_caches()
device = "cuda" if torch.cuda.is_available() else "cpu"
print(*(f"{{n}} {{importlib.metadata.version(n)}}," for n in ("{package}", "numpy", "torch")), device)"""  # noqa: E501
# https, ssh and scp's form, with or without a user, a token, a port and `.git`: ACCOUNT/NAME.
ORIGIN = (
    r"(?im)(?:^|//|@)(?:www\.|ssh\.)?github\.com(?::\d+)?[:/]"
    r"([\w.-]+/[\w.-]+?)(?:\.git)?/?(?:$|/blob/)"
)


def source(address=None):
    """The first code cell, with the address in it or, where there is none, the search for it."""
    address = address or repository.configured()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    name = project["name"]
    text = START + (KNOWN if repository.known(address) else ASK) + END
    return text.format(
        address=address,
        site=repository.pages_url(address),
        wheel=f"{name.replace('-', '_')}-{project['version']}-py3-none-any.whl",
        package=name,
        origin=ORIGIN,
    )


def open_line(name, address=None):
    """Text links, not the usual badges: pages ask no other host for a picture."""
    address = address or repository.configured()
    links = {
        f"Open in {service}": url for service, url in repository.open_in(address, name).items()
    }
    if name.startswith("assignments/"):
        # A student has this file alone, where links to the lessons beside it lead nowhere.
        links["The lessons"] = repository.pages_url(address)
    return " · ".join(f"[{words}]({url})" for words, url in links.items())


def apply(notebook, name, new_code_cell, address=None):
    """Bring a notebook's line of links and first code cell into step with the template."""
    cells = notebook["cells"]
    title = cells[0]
    line = open_line(name, address)
    if OPEN_LINE.search(title["source"]):
        title["source"] = OPEN_LINE.sub(lambda _: line, title["source"], count=1)
    else:
        heading, _, rest = title["source"].partition("\n")
        title["source"] = "\n\n".join([heading, line, rest.strip()]).rstrip()
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    if not codes or not codes[0]["source"].startswith(START):
        cells.insert(1, new_code_cell(""))
        codes = cells[1:2]
    first = codes[0]
    first["source"], first["id"] = source(address), CELL_ID
    first["metadata"] = {"tags": TAGS}
