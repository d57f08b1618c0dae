"""Long runs in two processes of one thread each, with a line that says how long it will take."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import sys
import threading
import time

PROCESSES = 2
_counter = None  # in a worker: the steps that all workers have done, set as it starts


class Workers:
    """A pool for runs that call ``tick`` after every step.

    total: steps of all runs together, for the time left.
    A run that raises stops the pool: what has come back before is the caller's to keep.
    """

    def __init__(self, total):
        self.total = total

    def __enter__(self):
        context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
        self._done = context.Value(ctypes.c_long, 0)
        # Read when a worker imports torch; two threads each would be many times slower.
        os.environ["OMP_NUM_THREADS"] = "1"
        self._pool = concurrent.futures.ProcessPoolExecutor(
            PROCESSES, context, initializer=_start, initargs=(self._done,)
        )
        self._begun = time.monotonic()
        return self

    def __exit__(self, *error):
        self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, function, jobs):
        """``function(*job)`` for every job, as they finish."""
        waiting = {self._pool.submit(function, *job) for job in jobs}
        every = 1 if sys.stderr.isatty() else 30
        said = time.monotonic()
        while waiting:
            done, waiting = concurrent.futures.wait(
                waiting, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED
            )
            # What has worked is handed over before the error of what has not.
            for future in sorted(done, key=lambda each: each.exception() is not None):
                yield future.result()
            if time.monotonic() - said >= every or not waiting:
                self._say(len(jobs) - len(waiting), len(jobs))
                said = time.monotonic()
        if sys.stderr.isatty() and jobs:
            print(file=sys.stderr)

    def _say(self, finished, runs):
        end = "" if sys.stderr.isatty() else "\n"
        left = time_left(self._done.value, self.total, time.monotonic() - self._begun)
        line = f"\r{finished} of {runs} runs · {self._done.value} of {self.total} steps · {left}"
        print(line.ljust(70), end=end, file=sys.stderr, flush=True)


def tick():
    """One more step is done; in the process that has no pool, nothing is counted."""
    if _counter is not None:
        with _counter.get_lock():
            _counter.value += 1


def time_left(done, total, seconds):
    """Minutes and seconds that the rest takes at the pace so far, in words."""
    if done == 0:
        return "time left unknown yet"
    left = round(seconds * max(0, total - done) / done)
    return f"{left // 60} min {left % 60:02d} s left"


def _start(counter):
    global _counter
    _counter = counter
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    torch.set_num_threads(1)


def _end_with_parent():
    """A parent that was killed tells nobody: without this, its workers would train on for hours."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
