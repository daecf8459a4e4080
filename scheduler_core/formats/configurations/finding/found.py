"""A configuration that was found in a text, and where fields of it stand there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.loading import Loaded, Place
from scheduler_core.formats.configurations.effective import Change

Locate = Callable[[str], Place | None]
What = Literal["configuration", "policy", "flags", "values"]


@dataclass(frozen=True, slots=True)
class Found:
    """`where` names the place in the text, "" where it is a document of its own; `locate` answers as Loaded's for its fields.

    `changes` tell what flags or values came to; `gates` are feature gates as --feature-gates takes them; `config_file` the file that
    flags name, which is not in the text. With `errors` it can't be read, and the manifest is empty.
    """

    what: What
    manifest: Mapping[str, Any]
    where: str
    locate: Locate
    changes: tuple[Change, ...] = ()
    gates: str = ""
    config_file: str = ""
    errors: tuple[FieldError, ...] = field(default=())

    @property
    def usual(self) -> bool:
        """True if these are flags that amount to kube-scheduler's defaults."""
        usual = {"apiVersion", "kind", "leaderElection"}
        election = self.manifest.get("leaderElection") or {"leaderElect": True}
        alike = set(self.manifest) <= usual and election == {"leaderElect": True}
        return self.what == "flags" and alike and not self.gates

    @property
    def line(self) -> int | None:
        place = self.locate("")
        return place[0] if place is not None else None


class Lines:
    """The lines of a text, which may be very long: it is taken apart when somebody asks."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    @cached_property
    def all(self) -> list[str]:
        return self.text.split("\n")


@dataclass(frozen=True, slots=True)
class Source:
    """A document that is searched, and the lines of the text it stands in (none where it was joined from several files)."""

    loaded: Loaded
    lines: Lines = field(default_factory=Lines)

    @property
    def manifest(self) -> Any:
        return self.loaded.manifest

    def at(self, path: str) -> Locate:
        """Finds fields of what stands at a path."""
        return lambda inner: self.loaded.locate(join_path(path, inner))

    def inside(self, path: str, locate: Locate) -> Locate:
        """Finds fields of a text that is the value at a path, which `locate` finds within that text."""
        return lambda inner: self._outer(self.loaded.locate(path), locate(inner))

    def _outer(self, start: Place | None, inner: Place | None) -> Place | None:
        """Return the place in the outer text: for a block scalar the line itself, for any other text its start."""
        if start is None or inner is None or not self.lines.text:
            return start
        line, column = start
        lines = self.lines.all
        if not lines[line - 1][column - 1 :].startswith("|"):
            return start
        below = (each for each in lines[line:] if each.strip())
        first = next(below, "")
        return line + inner[0], inner[1] + len(first) - len(first.lstrip(" "))


def join_path(path: str, inner: str) -> str:
    """The path of a field below another one."""
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def name_of(manifest: Mapping[str, Any]) -> str:
    """An object as people call it: `ConfigMap kube-system/scheduler-config`."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    names = "/".join(str(meta[part]) for part in ("namespace", "name") if meta.get(part))
    return " ".join(part for part in (str(manifest.get("kind") or ""), names) if part)


def as_template(error: InvalidObject, text: str) -> tuple[FieldError, ...]:
    """Return the errors of an unreadable text; for a template, they also advise rendering it."""
    if "{{" not in text and "{%" not in text:
        return error.errors
    advice = "it looks like a template: render it, as helm template does, and paste what comes of it"
    return tuple(replace(each, expected=f"{each.expected}; {advice}") for each in error.errors)
