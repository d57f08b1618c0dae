"""The branch `colab`: the notebooks with the repository's address in them, for Colab and Kaggle.

    GITHUB_REPOSITORY=ACCOUNT/NAME python book/tools/publish_colab.py

Adds one commit to the branch and pushes it to `origin`, or does nothing if nothing changed. The
folder's own branch, index and files stay as they are. The publishing workflow runs this after
the pages are out, for the notebooks install the wheel that lies beside those.

Standard library only: the job that may write to the repository runs no code but this.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import addressed
import repository
from stages import ROOT, StageFailed, command_line

REF = f"refs/heads/{repository.BRANCH}"
BOT = "github-actions[bot]"
MAIL = f"41898282+{BOT}@users.noreply.github.com"
README = """\
# Notebooks to open in Colab and in Kaggle

The publishing workflow wrote them from `main` for [the book]({site}), which is where to read them.
What is changed here is gone with the next publication: change it on `main`.
"""
CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")
MEANWHILE = re.compile(r"\[rejected\]|cannot lock ref|failed to update ref")


def files(address):
    """{path: text} of all that stands on the branch."""
    found = {
        f"{addressed.FOLDER}/{name}.ipynb": addressed.given_out(name, address)
        for name in addressed.names()
    }
    found["README.md"] = README.format(site=repository.pages_url(address))
    found["LICENSE"] = (ROOT / "LICENSE").read_text("utf8")
    return found


def git(*command, text=None, env=None):
    """What git answers; where it fails, what it said, without a token that an address may hold."""
    done = subprocess.run(
        ["git", *command],
        cwd=ROOT,
        input=text,
        env=os.environ | {"LC_ALL": "C"} | (env or {}),
        capture_output=True,
        encoding="utf8",
    )
    if done.returncode:
        raise StageFailed(CREDENTIALS.sub("", done.stderr.strip()))
    return done.stdout.strip()


def tree(found):
    """The object that holds these files, made without the folder's index and files."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        lines = [
            f"100644 {git('hash-object', '-w', '--stdin', text=text)}\t{path}"
            for path, text in found.items()
        ]
        git("update-index", "--add", "--index-info", text="\n".join(lines) + "\n", env=env)
        return git("write-tree", env=env)


def published():
    """The commit at the branch's end on `origin`; None: there is no such branch yet."""
    try:
        if not git("ls-remote", "origin", REF):
            return None
        # A copy without its past, such as the workflow's, needs none of the branch's either.
        shallow = git("rev-parse", "--is-shallow-repository") == "true"
        git("fetch", "-q", "--no-tags", *(["--depth=1"] if shallow else []), "origin", REF)
    except StageFailed as failure:
        raise StageFailed(f"{failure}\n\nThe branch {repository.BRANCH} cannot be read.") from None
    return git("rev-parse", "FETCH_HEAD")


def publish(address):
    """Bring the branch into step; returns the new commit, or None where nothing changed."""
    before = published()
    new = tree(files(address))
    if before and git("rev-parse", f"{before}^{{tree}}") == new:
        return None
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", BOT), ("EMAIL", MAIL))
    }
    said = f"Notebooks of {git('rev-parse', '--short', 'HEAD')}, with the address {address}"
    parent = ["-p", before] if before else []
    commit = git("commit-tree", new, *parent, "-m", said, env=who)
    try:
        git("push", "-q", "origin", f"{commit}:{REF}")
    except StageFailed as failure:
        cure = (
            "somebody pushed to it meanwhile, so run this again"
            if MEANWHILE.search(str(failure))
            else "does this account have the right to write to it?"
        )
        raise StageFailed(
            f"{failure}\n\nThe branch {repository.BRANCH} was not pushed: {cure}"
        ) from None
    return commit


def main():
    address = repository.required()
    commit = publish(address)
    print(f"{repository.BRANCH}: {f'now at {commit[:10]}' if commit else 'nothing new'}")


if __name__ == "__main__":
    command_line(main)
