"""Literals that kube looks at before an expression runs: of durations, timestamps and regular expressions.

kube: vendor/github.com/google/cel-go/cel/validator.go @ v1.34.1 (cel-go v0.26.0);
apiserver/pkg/cel/environment/base.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cel.errors import Issues
from scheduler_core.cel.library import BINDINGS
from scheduler_core.cel.library.patterns import BadPattern, compiled
from scheduler_core.cel.syntax.tree import Call, Literal, Node
from scheduler_core.cel.values import Failure


def validate_literals(tree: Node, issues: Issues) -> None:
    """Reports what is wrong with them."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children())
        if isinstance(node, Call) and node.args:
            check = _CHECKS.get(node.function)
            last = node.args[-1]
            if check is not None and isinstance(last, Literal) and isinstance(last.value, str):
                check(node.function, last, issues)


def _time(function: str, literal: Literal, issues: Issues) -> None:
    if isinstance(BINDINGS[f"string_to_{function}"](literal.value), Failure):
        issues.add(f"invalid {function} argument", literal.at)


def _pattern(function: str, literal: Literal, issues: Issues) -> None:
    try:
        compiled(str(literal.value))
    except BadPattern:
        issues.add(f"invalid {function} argument", literal.at)


_CHECKS: dict[str, Callable[[str, Literal, Issues], None]] = {
    "duration": _time,
    "timestamp": _time,
    "matches": _pattern,
}
