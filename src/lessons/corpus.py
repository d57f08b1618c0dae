"""Real English without a download: the help texts that every CPython carries (lesson 07)."""

import hashlib
from pydoc_data import topics
from typing import NamedTuple

# One topic in eight is held out, chosen by the hash of its name: no release moves a topic over.
HELD_OUT = 8


class Corpus(NamedTuple):
    """Text to train on, text the model never sees, as UTF-8 bytes; the hash is of both."""

    train: bytes
    held_out: bytes
    sha256: str


def corpus():
    """The help topics of the running Python, split by topic.

    Topics quote each other, so each paragraph is kept once, the held-out one first: no paragraph of
    the held-out text stands in the training text, line ends and indents being part of it.  The
    texts differ a little from release to release of Python; ``sha256`` tells which ones these are.
    Returns a Corpus.
    """
    names = sorted(topics.topics)
    held = [name for name in names if _digest(name.encode())[0] % HELD_OUT == 0]
    seen = set()
    held_out = _join(held, seen)
    train = _join([name for name in names if name not in held], seen)
    return Corpus(train, held_out, _digest(train + b"\0" + held_out).hex())


def _join(names, seen):
    """The topics' paragraphs that were not seen before, in order, as UTF-8."""
    kept = []
    for name in names:
        paragraphs = topics.topics[name].split("\n\n")
        kept += [p for p in dict.fromkeys(paragraphs) if p not in seen]
        seen.update(paragraphs)
    return "\n\n".join(kept).encode()


def _digest(data):
    return hashlib.sha256(data).digest()
