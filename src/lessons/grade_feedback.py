"""The page that a student gets back: one HTML file, no script, nothing from elsewhere.

It shows what held and what did not, per task; no hidden case, no right answer, no other student.
"""

import html

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1b; background: #fff; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td, th { text-align: left; padding: .3rem .4rem; border-bottom: 1px solid #8886;
       vertical-align: top; overflow-wrap: break-word; }
th:first-child { width: 32%; }
td:last-child, th:last-child { text-align: right; width: 4.5rem; white-space: nowrap; }
li, p { overflow-wrap: anywhere; }
.right { color: #14602c; } .wrong { color: #9a1b1b; }
@media (max-width: 30rem) {
  body { margin: 1rem auto; font-size: 15px; }
  td, th { padding: .3rem; }
}
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #16181c; }
  .right { color: #7ed49a; } .wrong { color: #ff9c9c; }
}
"""
HOW = (
    "Your functions were called with inputs other than those of the notebook's own checks. "
    "“Off by” is the largest difference between a number that came back and the right one."
)


class Markup(str):
    """Text that is HTML already; everything else is escaped where it is put into a tag."""


def page(record, title, written):
    """The feedback of one student, as the text of an HTML file.

    record: what ``grade_results`` keeps of a student.  title: the assignment's.
    written: [(task, title, points or None, of, comment)] of the questions marked by hand.
    """
    parts = [_tag("h1", title), _tag("p", record["student"])]
    hand = sum(points or 0 for _, _, points, _, _ in written)
    of = sum(task["of"] for task in record["tasks"]) + sum(row[3] for row in written)
    total = f"{shown(record['total'] + hand)} of {of} points"
    if any(points is None for _, _, points, _, _ in written):
        total += ", without the questions that are marked by hand"
    parts.append(_tag("p", _tag("strong", total)))
    parts += [_tag("p", f"Graded from {', '.join(record['files'])}. {HOW}")]
    for task in record["tasks"]:
        parts.append(_tag("h2", f"{task['id'].upper()} · {task['title']}"))
        parts.append(_table(task))
    for name, heading, points, most, comment in written:
        parts.append(_tag("h2", f"{name.upper()} · {heading}"))
        told = "Marked by hand" if points is None else f"{shown(points)} of {most}"
        parts.append(_tag("p", f"{told}. {comment}".strip()))
    for heading, lines in (("Cells that stopped", record["notes"]), ("Remarks", record["flags"])):
        if lines:
            items = [_tag("li", line) for line in lines]
            parts += [_tag("h2", heading), _tag("ul", *items)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{_tag('title', title)}<style>{STYLE}</style></head>\n"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def shown(points):
    """Points without a decimal that says nothing."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _table(task):
    rows = [_row("th", "What was tried", "What was found", "Points")]
    for case in task["cases"]:
        sentence = case["sentence"]
        found = _tag("span", sentence or "right", kind="wrong" if sentence else "right")
        points = f"{shown(case['points'])} of {shown(case['of'])}"
        rows.append(_row("td", case["about"], found, points))
    points = _tag("strong", f"{shown(task['points'])} of {task['of']}")
    rows.append(_row("td", _tag("strong", "Together"), "", points))
    return _tag("table", *rows)


def _row(cell, *parts):
    return _tag("tr", *(_tag(cell, part) for part in parts))


def _tag(name, *parts, kind=None):
    inside = "".join(part if isinstance(part, Markup) else html.escape(part) for part in parts)
    attribute = f' class="{kind}"' if kind else ""
    return Markup(f"<{name}{attribute}>{inside}</{name}>")
