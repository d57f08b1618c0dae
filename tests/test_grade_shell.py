"""What stands for IPython, torch and the figures: nothing happens, and nothing fails."""

import importlib
import os
import sys

import pytest

from lessons import grade_shell


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return grade_shell.Shell({"two": 2})


def test_shell_lines_give_lines_and_there_are_none(shell):
    assert shell.system("ls") is not None
    out = shell.getoutput("ls")
    assert out == [] and isinstance(out, list) and (out.n, out.s, out.stdout) == ("", "", "")
    assert out.l == out.p == [] and out.grep("x").fields(0, 1).sort(0) == []
    out.show()
    assert "\n".join(out) == "" and not out.outputs


def test_magics_that_give_something_give_it(shell, monkeypatch):
    magic = shell.run_line_magic
    monkeypatch.setenv("HERE", "1")
    assert magic("pwd", "") == os.getcwd()
    assert magic("env", "HERE") == "1" and magic("env", "")["HERE"] == "1"
    magic("env", "HERE=a b"), magic("set_env", "THERE 3")
    assert magic("env", "HERE") == "a b" and os.environ["THERE"] == "3"
    assert magic("time", "two + 1") == 3
    names = shell.names | {"magic": magic}
    shell.names = names
    exec("a = magic('time', 'three = two + 1')\nb = magic('prun', 'four = 4')", names)
    assert (names["three"], names["four"], names["a"], names["b"]) == (3, 4, None, None)
    for name in ("matplotlib", "pinfo", "load_ext", "nowhere", "__init__", "names"):
        assert magic(name, "x") is None
    assert magic("timeit", "-o 1").average is not None and magic("timeit", "1") is None
    assert magic("sx", "ls") == [] and shell.magic("%pwd") == os.getcwd()


def test_a_timed_line_sees_the_names_around_it(shell):
    def inside():
        five = 5
        return shell.run_line_magic("time", "five + two"), five

    assert inside() == (7, 5)


def test_files_are_written_appended_and_run(shell, monkeypatch):
    shell.run_cell_magic("writefile", "lib/helper_of_mine.py", "x = 3\n")
    shell.run_cell_magic("file", "-a lib/helper_of_mine.py", "y = x + two_more\n")
    shell.names["two_more"] = 2
    shell.run_line_magic("run", "-i lib/helper_of_mine.py")
    assert shell.names["y"] == 5
    shell.run_cell_magic("writefile", "'with space.txt'", "z")
    assert sorted(os.listdir()) == ["lib", "with space.txt"]
    for name in ("bash", "html", "script", "timeit", "nowhere"):
        assert shell.run_cell_magic(name, "x", "1 / 0") is None


def test_whatever_else_is_asked_of_it_is_quiet(shell):
    assert shell.events.register("post_run_cell", print) is not None
    shell.kernel.shell.x["y"].z = 3
    shell.kernel.x["y"] = 3
    with shell.builtin_trap as trap:
        assert list(trap) == []
    assert "colab" not in str(shell) and not hasattr(shell, "__len__")


def test_pylab_brings_its_names(shell):
    shell.run_line_magic("pylab", "inline --no-import-all")
    assert shell.names["np"].pi > 3 and "plt" in shell.names and "cos" not in shell.names
    shell.run_line_magic("pylab", "inline")
    assert shell.names["cos"](0) == 1


def test_torch_is_imported_by_what_the_setup_cell_does_not_ask(monkeypatch):
    import torch as real

    monkeypatch.setitem(sys.modules, "torch", None)
    torch = grade_shell.Torch()
    assert torch.cuda.is_available() is False and torch.__version__.startswith("2.")
    with pytest.raises(ImportError):
        torch.ones(2)
    monkeypatch.setitem(sys.modules, "torch", real)
    assert torch.ones is real.ones and torch.cuda.device_count == real.cuda.device_count


def test_a_module_of_figures_holds_whatever_is_asked_and_has_no_protocol():
    module = grade_shell.Aside("lessons.clock_widget")
    drawn = module.Clock(3, theta=4)
    drawn.position = 3
    assert drawn.observe(print, "value") is not None
    with pytest.raises(AttributeError):
        module.__all__  # noqa: B018 (an import of * asks for it)
    assert importlib.util.find_spec("lessons") is not None
