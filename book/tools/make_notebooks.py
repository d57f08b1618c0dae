"""`make notebooks`: execute the saved notebooks afresh, so that a second run changes no byte.

`make notebooks ONLY=01_order` executes one.
"""

import os
import sys

from environment import PYTHON
from stages import ROOT, StageFailed, Stages, command_line

FOLDER = ROOT / "notebooks"
KEEP_OUTPUT = "nbval-ignore-output"
VIEW = "application/vnd.jupyter.widget-view+json"
# Only what a reader's Jupyter needs; versions of this machine would change with every author.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(path):
    """One notebook: first cell in step, executed from top to bottom, saved in one form."""
    import bootstrap
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(path, as_version=4)
    bootstrap.apply(notebook, path.stem, nbformat.v4.new_code_cell)
    number_ids(notebook)
    before = {cell.id: cell.get("outputs") for cell in notebook.cells if keeps_output(cell)}
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],  # the kernel's advice about its sockets
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise StageFailed(f"{error}\n\nA cell of {path.name} failed (see above).") from None
    for cell in notebook.cells:
        if keeps_output(cell) and before.get(cell.id):
            cell.outputs = before[cell.id]
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = cell.execution_count
        if cell.cell_type == "code":
            cell.outputs = one_stream(cell.outputs)
            cell.metadata.pop("execution", None)
    number_widgets(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook, indent=1) + "\n", "utf8")


def keeps_output(cell):
    return cell.cell_type == "code" and KEEP_OUTPUT in cell.metadata.get("tags", [])


def one_stream(outputs):
    """Join neighbouring prints: a kernel may flush the same text in one piece or in several."""
    joined = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.get("name") and output.get("name") == last.get("name"):
            last.text += output.text
        else:
            joined.append(output)
    return joined


def number_ids(notebook):
    """Give a cell that has an editor's random id one from its place; keep the meaningful ones."""
    used = {cell.get("id") for cell in notebook.cells}
    for place, cell in enumerate(notebook.cells):
        if not cell.get("id") or looks_random(cell.id):
            name = f"cell-{place:02d}"
            while name in used:
                name += "b"
            cell.id = name
            used.add(name)


def looks_random(name):
    bare = name.replace("-", "")
    return len(bare) >= 8 and all(letter in "0123456789abcdef" for letter in bare)


def number_widgets(notebook):
    """Number the widgets' random ids by their order; the state itself is made by the build."""
    views = [
        output.data[VIEW]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if VIEW in output.get("data", {})
    ]
    for number, view in enumerate(views, 1):
        view["model_id"] = f"widget-{number:02d}"


def main():
    only = sys.argv[1:]
    paths = [FOLDER / f"{name.removesuffix('.ipynb')}.ipynb" for name in only]
    paths = paths or sorted(FOLDER.glob("[0-9]*.ipynb"))
    if missing := [path.name for path in paths if not path.exists()]:
        raise StageFailed(f"There is no notebook {', '.join(missing)} in notebooks/.")
    stages = Stages(len(paths))
    for path in paths:
        with stages.stage(path.stem):
            execute(path)


if __name__ == "__main__":
    if os.path.realpath(sys.prefix) != os.path.realpath(PYTHON.parents[1]):
        if not PYTHON.exists():
            sys.exit("There is no environment yet: run `make book` first.")
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        os.execv(PYTHON, [str(PYTHON), __file__, *sys.argv[1:]])
    command_line(main)
