"""Run by the Python of an emulated Colab or Kaggle: one notebook, from top to bottom.

    python colab_run.py NOTEBOOK

Prints how many figures move, or ends with the sentence that says what went wrong.
Standalone: this Python has nothing of the book but what the notebook itself installs.
"""

import sys
from pathlib import Path

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def views(cell):
    """The model ids of the widgets that a cell shows."""
    shown = [output.get("data", {}).get(VIEW) for output in cell.get("outputs", [])]
    return [view["model_id"] for view in shown if view]


def missing_widgets(saved, ran):
    """Complaints: a cell that shows fewer widgets than when it was saved, or one with no script."""
    found = []
    models = ran.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for before, after in zip(saved.cells, ran.cells, strict=True):
        if len(views(after)) < len(views(before)):
            found.append(f"{after.id}: shows {len(views(after))} widgets, not {len(views(before))}")
        for name in views(after):
            if not models.get(name, {}).get("state", {}).get("_esm"):
                found.append(f"{after.id}: a widget came without its script")
    return found


def first_line(notebook):
    """What the first code cell printed: the versions and the device."""
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    return "".join(output.get("text", "") for output in code.outputs)


def main(path):
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    saved = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(Path(path).parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return f"A cell failed:\n{error}"
    said = first_line(notebook)
    if said.count("\n") != 1 or not said.endswith(" cpu\n"):
        return f"The first cell should print one line of versions and device, not {said!r}."
    if complaints := missing_widgets(saved, notebook):
        return "A figure that moves in the book would not move here.\n" + "\n".join(complaints)
    print(sum(len(views(cell)) for cell in notebook.cells), said.strip(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
