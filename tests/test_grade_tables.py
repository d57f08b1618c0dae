"""The tables and pages of a folder of results, made from records without a grader."""

import re

import pytest
from submissions import Graded, record

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
    results.keep(record("Zoë"))
    results.finish()
    assert results.written.read_bytes() == text.encode(), "nothing was to be added"
    results.keep(record("Ada"))
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


@pytest.mark.parametrize("points", ["-0.5", "4.25", "two", "nan", "inf", "1,5,0"])
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
