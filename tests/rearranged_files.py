"""How a notebook is written down: functions of a notebook of version 4.5 that return its bytes."""

import copy
import json


def written(made, **options):
    return json.dumps(made, **options).encode()


def _minor(number):
    def file(made):
        for cell in made["cells"]:
            if number < 5:
                del cell["id"]
        return written(made | {"nbformat_minor": number})

    return file


def _three(made):
    """nbformat 3: worksheets, input for source, outputs of kind pyout, headings."""
    cells = [{"cell_type": "heading", "level": 1, "source": ["A"], "metadata": {}}]
    for cell in made["cells"]:
        new = {key: cell[key] for key in ("cell_type", "metadata")}
        if cell["cell_type"] == "code":
            new |= {"input": cell["source"], "language": "python", "collapsed": False}
            new |= {"outputs": [], "prompt_number": 3}
        else:
            new["source"] = cell["source"]
        cells.append(new)
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "x"}, "worksheets": [
        {"cells": cells, "metadata": {}}
    ]}  # fmt: skip


def _sheets(made):
    old = _three(made)
    cells = old["worksheets"][0]["cells"]
    old["worksheets"] = [
        {"cells": cells[i : i + 4], "metadata": {}} for i in range(0, len(cells), 4)
    ]
    return written(old)


def _joined_sources(made):
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"])
    return made


def _without(*keys, of_notebook=()):
    def file(made):
        for cell in made["cells"]:
            for key in keys:
                cell.pop(key, None)
        return written({key: made[key] for key in made if key not in of_notebook})

    return file


def _with(**more):
    def file(made):
        return written(
            {**made, "cells": [{**cell, **copy.deepcopy(more)} for cell in made["cells"]]}
        )

    return file


PNG = "iVBORw0KGgo" + "A" * 20_000
OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": ["a2.1: right on the examples\n"]},
    {"output_type": "display_data", "metadata": {}, "data": {"image/png": PNG, "text/plain": "x"}},
    {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["\x1b[0;31mx"]},
    {"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {}},
]


def _outputs(made):
    for number, cell in enumerate(made["cells"]):
        if "outputs" in cell:
            cell |= {"outputs": OUTPUTS, "execution_count": number}
    return written(made)


FILES = {
    **{f"version 4.{number}": _minor(number) for number in range(6)},
    "version 3": lambda made: written(_three(made)),
    "version 3 in several sheets": _sheets,
    "version 2": lambda made: written(_three(made) | {"nbformat": 2}),
    "sources as one text": lambda made: written(_joined_sources(made)),
    "sources letter by letter": lambda made: written(
        {**made, "cells": [{**c, "source": list("".join(c["source"]))} for c in made["cells"]]}
    ),
    "a byte-order mark": lambda made: b"\xef\xbb\xbf" + written(made),
    "Windows line ends": lambda made: written(made, indent=1).replace(b"\n", b"\r\n"),
    "in one line": lambda made: written(made, separators=(",", ":")),
    "letters as they are": lambda made: written(made, indent=4, ensure_ascii=False),
    "no metadata": _without("metadata", of_notebook=("metadata",)),
    "no ids": _without("id"),
    "no outputs": _without("outputs", "execution_count"),
    "no types": lambda made: _without("cell_type")(
        {**made, "cells": [c for c in made["cells"] if c["cell_type"] == "code"]}
    ),
    "no version": _without(of_notebook=("nbformat", "nbformat_minor")),
    "the same id everywhere": _with(id="x"),
    "outputs": _outputs,
    "attachments": _with(attachments={"image.png": {"image/png": PNG}}),
    "null metadata": _with(metadata=None),
    "of Colab": _with(metadata={"id": "xY3", "colab": {"base_uri": "https://localhost:8080/"}}),
    "a renamed kernel": lambda made: written(
        made | {"metadata": {"kernelspec": {"name": "my-env", "display_name": "Ümläut (3.13)"}}}
    ),
    "language names": lambda made: written(
        made | {"metadata": {"language_info": {"name": "python", "version": "3.13.2"}}}
    ),
    "read-only and tagged": _with(metadata={"editable": False, "deletable": False, "tags": ["x"]}),
}
