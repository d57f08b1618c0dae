"""The folder of results: resumed, never overwritten, and never more than one student in memory."""

import json
import multiprocessing
import shutil
import time
import tracemalloc

import pytest
import submissions
from records import record
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
