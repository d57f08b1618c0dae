"""A folder of notebooks as students hand them in, and what each of them must earn.

``make(folder, outside)`` writes those of assignment A2: good ones, one wrong idea a task, bad
weather, and bad intent.  ``packed(name)`` gives the wrong ideas of any assignment.
"""

import csv
import json
import re
from pathlib import Path
from typing import NamedTuple

import bootstrap
from student_code import IMPORTS, RIGHT
from wrong_ideas import IDEAS

from lessons import tasks

CODED = {
    name: [task for task in tasks.assignment(name).tasks if task.function] for name in tasks.NAMES
}
A2 = CODED["a2"]
FULL = {task.id: task.points for task in A2}
BLANK = dict.fromkeys(FULL, 0)


class Expected(NamedTuple):
    """points of each task; words of which a flag holds one, and the feedback one."""

    points: dict
    flags: tuple = ()
    words: tuple = ()


def cell(source, kind="code", **metadata):
    more = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source.splitlines(True), **more}


def notebook(*cells, **metadata):
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def stub(task):
    return f'def {task.function}(*arguments):\n    raise NotImplementedError("not written yet")\n'


def cells_of(name="a2", answers=RIGHT):
    """The cells of a notebook: the bootstrap, imports, and for each task answer and check."""
    cells = [cell("# Assignment", "markdown"), cell(bootstrap.source()), cell(IMPORTS)]
    cells.append(cell("from lessons import tasks"))
    for task in CODED[name]:
        grading = {"grade": False, "grade_id": task.id.replace(".", "_"), "solution": True}
        cells.append(cell(f"## {task.title}", "markdown"))
        cells.append(cell(answers.get(task.id, stub(task)), nbgrader=grading))
        cells.append(cell(f'tasks.check("{task.id}", {task.function})'))
    return cells


def is_check(each):
    return "tasks.check(" in "".join(each["source"])


def with_answer(**answers):
    """The cells of the right notebook with other answers: a2_1 stands for a2.1."""
    changed = {key.replace("_", "."): code for key, code in answers.items()}
    return cells_of(answers=RIGHT | changed)


def packed(name):
    """[(cells, points)]: the wrong ideas of an assignment, one for each task in a notebook."""
    ideas = {task.id: [idea for idea in IDEAS if idea.task == task.id] for task in CODED[name]}
    found = []
    for number in range(max(map(len, ideas.values()))):
        chosen = {key: row[number] for key, row in ideas.items() if number < len(row)}
        code = RIGHT | {key: idea.code for key, idea in chosen.items()}
        points = {
            task.id: chosen[task.id].left if task.id in chosen else task.points
            for task in CODED[name]
        }
        found.append((cells_of(name, code), points))
    return found


def body(task, *lines):
    """A function for a task that does something else."""
    function = next(each.function for each in A2 if each.id == task)
    return "\n    ".join([f"def {function}(*arguments):", "import os", *lines]) + "\n"


def lost(*numbers):
    return FULL | dict.fromkeys(numbers, 0)


def hostile(outside):
    """name -> (cells, Expected) of notebooks that break something, on purpose or not."""
    forge = (
        "for descriptor in range(3, 64):",
        '    try: os.write(descriptor, b\'{"call": 1, "answer": 0}\\n\' * 3)',
        "    except OSError: pass",
        "return arguments[0]",
    )
    patches = (
        "import json, numpy as np, torch\n"
        "np.allclose = np.array_equal = np.isclose = torch.equal = lambda *a, **k: True\n"
        "np.testing.assert_allclose = lambda *a, **k: None\n"
        "json.dumps = lambda *a, **k: '{\"answer\": 1}'\njson.loads = lambda *a, **k: {}\n"
    )
    quiet = "%matplotlib inline\n!pip install nothing\nimport warnings, sys\n"
    late = "crashed the program", "took too long", "ended the program"
    calls = {
        "endless loop": ("a2.4", ["while True:", "    pass"], (late[1],)),
        "asleep": ("a2.4", ["import time", "time.sleep(1000)"], (late[1],)),
        "fork bomb": ("a2.4", ["while True:", "    os.fork()"], ()),
        "huge array": ("a2.1", ["import numpy as np", "return np.ones(20 * 2**27)"], ()),
        "leaves": ("a2.2", ["os._exit(0)"], (late[2],)),
        "kills itself": ("a2.2", ["os.kill(os.getpid(), 9)"], (late[0],)),
        "recursion": ("a2.5", ["return key_for_peak(*arguments)"], ()),
        "forged": ("a2.1", forge, ()),
        "forged talk": (
            "a2.1",
            [
                "for i in range(3, 64):",
                "    try: os.write(i, b'x' * 2**24)",
                "    except OSError: pass",
            ],
            ("wrote to", "sent more"),
        ),
        "reads": ("a2.3", [f"return len(os.listdir({str(outside)!r}))"], ()),
        "network": ("a2.3", ["import socket", "socket.create_connection(('9.9.9.9', 53), 2)"], ()),
        "text": ("a2.5", ["return 'right'"], ()),
        "too much": ("a2.5", ["import numpy as np", "return np.ones(10**6)"], ()),
    }
    found = {}
    for name, (task, lines, flags) in calls.items():
        found[name] = (
            with_answer(**{task.replace(".", "_"): body(task, *lines)}),
            Expected(lost(task), flags),
        )
    writes = f"open({str(outside / 'written')!r}, 'w').write('x')"
    sleeps = "import subprocess, os\nsubprocess.Popen(['sleep', '31536'], start_new_session=True)\n"
    daemon = f"{sleeps}if os.fork() == 0:\n    os.execlp('sleep', 'sleep', '31536')"
    blank = cells_of(answers={})
    right = cells_of()
    found |= {
        "loop in a cell": (
            [*right[:5], cell("while True: pass"), *right[5:]],
            Expected(FULL, (late[1],)),
        ),
        "leaves in a cell": (
            [*right[:5], cell("import os\nos._exit(0)"), *right[5:]],
            Expected(FULL, (late[2],)),
        ),
        "patched": ([*blank, cell(patches)], Expected(BLANK, (), ("not written yet",))),
        "patched and right": ([cell(patches), *right], Expected(FULL)),
        "writes": ([*right, cell(writes)], Expected(FULL, (), ("OSError|FileNotFoundError",))),
        "background": ([*right, cell(daemon)], Expected(FULL)),
        "prints": ([*right, cell("print('x' * 40_000_000)")], Expected(FULL)),
        "noise": (
            [cell(quiet), *right, cell("warnings.warn('!'); sys.stderr.write('!')\n1 / 0")],
            Expected(FULL, (), ("ZeroDivisionError",)),
        ),
        "plots": (
            [cell("import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\nplt.show()"), *right],
            Expected(FULL),
        ),
        "helper": (
            with_answer(
                a2_1="def rotation_matrix(m, d, theta):\n"
                "    from lessons import frequencies, rope\n"
                "    w = frequencies.inverse_frequencies(d, theta)\n"
                "    return rope.matrix(m, w, pairing='interleaved')\n"
            ),
            Expected(lost("a2.1"), ("imported lessons.rope",), ("ImportError",)),
        ),
    }
    return found


def weather():
    """name -> (cells, Expected) of honest notebooks that are not as they were given out."""
    right, blank = cells_of(), cells_of(answers={})
    plain = [{**each, "metadata": {}} for each in right]
    bare = [{"source": each["source"], "outputs": []} for each in right if "outputs" in each]
    colab = [
        {**each, "metadata": {"id": f"x{i}", "colab": {"base_uri": "https://"}}}
        for i, each in enumerate(right)
    ]
    halves = []
    for each in right:
        lines = each["source"]
        middle = len(lines) // 2
        cut = "outputs" in each and "def " in lines[0] and middle
        parts = [lines[:middle], lines[middle:]] if cut else [lines]
        halves += [{**each, "source": part} for part in parts]
    hints = {
        key: re.sub(r"^def (\w+)\(x,(.*)\)", r"def \1(x: np.ndarray,\2) -> np.ndarray", code)
        for key, code in RIGHT.items()
    }
    helper = "from typing import Any\n\n\ndef two(a: Any) -> tuple:\n    return np.split(a, 2)\n"
    hints["a2.5"] = helper + RIGHT["a2.5"].replace("np.split(q, 2)", "two(q)")
    single = {}
    for task in A2:
        name = task.id.replace(".", "_")
        again = f"_{name} = {task.function}\n\n\ndef {task.function}(*arguments):\n"
        single[task.id] = f"{RIGHT[task.id]}\n\n{again}    return np.float32(_{name}(*arguments))\n"
    del single["a2.4"], single["a2.3"]
    torch = {k: code.replace("np.float32(_", "torch.as_tensor(_") for k, code in single.items()}
    functions = [each for each in right if each["source"][:1] and "def " in each["source"][0]]
    others = [each for each in right if each not in functions]
    return {
        "perfect": (right, Expected(FULL)),
        "blank": (blank, Expected(BLANK, (), ("not written yet",))),
        "empty": ([], Expected(BLANK, (), ("no function",))),
        "split": (halves, Expected(FULL)),
        "pasted twice": ([*right, *right], Expected(FULL)),
        "stubs pasted behind": ([*right, *blank], Expected(FULL)),
        "reordered": ([*functions[::-1], *others[::-1]], Expected(FULL)),
        "checks deleted": ([*functions, right[2]], Expected(FULL)),
        "checks edited": (
            [cell("assert True") if is_check(each) else each for each in right],
            Expected(FULL),
        ),
        "answer deleted": (
            [each for each in right if each is not functions[1]],
            Expected(lost("a2.2"), (), ("no function rotate",)),
        ),
        "no metadata": (plain, Expected(FULL)),
        "no types": (bare, Expected(FULL)),
        "colab": (colab, Expected(FULL)),
        "hints": (cells_of(answers=hints), Expected(FULL)),
        "float32": (cells_of(answers=RIGHT | single), Expected(FULL)),
        "torch": ([cell("import torch"), *cells_of(answers=RIGHT | torch)], Expected(FULL)),
        "half a sentence": (
            [*right, cell("and here I got stuck (")],
            Expected(FULL, (), ("SyntaxError",)),
        ),
    }


def make(folder, outside):
    """Write the submissions of A2; returns {student: Expected}."""
    folder, found = Path(folder), {}

    def put(file, student, cells, expected, **metadata):
        text = json.dumps(notebook(*cells, **metadata), ensure_ascii=False)
        (folder / file).write_text(text, "utf8")
        found[student] = expected

    for name, (cells, expected) in {**weather(), **hostile(outside)}.items():
        put(f"{name}_a2.ipynb", name, cells, expected)
    for number, (cells, points) in enumerate(packed("a2")):
        put(f"Copy of wrong{number} a2_rope.ipynb", f"wrong{number}", cells, Expected(points))
    right, blank = cells_of(), cells_of(answers={})
    text = json.dumps(notebook(*right))
    (folder / "cut off_a2.ipynb").write_text(text[: len(text) // 2], "utf8")
    found["cut off"] = Expected(BLANK, ("unreadable",))
    put("Zoë Müller-Łuk_a2.ipynb", "Zoë Müller-Łuk", right, Expected(FULL))
    put("a2 (3).ipynb", "a2 (3)", right, Expected(FULL), kernelspec={"name": "python3"})
    put("李 明_12_assignsubmission_file_a2.ipynb", "李 明_12", right, Expected(FULL))
    put("twice_a2.ipynb", "twice", blank, Expected(BLANK))
    put("Copy of twice_a2 (1).ipynb", "twice", right, Expected(FULL, ("2 attempts, the later",)))
    put("again_7_8_a2.ipynb", "again_7", right, Expected(FULL))
    put("again_7_9_a2-1.ipynb", "again_7", blank, Expected(BLANK, ("2 attempts, the later",)))
    (folder / "notes.txt").write_text("no notebook", "utf8")
    return found


def few(folder, count, name="a1", cells=None):
    """Write the same notebook for students s0, s1, …; returns the folder they lie in."""
    folder = Path(folder) / "in"
    folder.mkdir(exist_ok=True)
    text = json.dumps(notebook(*(cells or cells_of(name))))
    for number in range(count):
        (folder / f"s{number}_{name}.ipynb").write_text(text, "utf8")
    return folder


class Graded:
    """The results in a folder: the rows of grades.csv, and the page of a student."""

    def __init__(self, out):
        self.out = out

    @property
    def rows(self):
        with (self.out / "grades.csv").open(encoding="utf8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def page(self, student):
        for path in (self.out / "records").glob("*.json"):
            if json.loads(path.read_text("utf8"))["student"] == student:
                return (self.out / "feedback" / f"{path.stem}.html").read_text("utf8")
        raise KeyError(student)
