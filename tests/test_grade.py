"""The grader on a folder as it is handed in: every grade, every flag, nothing lost or leaked."""

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import make_book
import pytest
import submissions
from student_code import RIGHT
from submissions import Graded, few

from lessons import grade, grade_marks, grade_process, tasks

# Short, so that what hangs costs the tests little; honest calls take milliseconds.
QUICK = grade_process.Limits(cell=10, call=1, patience=6)
SLEEP = b"sleep\x0031536"


@pytest.fixture(scope="module")
def graded(bubblewrap, tmp_path_factory):
    base = tmp_path_factory.mktemp("class")
    folder, outside, out = base / "submissions", base / "outside", base / "out"
    folder.mkdir()
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    expected = submissions.make(folder, outside)
    assert grade.run("a2", [folder], out, jobs=2, limits=QUICK) == 0
    found = Graded(out)
    found.expected, found.outside = expected, outside
    return found


def points(row):
    return {key: float(value) for key, value in row.items() if key[:3] == "a2." and value}


def test_there_are_at_least_thirty_and_each_has_a_row(graded):
    assert len(graded.expected) >= 30
    assert set(graded.rows) == set(graded.expected)


def test_every_grade_is_the_one_it_must_be(graded):
    wrong = {}
    for student, expected in graded.expected.items():
        row = graded.rows[student]
        if points(row) != expected.points or float(row["total"]) != sum(expected.points.values()):
            wrong[student] = (
                {
                    key: (earned, expected.points[key])
                    for key, earned in points(row).items()
                    if earned != expected.points[key]
                },
                row["flags"],
            )
    assert not wrong


def test_flags_and_feedback_say_what_happened(graded):
    for student, expected in graded.expected.items():
        flags, page = graded.rows[student]["flags"], graded.page(student)
        assert bool(flags) == bool(expected.flags), (student, flags)
        if expected.flags:
            assert any(word in flags for word in expected.flags), (student, flags)
        for words in expected.words:
            assert any(word in page for word in words.split("|")), (student, words)


def test_nothing_got_out_and_nothing_is_left_running(graded):
    assert list(graded.outside.iterdir()) == []
    running = [path.read_bytes() for path in processes()]
    assert not [line for line in running if SLEEP in line]


def processes():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            path.read_bytes()
        except OSError:  # it has just ended
            continue
        yield path


def test_a_page_shows_neither_a_hidden_case_nor_an_answer_nor_anybody_else(graded):
    seed = json.loads((graded.out / "run.json").read_text("utf8"))["seed"]
    hidden = set()
    for task in submissions.A2:
        for case in tasks.cases(task, seed):
            for call in case.calls:
                for part in json.dumps(grade_marks.wire.encode(list(call), [])).split(","):
                    number = part.strip(' []{}"')
                    if "." in number and len(number) > 5:
                        hidden.add(number[:7])
    assert len(hidden) > 100
    for student in graded.expected:
        page = graded.page(student)
        assert not [number for number in hidden if number in page], student
        others = [name for name in graded.expected if len(name) > 6 and name not in student]
        told = page.replace(" ".join(RIGHT.values()), "")
        assert not [name for name in others if f"{name}_a2" in told], student


def test_the_same_folder_gives_the_same_grades_and_is_not_graded_again(graded, monkeypatch):
    before = (graded.out / "grades.csv").read_bytes()
    monkeypatch.setattr(grade_marks, "mark", None)  # nothing is to be run
    folder = graded.out.parent / "submissions"
    assert grade.run("a2", [folder], graded.out, jobs=2, limits=QUICK) == 0
    assert (graded.out / "grades.csv").read_bytes() == before


@pytest.mark.parametrize("name", tasks.NAMES)
def test_every_assignment_packed_with_wrong_ideas(name, bubblewrap, tmp_path):
    folder = few(tmp_path, 1, name)
    expected = {"s0": {task.id: task.points for task in submissions.CODED[name]}}
    for number, (cells, earned) in enumerate(submissions.packed(name)):
        text = json.dumps(submissions.notebook(*cells))
        (folder / f"w{number}_{name}.ipynb").write_text(text, "utf8")
        expected[f"w{number}"] = earned
    assert grade.run(name, [folder], tmp_path / "out", jobs=2) == 0
    rows = Graded(tmp_path / "out").rows
    for student, earned in expected.items():
        assert {key: float(rows[student][key]) for key in earned} == earned, student


def test_without_a_sandbox_every_row_says_so(tmp_path):
    folder, out = few(tmp_path, 1), tmp_path / "out"
    assert grade.run("a1", [folder], out, jobs=1, sandboxed=False) == 0
    row = Graded(out).rows["s0"]
    assert (row["total"], row["flags"]) == ("26", "unsandboxed")


def command(*arguments, path=None):
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-m", "lessons.grade", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
    )


def test_without_bubblewrap_the_command_refuses_and_says_how_to_get_it(tmp_path):
    answer = command("a1", few(tmp_path, 1), "-o", tmp_path / "out", path=str(tmp_path))
    assert answer.returncode == 1 and "apt-get install bubblewrap" in answer.stderr
    assert "--unsandboxed" in answer.stderr and not (tmp_path / "out").exists()


def test_the_command_says_what_it_did(bubblewrap, tmp_path):
    folder = few(tmp_path, 2)
    (folder / "readme.txt").write_text("", "utf8")
    answer = command("a1", folder, "-o", tmp_path / "out", "--jobs", "2")
    assert answer.returncode == 0, answer.stderr
    assert "2 students in " in answer.stdout and "readme.txt" in answer.stdout
    assert "] 2/2" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a5", ".", "-o", "x"], "invalid choice"),
        (["a1", ".", "-o", "x", "--jobs", "0"], "at least 1, got '0'"),
        (["a1", ".", "-o", "x", "--jobs", "two"], "whole number"),
        (["a1", "."], "required: -o"),
        (["a1", "nowhere", "-o", "x"], "there is no nowhere"),
    ],
)
def test_what_the_command_refuses(arguments, words, bubblewrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = command(*arguments)
    assert answer.returncode and words in answer.stderr
    assert "Traceback" not in answer.stderr and not Path("x").exists()


def test_an_installed_wheel_is_enough(bubblewrap, tmp_path):
    """The book's own wheel, unpacked where nothing of the repository is around it."""
    make_book.wheel(print)  # kept for the site, which is built from the same one
    (wheel,) = (make_book.BUILD / "wheel").glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    answer = subprocess.run(
        [sys.executable, "-m", "lessons.grade", "a1", few(tmp_path, 1), "-o", tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert Graded(tmp_path / "out").rows["s0"]["total"] == "26"


def test_an_empty_folder_gives_an_empty_table(bubblewrap, tmp_path):
    (tmp_path / "in").mkdir()
    answer = command("a1", tmp_path / "in", "-o", tmp_path / "out")
    assert answer.returncode == 0 and "there is no notebook" in answer.stdout
    assert len((tmp_path / "out" / "grades.csv").read_text("utf8").splitlines()) == 1


def test_a_sandbox_that_breaks_is_nobodys_grade(bubblewrap, tmp_path, monkeypatch, capsys):
    def broken(bench, cells, planned):
        raise grade_process.Broken("the sandbox did not start")

    monkeypatch.setattr(grade_marks, "mark", broken)
    assert grade.run("a1", [few(tmp_path, 2)], tmp_path / "out", jobs=2) == 1
    assert "not graded: s0: the sandbox did not start" in capsys.readouterr().err
    assert Graded(tmp_path / "out").rows == {}


def test_a_fault_of_the_grader_costs_nobody_else_a_grade(tmp_path, monkeypatch, capsys):
    def faulty(bench, cells, planned):
        if "fault" in cells[0]:
            raise KeyError("a case that was not thought of")
        return grade_marks.no_marks(planned, "seen")

    monkeypatch.setattr(grade_marks, "mark", faulty)
    folder = few(tmp_path, 3)
    text = json.dumps(submissions.notebook(submissions.cell("fault")))
    (folder / "s1_a1.ipynb").write_text(text, "utf8")
    assert grade.run("a1", [folder], tmp_path / "out", jobs=2, sandboxed=False) == 1
    assert "not graded: s1: a fault of the grader, KeyError" in capsys.readouterr().err
    assert set(Graded(tmp_path / "out").rows) == {"s0", "s2"}


def test_a_stopped_run_leaves_no_process(bubblewrap, tmp_path):
    cells = [submissions.cell("import time\ntime.sleep(1000)")]
    folder = few(tmp_path, 2, cells=cells)
    run = subprocess.Popen(
        [sys.executable, "-m", "lessons.grade", "a1", folder, "-o", tmp_path / "out"],
        stderr=subprocess.DEVNULL,
    )
    mine = f"{tmp_path}".encode()
    until = time.monotonic() + 240
    while not (started := workers(run.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert started
    run.kill()
    run.wait()
    while any(Path(f"/proc/{pid}/exe").exists() for pid in started) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [path for path in processes() if mine in path.read_bytes()]


def workers(pid):
    """The children of a process that run student code: not the one that tries the walls first."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf8").rpartition(")")[2].split()
            line = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == pid and b"worker.py" in line:
            found.append(int(path.parent.name))
    return found
