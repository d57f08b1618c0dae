"""The corpus: split by topic, no paragraph on both sides, the same at every call."""

import hashlib
import re
from pydoc_data import topics

import pytest

from lessons import corpus


def paragraphs(text):
    """The paragraphs of a joined text, without the line ends that a topic begins or ends with."""
    return [part.strip() for part in re.split(r"\n\n+", text.decode("utf8"))]


@pytest.fixture(scope="module")
def texts():
    return corpus.corpus()


def test_there_is_enough_of_both(texts):
    # Every figure reads up to 32 769 held-out bytes, and windows start 1024 bytes in.
    assert len(texts.held_out) > 33_792 and len(texts.train) > 5 * len(texts.held_out)
    assert type(texts.train) is type(texts.held_out) is bytes


def test_no_paragraph_stands_on_both_sides(texts):
    held_out = paragraphs(texts.held_out)
    shared = [part for part in held_out if part in set(paragraphs(texts.train))]
    # Topics quote each other much; what is left are 8 paragraphs that have another line end or
    # indent on the other side, such as "Note:".
    assert len(shared) < 12 and sum(map(len, shared)) < 0.025 * len(texts.held_out)


def test_every_paragraph_of_the_topics_is_kept(texts):
    all_of_them = {part for text in topics.topics.values() for part in paragraphs(text.encode())}
    assert {*paragraphs(texts.train), *paragraphs(texts.held_out)} == all_of_them


def test_the_hash_is_of_both_texts(texts):
    joined = texts.train + b"\0" + texts.held_out
    assert texts.sha256 == hashlib.sha256(joined).hexdigest()
    assert corpus.corpus() == texts


TOPICS = {"a": "one\n\ntwo", "b": "two\n\nthree\n\nthree", "c": "four", "d": "one\n\nfive"}


def split(monkeypatch, held):
    monkeypatch.setattr(corpus.topics, "topics", TOPICS)
    digest = corpus._digest
    names = {name.encode(): bytes([0 if name in held else 1]) for name in TOPICS}
    monkeypatch.setattr(corpus, "_digest", lambda data: names.get(data) or digest(data))
    return corpus.corpus()


def test_a_topic_goes_to_one_side_whole_but_for_what_is_held_out(monkeypatch):
    found = split(monkeypatch, held={"b"})
    assert found.held_out == b"two\n\nthree"
    assert found.train == b"one\n\nfour\n\nfive"


def test_the_hash_tells_another_split(monkeypatch):
    one = split(monkeypatch, held={"b"})
    monkeypatch.undo()
    other = split(monkeypatch, held={"c"})
    assert one.sha256 != other.sha256 and other.held_out == b"four"


def test_a_topic_stays_on_its_side_when_others_come(monkeypatch, texts):
    with_more = topics.topics | {"a new topic": "never seen before"}
    monkeypatch.setattr(corpus.topics, "topics", with_more)
    more = corpus.corpus()
    # A new topic adds paragraphs to one side; on the other side nothing moves.
    assert (more.train == texts.train) != (more.held_out == texts.held_out)
    assert set(paragraphs(texts.train)) <= set(paragraphs(more.train))
    assert set(paragraphs(texts.held_out)) <= set(paragraphs(more.held_out))
