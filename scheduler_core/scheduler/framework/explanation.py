"""Explanation: what a plugin says of one node, in its own terms, for people: paragraphs and tables made of parts.

Whoever shows it goes by the kind of a block or a part and knows no plugin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


def gettext_noop(message: str) -> str:
    """Marks a message for makemessages."""
    return message


@dataclass(frozen=True, slots=True)
class Words:
    """Words for people, which are translated: makemessages finds those of a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """An object's namespace/name."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Something as a manifest has it: a key, a selector, a name."""

    part: str | Words | Key


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a value: an object by namespace/name (a node by its name), and the field's YAML path ("" all of it)."""

    kind: str
    key: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of a resource; cpu in millis, memory in bytes."""

    resource: str
    value: int
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """A value as a manifest has it, with where it is written."""

    text: str | Key
    source: Source


@dataclass(frozen=True, slots=True)
class PodName:
    """A pod (namespace/name) that may be looked at from here."""

    key: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a whole, 0 to 100."""

    percent: int


@dataclass(frozen=True, slots=True)
class Aside:
    """Small print on the same line."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """Small print on a line of its own."""

    parts: tuple[Part, ...]


Part: TypeAlias = (
    str | Words | Key | Code | Amount | WrittenValue | PodName | Bar | Aside | Below
)  # a str is shown as it is
Parts: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`tone`: "bad" says what keeps the pod off the node, "plain" explains kube's words, "" does neither."""

    parts: Parts
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; the first cell names it. `bad`: it keeps the pod off the node. `here`: it is about the node itself."""

    cells: tuple[Parts, ...]
    bad: bool = False
    here: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are words marked by gettext_noop; `more` counts the rows that are left out."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    more: int = 0


Explanation: TypeAlias = tuple[Paragraph | Table, ...]  # () where there is nothing to say


def phrase(words: str) -> Parts:
    """Return words that stand alone, such as a name or a note of a formula; makemessages finds them."""
    return (Words(words),)


def remark(words: str, *values: Part) -> Paragraph:
    """Return words, which makemessages finds, with the values that they are about behind them."""
    return Paragraph((Words(words), *(part for value in values for part in (" ", value))))
