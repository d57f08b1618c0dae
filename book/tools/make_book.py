"""`make book`: environment, packages, browser assets, wheel, then every page executed and built."""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import addressed
import environment
import repository
import vendor
from stages import (
    BUILD,
    ROOT,
    SITE,
    VENV,
    Stages,
    command_line,
    files_under,
    fingerprint,
    run,
    stamped,
    surroundings,
    write_stamp,
)

STAGES = 5  # of make_book; the tests add theirs
# A change in one of these may change any page: the build starts from nothing.
SETTINGS = (
    "_config.yml",
    "_toc.yml",
    "requirements.txt",
    "pyproject.toml",
    "book/locks",
    "book/_ext",
    "book/tools/addressed.py",
    "book/tools/bootstrap.py",
    "book/tools/repository.py",
    "book/references.bib",
)
# A change in one of these makes pages stale; Sphinx knows which.
CONTENT = ("book", "notebooks", "src/lessons", "LICENSE", "README.md")
# One thread a notebook: two busy torch processes with two threads each are twenty times slower.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}


def packages(stages):
    """The first two stages: a Python with everything that the book needs."""
    with stages.stage("virtual environment") as note:
        environment.create(note)
    with stages.stage("packages (minutes, the first time)") as note:
        environment.install(note)


def test_packages(stages):
    """One stage more, for whoever runs tests."""
    with stages.stage("test packages") as note:
        environment.install(note, "test,peers")


def site(stages):
    """The other three: from the packages to the pages."""
    parts(stages)
    with stages.stage("notebooks and pages (minutes)") as note:
        pages(note)


def parts(stages):
    """Two of those: what the pages take with them."""
    with stages.stage("browser assets") as note:
        vendor.fetch_pages(note)
    with stages.stage("wheel") as note:
        wheel(note)


def wheel(note):
    """The wheel that the notebooks' first cell installs on Colab; it lies on the book's site."""
    stamp, folder = BUILD / "stamps" / "wheel", BUILD / "wheel"
    parts = ("src/lessons", "pyproject.toml", "LICENSE", "README.md")
    address = repository.for_site()
    wanted = fingerprint(files_under(*parts), address)
    if stamped(stamp, wanted):
        note("nothing new")
        return
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as copy:
        # A copy, for setuptools leaves a build folder beside what it packs and packs it again.
        for file in files_under(*parts):
            target = Path(copy) / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
        if repository.known(address):
            # Its first page is the wheel's description, and says what to clone.
            readme = Path(copy) / "README.md"
            text = readme.read_text("utf8").replace(
                "REPOSITORY_ADDRESS", f"https://github.com/{address}"
            )
            readme.write_text(text, "utf8")
        run(
            [environment.PYTHON, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, "."],
            "wheel.log",
            "The wheel of src/lessons could not be built.",
            cwd=copy,
        )
    write_stamp(stamp, wanted)


def pages(note):
    """Execute and build what is stale; from nothing when a setting changed or nothing was built."""
    settings = fingerprint(
        files_under(*SETTINGS),
        repository.for_site(),
        repository.pages_url(repository.for_site()),
        str((vendor.VENDOR / ".stamp").exists()),
        sys.version,
    )
    wanted = fingerprint(files_under(*CONTENT), settings)
    stamp, settings_stamp = BUILD / "stamps" / "pages", BUILD / "stamps" / "settings"
    if stamped(stamp, wanted) and (SITE / "index.html").exists():
        note("nothing new")
        return
    if not stamped(settings_stamp, settings):
        forget_pages()
    stamp.unlink(missing_ok=True)
    settings_stamp.unlink(missing_ok=True)
    # Through its Python: a script names that by a path, which may be too long for the system.
    jupyter_book = environment.PYTHON, VENV / "bin" / "jupyter-book"
    before = keep_what_was_read()
    try:
        run(
            [*jupyter_book, "build", ROOT, "-W", "-n", "--keep-going"],
            "pages.log",
            "The pages could not be built: a cell failed, or Sphinx warned (see above).",
            env=ONE_THREAD | {"PATH": f"{VENV / 'bin'}{os.pathsep}{surroundings()['PATH']}"},
        )
    except BaseException:
        # Sphinx warns about a page only while it reads it: a page that a failed build has read
        # would pass the next one unseen. So what it read is forgotten, and no more than that:
        # a slip in one cell must not cost the whole book.
        if before is None:
            forget_pages()
        else:
            shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
            before.rename(BUILD / ".doctrees")
            write_stamp(settings_stamp, settings)
        raise
    for built in (BUILD / "wheel").glob("*.whl"):
        shutil.copy2(built, SITE)
    student_notebooks()
    landing()
    write_stamp(settings_stamp, settings)
    write_stamp(stamp, wanted)


def student_notebooks():
    """Beside the pages, to be handed out as they are."""
    for name in addressed.names():
        if name.startswith("assignments/"):
            target = SITE / f"{name}.ipynb"
            target.parent.mkdir(exist_ok=True)
            target.write_text(addressed.given_out(name, repository.for_site()), "utf8")


def landing():
    """The site's own address leads to the first page, and is shared with that page's card.

    Jupyter Book writes a bare redirection, which the sites that show cards do not follow.
    """
    first = re.search(r"url=([^\"]+)", (SITE / "index.html").read_text("utf8"))[1]
    head = (SITE / first).read_text("utf8").split("</head>")[0]
    kept = re.findall(r"<title>.*?</title>|<meta (?:property|name)=.*?/>", head, re.S)
    kept += re.findall(r'<link rel="canonical".*?/>', head)
    lines = ['<meta charset="utf-8" />', *kept]
    lines += [f'<meta http-equiv="Refresh" content="0; url={first}" />']
    text = "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", *lines, "</head>", "<body>"])
    link = f'<p>The book begins at <a href="{first}">its first page</a>.</p>'
    (SITE / "index.html").write_text(f"{text}\n{link}\n</body>\n</html>\n", "utf8")


def keep_what_was_read():
    """A copy of what Sphinx knows of the pages of the last good build; None if there is none."""
    before = BUILD / ".doctrees-before"
    shutil.rmtree(before, ignore_errors=True)
    if not (BUILD / ".doctrees").exists():
        return None
    return Path(shutil.copytree(BUILD / ".doctrees", before))


def forget_pages():
    for name in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(BUILD / name, ignore_errors=True)


def main():
    stages = Stages(STAGES)
    packages(stages)
    site(stages)
    print(f"The book: {SITE / 'index.html'}")


if __name__ == "__main__":
    command_line(main)
