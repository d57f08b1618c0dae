"""Runs inside the sandbox: whether text that this Python cannot read is Python of a later version.

What came since 3.11 is put into older words: f-strings with anything inside (3.12), t-strings
(3.14), type parameters and ``type`` statements (3.12, 3.13), ``except A, B`` (3.14).  The text is
only read, never run, so what it would do does not matter.
"""

import ast
import re

PREFIX = "[bfrtu]|br|rb|fr|rf|tr|rt"
STRING = re.compile(rf"(?P<prefix>(?i:{PREFIX})?)(?P<quote>'''|\"\"\"|'|\")")
NAME = re.compile(r"\\N\{[^}]*\}")
SHOWN = re.compile(r"=\s*[!:}]")  # the = of f"{x=}"
FORM = re.compile(r"=?\s*(?:![rsa]\s*)?")
WORD = re.compile(r"[^\W\d]\w*|\d\w*")
GENERIC = re.compile(r"\b(?:def|class)\s+\w+\s*(?=\[)|^[^\S\n]*type\s+\w+\s*(?=\[)", re.M)
ALIAS = re.compile(r"^([^\S\n]*)type\s+(\w+)\s*=", re.M)
EXCEPT = re.compile(r"^([^\S\n]*except\*?[^\S\n]+)([^:\n(]+,[^:\n]+?)[^\S\n]*:", re.M)
OPEN, CLOSE = "([{", ")]}"


class NoPython(Exception):
    """The text is no Python of any version that is known here."""


def older(text):
    """The text in words of Python 3.11: other values, and the same statements.

    Raises NoPython where it cannot be any Python.
    """
    found, _ = _code(text, 0, "")
    found = _without_parameters(found)
    found = ALIAS.sub(r"\1\2 =", found)
    return EXCEPT.sub(lambda e: e[0] if " as " in e[2] else f"{e[1]}({e[2]}):", found)


def _code(text, at, ends):
    """(text without strings and comments, where it stopped): at its end, or at one of ends.

    Only outside brackets.
    """
    found, depth = [], 0
    while at < len(text):
        letter = text[at]
        if string := STRING.match(text, at):
            made, at = _string(text, string)
            found.append(made)
            continue
        if word := WORD.match(text, at):
            found.append(word[0])
            at = word.end()
            continue
        if letter == "#":
            at = text.find("\n", at)
            at = len(text) if at < 0 else at
            continue
        if not depth and letter in ends and _is_end(text, at):
            return "".join(found), at
        depth += (letter in OPEN) - (letter in CLOSE)
        found.append(letter)
        at += 1
    if ends:
        raise NoPython
    return "".join(found), at


def _is_end(text, at):
    """Whether an expression in an f-string stops here; ``a != b`` and ``a == b`` go on."""
    if text[at] == "!":
        return text[at + 1 : at + 2] != "="
    if text[at] == "=":
        return text[at - 1] not in "=!<>" and SHOWN.match(text, at) is not None
    return True


def _string(text, opening):
    """(a plain string in place of the one that opens there, where it ends)."""
    prefix, quote, at = opening["prefix"].lower(), opening["quote"], opening.end()
    fields = set(prefix) & set("ft")
    while at < len(text):
        if text.startswith(quote, at):
            return ("b''" if "b" in prefix else "''"), at + len(quote)
        if text[at] == "\n" and len(quote) == 1:
            break
        if fields and text[at : at + 2] in ("{{", "}}"):
            at += 2
        elif fields and text[at] == "{":
            at = _field(text, at + 1)
        elif text[at] == "\\":
            name = NAME.match(text, at) if "r" not in prefix else None
            at = name.end() if name else at + 2
        else:
            at += 1
    raise NoPython


def _field(text, at):
    """Where a field of an f-string ends, past its brace; what is in it must be an expression."""
    inner, at = _code(text, at, "=!:}")
    if not inner.strip():
        raise NoPython
    try:
        ast.parse(f"({inner.strip()}\n)", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NoPython from None
    form = FORM.match(text, at)
    at = form.end() if form else at
    if text[at : at + 1] == ":":
        at += 1
        while at < len(text) and text[at] != "}":
            at = _field(text, at + 1) if text[at] == "{" else at + 1
    if text[at : at + 1] != "}":
        raise NoPython
    return at + 1


def _without_parameters(text):
    """The text without the brackets behind the names of functions, classes and types."""
    while generic := GENERIC.search(text):
        at, depth = generic.end(), 0
        while at < len(text):
            depth += (text[at] in OPEN) - (text[at] in CLOSE)
            at += 1
            if not depth:
                break
        if depth or not text[generic.end() + 1 : at - 1].strip():
            raise NoPython
        text = f"{text[: generic.end()]}{text[at:]}"
    return text
