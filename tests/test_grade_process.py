"""The talk with the process: what comes late, too long, forged or not at all costs its call."""

import time

import pytest

from lessons import grade_marks, grade_process, tasks, wire

QUICK = grade_process.Limits(cell=5, call=1, patience=5)


@pytest.fixture(params=["walls", "open"])
def bench(request, monkeypatch):
    bwrap = request.getfixturevalue("bubblewrap") if request.param == "walls" else None
    examples = grade_marks.examples(tasks.assignment("a1"))
    made = grade_process.Bench(bwrap, ("attention",), examples, QUICK)
    yield made
    assert not made.running
    made.close()


def talk(bench, code, *arguments, function="f"):
    with bench.start([code], (), time.monotonic() + 60) as process:
        process.run_cells()
        boxes = []
        sent = [wire.encode(part, boxes) for part in arguments]
        inputs = grade_marks.Inputs(sent, boxes)
        reply = process.call(function, inputs.arguments, inputs.answer)
        return reply, process


def value(bench, code, *arguments):
    reply, _ = talk(bench, code, *arguments)
    return wire.decode(reply["answer"])


def test_numbers_go_in_and_come_out(bench):
    assert value(bench, "def f(x, y):\n    return x * y", 3, 0.5) == 1.5
    assert (
        value(bench, "def f(d):\n    return d['n'] + len(d['word'])", {"n": 1, "word": "ab"}) == 3
    )


def test_a_black_box_stays_on_this_side(bench):
    asked = []

    def box(x):
        asked.append(x)
        if x > 2:
            raise ValueError("x is too large")
        return 2 * x

    code = "def f(box):\n    return box(1) + box(2)"
    assert value(bench, code, box) == 6 and asked == [1, 2]
    reply, _ = talk(bench, "def f(box):\n    return box(3)", box)
    assert reply["error"] == "ValueError"
    code = "def f(box):\n    return [len(box.__closure__), box.__name__ == 'ask']"
    assert value(bench, code, box).tolist() == [2, 1]


def test_public_examples_work_while_cells_run(bench):
    code = (
        "from lessons import tasks\nboxes, d = tasks.example('a1.5')\n"
        "import numpy as np\nshape = boxes[0](np.ones((3, d))).shape\n"
        "tasks.check('a1.5', None)\ndef f():\n    return shape"
    )
    reply, process = talk(bench, code)
    assert process.failed == [] and wire.decode(reply["answer"]).tolist() == [3, 6]
    code = "from lessons import tasks\noffset, d, theta = tasks.example('a1.3')\n"
    code += "def f():\n    return [type(d) is int, type(theta) is float, offset == int(offset)]"
    reply, _ = talk(bench, code)
    assert wire.decode(reply["answer"]).all()


def test_only_allowed_helpers_are_there_and_others_leave_a_flag(bench):
    code = (
        "import lessons\nfrom lessons import attention, tasks\n"
        "for name in 'rope tasks_a1 plots nothing sinusoidal'.split():\n"
        "    try:\n        __import__(f'lessons.{name}')\n"
        "    except ImportError as error:\n        said = str(error)\n"
        "def f():\n    return [len(said), 'asks you to write' in said]"
    )
    reply, process = talk(bench, code)
    assert wire.decode(reply["answer"]).tolist()[1] == 1
    assert process.flags == {f"imported lessons.{n}" for n in ("rope", "tasks_a1", "sinusoidal")}


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("while True: pass", "took too long"),
        ("import time; time.sleep(100)", "took too long"),
        ("import os; os._exit(0)", "ended the program"),
        ("import os; os._exit(3)", "ended the program"),
        ("import os; os.abort()", "crashed the program"),
        ("import os; os.kill(os.getpid(), 9)", "crashed the program"),
        ("import os; os.closerange(3, 100); import time; time.sleep(60)", "closed the connection"),
        ("import os\n    for i in range(3, 99):\n        try: os.write(i, b'no\\n')\n"
         "        except OSError: pass", "wrote to the grader by itself"),
        ("import os\n    for i in range(3, 99):\n        try: os.write(i, b'x' * 2**24)\n"
         "        except OSError: pass", "sent more than a task can ask for"),
        ("import os\n    for i in range(3, 99):\n        try: os.write(i, b'[' * 10**6 + b'\\n')\n"
         "        except OSError: pass", "wrote to the grader by itself"),
        ("import signal, time; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n    while 1: pass",
         "took too long"),
    ],
)  # fmt: skip
def test_a_call_that_does_not_answer_is_said_to_be_what_it_is(bench, body, how):
    start = time.monotonic()
    with pytest.raises(grade_process.Stopped, match=f"^{how}$") as stopped:
        talk(bench, f"def f():\n    {body}")
    assert stopped.value.at is None and time.monotonic() - start < 20


def test_a_cell_that_does_not_end_is_named_by_its_step(bench):
    with pytest.raises(grade_process.Stopped) as stopped:
        talk(bench, "x = 1\nimport os\nos._exit(0)")
    assert (stopped.value.at, stopped.value.place) == (3, (0, 3))


def test_what_was_forged_in_one_call_costs_the_next_nothing(bench):
    code = (
        "import os\ndef f():\n    for i in range(3, 99):\n"
        '        try: os.write(i, b\'{"call": 1, "answer": 7}\\n\' * 50)\n'
        "        except OSError: pass\n    return 1\ndef g():\n    return 2"
    )
    with bench.start([code], (), time.monotonic() + 60) as process:
        process.run_cells()
        assert process.call("f", [], None)["answer"] == 7
        assert process.call("g", [], None)["answer"] == 2


def test_a_forked_process_cannot_speak_for_the_notebook(bench):
    code = "import os\ndef f():\n    os.fork()\n    return os.getpid()\ndef g():\n    return 5"
    with bench.start([code], (), time.monotonic() + 60) as process:
        process.run_cells()
        assert isinstance(process.call("f", [], None)["answer"], int)
        time.sleep(0.2)
        assert process.call("g", [], None)["answer"] == 5


def test_the_whole_notebook_has_a_time_too(bench):
    with (
        bench.start(
            ["import time\nfor _ in range(100): time.sleep(1)"], (), time.monotonic() + 2
        ) as p,
        pytest.raises((grade_process.Stopped, grade_process.Broken), match="too long"),
    ):
        p.run_cells()


def test_a_process_that_never_began_is_no_fault_of_the_student(bench):
    (bench.folder / "worker.py").write_text("raise SystemExit(1)")
    with pytest.raises(grade_process.Broken, match="did not start"):
        talk(bench, "x = 1")


def test_after_stop_nobody_is_graded(bench):
    with bench.start(["import time\ntime.sleep(100)"], (), time.monotonic() + 60) as process:
        bench.stop()
        with pytest.raises(grade_process.Broken, match=r"^stopped$"):
            process.run_cells()
    with pytest.raises(grade_process.Broken, match=r"^stopped$"):
        bench.start([], (), 0)


@pytest.mark.parametrize(
    "line", ['{"at": -1}', '{"at": 0}', '{"at": -1}\\n{"at": 0}', '{"lacks": "torch"}']
)
def test_student_code_cannot_say_what_only_the_worker_knows(bench, line):
    """Else a notebook that ends itself would be nobody's mark: no row, and no points lost."""
    code = (
        "import os\nfor i in range(3, 99):\n"
        f"    try: os.write(i, b'{line}\\n')\n    except OSError: pass\nos._exit(0)"
    )
    with pytest.raises(grade_process.Stopped, match=r"^wrote to the grader by itself$"):
        talk(bench, code)
