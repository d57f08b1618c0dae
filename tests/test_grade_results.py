"""The folder of results: resumed, never overwritten, and never more than one student in memory."""

import json
import multiprocessing
import shutil
import time
import tracemalloc

import pytest
import submissions
from submissions import Graded, few

from lessons import grade, grade_marks, tasks
from lessons.grade_results import Results


def test_an_interrupted_run_goes_on(bubblewrap, tmp_path, monkeypatch):
    folder, out = few(tmp_path, 4), tmp_path / "out"
    keep = Results.keep

    def interrupted(self, record):
        keep(self, record)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Results, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            grade.run("a1", [folder], out, jobs=1)
    done = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    assert 1 <= len(done) < 4 and (out / "grades.csv").exists()
    assert grade.run("a1", [folder], out, jobs=2) == 0
    assert len(list((out / "records").iterdir())) == 4
    for name, when in done.items():
        assert (out / "records" / name).stat().st_mtime_ns == when


def test_a_file_that_changed_is_graded_again_with_the_same_seed(bubblewrap, tmp_path):
    folder, out = few(tmp_path, 2), tmp_path / "out"
    grade.run("a1", [folder], out, jobs=2)
    seed = (out / "run.json").read_bytes()
    (folder / "s1_a1.ipynb").write_text(json.dumps(submissions.notebook()), "utf8")
    grade.run("a1", [folder / "s1_a1.ipynb"], out, jobs=2)  # one notebook: a shard
    rows = Graded(out).rows
    assert (float(rows["s0"]["total"]), float(rows["s1"]["total"])) == (26, 0)
    assert (out / "run.json").read_bytes() == seed


def test_points_given_by_hand_are_added_and_never_overwritten(bubblewrap, tmp_path):
    folder, out = few(tmp_path, 1), tmp_path / "out"
    grade.run("a1", [folder], out, jobs=1)
    written = out / "written.csv"
    assert written.read_text("utf8") == "student,task,points,comment\ns0,a1.6,,\n"
    written.write_text("student,task,points,comment\ns0,a1.6,3.5,<b>good</b>\n", "utf8")
    few(tmp_path, 2)
    grade.run("a1", [folder], out, jobs=1)
    graded = Graded(out)
    assert graded.rows["s0"]["total"] == "29.5" and graded.rows["s1"]["total"] == "26"
    assert "29.5 of 30 points<" in graded.page("s0")
    assert "&lt;b&gt;good&lt;/b&gt;" in graded.page("s0")
    assert written.read_text("utf8").splitlines()[1:] == ["s0,a1.6,3.5,<b>good</b>", "s1,a1.6,,"]
    written.write_text("student,task,points,comment\ns0,a1.6,5,\n", "utf8")
    with pytest.raises(ValueError, match=r"written.csv, line 2: '5' is no number of points"):
        grade.run("a1", [folder], out, jobs=1)


def test_results_of_another_assignment_are_not_mixed_in(bubblewrap, tmp_path, capsys):
    folder, out = few(tmp_path, 1), tmp_path / "out"
    assert grade.main(["a1", str(folder), "-o", str(out)]) == 0
    assert grade.main(["a2", str(folder), "-o", str(out)]) == 1
    assert "holds the results of a1" in capsys.readouterr().err


def test_memory_does_not_grow_with_the_number_of_submissions(tmp_path, monkeypatch):
    marks = []

    def mark(bench, cells, planned):
        marks.append(1)
        return grade_marks.no_marks(planned, "x" * 10_000)

    monkeypatch.setattr(grade_marks, "mark", mark)

    def peak(count):
        out = tmp_path / f"out{count}"
        folder = few(tmp_path, count)
        tracemalloc.start()
        grade.run("a1", [folder], out, jobs=2, sandboxed=False)
        reached = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        shutil.rmtree(out)
        return reached

    peak(2)  # what is loaded once
    # Other threads of the tests allocate too, now and then.
    small, large = peak(5), min(peak(40), peak(40))
    assert len(marks) == 2 + 5 + 40 + 40 and large < small + 35 * 3000, (small, large)


def finish_together(out, student, ready):
    """One of several runs, as a process: its record is there, and all write the tables at once."""
    results, read = Results(out, tasks.assignment("a1")), Results._by_hand

    def slowly(self):
        found = read(self)
        time.sleep(0.1)  # time enough for the others to read the same
        return found

    Results._by_hand = slowly
    results.keep(record(student))
    ready.wait()
    results.finish()


def test_runs_that_end_together_leave_one_table_to_fill(tmp_path):
    """Each student once, one line of names, and the next run reads it."""
    context = multiprocessing.get_context("fork")
    for attempt in range(2):
        out, ready = tmp_path / str(attempt), context.Barrier(6)
        runs = [
            context.Process(target=finish_together, args=(out, f"s{number}", ready))
            for number in range(6)
        ]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        assert [run.exitcode for run in runs] == [0] * 6
        lines = (out / "written.csv").read_text("utf8").splitlines()
        assert lines[0] == "student,task,points,comment"
        assert sorted(lines[1:]) == [f"s{number},a1.6,," for number in range(6)]
        assert Results(out, tasks.assignment("a1")).finish() == 6
        assert not list(out.rglob(".*"))  # nothing half written


def record(student, **more):
    return {
        "student": student,
        "files": ["a.ipynb"],
        "digest": "",
        "total": 0,
        "tasks": [],
        "flags": [],
        "notes": [],
        "seconds": 0.1,
        **more,
    }


def test_names_are_files_and_cells_that_nothing_mistakes(tmp_path):
    results = Results(tmp_path, tasks.assignment("a1"))
    names = ["=HYPERLINK(1)", "../../up", "a b", "a_b", "Zoë", "." * 3, "x" * 300, "a/b"]
    for name in names:
        results.keep(record(name))
    assert results.finish() == len(names)
    assert len(list((tmp_path / "feedback").iterdir())) == len(names)
    assert {path.parent for path in tmp_path.rglob("*.html")} == {tmp_path / "feedback"}
    assert not list(tmp_path.parent.glob("up*"))
    rows = Graded(tmp_path).rows
    assert "'=HYPERLINK(1)" in rows and set(names[1:]) <= set(rows)


def test_a_record_that_was_cut_off_is_made_again(tmp_path):
    results = Results(tmp_path, tasks.assignment("a1"))
    results.keep(record("s", digest="d"))
    assert results.kept("s", "d") and not results.kept("s", "other") and not results.kept("t", "d")
    (tmp_path / "records" / "s.json").write_text('{"student": "s', "utf8")
    assert not results.kept("s", "d") and results.finish() == 0


def test_runs_that_share_a_folder_share_the_seed_and_a_sandbox_matters(tmp_path):
    one, two = (Results(tmp_path, tasks.assignment("a1")) for _ in "12")
    open_ = Results(tmp_path, tasks.assignment("a1"), sandboxed=False)
    assert one.seed == two.seed == open_.seed
    assert one.digest([]) == two.digest([]) != open_.digest([])
    assert Results(tmp_path / "other", tasks.assignment("a1")).seed != one.seed


HEAD = "student,task,points,comment\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "Zoë,a1.6,2.5,\n",
        HEAD + 'Zoë,a1.6,"2,5",',  # no end of the last line
        "\ufeff" + HEAD.replace(",", ";") + "Zoë;a1.6;2,5;\n",
        HEAD.replace(",", "\t").replace("\n", "\r\n") + "Zoë\ta1.6\t2.5\t\r\n",
    ],
)
def test_points_by_hand_are_read_as_any_spreadsheet_saves_them(text, tmp_path):
    """Where commas stand in numbers, semicolons stand between cells, also in lines added later."""
    results = Results(tmp_path, tasks.assignment("a1"))
    results.written.write_bytes(text.encode())
    for name in ("Zoë", "Ada"):
        results.keep(record(name))
        results.finish()
    assert results.hand["Zoë", "a1.6"] == (2.5, "") and results.waiting == 1
    again = Results(tmp_path, tasks.assignment("a1"))
    assert list(again.hand) == [("Zoë", "a1.6"), ("Ada", "a1.6")]


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ((HEAD + "Zoë,a1.6,1,\n").encode("cp1252"), "not in UTF-8"),
        (b"student,task,points\ns0,a1.6,1\n", "line 1: no column comment"),
        (b"s0,a1.6,1,\n", "line 1: no column student, task, points, comment"),
        ((HEAD + "s0,a1.6,\n\ns1,a1.6,abc,\n").encode(), "line 4: 'abc' is no number"),
        ((HEAD + "s0,a1.1,1,\n").encode(), "'1' is no number of points for 'a1.1'"),
        ((HEAD + "s0,a1.6,nan,\n").encode(), "'nan' is no number"),
    ],
)
def test_points_by_hand_that_cannot_be_read_are_refused_with_their_line(raw, sentence, tmp_path):
    (tmp_path / "written.csv").write_bytes(raw)
    with pytest.raises(ValueError, match=sentence):
        Results(tmp_path, tasks.assignment("a1"))


def test_points_for_a_name_without_a_notebook_are_not_lost_in_silence(tmp_path):
    """As when a spreadsheet has read ZoÃ« for Zoë."""
    results = Results(tmp_path, tasks.assignment("a1"))
    results.written.write_text(HEAD + "ZoÃ«,a1.6,2,\n", "utf8")
    results.keep(record("Zoë"))
    results.finish()
    assert (results.strangers, results.waiting) == (["ZoÃ«"], 1)
