"""What every exercise's verdict must be like: right, wrong with a reason, or not usable."""

from lessons import exercises


def assert_right(exercise, answer):
    assert exercises.verdict(exercise, answer) == (True, f"{exercise}: right.")


def assert_wrong(exercise, answer, words):
    """One sentence that holds the words; returned, so that a test can ask for more."""
    right, sentence = exercises.verdict(exercise, answer)
    assert not right
    assert sentence.startswith(f"{exercise}: ") and sentence.endswith("."), sentence
    assert words in sentence, sentence
    assert "\n" not in sentence and "could not be used" not in sentence, sentence
    return sentence


def assert_a_sentence_and_no_trace(exercise, answer):
    right, sentence = exercises.verdict(exercise, answer)
    assert not right, (answer, sentence)
    assert sentence.startswith(f"{exercise}: ") and sentence.endswith("."), sentence
    assert "\n" not in sentence and len(sentence) < 300, sentence
