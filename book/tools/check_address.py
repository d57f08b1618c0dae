"""Does any file of the built site still name the repository that it was copied from?

    GITHUB_REPOSITORY=ACCOUNT/NAME python book/tools/check_address.py

Reads every file below `_build/html`, also inside the wheel and the packed site; tests/editions
reads the PDF. The publishing workflow runs it before the site leaves the machine.
"""

import io
import re
import zipfile

import repository
from stages import SITE, StageFailed, command_line


def former(old):
    """What a site must not hold once it names another repository than `old`, in bytes."""
    owner, name = map(re.escape, old.split("/"))
    pages = re.escape(repository.pages_url(old).split("://")[1]).replace("/", "(?:/|%2F)")
    begin, end = r"(?:(?<![\w.-])|(?<=%2F))", r"(?![\w-])"
    either = rf"(?i:{begin}(?:{owner}(?:/|%2F){name}|{pages}){end})"
    word = "" if repository.known(old) else rf"|{begin}{repository.PLACEHOLDER}\b"
    return re.compile((either + word).encode())


def naming(folder, old):
    """The files below a folder that name the repository `old`, or its pages."""
    pattern = former(old)
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        found += [
            where for where, content in inside(name, path.read_bytes()) if pattern.search(content)
        ]
    return found


def inside(name, content):
    """(name, content) of a file and of all that it packs."""
    yield name, content
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from inside(f"{name}: {member}", archive.read(member))


def main():
    old, new = repository.configured(), repository.required()
    if old != new and (found := naming(SITE, old)):
        raise StageFailed("\n".join([*found, "", f"These still name {old}, not {new}."]))
    print(f"Every file of the site names {new}.")


if __name__ == "__main__":
    command_line(main)
