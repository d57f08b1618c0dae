"""In the sandbox `lessons.tasks` has what a notebook may call, with the same arguments."""

import inspect

from lessons import grade_stub, tasks


def test_the_stub_takes_what_the_checks_take():
    for name in ("check", "verdict", "example"):
        real, stub = (inspect.signature(getattr(m, name)) for m in (tasks, grade_stub))
        assert list(real.parameters) == list(stub.parameters)
    assert grade_stub.check("a1.1", None) is None and grade_stub.verdict("a1.1", None) == (True, "")
