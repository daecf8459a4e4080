"""The nodes of an expression after parsing and macro expansion. The checker adds types and overloads.

`start` and `end` bound a node's text in the expression (characters from 0). `at` is the place of its errors: the operator, the dot, or
the bracket.

kube: vendor/github.com/google/cel-go/common/ast/expr.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from scheduler_core.apimachinery.cel.types import DYN, Type

ACCUMULATOR = "@result"


class Node:
    """One node. `type` and `overloads` are the checker's; `name` of an identifier is the declared one then."""

    __slots__ = ("at", "end", "overloads", "start", "type")

    def __init__(self, start: int, end: int, at: int) -> None:
        self.start, self.end, self.at = start, end, at
        self.type: Type = DYN
        self.overloads: tuple[str, ...] = ()

    def children(self) -> tuple[Node, ...]:
        return ()


class Literal(Node):
    __slots__ = ("value",)

    def __init__(self, value: object, start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.value = value


class Ident(Node):
    """A name. `is_type` where it names a type."""

    __slots__ = ("is_type", "name")

    def __init__(self, name: str, start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.name = name
        self.is_type = False


class Select(Node):
    """A field selection `operand.field`. `test`: the expression is has(operand.field). `resolved` is its qualified name, such as a.b."""

    __slots__ = ("field", "operand", "resolved", "test")

    def __init__(self, operand: Node, field: str, test: bool, start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.operand, self.field, self.test = operand, field, test
        self.resolved: Ident | None = None

    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


class Call(Node):
    """A call of a function, an operator, or of a member of `target`."""

    __slots__ = ("args", "function", "target")

    def __init__(self, function: str, target: Node | None, args: list[Node], start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.function, self.target, self.args = function, target, args

    def children(self) -> tuple[Node, ...]:
        return (*((self.target,) if self.target is not None else ()), *self.args)


class ListNode(Node):
    """A list `[a, ?b]`. `optional` holds the indices of the elements with a question mark."""

    __slots__ = ("elements", "optional")

    def __init__(self, elements: list[Node], optional: frozenset[int], start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.elements, self.optional = elements, optional

    def children(self) -> tuple[Node, ...]:
        return tuple(self.elements)


class Entry:
    """One entry of a map, or one field of a message (then `key` is its name as a literal)."""

    __slots__ = ("at", "key", "optional", "value")

    def __init__(self, key: Node, value: Node, optional: bool, at: int) -> None:
        self.key, self.value, self.optional, self.at = key, value, optional, at


class MapNode(Node):
    __slots__ = ("entries",)

    def __init__(self, entries: list[Entry], start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.entries = entries

    def children(self) -> tuple[Node, ...]:
        return tuple(node for entry in self.entries for node in (entry.key, entry.value))


class Message(Node):
    """A message `a.B{field: value}`."""

    __slots__ = ("entries", "name")

    def __init__(self, name: str, entries: list[Entry], start: int, end: int, at: int) -> None:
        super().__init__(start, end, at)
        self.name, self.entries = name, entries

    def children(self) -> tuple[Node, ...]:
        return tuple(entry.value for entry in self.entries)


class Comprehension(Node):
    """The expansion of macros with variables: a fold over `range`. `second` is "" with one variable."""

    __slots__ = ("accumulator", "condition", "first", "init", "range", "result", "second", "step")

    def __init__(
        self,
        ranged: Node,
        first: str,
        second: str,
        accumulator: str,
        init: Node,
        condition: Node,
        step: Node,
        result: Node,
        start: int,
        end: int,
        at: int,
    ) -> None:
        super().__init__(start, end, at)
        self.range, self.first, self.second, self.accumulator = ranged, first, second, accumulator
        self.init, self.condition, self.step, self.result = init, condition, step, result

    def children(self) -> tuple[Node, ...]:
        return (self.range, self.init, self.condition, self.step, self.result)
