"""The file's page: styles, player and film in one HTML text, and a policy that lets it reach nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import get_template, render_to_string
from django.utils.safestring import mark_safe

from playground.presenters import Look, Panel
from playground.sessions.web.render import render_panels
from playground.views.offline.film import Film

PANELS = ["transport", "pipeline", "queues", "stage", "map", "narrator"]
MOST_STEPS = 1000
LOOK = Look()  # the stage of the point at hand
_LINK = re.compile(r"static 'playground/(css/(?!print)[\w-]+\.css)'")
_FIRST = ("css/tokens.css", "css/base.css")
_LAST = ("css/embed.css", "css/offline.css")


class Recording:
    """Makes a file of what a session's panels say, step by step. Panels are in the language that is spoken now."""

    def __init__(self, name: str) -> None:
        self.name = name
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
        styles, script = style_sheets(), _read("js/offline.js")
        context = {
            "name": self.name,
            "stage": self._first["stage"].context,
            "panels": render_panels(self._first),
            "first": self._film.positions[0],
            "last": self._film.positions[-1],
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
def style_sheets() -> str:
    """Those of the studio, in its order, and what is the file's own."""
    listed: Any = get_template("playground/studio/styles.html")
    source = Path(listed.origin.name).read_text()
    return "".join(map(_read, (*_FIRST, *_LINK.findall(source), *_LAST)))


@cache
def _read(name: str) -> str:
    found = finders.find(f"playground/{name}")
    assert isinstance(found, str), name
    return Path(found).read_text()
