"""The first cell of a notebook: what it installs, what it says, and how it fails."""

import importlib.util
import re
import subprocess
import sys

import bootstrap
import pytest


@pytest.fixture
def first_cell(monkeypatch):
    """Run the first cell where `lessons` is not installed; pip answers with the given codes."""

    def run(*codes):
        asked, answers = [], iter(codes)

        def call(command):
            asked.append(command)
            return next(answers)

        monkeypatch.setattr(subprocess, "call", call)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        error = None
        try:
            exec(bootstrap.source(), {})
        except RuntimeError as raised:
            error = raised
        return asked, error

    return run


def test_it_asks_for_the_wheel_and_touches_nothing_else(first_cell, capsys):
    asked, error = first_cell(0)
    pip, address = asked[0][:-1], asked[0][-1]
    assert pip == [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
    assert re.fullmatch(r"https://\S+\.github\.io/\S+-py3-none-any\.whl", address)
    assert len(asked) == 1 and error is None
    assert capsys.readouterr().out.count("\n") == 1


def test_the_repository_is_asked_where_the_site_has_no_wheel(first_cell):
    asked, error = first_cell(1, 0)
    assert [command[-1].split("/")[2] for command in asked][1:] == ["github.com"]
    assert len(asked) == 2 and error is None


def test_it_fails_with_one_sentence_that_says_what_to_do(first_cell):
    asked, error = first_cell(1, 1)
    assert all(command[-1] in str(error) for command in asked)
    assert str(error).endswith("turn on the internet, run this again.")
    assert "\n" not in str(error)


def test_where_the_book_is_installed_it_prints_one_line_and_calls_no_pip(monkeypatch, capsys):
    monkeypatch.setattr(subprocess, "call", lambda command: pytest.fail(f"called {command}"))
    exec(bootstrap.source(), {})
    line = capsys.readouterr().out
    assert re.fullmatch(
        r"positional-encoding-lessons \S+, numpy \S+, torch \S+, (cpu|cuda)\n", line
    )


def test_without_a_network_the_real_pip_fails_and_the_sentence_stands():
    """Without site packages there is no `lessons`; the pip that the cell starts has them."""
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_RETRIES": "0"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", bootstrap.source()],
        env=nowhere | {"PIP_CONFIG_FILE": "/dev/null"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "turn on the internet" in done.stderr.splitlines()[-1]
