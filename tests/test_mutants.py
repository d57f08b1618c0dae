"""What `make mutants` reads is there: modules, their tests, the lines of equivalent mutants."""

import tomllib

import pytest
from conftest import ROOT

KEPT = ROOT / "tests" / "mutants"
TESTS = tomllib.loads((KEPT / "tests.toml").read_text("utf8"))
EQUIVALENT = tomllib.loads((KEPT / "equivalent.toml").read_text("utf8"))


@pytest.mark.parametrize("module", TESTS)
def test_a_module_and_the_tests_for_its_mutants_exist(module):
    assert (ROOT / "src" / "lessons" / f"{module}.py").is_file()
    files = [file.split()[0] for file in TESTS[module]]
    assert [file for file in files if not (ROOT / "tests" / f"{file}.py").is_file()] == []


@pytest.mark.parametrize("module", EQUIVALENT)
def test_an_equivalent_mutant_has_a_reason_and_a_line_that_still_stands(module):
    assert module in TESTS
    source = (ROOT / "src" / "lessons" / f"{module}.py").read_text("utf8")
    lines = {line.strip() for line in source.splitlines()}
    for one in EQUIVALENT[module]:
        assert one["line"] in lines, one["line"]
        assert one["reason"].endswith(".") and one["mutants"] and one["line"] not in one["mutants"]
