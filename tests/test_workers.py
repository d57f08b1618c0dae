"""Workers: results as they come, an error after them, steps counted, no orphans, the time left."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import jobs
import pytest

from lessons import workers


def test_results_come_back_and_every_step_is_counted(capsys):
    with workers.Workers(total=12) as pool:
        found = list(pool.each(jobs.double, [(n,) for n in range(5)]))
        assert sorted(found) == [0, 2, 4, 6, 8]
        assert pool._done.value == 10
    assert "5 of 5 runs · 10 of 12 steps · 0 min" in capsys.readouterr().err


def test_a_run_that_raises_comes_after_those_that_worked():
    kept = []
    with pytest.raises(ZeroDivisionError, match="number 1"), workers.Workers(3) as pool:
        for found in pool.each(jobs.fails_at, [(0, 1), (1, 1)]):
            kept.append(found)
    assert kept in ([0], [])  # the other one may still have been at work


class Done:
    """A run that is over, with what it found or the error that it ended in."""

    def __init__(self, found=None):
        self.found = found

    def exception(self):
        return None if self.found else ZeroDivisionError()

    def result(self):
        return self.found or 1 / 0


def test_what_worked_is_handed_over_before_an_error_of_the_same_moment(monkeypatch):
    pool, kept, futures = workers.Workers(2), [], iter([Done(), Done("found")])
    pool._pool = type("Pool", (), {"submit": lambda self, *given: next(futures)})()

    def all_at_once(waiting, **options):
        return sorted(waiting, key=lambda each: each.found is not None), set()

    monkeypatch.setattr(workers.concurrent.futures, "wait", all_at_once)
    with pytest.raises(ZeroDivisionError):
        for found in pool.each(None, [(), ()]):
            kept.append(found)
    assert kept == ["found"]


def test_nothing_to_do_starts_no_process():
    with workers.Workers(0) as pool:
        assert list(pool.each(jobs.double, [])) == []
        assert not pool._pool._processes


def test_a_tick_outside_a_worker_counts_nothing():
    workers.tick()
    assert workers._counter is None


PARENT = """
    import sys
    sys.path.insert(0, {tests!r})
    import jobs
    from lessons.workers import Workers
    with Workers(1) as pool:
        list(pool.each(jobs.beat, [({beat!r},)]))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_of_a_parent_that_was_killed_do_not_go_on(how, tmp_path):
    beat = tmp_path / "beat"
    code = textwrap.dedent(PARENT).format(tests=str(Path(__file__).parent), beat=str(beat))
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        until(beat.exists, 300)
    finally:
        os.kill(parent.pid, how)
        parent.wait()
    until(lambda: still(beat), 60)


def until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.1)


def still(path):
    """Whether two seconds pass without a beat; a living worker writes 40."""
    before = path.read_text()
    time.sleep(2)
    return path.read_text() == before


@pytest.mark.parametrize(
    ("done", "total", "seconds", "words"),
    [
        (0, 100, 5.0, "time left unknown yet"),
        (50, 100, 60.0, "1 min 00 s left"),
        (10, 100, 10.0, "1 min 30 s left"),
        (1, 3601, 1.0, "60 min 00 s left"),
        (100, 100, 60.0, "0 min 00 s left"),
        (101, 100, 60.0, "0 min 00 s left"),
    ],
)
def test_time_left_at_the_pace_so_far(done, total, seconds, words):
    assert workers.time_left(done, total, seconds) == words
