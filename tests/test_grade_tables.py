"""The tables and pages of a folder of results, made from records without a grader."""

import re

import pytest
from records import by_hand, record
from submissions import Graded

from lessons import grade_results, tasks
from lessons.grade_results import Results


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


def graded(folder, *records, name="a1"):
    results = Results(folder, tasks.assignment(name))
    for one in records:
        results.keep(one)
    return results


def marked(student, **more):
    task = {"id": "a1.1", "title": "T", "points": 1.5, "of": 4, "cases": []}
    return record(student, tasks=[task], total=1.5, **more)


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


def test_an_assignment_without_questions_by_hand_waits_for_no_points(tmp_path):
    a1 = tasks.assignment("a1")
    results = Results(tmp_path, a1._replace(tasks=[task for task in a1.tasks if task.function]))
    results.keep(marked("ada"))
    assert results.finish() == 1
    assert (results.waiting, results.strangers) == (0, []) and not results.written.exists()


def test_a_grade_of_another_python_is_graded_again(tmp_path):
    made = [
        grade_results.Results(tmp_path, tasks.assignment("a1"), python=version)
        for version in ("3.11.7", "3.13.0", "3.11.7")
    ]
    one, other, same = (results.digest([]) for results in made)
    assert one == same != other
