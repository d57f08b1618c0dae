"""What the functions that a student's notebook calls refuse."""

from faults import FREE, FUNCTION

from lessons import tasks

NO_TASK = [(1.1, "1.1"), ("a9.9", "'a9.9'"), ("a1.6", "'a1.6'"), (["a"], "list"), (None, "None")]
NO_NAME = [(True, "True"), (None, "NoneType"), (1, "int"), ("a5", "'a5'"), ("", "''")]
CHECK = {"task": ("a1.1", NO_TASK), "function": (len, FUNCTION)}
TABLE = {
    tasks.assignment: {"name": ("a1", NO_NAME)},
    tasks.verdict: CHECK,
    tasks.check: CHECK,
    tasks.example: {"task": ("a1.1", NO_TASK)},
    tasks.cases: {"task": (tasks.assignment("a1").tasks[1], FREE), "seed": (0, FREE)},
    tasks.judged: {"case": (tasks.Case("", 1, (), len), FREE), "answers": ([], FREE)},
}
