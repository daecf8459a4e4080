"""The format of a lesson's files, as classes: what docs/lessons.md describes is what these take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

LANGUAGES = ("en", "zh-hans")
TRACKS = (
    "first-steps",
    "placement",
    "fairness-and-packing",
    "queue-and-time",
    "preemption-and-priority",
    "evictions",
    "devices",
    "high-availability",
    "internals",
    "pending",
)
Json = Mapping[str, Any]
Kind = Literal["node", "pod", "victims", "number", "order", "yesno", "choice"]
Track = Literal[
    "first-steps",
    "placement",
    "fairness-and-packing",
    "queue-and-time",
    "preemption-and-priority",
    "evictions",
    "devices",
    "high-availability",
    "internals",
    "pending",
]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`answer`: a fact (facts.py), which is the key. `tolerance` is for numbers; `among`: what can be chosen."""

    kind: Kind
    answer: Json
    among: tuple[str, ...] = ()
    tolerance: float = 0


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a card offers to do: a command, or objects to apply. In a task the world then goes on `until` this holds."""

    command: Json | None = None
    nodes: tuple[Json, ...] = ()
    pods: tuple[Json, ...] = ()
    apply: tuple[Json, ...] = ()
    until: Json | None = None


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`when`: the condition of the step that it is about (conditions.py). `spotlight`: a part of the studio, or an object."""

    id: str
    when: Json = {}
    spotlight: str = ""
    question: Question | None = None
    do: Act | None = None


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the learner is to bring about on a fork of the last card's step: `start` makes the situation, `check` holds once it is done.

    `solution` is one way, which a check plays.
    """

    check: Json
    solution: tuple[Act, ...]
    start: tuple[Act, ...] = ()


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """lesson.yaml. `commands`: what is done once everything is there, before the first card. A lesson of people's own may have no task."""

    track: Track
    minutes: int
    cards: tuple[Card, ...]
    task: Task | None = None
    next: str = ""
    facts: Mapping[str, Json] = {}
    settings: Json = {}
    configuration: Json | None = None
    nodes: tuple[Json, ...] = ()
    pods: tuple[Json, ...] = ()
    objects: tuple[Json, ...] = ()
    commands: tuple[Json, ...] = ()


class CardWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a card says; `ask`, `right` and `wrong` where it asks, `do` where it offers something."""

    text: str
    ask: str = ""
    right: str = ""
    wrong: str = ""
    do: str = ""
    choices: Mapping[str, str] = {}

    def texts(self) -> tuple[str, ...]:
        """Everything that is said, in the order of the fields."""
        return (self.text, self.ask, self.right, self.wrong, self.do, *self.choices.values())


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """en.yaml, zh-hans.yaml: a lesson's words in one language. `{name}` stands for a fact's value, `{answer}` for the card's own key."""

    title: str
    summary: str
    cards: Mapping[str, CardWords]
    task: str = ""
    sum_up: str = ""


class Lesson(msgspec.Struct, frozen=True):
    """A lesson whole."""

    slug: str
    plan: Plan
    words: Mapping[str, Words]

    @property
    def questions(self) -> tuple[tuple[str, Question], ...]:
        """Its questions, by the card that asks."""
        return tuple((card.id, card.question) for card in self.plan.cards if card.question is not None)
