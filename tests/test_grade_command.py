"""The command as a whole with marks that are only given: nothing here starts a sandbox."""

import io
import itertools
import json
import re
import sys
from types import SimpleNamespace

import pytest
import submissions
from submissions import Graded

from lessons import grade, grade_marks, grade_process, grade_sandbox, tasks


@pytest.fixture
def given(monkeypatch):
    """A notebook's only cell says what it earns, or which error its marking raises."""
    marked = []

    def mark(bench, cells, planned):
        marked.append(cells[0])
        errors = {"fault": KeyError("x"), "broken": grade_process.Broken("no start")}
        if cells[0] in errors:
            raise errors[cells[0]]
        task = grade_marks.TaskMark("a1.1", "T", int(cells[0]), 4, [])
        return grade_marks.Marks([task], [], [])

    monkeypatch.setattr(grade_marks, "mark", mark)
    return marked


def handed_in(folder, **cells):
    """One notebook a name; one that ends in 2 is a second file, in 3 a later one."""
    folder = folder / "in"
    folder.mkdir(exist_ok=True)
    for name, cell in cells.items():
        copies = {"2": f"a1_{name[:-1]}.ipynb", "3": f"{name[:-1]}_a1 (1).ipynb"}
        copy = copies.get(name[-1], f"{name}_a1.ipynb")
        text = json.dumps(submissions.notebook(submissions.cell(cell)))
        (folder / copy).write_text(text, "utf8")
    return folder


def run(tmp_path, folder, **options):
    return grade.run("a1", [folder], tmp_path / "out", sandboxed=False, **{"jobs": 2} | options)


def record(tmp_path, student):
    return json.loads((tmp_path / "out" / "records" / f"{student}.json").read_text("utf8"))


def test_of_several_files_the_better_one_counts_whichever_comes_first(given, tmp_path):
    folder = handed_in(tmp_path, ada="1", ada2="3", bob="2", bob2="0", cy="4")
    assert run(tmp_path, folder) == 0
    rows = Graded(tmp_path / "out").rows
    assert {who: row["total"] for who, row in rows.items()} == {"ada": "3", "bob": "2", "cy": "4"}
    assert rows["ada"]["flags"] == "2 files, the better one counts: a1_ada.ipynb; unsandboxed"
    assert rows["bob"]["flags"].startswith("2 files, the better one counts: bob_a1.ipynb")
    assert rows["cy"]["flags"] == "unsandboxed" and rows["cy"]["files"] == "cy_a1.ipynb"


def test_of_several_attempts_the_last_counts_and_no_other_is_run(given, tmp_path):
    folder = handed_in(tmp_path, ada="4", ada3="1", bob="0", bob2="2", bob3="3")
    assert run(tmp_path, folder) == 0
    rows = Graded(tmp_path / "out").rows
    assert {who: row["total"] for who, row in rows.items()} == {"ada": "1", "bob": "3"}
    flag = "2 attempts, the later one counts: ada_a1 (1).ipynb; unsandboxed"
    assert rows["ada"]["flags"] == flag and sorted(given) == ["1", "3"]
    assert rows["ada"]["files"] == "ada_a1.ipynb; ada_a1 (1).ipynb"
    (folder / "a1_bob (1).ipynb").write_bytes((folder / "bob_a1.ipynb").read_bytes())
    run(tmp_path, folder)
    flags = Graded(tmp_path / "out").rows["bob"]["flags"]
    assert flags == "4 files, the better of the last 2 counts: bob_a1 (1).ipynb; unsandboxed"


def test_what_only_a_later_python_reads_is_refused_before_the_first_is_graded(
    given, tmp_path, monkeypatch, capsys
):
    seen = []

    def too_new(reading, cells):
        seen.append((cells, list(given)))
        return [0] if cells == ["new"] else []

    monkeypatch.setattr(grade_process.Reading, "too_new", too_new)
    folder = handed_in(tmp_path, ada="1", bob="new", cy="2")
    assert run(tmp_path, folder) == 1
    assert seen == [(["1"], []), (["new"], []), (["2"], [])] and sorted(given) == ["1", "2"]
    said = capsys.readouterr().err
    assert "(Colab runs 3.13): bob. Give a newer Python with --python.\n" in said
    assert said.index("--python") < said.index("] 1/2")
    assert "not graded: bob: bob_a1.ipynb, code cell 1, is Python of a later version than" in said
    assert set(Graded(tmp_path / "out").rows) == {"ada", "cy"}
    seen.clear()
    handed_in(tmp_path, bob="3")
    assert run(tmp_path, folder) == 0 and seen == [(["3"], ["1", "2"])]


def test_points_of_an_earlier_grader_go_where_a_notebook_is_refused(given, tmp_path, monkeypatch):
    folder = handed_in(tmp_path, ada="0")
    run(tmp_path, folder)
    handed_in(tmp_path, ada="new")
    monkeypatch.setattr(grade_process.Reading, "too_new", lambda reading, cells: [0])
    assert run(tmp_path, folder) == 1 and Graded(tmp_path / "out").rows == {}
    assert list((tmp_path / "out" / "feedback").iterdir()) == []


def test_in_a_sandbox_there_is_no_such_flag_and_it_is_asked_for_unless_told(
    given, tmp_path, monkeypatch
):
    folder, asked = handed_in(tmp_path, ada="1"), []
    monkeypatch.setattr(grade_sandbox, "require", lambda python: asked.append(1) or "bwrap")
    run(tmp_path, folder)
    assert asked == []
    grade.run("a1", [folder], tmp_path / "out", jobs=1)
    assert asked == [1] and record(tmp_path, "ada")["flags"] == []
    assert given == ["1", "1"]  # marked again: without a sandbox it was another grade


def test_what_was_graded_is_not_graded_again_and_what_was_not_is(given, tmp_path, capsys):
    folder = handed_in(tmp_path, ada="1", bob="broken", cy="fault")
    assert run(tmp_path, folder) == 1
    said = capsys.readouterr()
    assert "not graded: bob: no start" in said.err and "1 students in" in said.out
    assert "not graded: cy: a fault of the grader, KeyError: 'x'" in said.err
    assert "not graded: ada" not in said.err and "3/3" in said.err
    given.clear()
    handed_in(tmp_path, bob="2", cy="3")
    assert run(tmp_path, folder) == 0 and sorted(given) == ["2", "3"]
    assert "not graded" not in capsys.readouterr().err


def test_a_file_that_cannot_be_read_earns_nothing_and_says_why(given, tmp_path):
    folder = handed_in(tmp_path, ada="1")
    (folder / "bob_a1.ipynb").write_text("{", "utf8")
    assert run(tmp_path, folder) == 0 and given == ["1"]
    row = Graded(tmp_path / "out").rows["bob"]
    assert row["total"] == "0" and row["flags"].startswith("unreadable: the file is cut off")


def test_what_is_no_notebook_is_named_and_only_then(given, tmp_path, capsys):
    folder = handed_in(tmp_path, ada="1")
    run(tmp_path, folder)
    said = capsys.readouterr().out
    assert "left alone" not in said and "no notebook" not in said
    (folder / "ada_a1.ipynb").rename(folder / "notes.txt")
    run(tmp_path, folder)
    said = capsys.readouterr().out
    assert "left alone, for they are no notebooks: notes.txt" in said
    assert f"there is no notebook in {folder}" in said


def test_seconds_are_those_of_one_student_in_tenths(given, tmp_path, monkeypatch):
    clock = itertools.count(100, 1.26)
    monkeypatch.setattr(grade, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    run(tmp_path, handed_in(tmp_path, ada="1"), jobs=1)
    assert record(tmp_path, "ada")["seconds"] == 1.3


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_students_are_begun_than_are_graded_at_a_time(jobs, tmp_path, monkeypatch):
    progress, begun = grade.Progress(), []
    monkeypatch.setattr(grade, "_grade", lambda student, *more: (student, None))

    class Students(list):
        def __iter__(self):
            for number in range(len(self)):
                begun.append((number, progress.done))
                yield f"s{number}", []

    assert grade._grade_all(Students([0] * 10), None, None, None, jobs, progress) == []
    assert progress.done == 10
    assert all(done > number - jobs for number, done in begun)
    assert any(number > done for number, done in begun) == (jobs > 1)


def test_a_run_that_is_stopped_ends_its_processes_and_writes_its_table(
    given, tmp_path, monkeypatch, capsys
):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    ended = []
    stop = grade_process.Bench.stop
    monkeypatch.setattr(grade_process.Bench, "stop", lambda self: ended.append(stop(self)))
    monkeypatch.setattr(grade_marks, "mark", interrupted)
    folder, out = handed_in(tmp_path, ada="1"), tmp_path / "out"
    assert grade.main(["a1", str(folder), "-o", str(out), "--unsandboxed"]) == 1
    assert "the same command goes on from here" in capsys.readouterr().err
    assert ended == [None] and (out / "grades.csv").exists()


@pytest.mark.parametrize(
    "error",
    [
        grade_sandbox.NoSandbox("no walls"),
        grade_process.Broken("no walls"),
        ValueError("no walls"),
        OSError("no walls"),
    ],
)
def test_what_stops_the_command_is_a_sentence_and_status_1(error, monkeypatch, capsys):
    def stops(*arguments, **options):
        raise error

    monkeypatch.setattr(grade, "run", stops)
    assert grade.main(["a1", "in", "-o", "out"]) == 1
    assert capsys.readouterr().err == "lessons.grade: no walls\n"


def test_the_command_hands_on_what_it_was_told(monkeypatch):
    told = []
    monkeypatch.setattr(grade, "run", lambda *given, **options: told.append((given, options)) or 0)
    monkeypatch.setattr(grade.os, "cpu_count", lambda: 3)
    assert grade.main(["a2", "in", "more", "-o", "out"]) == 0
    monkeypatch.setattr(grade.os, "cpu_count", lambda: None)
    grade.main(["a2", "in", "-o", "out", "--unsandboxed"])
    grade.main(["a2", "in", "-o", "out", "--jobs", "1"])
    grade.main(["a2", "in", "-o", "out", "--jobs", "7", "--python", "python9"])
    assert told[0] == (
        ("a2", ["in", "more"], "out"),
        {"jobs": 3, "sandboxed": True, "python": None},
    )
    assert told[1][1] == {"jobs": 1, "sandboxed": False, "python": None}
    assert [options["jobs"] for _, options in told] == [3, 1, 1, 7]
    assert [options["python"] for _, options in told] == [None, None, None, "python9"]


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5", ""])
def test_jobs_are_a_whole_number(jobs, capsys):
    with pytest.raises(SystemExit):
        grade.main(["a1", "in", "-o", "out", f"--jobs={jobs}"])
    assert f"must be a whole number, at least 1, got {jobs!r}" in capsys.readouterr().err


def test_a_place_for_the_results_is_asked_for_and_the_folder_must_be_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        grade.main(["a1", "in"])
    assert grade.main(["a1", str(tmp_path / "nowhere"), "-o", str(tmp_path), "--unsandboxed"]) == 1
    assert f"there is no {tmp_path / 'nowhere'}" in capsys.readouterr().err


def progress(total):
    shown = grade.Progress()
    shown.begin(total)
    for number in range(total):
        shown.step(f"student {number}")
    shown.end()


@pytest.mark.parametrize(
    ("total", "told"),
    [(3, [1, 2, 3]), (20, [*range(2, 21, 2)]), (25, [3, 5, 8, 10, 13, 15, 18, 20, 23, 25])],
)
def test_a_line_for_every_tenth_where_there_is_no_terminal(total, told, capsys):
    progress(total)
    bars = [30 * done // total for done in told]
    assert capsys.readouterr().err.splitlines() == [
        f"[{'#' * bar}{'.' * (30 - bar)}] {done}/{total} 0 s"
        for bar, done in zip(bars, told, strict=True)
    ]


def test_a_terminal_shows_every_student_on_one_line_at_once(monkeypatch):
    class Terminal(io.StringIO):
        shown = 0

        def isatty(self):
            return True

        def flush(self):
            self.shown = len(self.getvalue().split("\r")) - 1

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    progress(4)
    written = terminal.getvalue()
    assert written.endswith("\n") and written.count("\n") == 1 and terminal.shown == 4
    assert re.findall(r"\r\[#*\.*\] (\d)/4 student (\d)", written) == [
        ("1", "0"),
        ("2", "1"),
        ("3", "2"),
        ("4", "3"),
    ]


def test_every_assignment_is_a_choice():
    for name in tasks.NAMES:
        assert grade._options([name, "in", "-o", "out"]).assignment == name
