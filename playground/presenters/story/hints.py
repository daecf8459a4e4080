"""Hints for a wrong answer, made from that answer: what the engine says of it, and never the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playground.lessons import Card, Played
from playground.lessons.facts import Value
from playground.presenters.words import Message, gettext_noop, message


def list_hints(card: Card, played: Played, given: Sequence[str]) -> list[Message]:
    """Return the hints for an answer that was judged wrong."""
    assert card.question is not None
    key, kind = played.keys[card.id], card.question.kind
    given = [text.strip() for text in given if text.strip()]
    evidence = played.evidence.get(card.id)
    said = evidence.said if evidence is not None else {}
    if kind == "number":
        return [*_compare(given, key), *_count(card, given, key, said)]
    if isinstance(key, tuple) and kind == "order":
        right = next(
            (place for place, pair in enumerate(zip(given, key, strict=False)) if pair[0] != pair[1]), len(given)
        )
        return [message(gettext_noop("Right up to place %(places)s. Look at the next one again."), places=right)]
    if isinstance(key, tuple):
        return _count_names(given, key)
    refusals = [_describe(name, said[name]) for name in given if name in said]
    return refusals or [message(gettext_noop("Not %(name)s. Compare it with the others once more."), name=given[0])]


def _compare(given: Sequence[str], key: Value) -> list[Message]:
    over = isinstance(key, int | float) and float(given[0]) > key
    return [message(gettext_noop("Your number is too high.") if over else gettext_noop("Your number is too low."))]


def _count(card: Card, given: Sequence[str], key: Value, said: Mapping[str, str]) -> list[Message]:
    """Of nodes that were counted wrong: a refusal that was overlooked, or the number of conditions to look at again."""
    assert card.question is not None and isinstance(key, int | float)
    if "feasible_for" not in card.question.answer:
        return []
    if float(given[0]) < key:
        return [message(gettext_noop("You left out a node that no plugin refuses."))]
    refused = {name: text for name, text in said.items() if not text.isdecimal()}
    return [_describe(name, text) for name, text in list(refused.items())[:1]]


def _count_names(given: Sequence[str], key: tuple[str, ...]) -> list[Message]:
    wrong, missing = len(set(given) - set(key)), len(set(key) - set(given))
    texts = {
        gettext_noop("Names that do not belong: %(count)s."): wrong,
        gettext_noop("Names that are missing: %(count)s."): missing,
    }
    return [message(text, count=count) for text, count in texts.items() if count]


def _describe(name: str, text: str) -> Message:
    if not text.isdecimal():
        return message(gettext_noop("Look at %(name)s again. %(why)s"), name=name, why=text)
    return message(gettext_noop("%(name)s has %(points)s points. Another node has more."), name=name, points=text)
