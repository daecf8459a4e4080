"""The page of an offline file: styles, player, and film in one HTML text, with a policy that blocks all network access."""

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.translation import override

from playground.features.figures.figures import draw
from playground.lessons import fill_placeholders, find_playthrough, lesson_of
from playground.lessons.judging import as_text
from playground.presenters import AnyPanel, Look, aim_look, present
from playground.presenters.story.goals import describe_meanings, list_hints
from playground.sessions.web.publisher import render_panels
from playground.templatetags.joined import join

# Film: the pictures of some panels at each step, in a compact form.
#
# A panel's HTML is split before its tags, and equal pieces are stored once, because few pieces change from step to step. The player can
# therefore assemble any step without the others.

TAG = re.compile(r"(?=<[a-z])")


class Film:
    """Steps one after the other, without gaps."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self._pieces: dict[str, int] = {}
        self._pictures: dict[str, dict[tuple[int, ...], int]] = {}
        self._shown: dict[str, list[int]] = {}

    def add(self, position: int, panels: Mapping[str, str]) -> None:
        """Add a step, with the HTML of every panel."""
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
        """Return the film as gzip in base64. Equal steps give equal bytes."""
        return base64.b64encode(gzip.compress(orjson.dumps(self.to_json()), mtime=0)).decode()


PANELS = ["transport", "pipeline", "queues", "stage", "map", "narrator"]
MOST_STEPS = 1000
LOOK = Look()  # the stage of the present point


class Recording:
    """A recorder of a session's panels, step by step up to `head`. Panels are in the active language."""

    def __init__(self, name: str, head: int) -> None:
        self.name, self.head = name, head
        self._film = Film()
        self._panels: dict[str, AnyPanel] = {}
        self._first: dict[str, AnyPanel] = {}
        self._html: dict[str, str] = {}

    def add(self, position: int, panels: Mapping[str, AnyPanel]) -> None:
        changed = {name: panel for name, panel in panels.items() if panel != self._panels.get(name)}
        self._html |= render_panels(changed)
        self._panels |= changed
        self._first = self._first or dict(panels)
        self._film.add(position, self._html)

    def page(self) -> str:
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
    """Return a Content-Security-Policy that allows only these styles and this script, and no address."""
    return f"default-src 'none'; style-src '{_hash(styles)}'; script-src '{_hash(script)}'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read(name: str) -> str:
    found = finders.find(f"playground/{name}")
    assert isinstance(found, str), name
    return Path(found).read_text()


@lru_cache(maxsize=16)
def make_lesson_file(slug: str, language: str) -> str:
    """Return a built-in lesson as one HTML file: each card with its evidence, its question with the answer, and its stage."""
    lesson, played = lesson_of(slug), find_playthrough(slug, 0)
    assert lesson is not None and played is not None and played.seen is not None
    words, cards = lesson.words[language], []
    for card in lesson.plan.cards:
        sim, said, known = played.seen.at[card.id], words.cards[card.id], played.values_at(card.id)
        story = present("story", sim, Look(), slug).context["latest"]
        look = aim_look(sim, Look(stage=card.stage, pod=story["pod"], plugin=card.plugin))
        panels = {name: present(name, sim, look) for name in ("stage", "map")}
        key = played.keys.get(card.id, ())
        context = {"card": story, "words": said, "stage": panels["stage"].context, "panels": render_panels(panels)}
        context |= {"right": fill_placeholders(said.right, known), "wrong": fill_placeholders(said.wrong, known)}
        context |= {"key": [as_text(each) for each in (key if isinstance(key, tuple) else (key,))]}
        mistakes = {given: [text] for given, text in describe_meanings(played.meant.get(card.id, ())).items()}
        if card.question is not None and card.question.kind in ("node", "pod", "choice"):
            options = [name for name in played.options[card.id] if name not in context["key"]]
            mistakes = {name: list_hints(card, played, [name]) for name in options}
        context |= {"mistakes": mistakes}
        context |= {"picture": draw(card.figure, language) if card.figure else None}
        cards.append(context | {"tolerance": card.question.tolerance if card.question else 0})
    styles, script = join("styles", "framed").text.decode(), _read("js/lesson_file.js")
    page = {
        "lesson": lesson,
        "title": words.title,
        "cards": cards,
        "sum_up": fill_placeholders(words.sum_up, played.facts),
        "task": fill_placeholders(words.task, played.facts),
        "styles": mark_safe(f"<style>{styles}</style>"),  # noqa: S308 - files of ours
        "script": mark_safe(f'<script type="module">{script}</script>'),  # noqa: S308
        "policy": policy(styles, script),
    }
    with override(language):
        return render_to_string("exports/lesson.html", page)
