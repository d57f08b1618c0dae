"""Runs inside the sandbox: what a notebook finds there in place of IPython, torch and the figures.

Magics and shell lines do nothing and cost nothing, but for the few that give the notebook names.
"""

import importlib
import importlib.metadata
import os
import sys
import types


class Quiet:
    """Whatever is asked of it is this again, and nothing happens."""

    def __init__(self, *arguments, **options):
        pass

    def __call__(self, *arguments, **options):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):  # Python's own protocols: it has none
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class Output(list):
    """What a shell line or %%capture leaves: a list of no lines, with what IPython's has."""

    n = s = nlstr = spstr = stdout = stderr = ""
    outputs = ()

    def sort(self, *arguments, **options):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self if name in ("l", "list", "p", "paths") else lambda *given, **options: self


class Shell(Quiet):
    """Stands for IPython.

    names: those of the notebook.
    """

    def __init__(self, names):
        self.names = self.user_ns = names

    def getoutput(self, *arguments, **options):
        return Output()

    def run_line_magic(self, name, line, _stack_depth=1):
        """What the magic gives: the value of a timed expression, a folder, a variable, or None."""
        run = getattr(self, f"_{name}", None) if name in self.LINES else None
        return run(line.strip(), sys._getframe(1).f_locals) if run else None

    def magic(self, line):
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest)

    def run_cell_magic(self, name, line, cell):
        """Write the file of %%writefile; what is no Python does nothing."""
        if name not in ("writefile", "file"):
            return
        words = [word for word in line.split() if word not in ("-a", "--append")]
        path = os.path.expanduser(" ".join(words).strip("'\""))
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w" if len(words) == len(line.split()) else "a", encoding="utf8") as file:
            file.write(cell)
        importlib.invalidate_caches()

    def _time(self, line, local):
        try:
            code = compile(line, "<magic>", "eval")
        except SyntaxError:
            exec(compile(line, "<magic>", "exec"), self.names, local)
            return None
        return eval(code, self.names, local)

    def _prun(self, line, local):
        self._time(line, local)

    def _timeit(self, line, local):
        return Quiet() if "-o" in line.split() else None

    def _pwd(self, line, local):
        return os.getcwd()

    def _env(self, line, local):
        name, _, value = line.partition("=" if "=" in line else " ")
        name = name.strip()
        if value:
            os.environ[name] = value.strip()
        return os.environ.get(name) if name else dict(os.environ)

    def _set_env(self, line, local):
        self._env(line, local)

    def _sx(self, line, local):
        return Output()

    def _run(self, line, local):
        path = next((word for word in line.split() if word.endswith(".py")), None)
        if path is not None:
            with open(path, encoding="utf8") as file:
                exec(compile(file.read(), path, "exec"), self.names)

    def _pylab(self, line, local):
        code = "import numpy, matplotlib\nfrom matplotlib import pylab, mlab, pyplot\n"
        code += "np, plt = numpy, pyplot\n"
        if "--no-import-all" not in line:
            code += "from pylab import *\nfrom numpy import *\n"
        exec(code, self.names)

    LINES = ("env", "prun", "pwd", "pylab", "run", "set_env", "sx", "system", "time", "timeit")
    _system = _sx


class Torch(types.ModuleType):
    """Stands for torch as long as only the setup cell's questions are asked: its import is long.

    There is no GPU in the sandbox.  Asked anything else, it hands on to torch itself.
    """

    def __init__(self):
        super().__init__("torch")
        self.cuda = Cuda("torch.cuda")

    def __getattr__(self, name):
        if name == "__version__":
            return importlib.metadata.version("torch")
        return getattr(importlib.import_module("torch"), name)


class Cuda(types.ModuleType):
    """``torch.cuda`` of that stand-in."""

    def is_available(self):
        return False

    def __getattr__(self, name):
        return getattr(importlib.import_module("torch.cuda"), name)


class Aside(types.ModuleType):
    """Stands for a module of figures or exercises: all it holds is quiet."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Quiet()


def given(names):
    """What IPython puts into a notebook beside Python's own."""
    shell, quiet = Shell(names), Quiet()
    return {
        "get_ipython": lambda: shell,
        **dict.fromkeys(("display", "help", "exit", "quit"), lambda *given, **options: None),
        "In": quiet,
        "Out": quiet,
    }
