"""Film: what some panels look like at each step, kept small.

A panel's HTML is cut before its tags, and each piece is kept once: from one step to the next nearly all of them stay. So any step is put
together by itself, whichever way the viewer came.
"""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Mapping
from typing import Any

import orjson

TAG = re.compile(r"(?=<[a-z])")


class Film:
    """Steps one after the other, without gaps."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self._pieces: dict[str, int] = {}
        self._pictures: dict[str, dict[tuple[int, ...], int]] = {}
        self._shown: dict[str, list[int]] = {}

    def add(self, position: int, panels: Mapping[str, str]) -> None:
        """A step, with the HTML of every panel."""
        self.positions.append(position)
        for name, html in panels.items():
            picture = tuple(self._pieces.setdefault(piece, len(self._pieces)) for piece in TAG.split(html))
            pictures = self._pictures.setdefault(name, {})
            self._shown.setdefault(name, []).append(pictures.setdefault(picture, len(pictures)))

    def to_json(self) -> dict[str, Any]:
        """Return the film for the player: the HTML of a panel at a step is the pieces of the picture shown there."""
        panels = {
            name: {"pictures": list(self._pictures[name]), "shown": shown}
            for name, shown in self._shown.items()
        }
        return {"positions": self.positions, "pieces": list(self._pieces), "panels": panels}

    def packed(self) -> str:
        """The same, as gzip in base64: the same bytes for the same steps."""
        return base64.b64encode(gzip.compress(orjson.dumps(self.to_json()), mtime=0)).decode()
