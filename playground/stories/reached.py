"""How far a world has come in a story."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from playground.stories.conditions import holds
from playground.stories.loader import Action, Story
from scheduler_core.view import WorldView


@dataclass(frozen=True)
class ReachedChapter:
    """A chapter that the world has come to. `number` counts from 1; `latest`: nothing after it has been reached yet."""

    number: int
    of: int
    text: str
    action: Action | None
    latest: bool

    def to_json(self) -> dict[str, Any]:
        action = {"label": self.action.label, "chapter": self.number} if self.action else None
        return {
            "number": self.number,
            "of": self.of,
            "text": self.text,
            "action": action,
            "latest": self.latest,
        }


def reached_chapters(story: Story, sim: WorldView) -> list[ReachedChapter]:
    """The chapters reached so far, in order. An action is offered only while its chapter is the latest one."""
    reached = list(takewhile(lambda chapter: holds(chapter.when, sim), story.chapters))
    of, last = len(story.chapters), len(reached)
    return [
        ReachedChapter(number, of, chapter.text, chapter.action if number == last else None, number == last)
        for number, chapter in enumerate(reached, 1)
    ]
