"""Which sentences of a lesson are claims, and what a line of `tests/claims` must point to.

A *sentence* is a source line of Markdown, as the book writes one sentence a line; a display
formula is one too. It is a *claim* if it holds one of the words below, is a display formula, or
holds a number: a digit that is left when code, link targets, subscripts, names (a digit behind a
letter, as in T5 or float32), section, table, footnote, lesson and exercise numbers, years of
papers and versions are taken away. Numbers in words are not looked at. A question claims nothing,
and the sources at the end of a page are no claims.

`python tests/claim_rules.py 01_order` prints the lines that its list lacks, with `?` for evidence.
"""

import functools
import re
import sys
from collections import Counter
from pathlib import Path

from nbformat import v4

ROOT = Path(__file__).resolve().parents[1]
WORDS = re.compile(
    r"\b(?:always|never|only|because|must|cannot|can't|every|exactly|decay\w*|extrapolat\w*"
    r"|relative|places)\b",
    re.I,
)
NO_NUMBERS = [
    re.compile(pattern, re.I)
    for pattern in (
        r"`[^`]*`",  # code
        r"\]\([^)]*\)",  # where a link leads
        r"\[\d{4}\.\d{4,5}\]?|arXiv:\S+",
        r"_(?:\{[^{}]*\}|\\?\w+)",  # subscripts
        r"(?<!\\)\b[A-Z]+[-‑]?\d[\w.]*",  # T5, float32, GPT-2
        r"(?:lessons?|exercise|table|footnote|appendix|figure|eq\.|line|part|answer|answer to) "
        r"[\[#]?\d[\d.]*(?:[\]]?(?: and |, | to |/)\[?\d\d)*|§+[A-Z]?[\d.]+",
        r"\bet al\.,? \(?\d{4}\)?|\*\*\d\.\d \(",
        r"\b(?:version|transformers|torch) v?\d[\d.]*|#\d+",
        r"^\d+ ·",
    )
]
MARKER = re.compile(r"^(?:[>#]+ +|[-*] +|\d+\. +)+")
FIXED = {"definition", "reasoning", "task", "estimate"}


def is_claim(sentence):
    if sentence.endswith("?"):
        return False
    rest = sentence
    for pattern in NO_NUMBERS:
        rest = pattern.sub(" ", rest)
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", sentence)
    return sentence.startswith("$$") or bool(re.search(r"\d", rest) or WORDS.search(prose))


def sentences(text):
    """The source lines of a Markdown cell without fences, markers and empty rows."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"\$\$.*?\$\$", lambda m: f"\n{' '.join(m[0].split())}\n", text, flags=re.S)
    for line in text.splitlines():
        line = MARKER.sub("", re.sub(r"</?(?:details|summary)>", "", line).strip())
        if line and not re.fullmatch(r"[|\s:-]+", line) and not line.startswith("[Open in Colab]"):
            yield line


def claims(notebook):
    """(cell, sentence) for each claim, in the order of the page."""
    return [
        (cell.id, sentence)
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for sentence in sentences(re.split(r"^## Sources$", cell.source, flags=re.M)[0])
        if is_claim(sentence)
    ]


def listed(text):
    """(cell, sentence, evidence) for each line of a list; a heading names the cell."""
    found, cell = [], None
    for line in text.splitlines():
        if line.startswith("## "):
            cell = line[3:].strip()
        elif entry := re.match(r"- \[([^\]]+)\] (.+)", line):
            found.append((cell, entry[2], entry[1]))
        elif cell and line.strip():
            raise ValueError(f"neither a heading nor an entry: {line!r}")
    return found


def path_of(name):
    return ROOT / "notebooks" / f"{name}.ipynb"


@functools.cache
def read(name):
    """Without validation, which takes most of the time; `test_notebooks` has done it."""
    return v4.reads(path_of(name).read_text("utf8"))


def unresolved(evidence, notebook):
    """The parts of a line's evidence that point to nothing."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [part for part in evidence.split(", ") if not resolves(part, notebook, prose)]


def resolves(part, notebook, prose):
    if part in FIXED:
        return True
    if part.startswith("arXiv:"):
        return f"https://arxiv.org/abs/{part[6:].split(' ')[0]}" in prose
    if part.startswith("https://"):
        return part in prose
    if ".py" in part:  # a test, or a script beside the tests
        path, _, name = part.partition("::")
        file = ROOT / "tests" / path
        return file.exists() and (not name or f"def {name}(" in file.read_text("utf8"))
    lesson, _, cell = part.rpartition(":")
    if lesson:
        notebook = read(lesson) if path_of(lesson).exists() else v4.new_notebook()
    return any(one.id == cell for one in notebook.cells if one.cell_type == "code")


def complaints(notebook, text):
    """Claims that the list lacks, lines that the page lacks, evidence that leads nowhere."""
    entries = listed(text)
    here, there = Counter(claims(notebook)), Counter(entry[:2] for entry in entries)
    return (
        [f"not listed in {cell}: {said}" for cell, said in (here - there).elements()]
        + [f"no longer in {cell}: {said}" for cell, said in (there - here).elements()]
        + [
            f"no such evidence {part!r}: {said}"
            for _, said, evidence in entries
            for part in unresolved(evidence, notebook)
        ]
    )


def main(name):
    path = ROOT / "tests/claims" / f"{name}.md"
    known = Counter(entry[:2] for entry in listed(path.read_text("utf8"))) if path.exists() else {}
    notebook = read(name)
    last = None
    for cell, sentence in (Counter(claims(notebook)) - Counter(known)).elements():
        if cell != last:
            print(f"\n## {cell}\n")
            last = cell
        print(f"- [?] {sentence}")


if __name__ == "__main__":
    main(*sys.argv[1:])
