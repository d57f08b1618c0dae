"""The branch `colab`, acted out on a bare repository: one commit a change, nothing else touched."""

import os
import shutil
import subprocess
import sys

import addressed
import check_address
import nbformat
import publish_colab
import pytest
import repository
import stages
from conftest import ROOT

HERE = "someone/their-book"
NEEDED = ("_config.yml", "_toc.yml", "pyproject.toml", "LICENSE", "README.md", "notebooks", "book")
ME = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@x.org"}
ME |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x.org"}
ME |= {"GIT_CONFIG_GLOBAL": os.devnull}  # nobody's signatures and hooks


def git(folder, *command):
    done = subprocess.run(
        ["git", *command], cwd=folder, env=os.environ | ME, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Fork:
    """A copy of the book with a bare repository for its origin."""

    def __init__(self, folder):
        self.bare, self.clone = folder / "origin.git", folder / "a clone"
        self.clone.mkdir()
        skip = shutil.ignore_patterns("vendor", "__pycache__", ".ipynb_checkpoints")
        for name in NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.clone / name, ignore=skip)
            else:
                shutil.copy2(ROOT / name, self.clone)
        git(folder, "init", "-q", "--bare", "-b", "main", self.bare)
        git(self.clone, "init", "-q", "-b", "main")
        git(self.clone, "remote", "add", "origin", self.bare)
        self.commit("the book")

    def commit(self, said):
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-q", "-m", said)
        git(self.clone, "push", "-q", "origin", "main")

    def publish(self, clone=None, **env):
        """What the workflow's job runs, with nothing but Python itself."""
        return subprocess.run(
            [sys.executable, "-S", "-B", "book/tools/publish_colab.py"],
            cwd=clone or self.clone,
            env={"PATH": os.environ["PATH"], "GITHUB_REPOSITORY": HERE, **env},
            capture_output=True,
            text=True,
        )

    def state(self):
        """All that publishing must leave alone: branches, index, files, settings."""
        kept = [(self.clone / ".git" / name).read_bytes() for name in ("index", "HEAD", "config")]
        kept.append(git(self.clone, "for-each-ref", "refs/heads"))
        kept.append(git(self.clone, "status", "--porcelain", "--untracked-files=all"))
        return kept

    def commits(self):
        return git(self.bare, "rev-list", "--first-parent", "colab").split()

    def read(self, path):
        return git(self.bare, "show", f"colab:{path}")


@pytest.fixture
def fork(tmp_path):
    return Fork(tmp_path)


def test_one_commit_a_change_and_none_without(fork):
    (fork.clone / "untracked").touch()
    (fork.clone / "README.md").write_text("changed, and not in the index", "utf8")
    git(fork.clone, "rm", "-q", "--cached", "LICENSE")  # changed in the index alone
    before = fork.state()
    first = fork.publish()
    assert first.returncode == 0, first.stderr
    (one,) = fork.commits()
    assert first.stdout == f"colab: now at {one[:10]}\n"
    again = fork.publish()
    assert again.returncode == 0 and again.stdout == "colab: nothing new\n"
    assert fork.commits() == [one]
    assert fork.state() == before

    path = fork.clone / "notebooks/01_order.ipynb"
    text = path.read_text("utf8").replace("same three words", "same three old words")
    path.write_text(text, "utf8")
    git(fork.clone, "add", "-A")
    fork.commit("a word")
    assert fork.publish().returncode == 0
    two, parent = fork.commits()
    assert parent == one
    assert git(fork.bare, "diff", "--name-only", one, two) == "notebooks/01_order.ipynb"
    assert fork.publish().stdout == "colab: nothing new\n"


def test_the_branch_holds_each_notebook_with_the_address_and_the_workflows_name(fork):
    assert fork.publish().returncode == 0
    held = git(fork.bare, "ls-tree", "-r", "--name-only", "colab").splitlines()
    assert len(addressed.names()) == 15
    wanted = [f"notebooks/{name}.ipynb" for name in addressed.names()]
    assert sorted(held) == sorted([*wanted, "LICENSE", "README.md"])
    for name, path in zip(addressed.names(), wanted, strict=True):
        text = fork.read(path)
        nbformat.validate(nbformat.reads(text, as_version=4))
        assert text == addressed.given_out(name, HERE).strip()
    everything = "".join(map(fork.read, held))
    assert not check_address.former(repository.configured()).search(everything.encode())
    assert f"({repository.pages_url(HERE)})" in fork.read("README.md")
    who = git(fork.bare, "log", "-1", "--format=%an <%ae> %cn %s", "colab")
    assert who.startswith("github-actions[bot] <41898282+github-actions[bot]@users.noreply")
    assert who.endswith(f"with the address {HERE}")


def test_a_copy_without_its_past_as_the_workflow_has_it_adds_to_the_branch(fork, tmp_path):
    assert fork.publish().returncode == 0
    path = fork.clone / "notebooks/02_sinusoidal.ipynb"
    path.write_text(path.read_text("utf8").replace("wave", "surge"), "utf8")
    fork.commit("a word")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{fork.bare}", shallow)
    done = fork.publish(shallow)
    assert done.returncode == 0, done.stderr
    assert len(fork.commits()) == 2
    assert fork.publish(shallow).stdout == "colab: nothing new\n"


def test_a_domain_of_ones_own_stands_in_the_notebooks(fork):
    assert fork.publish(PAGES_URL="https://book.example.org/").returncode == 0
    assert 'site = \\"https://book.example.org\\"' in fork.read("notebooks/01_order.ipynb")


def refuse(fork, how):
    hook = fork.bare / "hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\n{how}\n", "utf8")
    hook.chmod(0o755)


def test_a_push_that_comes_too_late_ends_with_a_sentence_and_the_next_one_goes_on(fork):
    """Between reading the branch and pushing to it somebody else pushes."""
    assert fork.publish().returncode == 0
    path = fork.clone / "notebooks/01_order.ipynb"
    path.write_text(path.read_text("utf8").replace("same three words", "same words"), "utf8")
    fork.commit("a word")
    (one,) = fork.commits()
    hooks = fork.clone / ".git/hooks/pre-push"
    hooks.parent.mkdir(exist_ok=True)
    other = f'git -C "{fork.bare}" -c user.name=B -c user.email=b@x.org commit-tree -p {one}'
    hooks.write_text(
        f"#!/bin/sh\nunset GIT_DIR\nnew=$({other} -m meanwhile {one}^{{tree}})\n"
        f'git -C "{fork.bare}" update-ref refs/heads/colab $new\n',
        "utf8",
    )
    hooks.chmod(0o755)
    done = fork.publish()
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("The branch colab was not pushed: somebody pushed to it meanwhile")
    assert git(fork.bare, "log", "-1", "--format=%s", "colab") == "meanwhile"
    hooks.unlink()
    assert fork.publish().returncode == 0 and len(fork.commits()) == 3


def test_a_push_that_is_forbidden_ends_with_another_sentence(fork):
    refuse(fork, "echo 'permission denied' >&2; exit 1")
    done = fork.publish()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("does this account have the right to write to it?")


def test_an_origin_that_cannot_be_read_ends_with_a_sentence_and_shows_no_token(fork):
    token = "ghp_0123456789"
    url = f"http://x-access-token:{token}@127.0.0.1:9/someone/their-book.git"
    git(fork.clone, "remote", "set-url", "origin", url)
    done = fork.publish()
    assert done.returncode == 1 and token not in done.stdout + done.stderr
    assert done.stderr.splitlines()[-1] == "The branch colab cannot be read."


def test_without_an_address_nothing_is_pushed(fork):
    done = fork.publish(GITHUB_REPOSITORY="")
    if repository.known(repository.configured()):
        assert done.returncode == 0
    else:
        assert done.returncode == 1 and "GITHUB_REPOSITORY=ACCOUNT/NAME" in done.stderr
        assert git(fork.bare, "branch", "--format=%(refname:short)") == "main"


def test_what_git_says_is_told_without_credentials(monkeypatch):
    said = "fatal: unable to access 'https://me:ghp_1@github.com/a/b.git/': 403"
    failed = subprocess.CompletedProcess([], 128, stdout="", stderr=said)
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **more: failed)
    with pytest.raises(stages.StageFailed) as told:
        publish_colab.git("push")
    assert "ghp_1" not in str(told.value) and "//github.com/a/b.git" in str(told.value)
