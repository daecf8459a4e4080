"""Reads story files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from playground.builder.nodes import node_manifests
from playground.builder.pods import pod_manifests
from scheduler_core.commands import ApplyObjects, Command, SetConfiguration, SetSettings, command_from_json

FOLDER = Path(__file__).parent
ORDER = ("first-placement", "taints", "spread-or-pack", "gate", "backoff", "permit-and-bind", "gangs")
Json = dict[str, Any]


@dataclass(frozen=True)
class Action:
    """A command that a chapter offers as a button."""

    label: str
    command: Command


@dataclass(frozen=True)
class Chapter:
    """`when`: the condition (see conditions.py); `text` holds `code` between backticks, paragraphs end in a blank line."""

    when: Mapping[str, Any]
    text: str
    action: Action | None = None


@dataclass(frozen=True)
class Story:
    """`commands` set the world up, in order."""

    slug: str
    title: str
    summary: str
    commands: tuple[Command, ...]
    chapters: tuple[Chapter, ...]


@lru_cache(maxsize=1)
def all_stories() -> tuple[Story, ...]:
    """Every story, in the order in which they are offered; files that ORDER does not name come last."""
    slugs = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    order = [slug for slug in ORDER if slug in slugs] + [slug for slug in slugs if slug not in ORDER]
    return tuple(read(slug, (FOLDER / f"{slug}.yaml").read_text()) for slug in order)


def story(slug: str) -> Story | None:
    """The story of that name, if there is one."""
    return next((chosen for chosen in all_stories() if chosen.slug == slug), None)


def read(slug: str, text: str) -> Story:
    """A story file's text as a Story."""
    data = yaml.safe_load(text)
    return Story(
        slug, data["title"], data["summary"].strip(), _commands(data), tuple(map(_chapter, data["chapters"]))
    )


def _commands(data: Mapping[str, Any]) -> tuple[Command, ...]:
    commands: list[Command] = []
    if "settings" in data:
        commands.append(SetSettings(data["settings"]))
    if "configuration" in data:
        commands.append(SetConfiguration(data["configuration"]))
    return (*commands, ApplyObjects(tuple(_objects(data))))


def _objects(data: Mapping[str, Any]) -> list[Json]:
    """Objects written out, and those that the builder makes: nodes before pods."""
    objects = [manifest for wanted in data.get("nodes", ()) for manifest in node_manifests(**wanted)]
    objects += data.get("objects", ())
    return objects + [manifest for wanted in data.get("pods", ()) for manifest in pod_manifests(**wanted)]


def _chapter(data: Mapping[str, Any]) -> Chapter:
    action = data.get("action")
    return Chapter(data.get("when", {}), data["text"].strip(), _action(action) if action else None)


def _action(data: Mapping[str, Any]) -> Action:
    if "apply" in data or "nodes" in data or "pods" in data:
        objects = [*_objects(data), *data.get("apply", ())]
        return Action(data["label"], ApplyObjects(tuple(objects)))
    return Action(data["label"], command_from_json(data["command"]))
