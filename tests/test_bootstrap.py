"""The first cell of a notebook: what it asks, what it installs, what it says, and how it fails."""

import http.server
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
from urllib.parse import quote

import bootstrap
import notebook_rules as rules
import pytest
import repository

HERE = "someone/their-book"
NOWHERE = "OWNER/positional-encoding-lessons"
PIP = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
ARCHIVE = f"https://github.com/{HERE}/archive/refs/heads/main.zip"
NAMED = f"positional-encoding-lessons @ {ARCHIVE}"


@pytest.fixture
def first_cell(monkeypatch):
    """Run a first cell where `lessons` is not installed; git, Colab and pip answer as given."""

    def run(source, *codes, told=""):
        asked, answers = [], iter(codes)

        def call(command):
            asked.append(command)
            return next(answers)

        monkeypatch.setattr(subprocess, "call", call)
        monkeypatch.setattr(subprocess, "getoutput", lambda command: told)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        error = None
        try:
            exec(source, {})
        except RuntimeError as raised:
            error = str(raised)
        return asked, error

    return run


def test_with_an_address_it_asks_for_the_wheel_and_touches_nothing_else(first_cell, capsys):
    asked, error = first_cell(bootstrap.source(HERE), 0)
    assert [command[:-1] for command in asked] == [PIP] and error is None
    assert re.fullmatch(
        r"https://someone\.github\.io/their-book/[^/]+-py3-none-any\.whl", asked[0][-1]
    )
    assert capsys.readouterr().out.count("\n") == 1


def test_the_repository_is_asked_where_the_site_has_no_wheel(first_cell):
    asked, error = first_cell(bootstrap.source(HERE), 1, 0)
    assert [command[-1] for command in asked][1:] == [ARCHIVE] and error is None


def test_it_fails_with_one_sentence_that_says_what_to_do(first_cell):
    asked, error = first_cell(bootstrap.source(HERE), 1, 1)
    assert all(command[-1] in error for command in asked)
    assert error.endswith("turn on the internet, run this again.") and "\n" not in error


TOKEN = "ghp_0123456789"
# What git and Colab answer, and the repository that follows.
ORIGINS = {
    "https": f"https://github.com/{HERE}.git",
    "https, no ending": f"https://github.com/{HERE}",
    "https, a slash": f"https://github.com/{HERE}/",
    "https, www": f"https://www.github.com/{HERE}",
    "a token": f"https://x-access-token:{TOKEN}@github.com/{HERE}.git",
    "a user": f"https://someone@github.com/{HERE}.git",
    "scp": f"git@github.com:{HERE}.git",
    "scp, no ending": f"git@github.com:{HERE}",
    "ssh": f"ssh://git@github.com/{HERE}.git",
    "ssh, a port": f"ssh://git@ssh.github.com:443/{HERE}.git",
    "git": f"git://github.com/{HERE}.git",
    "capitals of the host": f"https://GitHub.com/{HERE}.git",
    "behind a complaint": f"warning: unable to access '/x'\nhttps://github.com/{HERE}.git",
    "colab": f'[{{"path": "fileId={quote(f"https://github.com/{HERE}", safe="/")}/blob/main/'
    'notebooks/01_order.ipynb", "name": "01_order.ipynb"}]',
    "colab, all quoted": 'fatal: not a git repository\n[{"path":"fileId='
    + quote(f"https://github.com/{HERE}/blob/colab/notebooks/01_order.ipynb", safe="")
    + '"}]',
}
NO_ORIGINS = {
    "nothing": "",
    "no git": "fatal: not a git repository (or any of the parent directories): .git",
    "no programs": "sh: 1: git: not found\nsh: 1: curl: not found",
    "gitlab": f"https://gitlab.com/{HERE}.git",
    "a host that ends so": f"https://notgithub.com/{HERE}.git",
    "a host that begins so": f"https://github.com.example.org/{HERE}.git",
    "a folder of that name": f"/srv/github.com/{HERE}.git",
    "a folder": "/srv/book.git",
    "an account alone": "https://github.com/someone",
    "a page of the site": "https://github.com/someone/their-book/issues",
    "Drive": '[{"path": "fileId=1aBcD_efG", "name": "Copy of 01_order.ipynb"}]',
}


@pytest.mark.parametrize("told", ORIGINS.values(), ids=ORIGINS)
def test_without_an_address_it_installs_from_where_git_or_colab_says(told, first_cell, capfd):
    asked, error = first_cell(bootstrap.source(NOWHERE), 0, told=told)
    assert asked == [[*PIP, NAMED]] and error is None
    assert TOKEN not in "".join(capfd.readouterr())


@pytest.mark.parametrize("told", NO_ORIGINS.values(), ids=NO_ORIGINS)
def test_where_neither_can_tell_one_sentence_says_what_to_fill_in(told, first_cell):
    asked, error = first_cell(bootstrap.source(NOWHERE), told=told)
    assert asked == []
    assert error == "Write the book's address on GitHub into book = '' and run this again."


@pytest.mark.parametrize("written", [f"https://github.com/{HERE}", f"github.com/{HERE}/"])
def test_what_is_filled_in_goes_before_what_git_says(written, first_cell):
    source = bootstrap.source(NOWHERE)
    assert 'book = ""' in source
    source = source.replace('book = ""', f'book = "{written}"')
    asked, error = first_cell(source, 0, told="https://github.com/a-student/homework.git")
    assert asked == [[*PIP, NAMED]] and error is None


def test_no_token_of_an_address_is_in_what_it_says(first_cell):
    told = ORIGINS["a token"]
    asked, error = first_cell(bootstrap.source(NOWHERE), 1, told=told)
    assert len(asked) == 1 and TOKEN not in error and NAMED in error
    assert "turn on the internet" in error and "\n" not in error


@pytest.mark.parametrize("address", [HERE, NOWHERE])
def test_it_is_one_cell_of_fifteen_lines(address):
    assert len(bootstrap.source(address).splitlines()) <= rules.LINES


class Sessions(http.server.BaseHTTPRequestHandler):
    """What Colab's server answers about the notebook that it has opened."""

    def do_GET(self):
        opened = quote(f"https://github.com/{HERE}/blob/main/notebooks/01_order.ipynb", safe="/")
        answer = json.dumps([{"path": f"fileId={opened}", "name": "01_order.ipynb"}]).encode()
        self.send_response(200 if self.path == "/api/sessions" else 404)
        self.end_headers()
        self.wfile.write(answer if self.path == "/api/sessions" else b"")

    def log_message(self, *arguments):
        pass


def ran_alone(folder, source, **env):
    """The first cell in a process of its own, without `lessons`; pip writes what it was asked.

    Without site packages there is no `lessons`, and no torch either but this stub.
    """
    stubs = folder / "stubs"
    (stubs / "pip").mkdir(parents=True)
    for empty in ("torch.py", "pip/__init__.py"):
        (stubs / empty).touch()
    (stubs / "pip/__main__.py").write_text("import sys; sys.exit(' '.join(sys.argv[1:]))", "utf8")
    return subprocess.run(
        [sys.executable, "-S", "-c", source],
        cwd=folder,
        env={"PYTHONPATH": str(stubs), "PATH": "/usr/local/bin:/usr/bin:/bin", **env},
        capture_output=True,
        text=True,
    ).stderr.splitlines()


@pytest.mark.skipif(shutil.which("curl") is None, reason="Colab has curl, this machine has not")
def test_colabs_own_server_is_asked(tmp_path):
    with http.server.HTTPServer(("127.0.0.1", 0), Sessions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {"COLAB_JUPYTER_IP": "127.0.0.1", "KMP_TARGET_PORT": str(server.server_port)}
        said = ran_alone(tmp_path, bootstrap.source(NOWHERE), **env)
        server.shutdown()
    assert f"install -q --no-deps {NAMED}" in said


def test_the_working_copy_is_asked_for_its_origin(tmp_path):
    for command in (["init", "-q"], ["remote", "add", "origin", ORIGINS["a token"]]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    said = ran_alone(tmp_path, bootstrap.source(NOWHERE))
    assert f"install -q --no-deps {NAMED}" in said
    assert TOKEN not in "\n".join(said)


def test_where_the_book_is_installed_it_prints_one_line_and_asks_nobody(monkeypatch, capsys):
    for name in ("call", "getoutput"):
        monkeypatch.setattr(subprocess, name, lambda command: pytest.fail(f"called {command}"))
    for address in (HERE, NOWHERE):
        exec(bootstrap.source(address), {})
        line = capsys.readouterr().out
        assert re.fullmatch(
            r"positional-encoding-lessons \S+, numpy \S+, torch \S+, (cpu|cuda)\n", line
        )


def test_without_a_network_the_real_pip_fails_and_the_sentence_stands(tmp_path):
    """Without site packages there is no `lessons`; the pip that the cell starts has them."""
    (tmp_path / "torch.py").touch()
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_RETRIES": "0"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", bootstrap.source(HERE)],
        env=nowhere | {"PIP_CONFIG_FILE": "/dev/null", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "turn on the internet" in done.stderr.splitlines()[-1]


def test_this_repositorys_own_notebooks_have_the_cell_that_its_address_asks_for():
    searches = "git remote get-url origin" in bootstrap.source()
    assert searches != repository.known(repository.configured())
