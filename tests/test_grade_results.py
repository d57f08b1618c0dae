"""The folder of results: resumed, never overwritten, and never more than one student in memory."""

import json
import multiprocessing
import re
import shutil
import time
import tracemalloc

import pytest
import submissions
from submissions import Graded, few

from lessons import grade, grade_marks, grade_results, tasks
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
    results, read = Results(out, tasks.assignment("a1")), Results._written

    def slowly(self):
        found = read(self)
        time.sleep(0.1)  # time enough for the others to read the same
        return found

    Results._written = slowly
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


# The tables and pages, without a grader.


def graded(folder, *records, name="a1"):
    results = Results(folder, tasks.assignment(name))
    for one in records:
        results.keep(one)
    return results


def marked(student, **more):
    task = {"id": "a1.1", "title": "T", "points": 1.5, "of": 4, "cases": []}
    return record(student, tasks=[task], total=1.5, **more)


def by_hand(folder, *lines):
    text = "\n".join(["student,task,points,comment", *lines]) + "\n"
    (folder / "written.csv").write_text(text, "utf8")


def test_a_row_holds_each_task_the_total_and_what_was_remarked(tmp_path):
    by_hand(tmp_path, "ada,a1.6,2.25,fine")
    results = graded(
        tmp_path / ".",
        marked("ada", files=["a.ipynb", "b.ipynb"], flags=["one", "two"], seconds=12.34),
        marked("bob"),
    )
    assert results.finish() == 2
    ada, bob = (Graded(tmp_path).rows[student] for student in ("ada", "bob"))
    assert list(ada) == ["student", "files", *(f"a1.{i}" for i in range(1, 7)), "total", "flags",
                         "seconds"]  # fmt: skip
    assert list(ada.values()) == ["ada", "a.ipynb; b.ipynb", "1.5", *[""] * 4, "2.25", "3.75",
                                  "one; two", "12.3"]  # fmt: skip
    assert (bob["a1.6"], bob["total"], bob["flags"]) == ("", "1.5", "")
    pages = [Graded(tmp_path).page(student) for student in ("ada", "bob")]
    assert "A1 · " in pages[0] and "2.25 of 4. fine" in pages[0] and "3.75 of 8 points<" in pages[0]
    assert "Marked by hand." in pages[1] and "without the questions" in pages[1]


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["s,a1.6,0,none"], (0, "none")),
        (["s,a1.6,4,"], (4, "")),
        (["s,a1.6, 0.5 ,"], (0.5, "")),
        (["s,a1.6,,later"], (None, "later")),
        (["s,a1.6,2,seen", "s,a1.6,,"], (2, "seen")),  # the line of another run comes behind
        (["s,a1.6,,", "s,a1.6,2,seen"], (2, "seen")),
        (["s,a1.6,1,first", "s,a1.6,2,second"], (2, "second")),
        (["t,a1.6,1,other", "s,a1.6,,"], (None, "")),
    ],
)
def test_points_given_by_hand_are_read(lines, value, tmp_path):
    by_hand(tmp_path, *lines)
    assert Results(tmp_path, tasks.assignment("a1")).hand["s", "a1.6"] == value


@pytest.mark.parametrize("points", ["-0.5", "4.25", "two", "nan", "inf", "1,5"])
def test_points_that_are_none_are_refused_with_their_line(points, tmp_path):
    quoted = f'"{points}"'
    by_hand(tmp_path, "s,a1.6,1,", f"t,a1.6,{quoted},")
    said = rf"^written.csv, line 3: '{points}' is no number of points for 'a1.6'.* a1.6 up to 4$"
    with pytest.raises(ValueError, match=said):
        Results(tmp_path, tasks.assignment("a1"))


@pytest.mark.parametrize("task", ["a1.1", "a2.6", ""])
@pytest.mark.parametrize("points", ["1", ""])
def test_points_by_hand_are_for_questions_of_this_assignment(task, points, tmp_path):
    by_hand(tmp_path, f"s,{task},{points},")
    with pytest.raises(ValueError, match=f"^written.csv, line 2: .* for '{task}'; it takes"):
        Results(tmp_path, tasks.assignment("a1"))


def test_a_table_to_fill_without_comments_is_read(tmp_path):
    (tmp_path / "written.csv").write_text("student,task,points\ns,a1.6,1\n", "utf8")
    assert Results(tmp_path, tasks.assignment("a1")).hand == {("s", "a1.6"): (1, "")}


def test_every_student_gets_one_line_to_fill_and_what_stands_there_stays(tmp_path):
    graded(tmp_path, marked("bob"), marked("=ada")).finish()
    head, *lines = (tmp_path / "written.csv").read_text("utf8").splitlines()
    assert head == "student,task,points,comment" and sorted(lines) == ["'=ada,a1.6,,", "bob,a1.6,,"]
    by_hand(tmp_path, "bob,a1.6,3,good")
    graded(tmp_path, marked("cy")).finish()
    assert (tmp_path / "written.csv").read_text("utf8").splitlines()[1:] == [
        "bob,a1.6,3,good",
        "'=ada,a1.6,,",
        "cy,a1.6,,",
    ]


@pytest.mark.parametrize(("first", "second"), [("a1", "a2"), ("a2", "a1")])
def test_one_folder_holds_one_assignment(first, second, tmp_path):
    graded(tmp_path / "a" / "b", name=first)
    with pytest.raises(ValueError, match=f"holds the results of {first}, and {second} is to be"):
        graded(tmp_path / "a" / "b", name=second)


def test_a_seed_is_as_large_as_the_cases_take(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.randbits", lambda bits: 2**bits - 1)
    assert Results(tmp_path, tasks.assignment("a1")).seed == 2**63 - 1


def test_a_digest_knows_names_and_contents_of_all_files(tmp_path):
    results, digests = Results(tmp_path / "out", tasks.assignment("a1")), set()
    one, two = tmp_path / "one.ipynb", tmp_path / "two.ipynb"
    for text in ("1", "2"):
        one.write_text(text), two.write_text("x")
        digests |= {results.digest(files) for files in ([one], [two], [one, two], [two, one], [])}
    assert len(digests) == 5 + 3
    assert results.digest([str(one)]) == results.digest([one])


def test_a_record_made_from_anything_else_is_not_kept(tmp_path):
    results = graded(tmp_path, marked("s", digest="m"))
    assert [results.kept("s", digest) for digest in "amz"] == [False, True, False]


def test_of_two_runs_that_begin_together_the_file_written_first_stays(tmp_path, monkeypatch):
    results, path = Results(tmp_path, tasks.assignment("a1")), tmp_path / "new"

    def link(new, target):
        target.write_text("theirs", "utf8")
        raise FileExistsError

    monkeypatch.setattr("os.link", link)
    results._link_new(path, "ours")
    assert path.read_text("utf8") == "theirs" and not list(tmp_path.glob(".*"))


def test_a_file_system_without_links_will_do(tmp_path, monkeypatch):
    def link(new, target):
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", link)
    results = graded(tmp_path, marked("s"))
    results._link_new(tmp_path / "new", "ours")
    assert (tmp_path / "new").read_text("utf8") == "ours" and not list(tmp_path.glob(".*"))
    assert results.finish() == 1


def test_file_names_are_plain_short_and_of_one_student(tmp_path):
    for plain in ("ada", "Zoë", "a_b-c.d", "x" * 60):
        assert grade_results._file_name(plain) == plain
    odd = ["x" * 61, "x" * 62, "a b", "a/b", "a_b ", ".", "..", ".ada", "=1"]
    names = [grade_results._file_name(student) for student in odd]
    assert len({*names, "a_b", "ada"}) == len(odd) + 2
    for name in names:
        assert re.fullmatch(r"([\w-][\w.-]{0,59})?-[0-9a-f]{8}", name), name
