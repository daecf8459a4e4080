"""The file's page: styles, player and film in one HTML text, and a policy that lets it reach nothing else."""

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from playground.presenters import AnyPanel, Look
from playground.sessions.web.render import render_panels
from playground.templatetags.joined import join

# Film: what some panels look like at each step, kept small.
#
# A panel's HTML is cut before its tags, and each piece is kept once: from one step to the next nearly all of them stay. So any step is put
# together by itself, whichever way the viewer came.

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
        panels = {name: {"pictures": list(self._pictures[name]), "shown": shown} for name, shown in self._shown.items()}
        return {"positions": self.positions, "pieces": list(self._pieces), "panels": panels}

    def packed(self) -> str:
        """The same, as gzip in base64: the same bytes for the same steps."""
        return base64.b64encode(gzip.compress(orjson.dumps(self.to_json()), mtime=0)).decode()


PANELS = ["transport", "pipeline", "queues", "stage", "map", "narrator"]
MOST_STEPS = 1000
LOOK = Look()  # the stage of the point at hand


class Recording:
    """Makes a file of what a session's panels say, step by step, up to `head`. Panels are in the language that is spoken now."""

    def __init__(self, name: str, head: int) -> None:
        self.name = name
        self.head = head
        self._film = Film()
        self._panels: dict[str, AnyPanel] = {}
        self._first: dict[str, AnyPanel] = {}
        self._html: dict[str, str] = {}

    def add(self, position: int, panels: Mapping[str, AnyPanel]) -> None:
        """The next step."""
        changed = {name: panel for name, panel in panels.items() if panel != self._panels.get(name)}
        self._html |= render_panels(changed)
        self._panels |= changed
        self._first = self._first or dict(panels)
        self._film.add(position, self._html)

    def page(self) -> str:
        """The file."""
        assert self._film.positions, "a recording has a step at least"
        styles, script = join("styles", "offline").text.decode(), _read("js/offline.js")
        context = {
            "name": self.name,
            "stage": self._first["stage"].context,
            "panels": render_panels(self._first),
            "first": self._film.positions[0],
            "last": self._film.positions[-1],
            "head": self.head,
            "film": mark_safe(f'<script type="application/gzip" id="film">{self._film.packed()}</script>'),  # noqa: S308
            "styles": mark_safe(f"<style>{styles}</style>"),  # noqa: S308 - files of ours
            "script": mark_safe(f'<script type="module">{script}</script>'),  # noqa: S308
            "policy": policy(styles, script),
        }
        return render_to_string("exports/offline.html", context)


def policy(styles: str, script: str) -> str:
    """A Content-Security-Policy: these styles and this script, and no address at all."""
    return f"default-src 'none'; style-src '{_hash(styles)}'; script-src '{_hash(script)}'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read(name: str) -> str:
    found = finders.find(f"playground/{name}")
    assert isinstance(found, str), name
    return Path(found).read_text()
