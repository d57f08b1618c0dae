"""Fill a platform's table of grades: `fill_grades.py OUT/grades.csv TABLE.csv KEY GRADE`.

TABLE.csv is what the platform exported. KEY is its column that names a student, GRADE the one that
takes the points; the filled table goes to the standard output. A student of grades.csv is found by
the number at the end of the name, as the platform wrote it into file names, or by the whole name.
"""

import argparse
import csv
import re
import sys


def who(name):
    """The number at the end of a name, or else the name."""
    number = re.search(r"\d+$", name.strip())
    return number[0] if number else name.strip()


def main(grades, table, key, grade):
    with open(grades, encoding="utf-8-sig", newline="") as file:
        totals = {who(row["student"]): row["total"] for row in csv.DictReader(file)}
    with open(table, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        rows, columns = list(reader), reader.fieldnames or []
    if missing := [name for name in (key, grade) if name not in columns]:
        sys.exit(f"{table} has no column {' and no column '.join(map(repr, missing))}")
    for row in rows:
        # A student who handed in nothing keeps what the platform has.
        row[grade] = totals.pop(who(row[key]), row[grade])
    out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    if totals:
        print(f"in {grades} and not in {table}: {', '.join(totals)}", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fill a platform's table of grades.")
    parser.add_argument("grades", help="grades.csv of the grader")
    parser.add_argument("table", help="what the platform exported")
    parser.add_argument("key", help="its column that names a student")
    parser.add_argument("grade", help="its column that takes the points")
    try:
        main(**vars(parser.parse_args()))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"fill_grades.py: {error}")
