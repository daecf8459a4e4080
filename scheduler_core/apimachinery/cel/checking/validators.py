"""kube's validators of a type-checked expression: literals of durations, timestamps, and regular expressions, lists and maps of one type,
and the clauses of string.format.

kube: vendor/github.com/google/cel-go/{cel/validator,ext/formatting}.go @ v1.34.1 (cel-go v0.26.0), apiserver/pkg/cel/environment/base.go
@ v1.34.1
"""

from scheduler_core.apimachinery.cel.errors import Issues
from scheduler_core.apimachinery.cel.library import BINDINGS
from scheduler_core.apimachinery.cel.library.formatting import ERRORS, FormatError, clause
from scheduler_core.apimachinery.cel.library.strings import BadPattern, compile_pattern
from scheduler_core.apimachinery.cel.syntax.tree import Call, ListNode, Literal, MapNode, Node
from scheduler_core.apimachinery.cel.types import Kind, Type, spell
from scheduler_core.apimachinery.cel.values import Failure

_CLAUSES = {
    "b": (Kind.INT, Kind.UINT, Kind.BOOL),
    "d": (Kind.INT, Kind.UINT),
    "e": (Kind.DOUBLE, Kind.STRING),
    "f": (Kind.DOUBLE, Kind.STRING),
    "o": (Kind.INT, Kind.UINT),
    "s": (
        Kind.LIST,
        Kind.MAP,
        Kind.INT,
        Kind.UINT,
        Kind.DOUBLE,
        Kind.BOOL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.BYTES,
        Kind.DURATION,
        Kind.TYPE,
        Kind.NULL,
    ),
    "x": (Kind.INT, Kind.UINT, Kind.STRING, Kind.BYTES),
}


def validate(tree: Node, issues: Issues) -> None:
    """Report every violation in the tree."""
    nodes = [(tree, False)]
    while nodes:
        node, in_format = nodes.pop()
        if isinstance(node, Call):
            first = node.args[0] if node.args else None
            if node.function == "format":
                _format(node, issues)
            elif isinstance(first, Literal) and node.function in ("duration", "timestamp", "matches"):
                valid = _is_pattern(first.value) if node.function == "matches" else _is_convertible(node, first)
                if not valid:
                    issues.add(f"invalid {node.function} argument", first.at)
            in_format = in_format or node.function == "format"
        elif not in_format and isinstance(node, ListNode):
            _list(node, issues)
        elif not in_format and isinstance(node, MapNode):
            _map(node, issues)
        nodes.extend((child, in_format) for child in node.children())


def _is_convertible(node: Call, literal: Literal) -> bool:
    return not isinstance(BINDINGS[node.overloads[0]](literal.value), Failure)


def _is_pattern(value: object) -> bool:
    try:
        compile_pattern(str(value))
    except BadPattern:
        return False
    return True


# --- lists and maps of one type


def _list(node: ListNode, issues: Issues) -> None:
    wanted: Type | None = None
    for index, element in enumerate(node.elements):
        found = _unwrap_optional(element.type, index in node.optional)
        if wanted is not None and found != wanted:
            _mismatch(element, wanted, found, issues)
            return
        wanted = found


def _map(node: MapNode, issues: Issues) -> None:
    keys: Type | None = None
    values: Type | None = None
    for entry in node.entries:
        value = _unwrap_optional(entry.value.type, entry.optional)
        if keys is None or values is None:
            keys, values = entry.key.type, value
            continue
        if entry.key.type != keys:
            _mismatch(entry.key, keys, entry.key.type, issues)
        if value != values:
            _mismatch(entry.value, values, value, issues)


def _unwrap_optional(a_type: Type, optional: bool) -> Type:
    return a_type.params[0] if optional and a_type.params else a_type


def _mismatch(node: Node, wanted: Type, found: Type, issues: Issues) -> None:
    issues.add(f"expected type '{spell(wanted)}' but found '{spell(found)}'", node.at)


# --- string.format


def _format(node: Call, issues: Issues) -> None:
    text, args = node.target, node.args[0]
    if not (isinstance(text, Literal) and isinstance(text.value, str) and isinstance(args, ListNode)):
        return
    at = index = 0
    try:
        while (at := text.value.find("%", at)) >= 0:
            if text.value.startswith("%%", at):
                at += 2
                continue
            letter, _, at = clause(text.value, at + 1)
            if index >= len(args.elements):
                raise FormatError(f"index {index} out of range")
            wrong = _unformattable(args.elements[index], letter.lower())
            if wrong is not None:
                problem = f"{ERRORS[letter.lower()]}, was given {wrong.type.name}"
                issues.add(f"error during formatting: {problem}", wrong.at)
                return
            index += 1
    except FormatError as error:
        issues.add(str(error), node.at)
        return
    if len(args.elements) > index:
        counts = f"(expected {index}, got {len(args.elements)})"
        issues.add(f"too many arguments supplied to string.format {counts}", node.at)


def _unformattable(node: Node, letter: str) -> Node | None:
    """Return the node, or the first node within it, that the clause can't format; None if it can format all."""
    if node.type.kind is not Kind.DYN and node.type.kind not in _CLAUSES[letter]:
        return node
    if letter != "s" or not isinstance(node, ListNode | MapNode):
        return None
    inner = (_unformattable(child, letter) for child in node.children())
    return next((wrong for wrong in inner if wrong is not None), None)
