"""The classes of a lesson's files, which docs/lessons.md describes."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

LANGUAGES = ("en", "zh-hans")
Json = Mapping[str, Any]
Scalar = int | str
Operation = Literal["sum", "difference", "product", "quotient"]
Relation = Literal["rising", "at_most", "equal", "different"]
Kind = Literal["node", "pod", "victims", "number", "order", "yesno", "choice"]
Shown = Literal[
    "", "cluster", "queue", "prefilter", "filter", "prescore", "score", "pending", "preemption", "binding", "controller"
]
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
TRACKS: tuple[Track, ...] = get_args(Track)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question. `answer`: the fact (facts.py) that is the key. `tolerance` is for numbers; `among`: the options."""

    kind: Kind
    answer: Json
    among: tuple[str, ...] = ()
    tolerance: float = 0


class Mistake(msgspec.Struct, frozen=True):
    """A wrong number, the mistake that leads to it (its words are in story/goals.py), and the names in these words."""

    value: float
    how: str
    names: Mapping[str, str] = {}


class CardAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action that a card offers: a command, or objects to apply. In a task, the world then runs `until` a condition holds."""

    command: Json | None = None
    nodes: tuple[Json, ...] = ()
    pods: tuple[Json, ...] = ()
    apply: tuple[Json, ...] = ()
    until: Json | None = None


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A card. `when`: the condition of its step (conditions.py). `spotlight`: a part of the studio, or an object.

    `stage`, `pod`, and `plugin`: the contents of the stage at this card; by default it follows the step. `figure`: an interactive figure
    beside its text (features/figures).
    """

    id: str
    when: Json = {}
    spotlight: str = ""
    stage: Shown = ""
    pod: str = ""
    plugin: str = ""
    figure: str = ""
    question: Question | None = None
    do: CardAction | None = None


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The learner's goal on a fork of the last card's step: `start` creates the situation, and `check` holds at the goal.

    `solution` is one way, which a check plays.
    """

    check: Json
    solution: tuple[CardAction, ...]
    start: tuple[CardAction, ...] = ()


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that a variant draws: one of `among`, or a number or quantity `from` the least `to` the most, by `step`.

    `written`: its value in the original lesson, which also determines the type: whole number, quantity, or name.
    """

    written: Scalar
    among: tuple[Scalar, ...] = ()
    least: Scalar | None = msgspec.field(default=None, name="from")
    most: Scalar | None = msgspec.field(default=None, name="to")
    step: Scalar = 1


class Vary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The differences between a lesson's variants (varying/). `$(name)` marks a value in lesson.yaml, `{name}` in its words.

    `shuffles`: names with values to permute. `derived`: values computed from others. `require`: relations between values, or facts, that
    hold in each variant.
    """

    draws: Mapping[str, Draw] = {}
    shuffles: tuple[Mapping[str, Scalar], ...] = ()
    derived: Mapping[str, Mapping[Operation, tuple[Scalar, ...]]] = {}
    require: tuple[Mapping[Relation, tuple[Scalar, ...]], ...] = ()


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """lesson.yaml. `commands`: commands after the creation of all objects, before the first card. A user's lesson may have no task.

    `releases`: the kube releases of the lesson; empty: all.
    """

    track: Track
    minutes: int
    cards: tuple[Card, ...]
    task: Task | None = None
    next: str = ""
    facts: Mapping[str, Json] = {}
    settings: Json = {}
    releases: tuple[str, ...] = ()
    configuration: Json | None = None
    nodes: tuple[Json, ...] = ()
    pods: tuple[Json, ...] = ()
    objects: tuple[Json, ...] = ()
    commands: tuple[Json, ...] = ()
    vary: Vary | msgspec.UnsetType = msgspec.UNSET


class CardWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a card; `ask`, `right` and `wrong` if it asks, `do` if it offers an action."""

    text: str
    ask: str = ""
    right: str = ""
    wrong: str = ""
    do: str = ""
    choices: Mapping[str, str] = {}

    def texts(self, answers: bool = True) -> tuple[str, ...]:
        """Return all texts in the order of the fields, with or without those about answers."""
        said = (self.right, self.wrong) if answers else ()
        return (self.text, self.ask, *said, self.do, *self.choices.values())


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """en.yaml, zh-hans.yaml: a lesson's words in one language. `{name}` is replaced by a fact's value, `{answer}` by the card's key."""

    title: str
    summary: str
    cards: Mapping[str, CardWords]
    task: str = ""
    sum_up: str = ""

    def texts(self) -> tuple[str, ...]:
        """Return all texts."""
        said = (text for card in self.cards.values() for text in card.texts())
        return (self.title, self.summary, *said, self.task, self.sum_up)


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """A complete lesson. `drawn`: its varying values. `pattern`: the plan with names in place of these values.

    A variant has the seed of its draw, and the name of its lesson as `origin`.
    """

    slug: str
    plan: Plan
    words: Mapping[str, Words]
    drawn: Mapping[str, Scalar] = {}
    pattern: Plan | None = None
    variant: str = ""
    origin: str = ""

    @property
    def titles(self) -> dict[str, str]:
        """Its title in each language."""
        return {language: words.title for language, words in self.words.items()}

    @property
    def questions(self) -> tuple[tuple[str, Question], ...]:
        """Its questions, by the card that asks."""
        return tuple((card.id, card.question) for card in self.plan.cards if card.question is not None)
