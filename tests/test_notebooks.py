"""The saved notebooks keep the form of DESIGN's lessons; each rule is shown to reject a fault."""

import json
import re

import bootstrap
import make_notebooks
import nbformat
import notebook_rules as rules
import pytest
import repository
import yaml
from conftest import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

PATHS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
NAMES = [path.stem for path in PATHS]
LARGEST = 500_000  # bytes
PLACES = ["README.md", "CONTRIBUTING.md", "CITATION.cff", "book/*.md", "notebooks/**/*.ipynb"]


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_notebook_keeps(path, rule):
    assert rule(read(path)) == []


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_notebook_starts_as_the_template(path):
    """One `make notebooks` after a change of the address or the template mends this."""
    notebook = read(path)
    first = rules.codes(notebook)[0]
    assert first.source == bootstrap.source()
    assert first.metadata.tags == bootstrap.TAGS
    assert bootstrap.open_line(path.stem) in notebook.cells[0].source


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_notebook_is_saved_in_the_one_form(path):
    """`make notebooks` would write the same bytes, were the outputs the same."""
    text = path.read_text("utf8")
    notebook = read(path)
    assert text == nbformat.writes(notebook, indent=1) + "\n"
    assert notebook.metadata == make_notebooks.METADATA
    assert not [cell.id for cell in notebook.cells if make_notebooks.looks_random(cell.id)]
    assert len(text.encode()) <= LARGEST


def test_the_book_has_its_notebooks():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    named = {name for name in re.findall(r"notebooks/[\w]+", json.dumps(toc))}
    named = {name for name in named if "assignments" not in name}  # tests/test_assignments.py
    assert named == {f"notebooks/{name}" for name in NAMES}


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_notebook_of_a_fork_follows(path, monkeypatch):
    """What `make notebooks` does once `_config.yml` names the fork: no old address is left."""
    old = [repository.configured(), repository.pages_url(repository.configured())]
    monkeypatch.setattr(repository, "configured", lambda: "someone/their-fork")
    notebook = read(path)
    bootstrap.apply(notebook, path.stem, new_code_cell)
    text = nbformat.writes(notebook)
    assert not [address for address in old if address in text]
    assert text.count(f"/someone/their-fork/blob/colab/notebooks/{path.stem}.ipynb") == 2
    assert 'site = \\"https://someone.github.io/their-fork\\"' in text


def test_address_is_written_in_one_form():
    """Who forks the book changes `_config.yml`; an address left elsewhere would stay behind."""
    owner, name = repository.configured().split("/")
    before, named = re.compile(r"([\w-]+?)(\.github\.io)?$"), re.compile(rf"/{re.escape(name)}\b")
    for place in PLACES:
        for path in ROOT.glob(place):
            text = path.read_text("utf8")
            # From each name backwards: a search from the front reads every picture many times.
            starts = [found.start() for found in named.finditer(text)]
            owners = {
                found[1] for i in starts if (found := before.search(text[max(0, i - 60) : i]))
            }
            # A host's name has no capitals.
            assert owners <= {owner, owner.lower()}, f"{path.name} names {owners}"


def ran(source, *outputs, **metadata):
    return new_code_cell(source, outputs=list(outputs), metadata=metadata, execution_count=1)


PICTURE = new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"})
UNBROKEN = "<details><summary>A</summary>tight</details>"
FAULTY = {
    "was_run_from_top_to_bottom": lambda: [new_code_cell("1")],
    "code_is_short": lambda: [ran("x = 1\n" * 16)],
    "code_stands_between_text": lambda: [ran("1"), ran("2"), ran("3")],
    "text_is_commonmark": lambda: [new_markdown_cell("```{note}\nColab shows this raw.\n```")],
    "answers_are_closed": lambda: [new_markdown_cell(UNBROKEN)],
    "no_encoding_is_defined": lambda: [ran("def pe(n):\n    a = n / 2\n    return np.sin(a)")],
    "pictures_have_words": lambda: [ran("plot()", PICTURE)],
    "nothing_of_a_machine": lambda: [ran("open('/root/x')")],
    "printed_numbers_are_short": lambda: [ran("1", new_output("stream", text="0.1234567"))],
}


def notebook_of(*cells):
    return new_notebook(cells=[new_markdown_cell("Before."), *cells, new_markdown_cell("After.")])


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_rule_rejects_its_fault(rule):
    assert rule(notebook_of(*FAULTY[rule.__name__]())) != []
    assert rule(notebook_of(ran("x = 1", new_output("stream", text="0.1234")))) == []


def test_reexecution_is_byte_stable(tmp_path):
    """Two runs, the same bytes: random cell ids, widget ids and split prints all settle."""
    path = tmp_path / "01_small.ipynb"
    widget = "import ipywidgets\nipywidgets.IntSlider()"
    loose = new_code_cell("import time\nprint(time.time())", metadata={"tags": [rules.IGNORED]})
    print_twice = new_code_cell("print(1, flush=True)\nprint(2)")
    cells = [new_markdown_cell("# Small"), loose, print_twice, new_code_cell(widget)]
    nbformat.write(new_notebook(cells=cells), path)
    make_notebooks.execute(path)
    first = path.read_bytes()
    make_notebooks.execute(path)
    assert path.read_bytes() == first
    notebook = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata
    assert [cell.execution_count for cell in rules.codes(notebook)] == [1, 2, 3, 4]
    assert notebook.cells[3].outputs == [new_output("stream", text="1\n2\n")]
