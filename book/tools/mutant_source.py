"""The mutants of one module, by cosmic-ray's operators: (line, old, new, source) of each.

Left out, because no test should hold them: what stands in the message of an error or in any other
string, annotations, ``is`` for ``==`` (it asks how the interpreter keeps small values), an order of
strings, and the swaps of operators that nobody would type in error, such as ``<<`` for ``+``; most
of those fail with a TypeError on the first array, and would only flatter the share.
"""

import ast
import difflib
import warnings
from typing import NamedTuple

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

# What may be typed in error for a binary operator; comparisons: the bound, the side, the negation.
SWAPS = {
    "ReplaceBinaryOperator": {
        *("Add_Sub", "Add_Mul", "Sub_Add", "Mul_Div", "Mul_Add", "Mul_Pow", "Div_Mul"),
        *("Div_FloorDiv", "FloorDiv_Div", "FloorDiv_Mul", "Mod_FloorDiv", "Mod_Mul", "Pow_Mul"),
        *("BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitOr", "LShift_RShift", "RShift_LShift"),
    },
    "ReplaceComparisonOperator": {
        *("Eq_NotEq", "Eq_LtE", "Eq_GtE", "NotEq_Eq", "NotEq_Lt", "NotEq_Gt"),
        *("Lt_LtE", "Lt_GtE", "Lt_NotEq", "LtE_Lt", "LtE_Gt", "LtE_Eq"),
        *("Gt_GtE", "Gt_LtE", "Gt_NotEq", "GtE_Gt", "GtE_Lt", "GtE_Eq"),
        *("Is_IsNot", "IsNot_Is"),
    },
    "ReplaceUnaryOperator": {"Delete_USub", "Delete_Not", "Delete_Invert"},
}

ORDER = ("Eq_LtE", "Eq_GtE", "NotEq_Lt", "NotEq_Gt")
OWN = "ExceptionReplacer"  # cosmic-ray's fails on ``module.Error``
NEVER_RAISED = b"StopAsyncIteration"


def _operators():
    for name in plugins.operator_names():
        kind, _, swap = name.partition("/")[2].partition("_")
        operator = plugins.get_operator(name)
        if swap in SWAPS.get(kind, {swap}) and kind != OWN and not operator.arguments():
            yield swap, operator()


OPERATORS = list(_operators())


class Mutant(NamedTuple):
    line: int
    old: str
    new: str
    source: str


def mutants(source):
    """Every mutant of a module's source that compiles, in the order of its lines."""
    found, before = {}, ""
    # One statement of the module after the other: cosmic-ray reads all it is given for each mutant.
    for statement in get_ast(source).children:
        text = statement.get_code()
        after = source[len(before) + len(text) :]
        for line, changed in _mutants(text):
            line += before.count("\n")
            mutant = Mutant(line, *_lines(text, changed), before + changed + after)
            found.setdefault(mutant.source, mutant)
        before += text
    return sorted(found.values(), key=lambda mutant: (mutant.line, mutant.new))


def _mutants(text):
    """(line, text) of each mutant of one statement."""
    tree, untouched, plain = get_ast(text), _untouched(text), ast.dump(ast.parse(text))
    nodes = list(ast_nodes(tree))
    for swap, operator in OPERATORS:
        places = [(node, *p) for node in nodes for p in operator.mutation_positions(node)]
        for number, (node, begin, end) in enumerate(places):
            if any(one <= begin and end <= other for one, other in untouched):
                continue
            if node.parent is not None and node.parent.type == "parameters":
                continue  # the star between parameters is no operator
            if node.parent is not None and _is_strict(node):
                continue  # it guards a zip whose parts are equally long by construction
            if swap in ORDER and any(part.type == "string" for part in node.children):
                continue  # names have no order that means anything
            changed = mutate_code(text, operator, number)
            if _differs(changed, plain):
                yield begin[0], changed
    yield from _uncaught(text)


def _uncaught(text):
    """(line, text) for each kind of error that is caught: this one no longer is."""
    for node in ast.walk(ast.parse(text)):
        kind = getattr(node, "type", None) if isinstance(node, ast.ExceptHandler) else None
        for one in kind.elts if isinstance(kind, ast.Tuple) else [kind] if kind else []:
            lines = text.encode().splitlines(True)
            line = lines[one.lineno - 1]
            changed = line[: one.col_offset] + NEVER_RAISED + line[one.end_col_offset :]
            lines[one.lineno - 1] = changed
            yield one.lineno, b"".join(lines).decode()


def _is_strict(node):
    return node.parent.type == "argument" and node.parent.children[0].get_code().strip() == "strict"


def _untouched(source):
    """The places of strings with values in them, of what is raised, and of annotations."""
    found = []
    lines = source.splitlines()

    def column(line, offset):  # ast counts bytes, parso characters
        return line, len(lines[line - 1].encode()[:offset].decode())

    for node in ast.walk(ast.parse(source)):
        parts = [node] if isinstance(node, ast.JoinedStr | ast.Raise) else []
        if isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        for part in parts:
            begin = column(part.lineno, part.col_offset)
            found.append((begin, column(part.end_lineno, part.end_col_offset)))
    return found


def _differs(changed, plain):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(changed, "mutant", "exec")
        return ast.dump(ast.parse(changed)) != plain
    except SyntaxError:
        return False


def _lines(source, changed):
    """The changed lines as they were and as they are, each in one line without its margin."""
    differ = difflib.SequenceMatcher(None, source.splitlines(), changed.splitlines(), False)
    old, new = [], []
    for kind, a, b, c, d in differ.get_opcodes():
        if kind != "equal":
            old += source.splitlines()[a:b]
            new += changed.splitlines()[c:d]
    return " ".join(line.strip() for line in old).strip(), " ".join(
        line.strip() for line in new
    ).strip()
