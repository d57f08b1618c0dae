"""What the grader would have written, made by hand for the tests of its tables."""


def record(student, **more):
    return {
        "student": student,
        "files": ["a.ipynb"],
        "digest": "",
        "total": 0,
        "tasks": [],
        "flags": [],
        "notes": [],
        "seconds": 0.1,
        **more,
    }


def by_hand(folder, *lines):
    text = "\n".join(["student,task,points,comment", *lines]) + "\n"
    (folder / "written.csv").write_text(text, "utf8")
