"""The file's page: styles, player and film in one HTML text, and a policy that lets it reach nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from playground.presenters import Look, Panel
from playground.sessions.web.render import render_panels
from playground.templatetags.sheets import sheet
from playground.views.offline.film import Film

PANELS = ["transport", "pipeline", "queues", "stage", "map", "narrator"]
MOST_STEPS = 1000
LOOK = Look()  # the stage of the point at hand


class Recording:
    """Makes a file of what a session's panels say, step by step, up to `head`. Panels are in the language that is spoken now."""

    def __init__(self, name: str, head: int) -> None:
        self.name = name
        self.head = head
        self._film = Film()
        self._panels: dict[str, Panel] = {}
        self._first: dict[str, Panel] = {}
        self._html: dict[str, str] = {}

    def add(self, position: int, panels: Mapping[str, Panel]) -> None:
        """The next step."""
        changed = {name: panel for name, panel in panels.items() if panel != self._panels.get(name)}
        self._html |= render_panels(changed)
        self._panels |= changed
        self._first = self._first or dict(panels)
        self._film.add(position, self._html)

    def page(self) -> str:
        """The file."""
        assert self._film.positions, "a recording has a step at least"
        styles, script = sheet("offline").text.decode(), _read("js/offline.js")
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
        return render_to_string("playground/offline.html", context)


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
