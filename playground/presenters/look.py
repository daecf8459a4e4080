"""Look: what one viewer looks at. It comes from a URL's query or from a socket's message, so nothing in it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

TABS = ("why", "scores", "preemption", "pod", "node", "yaml", "journey", "fix", "internals")
RENAMED = {"events": "journey"}  # tabs that links from before may name
MODES = ("filter", "score", "utilisation")
AXES = ("steps", "time")
ROWS = (6, 12, 24)  # lanes of the timeline
MAX_TEXT = 253  # a Kubernetes name's longest
MAX_NUMBER = 2**53


@dataclass(frozen=True, slots=True)
class Look:
    """`at` None follows the head; `pod` "" means the pod of the present cycle; `group` is a label key.

    `dry` is a cursor over the records of one preemption (0: all of them at once). The timeline shows `span` steps or microseconds of
    virtual time (by `axis`; 0: as much as fits well) from `start` on (None: it follows), `rows` lanes, of pods whose key has `lane` in it.
    """

    at: int | None = None
    tab: str = "why"
    pod: str = ""
    node: str = ""
    group: str = ""
    mode: str = "filter"
    page: int = 0
    q: str = ""
    dry: int = 0
    axis: str = "steps"
    span: int = 0
    start: int | None = None
    rows: int = 6
    lane: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Look:
        """A look from anything that maps names to values; what makes no sense becomes the default."""
        return cls(
            at=_position(query.get("at")),
            tab=_one_of(_renamed(query.get("tab")), TABS),
            pod=_text(query.get("pod"), 2 * MAX_TEXT + 1),
            node=_text(query.get("node")),
            group=_text(query.get("group"), 2 * MAX_TEXT),
            mode=_one_of(query.get("mode"), MODES),
            page=min(_position(query.get("page")) or 0, 100_000),
            q=_text(query.get("q")),
            dry=min(_position(query.get("dry")) or 0, 1_000_000),
            axis=_one_of(query.get("axis"), AXES),
            span=_position(query.get("span")) or 0,
            start=_position(query.get("start")),
            rows=_rows(query.get("rows")),
            lane=_text(query.get("lane"), 2 * MAX_TEXT + 1).strip(),
        )

    def to_query(self) -> dict[str, str]:
        """The parts that differ from the default, as a URL's query holds them."""
        pairs = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return {name: str(value) for name, value, default in pairs if value != default and value is not None}

    def but(self, **changes: Any) -> Look:
        """The same look with some parts changed."""
        return replace(self, **changes)

    def href(self, **changes: Any) -> str:
        """A link to this page that shows the look with some parts changed."""
        return "?" + urlencode(self.but(**changes).to_query())


def _position(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    return number if 0 <= number <= MAX_NUMBER else None


def _rows(value: object) -> int:
    number = _position(value)
    return number if number in ROWS else ROWS[0]


def _renamed(value: object) -> object:
    return RENAMED.get(value, value) if isinstance(value, str) else value


def _one_of(value: object, allowed: tuple[str, ...]) -> str:
    return value if isinstance(value, str) and value in allowed else allowed[0]


def _text(value: object, limit: int = MAX_TEXT) -> str:
    return value[:limit] if isinstance(value, str) else ""
