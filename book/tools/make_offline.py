"""`make offline`: the whole site as one file, to be unpacked and opened without a server.

It lies beside the pages afterwards, where the intro links to it, and its pages have been opened
in a browser from an empty folder, without a network.
"""

import os
import zipfile

import browser
import make_book
import make_test
import vendor
from editions import CHECKS, EDITIONS, ZIP
from stages import SITE, StageFailed, Stages, command_line

STAGES = make_book.STAGES + 4
DAY = (1980, 1, 1, 0, 0, 0)  # a zip's first: the same site gives the same file


def pack(site, target, leave_out=()):
    """Every file of the site, below one folder, in a fixed order; returns how many."""
    files = [path for path in sorted(site.rglob("*")) if path.is_file() and path not in leave_out]
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = f"{target.stem}/{path.relative_to(site).as_posix()}"
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = 0o644 << 16
            packed = path.suffix in (".png", ".whl", ".woff")
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    os.replace(part, target)
    return len(files)


def prepare(stages):
    """The site, and what its checks need."""
    make_book.packages(stages)
    make_book.site(stages)
    make_book.test_packages(stages)
    with stages.stage("browser") as note:
        found = browser.provide(note)
    if not (vendor.VENDOR / "mathjax" / "tex-chtml.js").exists():
        raise StageFailed(
            "The maths of these pages would come from another host, so they would not work "
            "offline: `make book` could not fetch MathJax with npm (see its line above)."
        )
    return found


def main():
    stages = Stages(STAGES)
    prepare(stages)
    with stages.stage("zip") as note:
        leave_out = {*EDITIONS, *(path.with_suffix(".part") for path in EDITIONS)}
        count = pack(SITE, ZIP, leave_out)
        note(f"{count} files, {ZIP.stat().st_size / 1e6:.1f} MB")
    make_test.tests(stages, "opened as files", [f"{CHECKS}/offline.py"])
    print(f"The site as one file: {ZIP}")


if __name__ == "__main__":
    command_line(main)
