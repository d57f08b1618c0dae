"""The form of a lesson's notebook: each rule takes a notebook and returns its complaints."""

import ast
import re

from bootstrap import CELL_ID as BOOTSTRAP

LINES, COLUMNS, IN_A_ROW, DECIMALS = 15, 79, 2, 6
IGNORED = "nbval-ignore-output"
HIDDEN = {"remove-cell", "remove-input"}
MYST = re.compile(r"^(?:```|:::)\{|\{[a-z:-]+\}`|^:::|^\([\w-]+\)=$", re.M)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home|tmp|usr|opt|Users|content)/|site-packages")
LONG_NUMBER = re.compile(rf"\d\.\d{{{DECIMALS + 1},}}")
DETAILS = re.compile(r"<details>\s*<summary>.+?</summary>\n\n.+?\n\n</details>", re.S)


def tags(cell):
    return set(cell.metadata.get("tags", []))


def codes(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def visible(notebook):
    return [cell for cell in notebook.cells if not HIDDEN & tags(cell)]


def output_text(cell):
    """All that a cell's outputs say in plain text."""
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        found += [output.get("text", ""), data.get("text/plain", ""), data.get("text/markdown", "")]
    return "\n".join(found)


def was_run_from_top_to_bottom(notebook):
    """A cell without a count is one that nbval would not compare."""
    counts = [cell.execution_count for cell in codes(notebook)]
    expected = list(range(1, len(counts) + 1))
    return [] if counts == expected else [f"execution counts are {counts}"]


def code_is_short(notebook):
    found = []
    for cell in codes(notebook):
        lines = cell.source.splitlines()
        if len(lines) > LINES:
            found.append(f"{cell.id}: {len(lines)} lines")
        if cell.id != BOOTSTRAP:  # a fork's address may be long, and the page does not show it
            found += [f"{cell.id}: {len(line)} columns" for line in lines if len(line) > COLUMNS]
    return found


def code_stands_between_text(notebook):
    """Text says what to look for before a cell, and what was seen after it."""
    kinds = [(cell.cell_type, cell.id) for cell in visible(notebook)]
    found = [
        f"{where}: no text {side}"
        for (kind, where), side in ((kinds[0], "before"), (kinds[-1], "after"))
        if kind == "code"
    ]
    row = 0
    for kind, where in kinds:
        row = row + 1 if kind == "code" else 0
        if row > IN_A_ROW:
            found.append(f"{where}: code cell number {row} in a row")
    return found


def text_is_commonmark(notebook):
    """Colab shows a role or a directive of MyST as it is written."""
    return [
        f"{cell.id}: {match[0]!r}"
        for cell in texts(notebook)
        for match in MYST.finditer(cell.source)
    ]


def answers_are_closed(notebook):
    """`<details>` with a summary, and blank lines that make its Markdown be read as such."""
    found = []
    for cell in texts(notebook):
        if cell.source.count("<details") != len(DETAILS.findall(cell.source)):
            found.append(f"{cell.id}: a <details> without summary, end or blank lines")
    return found


def no_encoding_is_defined(notebook):
    """A formula's function is imported and shown; by hand is one line at most."""
    found = []
    for cell in codes(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if not isinstance(node, ast.FunctionDef) or len(node.body) < 2:
                continue
            called = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node)}
            if called & {"sin", "cos", "exp", "outer"}:
                found.append(f"{cell.id}: {node.name} computes an encoding")
    return found


def pictures_have_words(notebook):
    found = []
    for cell in codes(notebook):
        drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
        words = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if drawn and len(words) < 20:
            found.append(f"{cell.id}: a picture without alt text")
    return found


def nothing_of_a_machine(notebook):
    """No path of the author's machine, no widget state, no time of execution."""
    found = [key for key in notebook.metadata if key not in ("kernelspec", "language_info")]
    for cell in notebook.cells:
        said = cell.source + (output_text(cell) if cell.cell_type == "code" else "")
        found += [f"{cell.id}: {match[0]}" for match in MACHINE_PATH.finditer(said)]
        if "execution" in cell.metadata:
            found.append(f"{cell.id}: saved with its time of execution")
    return found


def printed_numbers_are_short(notebook):
    """Later decimals differ between processors, and nbval compares what is printed."""
    return [
        f"{cell.id}: prints {match[0]}…"
        for cell in codes(notebook)
        if IGNORED not in tags(cell)
        for match in LONG_NUMBER.finditer(output_text(cell))
    ]


RULES = [
    was_run_from_top_to_bottom,
    code_is_short,
    code_stands_between_text,
    text_is_commonmark,
    answers_are_closed,
    no_encoding_is_defined,
    pictures_have_words,
    nothing_of_a_machine,
    printed_numbers_are_short,
]
