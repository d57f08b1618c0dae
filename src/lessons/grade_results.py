"""The folder of results: written student by student, so that a grade is never lost.

run.json holds the seed; records/ one file a student; feedback/ one page a student; grades.csv the
table; written.csv the points that an instructor gives by hand, which no run overwrites.
"""

import contextlib
import csv
import fcntl
import hashlib
import json
import os
import re
import secrets
from pathlib import Path

from lessons import atomic, grade_feedback, grade_notebooks, grade_written
from lessons.grade_feedback import shown

PACKAGE = Path(__file__).parent


class Results:
    """The folder OUT of one assignment, new or continued.

    python: the version that runs student code.
    Raises ValueError if it holds the results of another assignment, or points that are none.
    """

    def __init__(self, folder, assignment, *, sandboxed=True, python=""):
        self.folder, self.assignment = Path(folder), assignment
        self.records, self.pages = self.folder / "records", self.folder / "feedback"
        for made in (self.folder, self.records, self.pages):
            made.mkdir(parents=True, exist_ok=True)
        self.written = self.folder / "written.csv"
        self.seed, self.hand = self._seed(), self._by_hand()
        self.waiting = 0  # answers without points by hand
        self.strangers = []  # names with points by hand and without a notebook
        code = [path.read_bytes() for path in sorted(PACKAGE.glob("*.py"))]
        self.how = f"{self.seed} {sandboxed} {python} {hashlib.sha256(b''.join(code)).hexdigest()}"

    def digest(self, files):
        """What a record must have been made from to be good still: these files, this grader."""
        whole = hashlib.sha256(self.how.encode())
        for file in files:
            whole.update(f"{Path(file).name}\0{grade_notebooks.digest(file)}".encode())
        return whole.hexdigest()

    def kept(self, student, digest):
        """Whether the record of a student was made from what the digest was made from."""
        record = self._record(self.records / f"{_file_name(student)}.json")
        return record is not None and record["digest"] == digest

    def drop(self, student):
        """Forget what an earlier run, of another grader or another file, made of a student."""
        for folder, kind in ((self.records, "json"), (self.pages, "html")):
            (folder / f"{_file_name(student)}.{kind}").unlink(missing_ok=True)

    def keep(self, record):
        """Write the record of one student, and his page."""
        _write(self.records / f"{_file_name(record['student'])}.json", json.dumps(record, indent=1))
        self._page(record)

    def finish(self):
        """Write grades.csv, and every page again with the points given by hand; returns the rows.

        One record at a time is in memory.
        """
        self._add_lines_to_fill()
        ids = [task.id for task in self.assignment.tasks]
        rows = 0
        grades = self.folder / "grades.csv"
        with (
            atomic.replacing(grades) as new,
            new.open("w", encoding="utf8", newline="") as file,
        ):
            table = csv.writer(file)
            table.writerow(["student", "files", *ids, "total", "flags", "seconds"])
            for record in self._all_records():
                student, files = _cell(record["student"]), _cell("; ".join(record["files"]))
                marks = {task["id"]: task["points"] for task in record["tasks"]}
                for i in ids:
                    marks.setdefault(i, self.hand.get((student, i), (None, ""))[0])
                given = {i: points for i, points in marks.items() if points is not None}
                points = [shown(given[i]) if i in given else "" for i in ids]
                flags, seconds = _cell("; ".join(record["flags"])), f"{record['seconds']:.1f}"
                total = shown(sum(given.values()))
                table.writerow([student, files, *points, total, flags, seconds])
                self._page(record)
                rows += 1
        return rows

    def _by_hand(self):
        most = {task.id: task.points for task in self.assignment.tasks if not task.function}
        return grade_written.read(self.written, most)

    def _add_lines_to_fill(self):
        """written.csv gets an empty line for each student it lacks; what stands in it stays."""
        questions = [task.id for task in self.assignment.tasks if not task.function]
        if questions:
            self._link_new(self.written, ",".join(grade_written.COLUMNS) + "\n")
            with self.written.open("a", encoding="utf8", newline="") as file:
                _lock(file)  # another run's lines are there, or come behind these
                self.hand = self._by_hand()
                names = [_cell(record["student"]) for record in self._all_records()]
                wanted = [(name, i) for name in names for i in questions]
                missing = [[*pair, "", ""] for pair in wanted if pair not in self.hand]
                file.write(grade_written.lines(self.written, missing))
            given = [pair for pair, (points, _) in self.hand.items() if points is not None]
            self.waiting = len(set(wanted) - set(given))
            self.strangers = sorted({name for name, _ in given} - set(names))

    def _page(self, record):
        questions = []
        for task in self.assignment.tasks:
            if not task.function:
                points, comment = self.hand.get((_cell(record["student"]), task.id), (None, ""))
                questions.append((task.id, task.title, points, task.points, comment))
        title = f"{self.assignment.name.upper()} · {self.assignment.title}"
        path = self.pages / f"{_file_name(record['student'])}.html"
        _write(path, grade_feedback.page(record, title, questions))

    def _seed(self):
        path = self.folder / "run.json"
        # Two runs that begin together agree on the one that is written first.
        new = {"assignment": self.assignment.name, "seed": secrets.randbits(63)}
        self._link_new(path, json.dumps(new))
        run = json.loads(path.read_text("utf8"))
        if run["assignment"] != self.assignment.name:
            raise ValueError(
                f"{self.folder} holds the results of {run['assignment']}, and "
                f"{self.assignment.name} is to be graded: give another folder with -o"
            )
        return run["seed"]

    def _link_new(self, path, text):
        """Write a file unless it is there: of several runs at once, one does."""
        if path.exists():
            return
        new = atomic.beside(path)
        new.write_text(text, "utf8")
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)

    def _all_records(self):
        found = (self._record(path) for path in sorted(self.records.glob("*.json")))
        return (record for record in found if record is not None)

    def _record(self, path):
        try:
            return json.loads(path.read_text("utf8"))
        except (OSError, ValueError):
            return None


def _file_name(student):
    """A name for a file that every system takes; a digest keeps different students apart."""
    plain = re.sub(r"[^\w.-]+", "_", student)[:60]
    if plain == student and not plain.startswith("."):
        return plain
    return f"{plain.lstrip('.')}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def _cell(text):
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _lock(file):
    """Wait until no other run writes this file; given back when it is closed."""
    with contextlib.suppress(OSError):  # a shared disk without locks: lines may come twice
        fcntl.flock(file, fcntl.LOCK_EX)


def _write(path, text):
    with atomic.replacing(path) as new:
        new.write_text(text, "utf8", newline="")
