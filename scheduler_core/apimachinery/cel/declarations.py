"""The functions of kube's environment with their overloads, by name.

declarations.txt lists them, a line each: `receiver.name(types) result = overload kind`. The kind says how cel-go binds the function, which
shows in what is evaluated after an error and in its text: U, B one or two arguments, all are evaluated first; F any number, the first error
ends it; S one binding for all overloads, not checked by type; ! not checked by type either; nothing: built into the evaluation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from scheduler_core.apimachinery.cel import types
from scheduler_core.apimachinery.cel.types import Kind, Type

_NAMES = {
    "any": types.ANY,
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "duration": types.DURATION,
    "dyn": types.DYN,
    "int": types.INT,
    "string": types.STRING,
    "timestamp": types.TIMESTAMP,
    "uint": types.UINT,
}
_NAMES |= {
    a_type.name: a_type
    for a_type in (types.QUANTITY, types.SEMVER, types.URL, types.NAMED_FORMAT, types.IP, types.CIDR)
}
_BUILDERS: dict[str, Callable[..., Type]] = {
    "list": types.list_of,
    "map": types.map_of,
    "optional_type": types.optional_of,
    "type": types.type_of,
}


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature. `arguments` start with the receiver of a member. `generic`: the signature has type parameters."""

    id: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    binding: str
    generic: bool


@dataclass(slots=True)
class Function:
    """A function with its overloads. `singleton`: the one binding of all overloads, or "" if each overload has its own."""

    name: str
    overloads: list[Overload] = field(default_factory=list)
    singleton: str = ""
    guarded: bool = True


def read_declarations(text: str) -> dict[str, Function]:
    functions: dict[str, Function] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            # Adds one overload to the functions.
            signature, names = line.rsplit(" = ", 1)
            overload, _, kind = names.partition(" ")
            reader = _Reader(signature)
            receiver = reader.receiver()
            name = reader.until("(")
            arguments = reader.types(")")
            reader.skip(" ")
            result = reader.type()
            if receiver is not None:
                arguments.insert(0, receiver)
            function = functions.setdefault(name, Function(name))
            function.guarded = function.guarded and "!" not in kind
            if kind.startswith("S"):
                function.singleton = kind[1]
            generic = any(map(_is_generic, (*arguments, result)))
            function.overloads.append(
                Overload(overload, receiver is not None, tuple(arguments), result, kind.strip("S!"), generic)
            )
    return functions


def _is_generic(a_type: Type) -> bool:
    return a_type.kind is Kind.PARAM or any(map(_is_generic, a_type.params))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def receiver(self) -> Type | None:
        """The type before the dot of a member."""
        start = self._at
        try:
            found = self.type()
        except KeyError:
            found = None
        if found is None or not self._text.startswith(".", self._at):
            self._at = start
            return None
        self._at += 1
        return found

    def until(self, end: str) -> str:
        at = self._text.index(end, self._at)
        word, self._at = self._text[self._at : at], at + len(end)
        return word

    def skip(self, text: str) -> None:
        self._at += len(text)

    def types(self, end: str) -> list[Type]:
        found = []
        while not self._text.startswith(end, self._at):
            found.append(self.type())
            if self._text.startswith(", ", self._at):
                self._at += 2
        self._at += len(end)
        return found

    def type(self) -> Type:
        """KeyError where no type begins here."""
        for name, known in _NAMES.items():
            if self._word(name):
                return known
        for name, build in _BUILDERS.items():
            if self._text.startswith(f"{name}(", self._at):
                self._at += len(name) + 1
                return build(*self.types(")"))
        letter = self._text[self._at]
        if letter.isupper() and not self._text[self._at + 1 : self._at + 2].isalnum():
            self._at += 1
            return types.param(letter)
        raise KeyError(self._text[self._at :])

    def _word(self, name: str) -> bool:
        end = self._at + len(name)
        if not self._text.startswith(name, self._at) or self._text[end : end + 1].isalnum():
            return False
        self._at = end
        return True


FUNCTIONS: dict[str, Function] = read_declarations(Path(__file__).with_suffix(".txt").read_text())
