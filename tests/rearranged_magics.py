"""What stands in notebooks and is no Python: IPython's own commands, in cells that Jupyter runs.

Each entry is a list of cells that are added; {cell} stands for an answer.
"""

HELPER = "def doubled(x):\n    return 2 * x\n"

ADDED = {
    "shell lines": ["!nvidia-smi\n!ls -l | head", "x = 1\n!echo {x} $HOME\ny = 2\nassert y == 2"],
    "shell line kept": ["gpu = !nvidia-smi\nassert len(gpu) >= 0 and gpu.n is not None\n{cell}"],
    "shell line of several lines": ["!pip install -q \\\n    einops \\\n    tqdm\n{cell}"],
    "shell line kept, of several lines": ["out = !ls \\\n  -l\n{cell}"],
    "shell in a loop": ["for i in range(2):\n    !echo {i}\n    n = i\nassert n == 1\n{cell}"],
    "shell in a function": ["def ls():\n    found = !ls\n    return len(found)\nls()\n{cell}"],
    "double shell": ["!!ls\n{cell}"],
    "working folder": ["here = %pwd\nassert isinstance(here, str)\n{cell}"],
    "change folder": ["%cd -q .\n%mkdir -p data\n{cell}"],
    "matplotlib": ["%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\n{cell}"],
    "autoreload": ["%load_ext autoreload\n%autoreload 2\n{cell}"],
    "environment": [
        "%env ANSWER=42\nimport os\nassert os.environ['ANSWER'] == '42'",
        "%set_env TWO 2\nhome = %env ANSWER\nassert home == '42'",
    ],
    "install": ["%pip install -q einops\n{cell}"],
    "automatic": ["matplotlib inline", "ls", "ls -l", "pwd", "cd .", "time y = 3", "{cell}\ny"],
    "help": ["np.cos?\n?np.sin\nnp.tan??\n??np\nnp.c*?\n{cell}\nhelp(len)"],
    "help alone": ["np.cos?", "?print", "%pinfo len", "%psearch l*", "{cell}"],
    "timed": ["%%time\n{cell}"],
    "timed below blank lines": ["\n\n%%time\n\n{cell}"],
    "timed with words": ["%%time  \n# words\n{cell}"],
    "captured": ["%%capture\n{cell}"],
    "captured, kept": [
        "%%capture out --no-stderr\n{cell}", "out.show()\nassert isinstance(out.stdout, str)"
    ],
    "captured and timed": ["%%capture\n%%time\n{cell}"],
    "timed and captured, with magics": ["%%time\n!ls\n%matplotlib inline\n{cell}"],
    "profiled": ["%%prun -q\n{cell}"],
    "timed line": ["%time y = 3\nassert y == 3\n%time y\nz = %time y + 1\nassert z == 4\n{cell}"],
    "timed line in a block": ["if True:\n    %time w = 3\nassert w == 3\n{cell}"],
    "timed often": ["%timeit -n 1 -r 1 sum([1])\nt = %timeit -o -n 1 -r 1 3\n{cell}"],
    "timed often, cell": ["%%timeit -n 1 -r 1 import math\nmath.cos(3)", "{cell}"],
    "bash": ["%%bash\nls -l\nfor x in 1 2; do echo $x; done", "%%sh\nls", "{cell}"],
    "script": ["%%script bash --bg\nls", "%%script false --no-raise-error\nx = (", "{cell}"],
    "html": ["%%html\n<b>x</b>", "%%javascript\nlet x = 1;", "%%latex\n$x$", "{cell}"],
    "markdown": ["%%markdown\n# It's\nso (", "%%svg\n<svg/>", "{cell}"],
    "file": [f"%%writefile helper.py\n{HELPER}", "import helper\nassert helper.doubled(2) == 4"],
    "file, run": [
        f"%%writefile helper_two.py\n{HELPER}y = doubled(4)", "%run helper_two.py",
        "assert y == 8 and doubled(1) == 2",
    ],
    "file, appended": [
        f"%%file helper_three.py\n{HELPER}", "%%writefile -a helper_three.py\nfour = doubled(2)\n",
        "from helper_three import four\nassert four == 4",
    ],
    "history": ["%history -n 1\n%who\n%whos\n%lsmagic\n%precision 3\n%xmode Plain\n{cell}"],
    "shell by its name": [
        "shell = get_ipython()\nshell.run_line_magic('matplotlib', 'inline')\n"
        "shell.system('ls')\nget_ipython().ast_node_interactivity = 'all'\n"
        "shell.events.register('pre_run_cell', print)\nassert 'colab' not in str(shell)\n{cell}"
    ],
    "exported": [
        "get_ipython().run_cell_magic('time', '', 'late = 3\\n')\nassert late == 3\n{cell}"
    ],
    "pylab": ["%pylab inline --no-import-all\nassert pyplot and np\n{cell}"],
    "magic behind a comment": ["# first\n%matplotlib inline\n# then\n{cell}"],
    "magic below": ["{cell}\n%matplotlib inline", "{cell}\n!ls", "{cell}\nlen?"],
    "quiet": ["{cell};", "3;", "x = 5;"],
    "forced calls": ["/len [1]\n,print a b\n;print a b\n{cell}"],
    "printed prompts": [">>> a = 3\n>>> a\n", "In [7]: b = 4\n   ...: b", "assert a + b == 7"],
    # What Jupyter does not run: %%time takes no await, and the setup cell's pip is a list.
    "timed, awaited": ["import asyncio", "%%time\nawait asyncio.sleep(0)\n{cell}"],
    "pip by itself": ["pip install -q einops", "{cell}"],
}  # fmt: skip
