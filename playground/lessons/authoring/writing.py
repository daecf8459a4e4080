"""Editing of a lesson's files by a page. Keeps all other content except YAML comments."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from playground.lessons.authoring.files import LessonFiles
from playground.lessons.reading import LOADER
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME

BEGIN = "begin"
WIDTH = 140
CARD_WORDS = ("text", "ask", "right", "wrong", "do")
STOP = ("when", "stage", "pod", "plugin")  # of a card: where it waits, and what the stage shows there
LESSON_WORDS = ("title", "summary", "task", "sum_up")
Data = dict[str, Any]


class _Writer(yaml.SafeDumper):
    """Texts of several lines as blocks, lists under their key."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Writer.add_representer(str, _text)


class Writing:
    """A lesson's files that can be read, as data, in one language's words."""

    def __init__(self, files: LessonFiles, language: str) -> None:
        self.language = language
        self.plan: Data = yaml.load(files.plan, Loader=LOADER)  # noqa: S506 - plain data alone
        self.words: dict[str, Data] = {
            name: yaml.load(text, Loader=LOADER)  # noqa: S506 - plain data alone
            for name, text in files.words.items()
            if text.strip()
        }

    @property
    def said(self) -> Data:
        """The words of the language, created on first access."""
        said = self.words.setdefault(self.language, {"title": "", "summary": "", "cards": {}})
        said.setdefault("cards", {})
        return said

    @property
    def cards(self) -> list[Data]:
        """The cards of the plan, in order."""
        cards: list[Data] = self.plan["cards"]
        return cards

    def card(self, card_id: str) -> Data | None:
        return next((card for card in self.cards if card["id"] == card_id), None)

    def say(self, fields: Mapping[str, str]) -> None:
        """Title, summary, task and summing up."""
        for name in LESSON_WORDS:
            if name in fields:
                self.said[name] = fields[name]

    def say_on_card(self, card_id: str, fields: Mapping[str, str]) -> None:
        """The words of a card."""
        words = self.said["cards"].setdefault(card_id, {"text": ""})
        for name in CARD_WORDS:
            if fields.get(name, ""):
                words[name] = fields[name]
            elif name in fields and name != "text":
                words.pop(name, None)
            elif name in fields:
                words[name] = ""

    def set_on_card(self, card_id: str, name: str, value: Any) -> None:
        """Set `spotlight` or `question` of a card. Empty values are removed."""
        card = self.card(card_id)
        if card is None:
            return
        if value:
            card[name] = value
        else:
            card.pop(name, None)

    def add_card(self, when: Mapping[str, Any], place: int, text: str = "") -> str:
        """A new card as the `place`th (from 0); its id."""
        card_id = new_id([str(card["id"]) for card in self.cards], when)
        self.cards.insert(max(place, 1), {"id": card_id, "when": dict(when), "spotlight": "map"})
        self.said["cards"][card_id] = {"text": text}
        return card_id

    def move_card(self, card_id: str, place: int) -> None:
        """Put a card's words, question, and offer at the `place`th stop (from 1); the stops keep their order."""
        stops = [{name: card.pop(name) for name in STOP if name in card} for card in self.cards]
        moved = self.card(card_id)
        assert moved is not None
        self.cards.remove(moved)
        self.cards.insert(max(place - 1, 0), moved)
        for card, stop in zip(self.cards, stops, strict=True):
            card |= stop

    def remove_card(self, card_id: str) -> None:
        """Remove a card in all languages, unless it is the lesson's only card."""
        if len(self.cards) < 2:
            return
        self.plan["cards"] = [card for card in self.cards if card["id"] != card_id]
        self.cards[0].pop("when", None)
        for words in self.words.values():
            words.get("cards", {}).pop(card_id, None)

    def files(self) -> LessonFiles:
        return LessonFiles(dump_yaml(self.plan), {name: dump_yaml(data) for name, data in self.words.items()})


def dump_yaml(data: Any) -> str:
    return yaml.dump(data, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=WIDTH)


def new_id(taken: Iterable[str], when: Mapping[str, Any]) -> str:
    """Return an id that describes the card's condition."""
    said = "-".join(str(value) for value in when.values() if isinstance(value, str | int)) or "card"
    slug = re.sub(r"[^a-z0-9]+", "-", said.lower()).strip("-")[:40] or "card"
    ids, number, found = set(taken), 1, slug
    while found in ids:
        number += 1
        found = f"{slug}-{number}"
    return found


def build_plan(commands: Sequence[tuple[int, Mapping[str, Any]]], stop: int | None) -> Data:
    """Build the plan of a lesson that repeats a session's log, from its commands and their positions.

    Commands before the first step build the world; each later command is offered by a card. Another card is at the position `stop`.
    """
    first = [dict(command) for number, (at, command) in enumerate(commands) if at == number]
    plan: Data = {"track": "first-steps", "minutes": 5, **_world(first)}
    shift = sum(key in plan for key in ("settings", "configuration")) + 1 + len(plan.get("commands", ())) - len(first)
    cards: list[Data] = [{"id": BEGIN, "spotlight": "map"}]
    for number, (at, command) in enumerate(commands[len(first) :], 1):
        when = {"position": at + shift}
        cards.append({"id": f"change-{number}", "when": when, "spotlight": "map", "do": {"command": dict(command)}})
    if stop is not None and stop > len(first):
        cards.append({"id": "here", "when": {"position": stop + shift}, "spotlight": "map"})
        cards.sort(key=lambda card: card.get("when", {}).get("position", 0))
    return {**plan, "cards": cards}


def _world(commands: Sequence[Data]) -> Data:
    """Return settings, configuration, and objects as fields of the plan, as far as they come in this order, and then the other commands."""
    world: Data = {}
    rest = list(commands)
    for kind, key in (("SetSettings", "settings"), ("SetConfiguration", "configuration")):
        if rest and rest[0]["kind"] == kind and rest[0].get(key) and not _elsewhere(rest[0]):
            world[key] = rest.pop(0)[key]
    if rest and rest[0]["kind"] == "ApplyObjects" and not {"continues", "force"} & rest[0].keys():
        world["objects"] = rest.pop(0)["objects"]
    return {**world, **({"commands": rest} if rest else {})}


def _elsewhere(command: Data) -> bool:
    return bool(command.get("scheduler", DEFAULT_SCHEDULER_NAME) != DEFAULT_SCHEDULER_NAME)
