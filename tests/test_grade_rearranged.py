"""Where, how and in what file a right answer stands costs nothing: each rearrangement is full."""

import json
import os
import subprocess
import sys

import pytest
import rearranged
from rearranged_cells import FAILING, LENIENT, SHAPES
from rearranged_files import FILES
from submissions import CODED, Graded

from lessons import grade, grade_notebooks, grade_process, tasks

# An idle machine takes a tenth of a second for each; a busy one must not be told apart.
PATIENT = grade_process.LIMITS._replace(patience=20, notebook=1000)


@pytest.mark.parametrize("name", tasks.NAMES)
def test_every_rearrangement_of_a_right_notebook_earns_full_points(name, bubblewrap, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    files = rearranged.rearranged(name)
    assert len(files) >= 180
    for number, content in enumerate(files.values()):
        (folder / f"s{number:03}_{name}.ipynb").write_bytes(content)
    assert grade.run(name, [folder], tmp_path / "out", jobs=2, limits=PATIENT) == 0
    rows, lost, told = Graded(tmp_path / "out").rows, {}, {}
    for number, key in enumerate(files):
        row = rows[f"s{number:03}"]
        record = tmp_path / "out" / "records" / f"s{number:03}.json"
        notes = json.loads(record.read_text("utf8"))["notes"]
        if any(float(row[task.id]) != task.points for task in CODED[name]):
            lost[key] = row, notes
        if row["flags"] or (key not in LENIENT and bool(notes) != (key in FAILING)):
            told[key] = row["flags"], notes
    assert not lost
    assert not told


def test_every_file_holds_the_same_cells(tmp_path):
    cells = rearranged.right("a1")
    code = [cell.source for cell in cells if cell.kind == "code"]
    assert len(FILES) >= 20 and len(code) == 17
    for key, file in FILES.items():
        (tmp_path / "x.ipynb").write_bytes(file(rearranged.notebook(cells)))
        assert grade_notebooks.read(tmp_path / "x.ipynb") == code, key


# Cells as a kernel of Jupyter runs them, inside a loop; nothing is installed, whatever a cell says.
KERNEL = """
import asyncio, gc, json, os, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList

shell = InteractiveShell.instance()
shell.system = lambda command: None
shell.enable_gui = lambda gui=None: None
shell.getoutput = lambda command, *more, **options: SList([])
gc.collect = lambda *generation: 0  # with torch there it takes long, and each reset asks for it
failed, out = {}, os.dup(1)
os.dup2(2, 1)


async def run(notebooks):
    for key, sources in notebooks.items():
        shell.reset()
        for number, source in enumerate(sources):
            result = await shell.run_cell_async(
                source,
                transformed_cell=(text := shell.transform_cell(source)),
                preprocessing_exc_tuple=None,
            )
            if not result.success:
                error = result.error_before_exec or result.error_in_exec
                failed.setdefault(key, [number, type(error).__name__])


asyncio.run(run(json.load(sys.stdin)))
os.write(out, json.dumps(failed).encode())
"""


def in_jupyter(notebooks, folder):
    """{notebook: [cell, error]} of the first cell that fails in each, of {notebook: sources}."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KERNEL],
        input=json.dumps(notebooks),
        cwd=folder,
        env={**os.environ, "IPYTHONDIR": str(folder), "MPLBACKEND": "Agg"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_jupyter_runs_what_is_said_to_run_there(tmp_path):
    cells = rearranged.right("a3")
    shapes = [key for key in SHAPES if key not in LENIENT and key not in FAILING]
    notebooks = {
        key: [cell.source for cell in SHAPES[key](cells, "a3") if cell.kind == "code"]
        for key in shapes
    }
    trial = {"wrong": ["x = 1", "x ="], "right": ["y = 2\n%time y"]}
    assert in_jupyter(trial, tmp_path) == {"wrong": [1, "SyntaxError"]}
    assert in_jupyter(notebooks, tmp_path) == {}
