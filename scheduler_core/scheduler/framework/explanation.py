"""Explanation: a plugin's view of one node, for display: paragraphs and tables made of parts.

The display depends only on the kinds of blocks and parts, not on the plugin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


def gettext_noop(message: str) -> str:
    """Mark a message for makemessages."""
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
    """Text from a manifest: a key, a selector, or a name."""

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
    """A value from a manifest, with its source."""

    text: str | Key
    source: Source


@dataclass(frozen=True, slots=True)
class PodName:
    """A pod (namespace/name) that the display links to."""

    key: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a whole, 0 to 100."""

    percent: int


@dataclass(frozen=True, slots=True)
class Aside:
    """Secondary text on the same line."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """Secondary text on its own line."""

    parts: tuple[Part, ...]


Part: TypeAlias = (
    str | Words | Key | Code | Amount | WrittenValue | PodName | Bar | Aside | Below
)  # a str is shown unchanged
Parts: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`tone`: "bad" for the reason that keeps the pod off the node, "plain" for an explanation of kube's text, else ""."""

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
    """`columns` are messages marked by gettext_noop; `more` is the number of omitted rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    more: int = 0


Explanation: TypeAlias = tuple[Paragraph | Table, ...]  # () without an explanation


def phrase(words: str) -> Parts:
    """Return a separate text, such as a name or a note of a formula; makemessages finds it."""
    return (Words(words),)


def remark(words: str, *values: Part) -> Paragraph:
    """Return a text, which makemessages finds, followed by the values that it is about."""
    return Paragraph((Words(words), *(part for value in values for part in (" ", value))))
