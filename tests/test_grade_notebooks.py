"""What is read of a notebook, and whose it is."""

import json
import os

import pytest
from submissions import cell, notebook

from lessons import grade_names
from lessons import grade_notebooks as notebooks


def read(tmp_path, content):
    path = tmp_path / "x.ipynb"
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(data)
    return notebooks.read(path)


def test_files_of_one_student_lie_together(tmp_path):
    names = ["b_a2.ipynb", "a_a2.ipynb", "Copy of b_a2 (1).IPYNB", ".hidden.ipynb", "x.py"]
    for name in names:
        (tmp_path / name).write_text("{}")
    found, others = notebooks.files([tmp_path])
    assert [file.name for file in others] == ["x.py"]
    groups = grade_names.by_student(found, "a2")
    assert [(one.student, len(one.files)) for one in groups] == [("a", 1), ("b", 2)]
    assert notebooks.files([tmp_path / "x.py", tmp_path / "b_a2.ipynb"])[0] == [
        tmp_path / "b_a2.ipynb"
    ]


def test_every_version_of_the_format_is_read(tmp_path):
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}]}
    assert read(tmp_path, old) == ["x = 1\ny = 2"]
    old["worksheets"].append(3)
    assert read(tmp_path, old) == ["x = 1\ny = 2"]
    assert read(tmp_path, notebook(cell("x = 1"), cell("# text", "markdown"))) == ["x = 1"]
    whole = {"cells": [{"cell_type": "code", "source": "x = 1"}, 3, {"cell_type": "raw"}]}
    assert read(tmp_path, whole) == ["x = 1"]
    assert read(tmp_path, {"cells": [{"source": "x = 1", "outputs": []}, {"source": "# t"}]}) == [
        "x = 1"
    ]
    odd = {"cells": [{"cell_type": "code", "source": part} for part in (None, 3, ["a", 4])]}
    assert read(tmp_path, odd) == ["", "", "a"]
    assert read(tmp_path, b"\xef\xbb\xbf" + json.dumps(whole).encode()) == ["x = 1"]


@pytest.mark.parametrize(
    "content",
    [b"", b'{"cells": [', b"[]", b"{}", b'{"cells": 3}', b"\xff\xfe\x00", b"[" * 100_000, b"null",
     b'{"worksheets": []}', b'{"worksheets": [3]}'],
)  # fmt: skip
def test_what_is_no_notebook_is_unreadable(content, tmp_path):
    with pytest.raises(notebooks.Unreadable, match=r"^the file (is cut off|has no cells)"):
        read(tmp_path, content)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "large.ipynb"
    path.touch()
    os.truncate(path, 100 * 2**20 + 1)  # a hole: it takes no room on the disk
    with pytest.raises(notebooks.Unreadable, match=r"^the file has more than 100 MB$"):
        notebooks.read(path)
    text = json.dumps(notebook(cell("x = 1")))
    for most, refused in ((len(text) - 1, True), (len(text), False), (len(text) + 1, False)):
        monkeypatch.setattr(notebooks, "LARGEST", most)
        path.write_text(text)
        if refused:
            with pytest.raises(notebooks.Unreadable, match="more than"):
                notebooks.read(path)
        else:
            assert notebooks.read(path) == ["x = 1"]


def test_a_link_or_a_pipe_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(json.dumps(notebook(cell("x"))))
    (tmp_path / "link.ipynb").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    for name in ("link", "pipe", "folder", "missing"):
        with pytest.raises(notebooks.Unreadable):
            notebooks.read(tmp_path / f"{name}.ipynb")
        assert notebooks.digest(tmp_path / f"{name}.ipynb") == ""


def test_cells_end_their_lines_as_python_does(tmp_path):
    given = notebook(cell("x = 1\r\ny = 2\rz = 3"), cell("\ufeffw = 4"))
    assert read(tmp_path, given) == ["x = 1\ny = 2\nz = 3", "w = 4"]


def test_all_worksheets_of_an_old_notebook_are_read(tmp_path):
    cells = [[{"cell_type": "code", "input": f"x = {n}"}] for n in range(2)]
    old = {"worksheets": [{"cells": each} for each in cells]}
    assert read(tmp_path, old) == ["x = 0", "x = 1"]
