"""written.csv: points given by hand are read as spreadsheets save them, or refused by line."""

import pytest
from records import by_hand, record

from lessons import tasks
from lessons.grade_results import Results

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
        # An empty line counts, as a spreadsheet numbers its rows.
        ((HEAD + "s0,a1.6,\n\ns1,a1.6,5,\n").encode(), "line 4: '5' is no number"),
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
