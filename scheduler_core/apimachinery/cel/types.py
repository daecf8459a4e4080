"""CEL types, their use in the checker and in overloads, and their spelling in messages.

kube: vendor/github.com/google/cel-go/common/types/types.go, checker/format.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kind of a type."""

    ANY = "any"
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "duration"
    DYN = "dyn"
    ERROR = "error"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null"
    OPAQUE = "opaque"
    STRING = "string"
    STRUCT = "struct"
    TIMESTAMP = "timestamp"
    TYPE = "type"
    PARAM = "param"
    UINT = "uint"


@dataclass(frozen=True, slots=True)
class Type:
    """A type. `name` is its runtime name, such as google.protobuf.Duration."""

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """Return the type as cel-go prints it outside of the checker's messages."""
        if self.kind is Kind.PARAM:
            return f"<{self.name}>"
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"


ANY = Type(Kind.ANY, "google.protobuf.Any")
BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "*error*")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE = Type(Kind.TYPE, "type")
UINT = Type(Kind.UINT, "uint")

QUANTITY = Type(Kind.STRUCT, "kubernetes.Quantity")
SEMVER = Type(Kind.STRUCT, "kubernetes.Semver")
URL = Type(Kind.STRUCT, "kubernetes.URL")
NAMED_FORMAT = Type(Kind.STRUCT, "kubernetes.NamedFormat")
IP = Type(Kind.OPAQUE, "net.IP")
CIDR = Type(Kind.OPAQUE, "net.CIDR")


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of(inner: Type) -> Type:
    return Type(Kind.TYPE, "type", (inner,))


def param(name: str) -> Type:
    return Type(Kind.PARAM, name)


def struct(name: str) -> Type:
    return Type(Kind.STRUCT, name)


LIST = list_of(DYN)
MAP = map_of(DYN, DYN)
OPTIONAL = Type(Kind.OPAQUE, "optional_type")

_WORDS = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}


def spell(a_type: Type) -> str:
    """Return a type as the checker's messages spell it."""
    word = _WORDS.get(a_type.kind)
    if word is not None:
        return word
    if not a_type.params:
        return a_type.name
    return f"{a_type.name}({', '.join(map(spell, a_type.params))})"


def spell_call(arguments: list[Type], member: bool) -> str:
    """Spell the types of a call's arguments, starting with the receiver if the call is a member call."""
    receiver, rest = "", arguments
    if member:
        receiver, rest = f"{spell(arguments[0])}.", arguments[1:]
    return f"{receiver}({', '.join(map(spell, rest))})"
