"""Each claim of a lesson stands in `tests/claims` with what bears it, by `claim_rules`."""

import claim_rules as rules
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LISTS = sorted((rules.ROOT / "tests/claims").glob("*.md"))
LAST = 11  # every lesson has its list


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_claim_is_listed_and_every_line_leads_somewhere(path):
    assert rules.complaints(rules.read(path.stem), path.read_text("utf8")) == []


def test_the_lessons_have_their_lists():
    names = sorted(path.stem for path in rules.path_of("01_order").parent.glob("[0-9]*.ipynb"))
    assert [path.stem for path in LISTS][:LAST] == names[:LAST]


PROSE = """# 01 · A lesson

Rows differ by 0.25, see [A](https://arxiv.org/abs/1234.56789) (§3.4).
Nothing else is said here, of T5 or `x[1:]` or $q_0$.
A mask can only hide.
How many are there, 3 or 4?

$$a + b
= c$$

## Sources

- A paper (2017), [arXiv:1234.56789](https://arxiv.org/abs/1234.56789), §3.
"""
LISTED = """## text

- [run, arXiv:1234.56789 §3] Rows differ by 0.25, see [A](https://arxiv.org/abs/1234.56789) (§3.4).
- [reasoning] A mask can only hide.
- [definition] $$a + b = c$$
"""


def small(prose=PROSE):
    return new_notebook(
        cells=[new_markdown_cell(prose, id="text"), new_code_cell("assert True", id="run")]
    )


def test_the_rule_finds_numbers_words_and_formulas_and_nothing_else():
    assert rules.complaints(small(), LISTED) == []
    assert len(rules.claims(small())) == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.25", "0.26", "not listed"),
        ("only hide", "hide", "no longer"),
        ("Nothing else is said", "Nothing else is ever said 7 times", "not listed"),
        ("b\n=", "b^2\n=", "not listed"),
    ],
)
def test_changed_prose_is_noticed(old, new, said):
    assert PROSE.count(old) == 1
    assert any(said in one for one in rules.complaints(small(PROSE.replace(old, new)), LISTED))


@pytest.mark.parametrize(
    "evidence",
    [
        "walk",
        "arXiv:9999.99999",
        "https://example.org/",
        "99_none:run",
        "test_claims.py::test_no",
        "?",
    ],
)
def test_evidence_that_leads_nowhere_is_noticed(evidence):
    listed = LISTED.replace("[reasoning]", f"[{evidence}]")
    assert rules.complaints(small(), listed) == [
        f"no such evidence {evidence!r}: A mask can only hide."
    ]


def test_evidence_may_be_a_test_or_a_cell_of_another_lesson():
    for evidence in ("test_claims.py::small", "01_order:law-check", "conftest.py"):
        assert rules.unresolved(evidence, small()) == []
