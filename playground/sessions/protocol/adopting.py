"""Configurations as people have them: what was found in a text, and what it takes to apply it."""

from typing import Any, Literal

from msgspec import Struct

from playground.sessions.protocol.base import Query
from playground.sessions.protocol.errors import FieldProblem


class ListedChange(Struct, frozen=True):
    """A difference in v1: its kind (scheduler_core's Change), the original line, the change, and its effect on decisions."""

    kind: str
    line: int | None
    text: str
    effect: str = ""


class MissingPlugin(Struct, frozen=True):
    """A plugin that is not here: its name, the extension points that name it and the first line, and what is known of it."""

    name: str
    points: list[str]
    line: int | None
    about: str = ""


class DiffLine(Struct, frozen=True):
    """A line of a diff; "…" stands for lines that are the same in both."""

    sign: Literal["+", "-", " ", "…"]
    text: str


class Offer(Struct, frozen=True):
    """A configuration that was found: what it is (`what`, and the older version it is of), where, and its v1 text.

    `without` is the v1 text without the plugins that are not here; `diff` is against what was found, with the plugins left out, and of the
    text itself where `kept`. `errors` keep it from being applied; `gates` and `config_file` are what flags name besides.
    """

    what: str
    where: str
    line: int | None
    version: str = ""
    release: str = ""
    changes: list[ListedChange] = []
    missing: list[MissingPlugin] = []
    text: str = ""
    without: str = ""
    diff: list[DiffLine] = []
    errors: list[FieldProblem] = []
    gates: str = ""
    config_file: str = ""
    kept: bool = False

    @property
    def lossy(self) -> bool:
        """True if a change affects decisions."""
        return any(change.kind == "lost" for change in self.changes)


class Adopted(Struct, frozen=True):
    """The result of reading a text. `manifest` is its only configuration if that can be applied as is; otherwise there are offers.

    `errors` are kube-scheduler's errors about the text as is, or YAML errors.
    """

    manifest: Any = None
    offers: list[Offer] = []
    errors: list[FieldProblem] = []


class AdoptConfiguration(Query[Adopted], frozen=True, kw_only=True):
    """Look for configurations in a text, and say what it takes to apply them to the world of a position."""

    text: str
