"""The emulation of Colab and Kaggle sees what would break a student's notebook there."""

import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

import bootstrap
import colab_check
import colab_pins
import colab_run
import nbformat
import pytest
import repository
import stages
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

BOOK = "positional-encoding-lessons @ http://127.0.0.1/some.whl"


def test_every_lesson_and_every_assignment_is_run():
    names = {path.stem for path in colab_check.chosen()}
    folder = colab_check.ROOT / "notebooks"
    saved = [*folder.glob("*.ipynb"), *folder.glob("assignments/*.ipynb")]
    assert names == {path.stem for path in saved} and len(names) >= 11
    few = {path.stem for path in colab_check.few(colab_check.NEWEST)}
    assert few == set(colab_check.FEW) & names and len(few) >= 2


def test_a_python_newer_than_colabs_is_told_so_and_its_other_tests_go_on(monkeypatch, capsys):
    """pip would begin to compile NumPy."""
    assert colab_check.few((3, 14)) == []
    monkeypatch.setattr(colab_check.Emulation, "build", lambda *_: 1 / 0)
    colab_check.check(stages.Stages(1), ["colab"], [])
    assert "LEFT OUT: Colab and Kaggle run Python 3.13" in capsys.readouterr().out
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    with pytest.raises(stages.StageFailed, match=r"`make colab-check PYTHON=python3\.13`"):
        colab_check.main()


def test_an_unknown_notebook_is_named():
    with pytest.raises(stages.StageFailed, match="no notebook named 99_nothing"):
        colab_check.chosen(["99_nothing"])


@pytest.mark.parametrize(("name", "widgets"), [("colab", "7.7.1"), ("kaggle", "8.1.5")])
def test_pins_say_where_and_when_they_are_from(name, widgets):
    text = colab_check.PINS[name].read_text("utf8")
    assert re.search(r"^# date: 20\d\d-\d\d", text, re.M)
    assert colab_pins.SOURCE.findall(text)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert len({colab_pins.plain(line.split("==")[0]) for line in lines}) == len(lines)
    assert f"ipywidgets=={widgets}" in lines


def test_a_changed_environment_is_a_failure():
    before = ["numpy==2.1.3", "six==1.17.0"]
    assert colab_check.changed(before, [*before, BOOK]) == ""
    assert "did not install" in colab_check.changed(before, before)
    for after in (["numpy==2.4.6", "six==1.17.0"], ["numpy==2.1.3"], [*before, "einops==0.8"]):
        assert "changed the environment" in colab_check.changed(before, [*after, BOOK])


def test_torch_is_taken_apart_from_the_other_pins():
    torch, others = colab_check.split_torch("# torch==1\nnumpy==2\ntorch==2.11.0\nsix==1\n")
    assert (torch, others) == ("torch==2.11.0", "# torch==1\nnumpy==2\nsix==1\n")


@pytest.fixture
def local(tmp_path, monkeypatch):
    """The emulation's surroundings, with a wheel to be had."""
    monkeypatch.setattr(colab_check, "BUILD", tmp_path)
    (tmp_path / "wheel").mkdir()
    (tmp_path / "wheel" / "some.whl").write_text("the wheel")
    with colab_check.served() as env:
        yield env


@pytest.mark.parametrize("what", ["the wheel on the site", "the wheel of the archive on GitHub"])
def test_pip_is_sent_to_the_local_wheel_and_the_cell_stays_as_it_is(local, what):
    """The address in the first cell leads to the served folder, in a process that is pip."""
    book = colab_check.address()
    site = repository.pages_url(book)
    assert site in bootstrap.source(book)
    named = f"{colab_check.PACKAGE} @ "
    asked = {
        "the wheel on the site": f"{site}/some.whl",
        "the wheel of the archive on GitHub": f"{named}https://github.com/{book}/archive/refs/heads/main.zip",
    }[what]
    show = "import sys; print(sys.argv[-1])"
    for command, moved in ((["-c", show, "pip"], True), (["-c", show], False)):
        done = subprocess.run(
            [sys.executable, *command, asked],
            env={"PYTHONPATH": local["PYTHONPATH"]},
            capture_output=True,
            text=True,
        )
        address = done.stdout.strip().removeprefix(named)
        assert address.startswith("http://127.0.0.1:") == moved, done.stderr
        if moved:
            with urllib.request.urlopen(address) as answer:
                assert answer.read() == b"the wheel"


def test_colabs_server_answers_where_the_notebook_is_from(local):
    address = f"http://{local['COLAB_JUPYTER_IP']}:{local['KMP_TARGET_PORT']}/api/sessions"
    with urllib.request.urlopen(address) as answer:
        told = urllib.parse.unquote(answer.read().decode())
    assert re.search(bootstrap.ORIGIN, told)[1] == colab_check.address()


def test_what_is_run_has_the_address_but_for_the_first_notebook_on_colab(monkeypatch, tmp_path):
    """That one is as on `main`, where the cell has to ask."""
    ran = []

    def execute(self, notebook, text, local, note):
        source = next(c for c in nbformat.reads(text, 4).cells if c.cell_type == "code").source
        ran.append((self.name, notebook.stem, source))

    monkeypatch.setattr(colab_check.Emulation, "build", lambda self, note: None)
    monkeypatch.setattr(colab_check.Emulation, "execute", execute)
    names = ["01_order", "02_sinusoidal", "a1_order"]
    chosen = colab_check.chosen(names)
    colab_check.check(stages.Stages(8), ["colab", "kaggle"], chosen)
    on_main, on_branch = bootstrap.source(), bootstrap.source(colab_check.address())
    first = on_main if shutil.which("curl") else on_branch
    assert ran == [
        ("colab", names[0], first),
        *[("colab", name, on_branch) for name in names[1:]],
        *[("kaggle", name, on_branch) for name in names],
    ]


def test_every_notebook_is_tried_before_the_failures_are_told(monkeypatch, tmp_path, capsys):
    def execute(self, notebook, text, local, note):
        if notebook.stem != "fine":
            raise stages.StageFailed(f"{notebook.stem} has no Stack")

    monkeypatch.setattr(colab_check.Emulation, "build", lambda self, note: None)
    monkeypatch.setattr(colab_check.Emulation, "execute", execute)
    monkeypatch.setattr(colab_check, "as_opened", lambda notebook, on_main: "")
    paths = [tmp_path / f"{name}.ipynb" for name in ("one", "fine", "two")]
    with pytest.raises(stages.StageFailed) as told:
        colab_check.check(stages.Stages(4), ["colab"], paths)
    said = str(told.value)
    assert "one on colab: one has no Stack" in said and "two on colab" in said
    assert said.endswith("2 notebooks fail as a student meets them.") and "fine" not in said
    assert "[4/4] colab: two … failed" in capsys.readouterr().out


def shows(*names):
    """A notebook whose second cell shows widgets of these names."""
    view = [new_output("display_data", data={colab_run.VIEW: {"model_id": n}}) for n in names]
    cells = [new_markdown_cell("Text.", id="a"), new_code_cell("figure", outputs=view, id="b")]
    return new_notebook(cells=cells)


def with_scripts(notebook, *names):
    state = {name: {"state": {"_esm": "export default {}"}} for name in names}
    notebook.metadata["widgets"] = {colab_run.STATE: {"state": state}}
    return notebook


def test_a_widget_that_is_missing_or_came_without_script_is_a_failure():
    saved = shows("1", "2")
    assert colab_run.missing_widgets(saved, with_scripts(shows("x", "y"), "x", "y")) == []
    fewer = colab_run.missing_widgets(saved, with_scripts(shows("x"), "x"))
    assert fewer == ["b: shows 1 widgets, not 2"]
    assert len(colab_run.missing_widgets(saved, with_scripts(shows("x", "y"), "x"))) == 1
    assert colab_run.missing_widgets(shows(), shows()) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("print('positional-encoding-lessons 0.1.0, numpy 2, torch 2, cpu')", None),
        ("print('two')\nprint('lines, cpu')", "one line"),
        ("print('versions, cuda')", "one line"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_the_runner_ends_well_only_after_a_good_first_line(tmp_path, source, complaint):
    import nbformat

    path = tmp_path / "01_small.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source)]), path)
    done = subprocess.run(
        [sys.executable, colab_check.RUNNER, path], capture_output=True, text=True
    )
    if complaint is None:
        assert done.returncode == 0 and done.stdout.splitlines()[-2] == "0", done.stderr
    else:
        assert done.returncode == 1 and complaint in done.stderr


LIST = """\
# a list
numpy==2.9.1
Jinja2==3.9
torch @ https://download.example/cu130/torch-2.20.0%2Bcu130-cp313-linux_x86_64.whl#sha256=0
matplotlib<3.8
"""


def test_newest_pins_keep_the_file_and_change_the_versions():
    pins = "# date: 2026-08\n# source: x\ntorch==2.11.0\nnumpy==2.1.3\njinja2==3.1.6\nsix==1.17.0\n"
    new = colab_pins.renewed(pins, colab_pins.known(LIST), "2027-01-04")
    assert new == (
        "# date: 2027-01-04\n# source: x\ntorch==2.20.0\nnumpy==2.9.1\njinja2==3.9\nsix==1.17.0\n"
    )
    assert colab_pins.known("torch==2.11.0+cu128\n") == {"torch": "2.11.0"}


def test_a_list_that_cannot_be_had_leaves_the_pins_alone(tmp_path, monkeypatch):
    path = tmp_path / "colab.txt"
    path.write_text("# date: 2026-08\n# source: file:///nowhere/list.txt\nnumpy==2.1.3\n")
    monkeypatch.setattr(colab_pins, "PINS", {"colab": path})
    before = path.read_text()
    with pytest.raises(stages.StageFailed, match="cannot be had"):
        colab_pins.main()
    assert path.read_text() == before
    path.write_text(before.replace("/nowhere/list.txt", str(tmp_path / "list.txt")))
    (tmp_path / "list.txt").write_text(LIST)
    colab_pins.main()
    assert "numpy==2.9.1" in path.read_text() and "2026-08" not in path.read_text()
