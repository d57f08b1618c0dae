"""The page of feedback: everything escaped, nothing loaded, the points right; seen in Chromium."""

import re

import pytest

from lessons import grade_feedback

ATTACK = "<script>alert(1)</script>'\"&"
CASES = [
    {"about": "one", "points": 2, "of": 2, "sentence": None},
    {"about": "two", "points": 0, "of": 1.5, "sentence": f"{ATTACK} (off by up to 0.1)"},
]
RECORD = {
    "student": f"Zoë {ATTACK}",
    "files": [f"{ATTACK}.ipynb"],
    "total": 2,
    "tasks": [{"id": "a1.1", "title": "Order", "points": 2, "of": 4, "cases": CASES}],
    "notes": [f"KeyError in code cell 3, at “{ATTACK}”"],
    "flags": [ATTACK],
}
WRITTEN = [("a1.6", "Why", 3.5, 4, f"good {ATTACK}")]


def test_everything_a_student_wrote_is_escaped():
    page = grade_feedback.page(RECORD, f"A1 {ATTACK}", WRITTEN)
    assert "<script" not in page and page.count("&lt;script&gt;") >= 6
    assert not re.search(r"(?:src|href|url\()", page.replace("charset", ""))


def test_points_add_up():
    page = grade_feedback.page(RECORD, "A1", WRITTEN)
    assert "<strong>5.5 of 8 points</strong>" in page and "3.5 of 4" in page
    waiting = grade_feedback.page(RECORD, "A1", [("a1.6", "Why", None, 4, "")])
    assert "2 of 8 points, without the questions that are marked by hand" in waiting
    assert [grade_feedback.shown(n) for n in (2, 2.5, 0.25, 0, 10)] == [
        "2",
        "2.5",
        "0.25",
        "0",
        "10",
    ]


def test_each_case_each_cell_and_each_remark_is_told():
    page = grade_feedback.page(RECORD, "A1", WRITTEN)
    assert "<h2>A1.1 · Order</h2>" in page and "<h2>A1.6 · Why</h2>" in page
    right = '<tr><td>one</td><td><span class="right">right</span></td><td>2 of 2</td></tr>'
    assert right in page and '<td>two</td><td><span class="wrong">&lt;script' in page
    assert "<td>0 of 1.5</td>" in page and "<strong>2 of 4</strong>" in page
    assert "<h2>Cells that stopped</h2><ul><li>KeyError in code cell 3" in page
    assert "<h2>Remarks</h2><ul><li>&lt;script" in page
    nothing = grade_feedback.page(RECORD | {"notes": [], "flags": []}, "A1", WRITTEN)
    assert "Cells that stopped" not in nothing and "Remarks" not in nothing


CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[0-9.]+/g).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("h1, p, td, .right, .wrong")]
    .map((e) => light(getComputedStyle(e).color))
    .map((front) => Math.max(front, back) / Math.min(front, back));
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_the_page_fits_can_be_read_and_asks_nobody(chromium, width, theme):
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    long = [*CASES, {**CASES[1], "sentence": "x" * 200}]
    record = RECORD | {"tasks": [{**RECORD["tasks"][0], "cases": long}]}
    page.set_content(grade_feedback.page(record, "A1", WRITTEN))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (theme == "dark") and min(page.evaluate(CONTRAST)) > 4.5
    assert page.locator("h1").count() == 1 and page.locator("table").count() == 1
    assert not asked and not complaints
    page.close()
