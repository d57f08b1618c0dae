"""What ``lessons.tasks`` is in the sandbox: a notebook's own checks are no part of its grade."""


def check(task, function):
    return None


def verdict(task, function):
    return True, ""


def example(task):
    """The worker puts the public examples here."""
