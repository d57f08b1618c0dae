"""Every command of the page for instructors, run in order on a small class of made-up students."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys

import make_assignments
import nbformat
import pytest
from conftest import ROOT

from lessons import tasks

PAGE = (ROOT / "book" / "instructors.md").read_text("utf8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
COMMANDS = [code for language, code in BLOCKS if language == "bash"]
SLURM = [code for language, code in BLOCKS if language == "slurm"]
# Not run: "text" is another system's, or for a Python that not every machine has.
RUN = [code for language, code in BLOCKS if language != "text"]
NEEDED = ("Makefile", "_config.yml", "pyproject.toml", "requirements.txt", "book", "notebooks")
MOODLE = "Zoë Müller_12345_assignsubmission_file_a1_order.ipynb"


def notebook(answered, words="My scheme is 1/(n+1).", wrong=""):
    """A1 as a student hands it in: with the answers of the source, or blank."""
    path = make_assignments.SOURCES / "a1_order.md"
    student, source = make_assignments.student(path), make_assignments.read(path)
    code = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in source.cells}
    for cell in student.cells:
        if answered and cell.id.endswith("-answer"):
            cell.source = code[cell.id.replace("-", "_")]
        if wrong and wrong in cell.source:
            cell.source = cell.source.replace(wrong, f"-{wrong}")
        if answered and cell.source == make_assignments.TEXT_STUB:
            cell.source = words
    return nbformat.writes(student)


class Class:
    """The scratch copy of the repository, with what a class has handed in."""

    def __init__(self, root):
        self.root = root / "repository"
        self.root.mkdir()
        skip = shutil.ignore_patterns("__pycache__", "vendor", ".ipynb_checkpoints")
        for name in NEEDED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            more = {"ignore": skip} if (ROOT / name).is_dir() else {}
            copy(ROOT / name, self.root / name, **more)
        (self.root / ".venv").symlink_to(sys.prefix)
        self.environment = {
            **os.environ,
            "PATH": f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}",
            "HOME": str(root),
            "JUPYTER_CONFIG_DIR": str(root),
            "IPYTHONDIR": str(root),
            **{
                f"GIT_{who}_{what}": "a@b.c"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        self.hand_in()
        self.run("git init -q . && git add -A notebooks && git commit -q -m start")

    def hand_in(self):
        right, blank = notebook(True), notebook(False)
        files = {
            "SUBMISSIONS/Ada Lovelace_a1.ipynb": right,
            "SUBMISSIONS/Copy of Blank Bill_a1.ipynb": blank,
            f"SUBMISSIONS/{MOODLE}": notebook(True, wrong="math.sin(angle)"),
            "SUBMISSIONS/lovelaceada_678_910_a1_order.ipynb": notebook(False),
            "SUBMISSIONS/lovelaceada_678_911_a1_order-1.ipynb": right,
            "SUBMISSIONS/cut off_a1.ipynb": right[: len(right) // 2],
            "EXPORT/submission_42/a1_order.ipynb": right,
            "course/submitted/ada/a1/a1_order.ipynb": right,
            "moodle.csv": "Identifier,Full name,Grade\nParticipant 12345,Zoë Müller,\n"
            "Participant 99,Nobody,\n",
            "canvas.csv": "Student,ID,SIS Login ID,Section,A1 (4711)\n    Points Possible,,,,30\n"
            '"Lovelace, Ada",678,ada,1,\n',
        }
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf8")

    def run(self, code, **more):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.root,
            env=self.environment | more,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def mark(self, out):
        """What a person does with written.csv in a spreadsheet: fill a student's first line."""
        path = self.root / out / "written.csv"
        rows = self.table(f"{out}/written.csv")
        row = next(row for row in rows if row["student"] == "Ada Lovelace")
        row |= {"points": "3", "comment": "A number would have made four."}
        with path.open("w", encoding="utf8", newline="") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)

    def table(self, name):
        with (self.root / name).open(encoding="utf8", newline="") as file:
            return list(csv.DictReader(file))

    def totals(self, out):
        return {row["student"]: row["total"] for row in self.table(f"{out}/grades.csv")}


@pytest.fixture(scope="module")
def taught(bubblewrap, tmp_path_factory):
    """The class after every command of the page, in the order of the page."""
    course = Class(tmp_path_factory.mktemp("class"))
    for code in RUN:
        if code in SLURM:
            together = [
                subprocess.Popen(
                    ["bash", "-euo", "pipefail", "-c", code],
                    cwd=course.root,
                    env=course.environment | {"SLURM_ARRAY_TASK_ID": str(number)},
                )
                for number in range(4)
            ]
            assert [run.wait() for run in together] == [0] * 4
            continue
        course.run(code)
        if "written_answers" in code:
            course.mark("OUT")
    return course


def test_every_block_is_run_or_named_as_another_systems():
    assert {language for language, _ in BLOCKS} == {"bash", "slurm", "text"}
    assert len(COMMANDS) >= 12 and len(SLURM) == 1
    assert PAGE.count("```") == 2 * len(BLOCKS)


@pytest.mark.parametrize("code", SLURM)
def test_scripts_of_other_systems_are_shell(code):
    assert subprocess.run(["bash", "-n"], input=code, text=True).returncode == 0
    broken = subprocess.run(["bash", "-n"], input=f"{code}fi\n", text=True, capture_output=True)
    assert broken.returncode and "syntax error" in broken.stderr


def test_grades_are_those_that_the_class_earned(taught):
    rest = {"Blank Bill": "0", "cut off": "0", "Zoë Müller_12345": "20", "lovelaceada_678": "26"}
    assert taught.totals("OUT") == {"Ada Lovelace": "29", **rest}
    flags = {row["student"]: row["flags"] for row in taught.table("OUT/grades.csv")}
    assert "unreadable" in flags["cut off"] and not flags["Ada Lovelace"]
    later = "2 attempts, the later one counts: lovelaceada_678_911_a1_order-1.ipynb"
    assert flags["lovelaceada_678"] == later
    assert taught.totals("OUT_EXPORT") == {"submission_42": "26"}
    assert taught.totals("OUT_HUB") == {"ada": "26"}


def test_points_and_comment_given_by_hand_are_on_the_page(taught):
    pages = list((taught.root / "OUT" / "feedback").glob("Ada*.html"))
    assert len(pages) == 1 and "A number would have made four." in pages[0].read_text("utf8")


def test_shards_that_ran_together_give_the_same_table(taught):
    assert taught.totals("OUT_CLUSTER") == taught.totals("OUT") | {"Ada Lovelace": "26"}


def test_points_given_by_hand_count_whatever_the_shards_wrote_below_them(taught):
    """Each run has added the lines that it missed; a student may have several."""
    taught.mark("OUT_CLUSTER")
    taught.run("python -m lessons.grade a1 SUBMISSIONS/ -o OUT_CLUSTER/")
    assert taught.totals("OUT_CLUSTER") == taught.totals("OUT")


def test_answers_in_words_are_listed_with_their_file(taught):
    said = (taught.root / "answers.txt").read_text("utf8")
    parts = dict(re.findall(r"^===== (.+)\n\n((?:(?!=====).*\n)*)", said, re.M))
    assert parts["Ada Lovelace_a1.ipynb"].strip() == "My scheme is 1/(n+1)."
    assert parts["Copy of Blank Bill_a1.ipynb"].strip() == "(nothing written)"
    assert parts["cut off_a1.ipynb"].strip() == "(unreadable)"


def test_tables_of_platforms_are_filled_and_else_unchanged(taught):
    assert [row["Grade"] for row in taught.table("moodle_filled.csv")] == ["20", ""]
    canvas = taught.table("canvas_filled.csv")
    assert [row["A1 (4711)"] for row in canvas] == ["30", "26"]
    assert [row["Student"] for row in canvas] == ["    Points Possible", "Lovelace, Ada"]


def test_the_private_copy_and_the_zip_are_there(taught):
    assert "notebooks/solutions/a1_order.md" in taught.run(
        "git --git-dir ../our-course.git ls-tree -r --name-only main"
    )
    assert "feedback/" in taught.run("python -m zipfile -l feedback.zip")
    release = json.loads((taught.root / "course/release/a1/a1_order.ipynb").read_text("utf8"))
    assert release["cells"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("fill_grades.py", "arguments are required: grades, table, key, grade"),
        (
            "fill_grades.py no.csv moodle.csv Identifier Grade",
            "No such file or directory: 'no.csv'",
        ),
        ("written_answers.py", "arguments are required: assignment, folder"),
        ("written_answers.py a9 .", "invalid choice: 'a9'"),
        ("written_answers.py a1 nowhere", "there is no notebook in nowhere"),
    ],
)
def test_a_mistyped_command_is_told_what_it_lacks(command, sentence, tmp_path):
    script, *arguments = command.split()
    words = [sys.executable, str(ROOT / "book/tools" / script), *arguments]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and sentence in done.stderr and "Traceback" not in done.stderr


def test_the_page_tells_the_tasks_and_rubrics_as_they_are():
    for name, path in zip(tasks.NAMES, make_assignments.sources(), strict=True):
        assignment = tasks.assignment(name)
        points = sum(task.points for task in assignment.tasks)
        minutes = sum(task.minutes for task in assignment.tasks)
        link = f"[{name.upper()} · {assignment.title}](../notebooks/assignments/{path.stem}.ipynb)"
        assert f"| {link} | {points} | {minutes} |" in PAGE
        for line in re.findall(r"^- 1 point: .*$", path.read_text("utf8"), re.M):
            assert line in PAGE
        written = [task for task in assignment.tasks if task.function is None]
        for task in written:
            assert f"**{task.id.upper()} · {task.title}**" in PAGE
