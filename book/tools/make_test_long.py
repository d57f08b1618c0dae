"""`make test-long`: the tests marked `long`, which `make test` leaves out; every night they run."""

import make_book
import make_test
from stages import Stages, command_line


def main():
    stages = Stages(4)
    make_book.packages(stages)
    make_book.test_packages(stages)
    # The later -m holds. If no test is marked, pytest says so and fails.
    make_test.tests(stages, "long tests", ["-m", "long", *make_test.WORKERS])


if __name__ == "__main__":
    command_line(main)
