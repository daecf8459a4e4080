"""The table of figures: words, controls, and worlds. features/figures computes and draws them."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from playground.common.catalogs import read_yaml
from playground.lessons.format import Plan
from playground.lessons.reading import beginning
from playground.lessons.varying.filling import fill_data
from scheduler_core.world.commands import Command

Text = str | Mapping[str, str]
Value = int | str


class Control(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole number from `least` to `most`, or one of `among`, which has a text for each value.

    `means`: other names with values in the world, by the value of `among`.
    """

    name: str
    label: Text
    value: Value
    least: int = 0
    most: int = 0
    step: int = 1
    among: Mapping[str, Text] = {}
    means: Mapping[str, Mapping[str, Any]] = {}

    def read(self, text: str) -> Value:
        """Return the value of a text. Raise ValueError with the expected values."""
        if text in self.among:
            return text
        if self.among:
            raise ValueError(", ".join(self.among))
        if text.isascii() and text.isdecimal() and len(text) < 6 and self.least <= int(text) <= self.most:
            return int(text)
        raise ValueError(f"{self.least} – {self.most}")


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure. `words`: the texts in its picture by language. `world`: as in lesson.yaml, with `$(name)` for a control's value.

    `shape`: the positions of its parts in percent.
    """

    title: Mapping[str, str]
    about: Mapping[str, str]
    controls: tuple[Control, ...]
    words: Mapping[str, Mapping[str, str]]
    world: Mapping[str, Any] = {}
    shape: Mapping[str, Any] = {}

    def begin(self, values: Mapping[str, Value]) -> tuple[Command, ...]:
        """Return the commands that build its world."""
        values = dict(values)
        for control in self.controls:
            values |= control.means.get(str(values[control.name]), {})
        world = {"track": "internals", "minutes": 1, "cards": (), **fill_data(dict(self.world), values, "world")}
        return beginning(msgspec.convert(world, Plan))


@lru_cache(maxsize=1)
def read_figures() -> dict[str, Figure]:
    """Return the figures by name, in their listed order."""
    return msgspec.convert(read_yaml(Path(__file__).parent / "figures.yaml"), dict[str, Figure])
