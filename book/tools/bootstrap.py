"""What every notebook starts with, from one template: its Colab line and its first code cell."""

import re
import tomllib

import repository
from stages import ROOT

COLAB_LINE = re.compile(r"^\[Open in Colab\]\(\S*\).*$", re.M)
TAGS = ["remove-cell", "nbval-ignore-output"]  # not on the page; its output names versions
CELL_ID = "bootstrap"

TEMPLATE = """\
# Setup: on Colab or Kaggle this installs the book's helpers, nothing else.
import importlib, importlib.metadata, importlib.util, subprocess, sys
site = "{site}"
wheel = f"{{site}}/{wheel}"
repo = "{repo}"
pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
if importlib.util.find_spec("lessons") is None:
    urls = wheel, f"{{repo}}/archive/refs/heads/main.zip"
    if all(subprocess.call([*pip, url]) for url in urls):
        raise RuntimeError(f"Neither of {{urls}} can be had: turn on the internet, run this again.")
    importlib.invalidate_caches()
import torch
names = "{package}", "numpy", "torch"
device = "cuda" if torch.cuda.is_available() else "cpu"
print(*(f"{{n}} {{importlib.metadata.version(n)}}," for n in names), device)"""


def source():
    """The first code cell, with the addresses that follow from `_config.yml`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    package = project["name"]
    address = repository.configured()
    return TEMPLATE.format(
        site=repository.pages_url(address),
        repo=f"https://github.com/{address}",
        wheel=f"{package.replace('-', '_')}-{project['version']}-py3-none-any.whl",
        package=package,
    )


def colab_line(name):
    """A text link, not the usual badge: pages ask no other host for a picture."""
    path = f"{repository.configured()}/blob/main/notebooks/{name}.ipynb"
    return f"[Open in Colab](https://colab.research.google.com/github/{path})"


def apply(notebook, name, new_code_cell):
    """Bring a notebook's Colab line and first code cell into step with the template."""
    title = notebook.cells[0]
    if COLAB_LINE.search(title.source):
        title.source = COLAB_LINE.sub(colab_line(name), title.source, count=1)
    else:
        heading, _, rest = title.source.partition("\n")
        title.source = "\n\n".join([heading, colab_line(name), rest.strip()]).rstrip()
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not codes or not codes[0].source.startswith(TEMPLATE.split(":")[0]):
        notebook.cells.insert(1, new_code_cell(""))
        codes = notebook.cells[1:2]
    first = codes[0]
    first.source, first.id = source(), CELL_ID
    first.metadata = {"tags": TAGS}
