"""Whose a file is, and which of a student's files is the last, by what platforms call them."""

from pathlib import Path

import pytest

from lessons import grade_names, grade_notebooks


@pytest.mark.parametrize(
    ("file", "student"),
    [
        ("ada_a2.ipynb", "ada"),
        ("a2_ada.ipynb", "ada"),
        ("Copy of ada a2.ipynb", "ada"),
        ("Copy of Copy of a2_rope_ada (2).ipynb", "ada"),
        ("Kopie von ada-a2.ipynb", "ada"),
        ("Ada Lovelace a2 copy.ipynb", "Ada Lovelace"),
        ("Zoë_A2.ipynb", "Zoë"),
        ("Zoe\u0308_a2.ipynb", "Zoë"),
        ("李 明 a2.ipynb", "李 明"),
        ("Ada Lovelace_12345_assignsubmission_file_a2.ipynb", "Ada Lovelace_12345"),
        ("Ada Lovelace_12345_assignsubmission_file_Copy of a2 (1).ipynb", "Ada Lovelace_12345"),
        ("Ada Lovelace_12345_assignsubmission_file_/a2.ipynb", "Ada Lovelace_12345"),
        ("Ada Lovelace_12345_assignsubmission_file/a2.ipynb", "Ada Lovelace_12345"),
        ("lovelaceada_123_456_a2-1.ipynb", "lovelaceada_123"),
        ("lovelaceada_LATE_123_456_Copy of a2.ipynb", "lovelaceada_123"),
        ("anon_aB3xZ_456_a2.ipynb", "anon_aB3xZ"),
        ("A2_jdoe_attempt_2026-11-03-14-22-10_a2_rope.ipynb", "jdoe"),
        ("A2_jane_doe_attempt_2026-11-03-14-22-10_a2_rope.ipynb", "jane_doe"),
        ("Week 4_jdoe_attempt_2026-11-03-14-22-10_x.ipynb", "Week 4_jdoe"),
        ("12345-678 - Jane Doe - Nov 3, 2026 222 PM - a2.ipynb", "Jane Doe_12345"),
        ("12345-678 - Jane Doe - Nox 3, 2026 222 PM - x.ipynb",
         "12345-678 - Jane Doe - Nox 3, 2026 222 PM - x"),
        ("submission_42/a2.ipynb", "submission_42"),
        ("a2.ipynb", "a2"),
        ("Copy of a2.ipynb", "Copy of a2"),
        ("Copy of a2 (3).ipynb", "Copy of a2 (3)"),
        ("a2_team a2.ipynb", "team a2"),
        ("aa22.ipynb", "aa22"),
        ("ada.ipynb", "ada"),
        # Two teams, two days: no number of theirs is a copy's.
        ("a2_team-01.ipynb", "team-01"),
        ("a2_team-10.ipynb", "team-10"),
        ("team-1_a2.ipynb", "team-1"),
        ("a2_Tue 1.ipynb", "Tue 1"),
        ("a2_Thu 1.ipynb", "Thu 1"),
        ("ada_a2-1.ipynb", "ada"),
        # What a student calls a file is nobody else's name.
        ("bob_1_2_lovelaceada_678_910_a2.ipynb", "bob_1"),
        ("Bob_1_assignsubmission_file_Ada_9_assignsubmission_file_a2.ipynb", "Bob_1"),
        ("A2_bob_attempt_2026-11-03-14-22-10_A2_ada_attempt_2026-12-03-14-22-10_a2.ipynb", "bob"),
    ],
)  # fmt: skip
def test_the_student_is_what_the_platform_says_or_what_is_left_of_the_name(file, student):
    assert grade_names.handed(Path("in") / file, "a2").student == student


ATTEMPTS = {
    "Canvas, handed in again": (
        "doejane_12345_678901_a2_rope.ipynb",
        "doejane_12345_678955_a2_rope-1.ipynb",
        "doejane_LATE_12345_679001_a2_rope-2.ipynb",
    ),
    "Canvas, ten times": (
        "doejane_12345_678901_a2_rope-9.ipynb", "doejane_12345_1678901_a2_rope-10.ipynb",
    ),
    "Canvas, one upload": (
        "doejane_12345_678901_a2.ipynb", "doejane_12345_678901_a2-1.ipynb",
        "doejane_12345_678901_a2-10.ipynb",
    ),
    "Canvas, another name": (
        "doejane_12345_99_z.ipynb",
        "doejane_12345_100_a.ipynb",
        "doejane_12345_101_y.ipynb",
    ),
    "Moodle": (
        "Jane Doe_1234567_assignsubmission_file_a2.ipynb",
        "Jane Doe_1234567_assignsubmission_file_a2 (1).ipynb",
        "Jane Doe_1234567_assignsubmission_file_a2-2.ipynb",
    ),
    "Moodle, in folders": (
        "Jane Doe_1234567_assignsubmission_file_/a2.ipynb",
        "Jane Doe_1234567_assignsubmission_file_/a2 (1).ipynb",
    ),
    "Blackboard": (
        "A2_jdoe_attempt_2026-11-03-14-22-10_a2_rope.ipynb",
        "A2_jdoe_attempt_2026-11-03-14-22-11_a2.ipynb",
        "A2_jdoe_attempt_2026-11-13-04-22-10_a2_rope.ipynb",
        "A2_jdoe_attempt_2027-01-01-00-00-00_a2_rope.ipynb",
    ),
    "Brightspace": (
        "12345-678 - Jane Doe - Nov 3, 2026 222 AM - a2.ipynb",
        "12345-678 - Jane Doe - Nov 3, 2026 1105 AM - a2.ipynb",
        "12345-678 - Jane Doe - Nov 3, 2026 1205 PM - a2.ipynb",
        "12345-678 - Jane Doe - Nov 3, 2026 222 PM - a2.ipynb",
        "12345-678 - Jane Doe - Nov 12, 2026 1201 AM - a2.ipynb",
        "12345-678 - Jane Doe - December 1, 2026 1201 AM - a2.ipynb",
    ),
    "a browser's numbers": (
        "ada_a2.ipynb", "ada_a2 (1).ipynb", "ada_a2 (2).ipynb", "ada_a2 (10).ipynb",
    ),
    "Colab's copies": ("ada_a2.ipynb", "Copy of ada_a2.ipynb", "Copy of Copy of ada_a2.ipynb"),
    "a Mac's copies": ("ada a2.ipynb", "ada a2 copy.ipynb", "ada a2 copy 2.ipynb"),
    "numbers behind the title": ("ada_a2.ipynb", "ada_a2-1.ipynb", "ada_a2-2.ipynb"),
}  # fmt: skip


@pytest.mark.parametrize("platform", ATTEMPTS)
@pytest.mark.parametrize("turn", [1, -1])
def test_attempts_of_one_student_are_one_row_and_the_last_is_known(platform, turn):
    names = ATTEMPTS[platform]
    (one,) = grade_names.by_student([Path(name) for name in names][::turn], "a2")
    assert [str(path) for path in one.files] == list(names)
    assert [str(path) for path in one.last] == [names[-1]]


@pytest.mark.parametrize(
    "names",
    [
        ("ada_a2.ipynb", "a2_ada.ipynb"),
        ("doejane_12345_678901_a2.ipynb", "doejane_12345_678901_b.ipynb"),
        ("J D_1_assignsubmission_file_a2.ipynb", "J D_1_assignsubmission_file_final.ipynb"),
        ("A2_j_attempt_2026-11-03-14-22-10_a.ipynb", "A2_j_attempt_2026-11-03-14-22-10_b.ipynb"),
    ],
)
def test_where_nothing_tells_which_is_later_all_may_be_the_last(names):
    (one,) = grade_names.by_student([Path(name) for name in names], "a2")
    assert len(one.last) == len(one.files) == 2


@pytest.mark.parametrize(
    "names",
    [
        ("doejane_12345_1_a2.ipynb", "doejane_12346_2_a2.ipynb"),
        ("Jane Doe_1_assignsubmission_file_a2.ipynb", "Jane Doe_2_assignsubmission_file_a2.ipynb"),
        ("A2_jane_doe_attempt_2026-11-03-14-22-10_a.ipynb",
         "A2_john_doe_attempt_2026-11-03-14-22-10_a.ipynb"),
        ("1-9 - Jane Doe - Nov 3, 2026 222 PM - a.ipynb",
         "2-9 - Jane Doe - Nov 3, 2026 222 PM - a.ipynb"),
        ("a2_team-01.ipynb", "a2_team-10.ipynb"),
        ("a2_Tue 1.ipynb", "a2_Thu 1.ipynb"),
        ("submission_1/a2.ipynb", "submission_2/a2.ipynb"),
        ("anon_aB3xZ_4_a2.ipynb", "anon_aB3xY_5_a2.ipynb"),
    ],
)  # fmt: skip
def test_two_people_stay_two(names):
    found = grade_names.by_student([Path(name) for name in names], "a2")
    assert len({one.student for one in found}) == 2


EXPORT = """---
submission_1001:
  :submitters:
  - :name: Jane Doe
    :sid: '12345'
    :email: jdoe@x.edu
  :created_at: 2026-11-03 14:22:10.123456000 -08:00
  :score: 3.0
submission_990:
  :submitters:
  - :name: Jane Doe
    :sid: '12345'
    :email: jdoe@x.edu
  :created_at: 2026-11-04 01:00:00 Z
submission_1002:
  :submitters:
  - :name: Jane Doe
    :email: other@x.edu
  :created_at: '2026-11-03T14:22:10+00:00'
submission_1003:
  :submitters:
  - :name: Ada
    :sid: 2
  - :name: Bob
    :sid: 1
submission_1004:
  :submitters:
  - :name: Jane Doe
submission_1005: 3
"""


def gradescope(folder, text):
    export = folder / "assignment_77_export"
    for number in (990, *range(1001, 1007)):
        (export / f"submission_{number}").mkdir(parents=True)
        (export / f"submission_{number}" / "a2.ipynb").write_text("{}")
    (export / "submission_metadata.yml").write_text(text, "utf8")
    return export


def test_gradescope_says_whose_it_is_and_when(tmp_path):
    export = gradescope(tmp_path, EXPORT)
    for given in (tmp_path, export):
        found, others = grade_notebooks.files([given])
        assert len(found) == 7 and others == []
        rows = {one.student: one for one in grade_names.by_student(found, "a2")}
        assert set(rows) == {
            "Jane Doe_12345", "Jane Doe_other@x.edu", "Ada_2 + Bob_1",
            "submission_1004", "submission_1005", "submission_1006",
        }  # fmt: skip
        jane = rows["Jane Doe_12345"]
        # 14:22 in California is later than 01:00 in Greenwich the day after would be.
        assert [grade_names.shown(path) for path in jane.files] == [
            "submission_1001/a2.ipynb", "submission_990/a2.ipynb",
        ]  # fmt: skip
        assert jane.last == jane.files[1:]


@pytest.mark.parametrize("text", ["", "[", "3", "- 1", "submission_1001: {':submitters': 3}", "\0"])
def test_without_gradescope_s_word_each_folder_is_a_student(text, tmp_path):
    found, _ = grade_notebooks.files([gradescope(tmp_path, text)])
    rows = grade_names.by_student(found, "a2")
    assert [one.student for one in rows][:2] == ["submission_1001", "submission_1002"]
    assert len(rows) == 7


def test_a_link_to_a_folder_is_not_looked_into(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "a2.ipynb").write_text("{}")
    given = tmp_path / "in"
    given.mkdir()
    (given / "submission_1").symlink_to(secret)
    (given / "notes").mkdir()
    found, others = grade_notebooks.files([given])
    assert found == [] and [path.name for path in others] == ["notes", "submission_1"]
