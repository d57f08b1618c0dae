"""Whose a file is, and which attempt, by the names that platforms give to what is handed in.

A platform's own part of the name decides; what a student called the file decides nothing but which
of two files with the same time is the later.  In doubt two names are two students.
"""

import re
import unicodedata
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import yaml

METADATA = "submission_metadata.yml"  # Gradescope's, in the folder of its export
COPY_OF = re.compile(r"^(?:copy of|kopie von|copie de|copia de|kopia)\s+", re.I)
COPY_NUMBER = re.compile(r"\s*\((\d+)\)$|\s+copy(?:\s(\d+))?$", re.I)
SUFFIX = re.compile(r"-(\d{1,2})$")
# Moodle: NAME_ID_assignsubmission_file_FILE, or a folder of that name.
MOODLE = re.compile(r"^(?P<who>.+?_\d+)_assignsubmission_file_?(?P<file>.*)$")
# Canvas: NAME_[LATE_]ID_UPLOAD_FILE, with a number behind the name of a file handed in again.
CANVAS = re.compile(r"^(?P<who>[^_]+)(?:_late)?_(?P<id>\d+)_(?P<number>\d+)_(?P<file>.+)$", re.I)
CANVAS_ANONYMOUS = re.compile(
    r"^(?P<who>anon)(?:_late)?_(?P<id>[a-z0-9]{5})_(?P<number>\d+)_(?P<file>.+)$", re.I
)
# Blackboard: ASSIGNMENT_NAME_attempt_TIME_FILE.
BLACKBOARD = re.compile(
    r"^(?P<who>.+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.*))?$", re.I
)
# Brightspace: ID-FOLDER - NAME - Nov 3, 2026 222 PM - FILE.
BRIGHTSPACE = re.compile(
    r"^(?P<id>\d+)-\d+ - (?P<who>.+?) - (?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2}), "
    r"(?P<year>\d{4}) (?P<hour>\d{1,2})(?P<minute>\d\d) (?P<half>AM|PM) - (?P<file>.+)$"
)
MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
# Folders with what one student handed in: Moodle's, and Gradescope's.
FOLDER = re.compile(r"(?:.+?_\d+_assignsubmission_file_?|submission_\d+)")
# What may stand behind the assignment's number in the name of its notebook.
TOPICS = "order|sinusoids|rope|layouts|scores|length|capstone|context|cache"


class Handed(NamedTuple):
    """Whose a file is.  order: grows from attempt to attempt; equal where nothing tells."""

    student: str
    order: tuple


class Attempts(NamedTuple):
    """What a student handed in: all files, earliest first, and those that may be the last."""

    student: str
    files: list
    last: list


def by_student(paths, assignment):
    """[Attempts] in the order of the students' names."""
    groups, exports = {}, {}
    for path in map(Path, paths):
        one = handed(path, assignment, exports)
        groups.setdefault(one.student, []).append((one.order, path))
    found = []
    for student, files in sorted(groups.items()):
        files.sort(key=lambda pair: pair[0])  # stable: else in the order in which they came
        last = [path for order, path in files if order == files[-1][0]]
        found.append(Attempts(student, [path for _, path in files], last))
    return found


def handed(path, assignment, exports=None):
    """Whose file it is, and when it was handed in, as a Handed.

    assignment: its name, such as "a2".
    exports: what was read of Gradescope's metadata already, by folder; filled here.
    A file without a name of its own, such as "Copy of a2 (3).ipynb", is a student of that name.
    """
    stem = unicodedata.normalize("NFC", path.stem).strip()
    folder = unicodedata.normalize("NFC", path.parent.name).strip()
    exports = {} if exports is None else exports
    if FOLDER.fullmatch(folder):
        copies = _without_copies(stem, anywhere=True)[1]
        if moodle := MOODLE.match(folder):
            return Handed(moodle["who"], (0, copies))
        above = path.parent.parent
        if above not in exports:
            exports[above] = _gradescope(above / METADATA)
        who, when = exports[above].get(folder, (folder, 0))
        return Handed(who, (when, copies))
    whole, copies = _without_copies(stem, anywhere=False, assignment=assignment)
    for read in (_moodle, _canvas, _blackboard, _brightspace):
        if one := read(_without_copy_of(stem), assignment):
            return one
    return Handed(_without_title(whole, assignment) or stem, (0, copies))


def shown(path):
    """The name of a file as an instructor finds it: with its folder, if that says whose it is."""
    return f"{path.parent.name}/{path.name}" if FOLDER.fullmatch(path.parent.name) else path.name


def _moodle(name, assignment):
    found = MOODLE.match(name)
    return found and Handed(found["who"], (0, _without_copies(found["file"], anywhere=True)[1]))


def _canvas(name, assignment):
    if found := CANVAS.match(name) or CANVAS_ANONYMOUS.match(name):
        copies = _without_copies(found["file"], anywhere=True)[1]
        return Handed(f"{found['who']}_{found['id']}", (int(found["number"]), copies))
    return None


def _blackboard(name, assignment):
    if found := BLACKBOARD.match(name):
        copies = _without_copies(found["file"] or "", anywhere=True)[1]
        who = _without_title(found["who"], assignment) or found["who"]
        return Handed(who, (int(found["when"].replace("-", "")), copies))
    return None


def _brightspace(name, assignment):
    found = BRIGHTSPACE.match(name)
    if found is None or found["month"] not in MONTHS:
        return None
    hour = int(found["hour"]) % 12 + 12 * (found["half"] == "PM")
    month = MONTHS.index(found["month"]) + 1
    when = int(f"{found['year']}{month:02}{int(found['day']):02}{hour:02}{found['minute']}")
    copies = _without_copies(found["file"], anywhere=True)[1]
    return Handed(f"{found['who']}_{found['id']}", (when, copies))


def _gradescope(path):
    """{folder: (student, seconds)} of an export's metadata; {} if there is none, or it is other."""
    try:
        entries = yaml.safe_load(path.read_text("utf8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    found = {}
    for folder, entry in (entries if isinstance(entries, dict) else {}).items():
        entry = entry if isinstance(entry, dict) else {}
        people = entry.get(":submitters") or entry.get("submitters")
        people = people if isinstance(people, list) else []
        names = [_person(one) for one in people if isinstance(one, dict)]
        if names and all(names):
            when = _seconds(entry.get(":created_at") or entry.get("created_at"))
            found[str(folder)] = " + ".join(sorted(names)), when
    return found


def _person(one):
    """Name and number or address, without which two people of one name could not be told apart."""
    told = {str(key).strip(":"): value for key, value in one.items()}
    name, number = told.get("name"), told.get("sid") or told.get("email")
    return f"{name}_{number}" if name and number else ""


def _seconds(when):
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return 0
    if isinstance(when, date) and not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day)
    if not isinstance(when, datetime):
        return 0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _without_copy_of(stem):
    while (shorter := COPY_OF.sub("", stem)) != stem:
        stem = shorter
    return stem


def _without_copies(stem, *, anywhere, assignment=""):
    """(stem, count): without "Copy of", "(2)" and "copy", and how often it was copied.

    A number behind a hyphen counts anywhere, or else behind the assignment's name alone: team-1 and
    team-2 are two teams.
    """
    count = 0
    while True:
        shorter = COPY_OF.sub("", stem)
        count += shorter != stem
        if found := COPY_NUMBER.search(shorter):
            count += int(found[1] or found[2] or 1)
            shorter = shorter[: found.start()]
        elif found := SUFFIX.search(shorter):
            before = shorter[: found.start()]
            if anywhere or re.search(f"{_title(assignment)}$", before, re.I):
                count += int(found[1])
                shorter = before
        shorter = shorter.strip()
        if shorter == stem:
            return stem, count
        stem = shorter


def _title(assignment):
    return rf"(?:^|[\s_.\-]+){assignment}(?:_(?:{TOPICS}))*(?=$|[\s_.\-])"


def _without_title(name, assignment):
    name = re.sub(_title(assignment), " ", name, count=1, flags=re.I)
    return re.sub(r"\s+", " ", name).strip(" _-.")
