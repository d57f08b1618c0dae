"""Bring book/locks/colab.txt and kaggle.txt to the versions that Colab and Kaggle have now.

    python book/tools/colab_pins.py

A file names the lists it follows (`# source: ADDRESS`, later ones win); of each package in it the
version changes, and the date. Packages that no list names keep theirs. Once a week a workflow does
this and runs the notebooks, so that the book hears of a new Colab before its readers do.
"""

import datetime
import re
import urllib.request

from colab_check import PINS
from stages import StageFailed, command_line

SOURCE = re.compile(r"^# source: (\S+)$", re.M)
DATE = re.compile(r"^# date: .*$", re.M)
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;+#]+)", re.M)
# Colab's list has torch by the address of its file.
BY_ADDRESS = re.compile(r"^(torch) @ \S+/torch-(\d[^-+%]*)", re.M)


def known(text):
    """The versions that a list names: name in its plain form -> version, without a local label."""
    found = [*PIN.findall(text), *BY_ADDRESS.findall(text)]
    return {plain(name): version for name, version in found}


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def renewed(pins, versions, today):
    """The text of a file of pins, with these versions and this date."""

    def version(match):
        return f"{match[1]}=={versions.get(plain(match[1]), match[2])}"

    return DATE.sub(f"# date: {today}", PIN.sub(version, pins), count=1)


def fetch(address):
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.read().decode()
    except OSError as error:
        raise StageFailed(
            f"{address} cannot be had ({error}): the pins stay as they are."
        ) from None


def main():
    today = datetime.date.today().isoformat()
    for path in PINS.values():
        old = path.read_text("utf8")
        versions = {}
        for address in SOURCE.findall(old):
            versions |= known(fetch(address))
        new = renewed(old, versions, today)
        path.write_text(new, "utf8")
        lines = set(new.splitlines()) - set(old.splitlines())
        print(f"{path.name}: {', '.join(sorted(line for line in lines if '==' in line)) or 'same'}")


if __name__ == "__main__":
    command_line(main)
