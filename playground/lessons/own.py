"""Lessons of people's own, as this process has been handed them: with their manifests written out, and with what playing them came to.

Such a lesson is known by what is in it (`own:` and a digest), so that it never changes under those who take it. It is known here as long
as somebody holds it: the session's engine in a worker, a request in the web process.
"""

import hashlib
from collections.abc import Mapping
from weakref import WeakValueDictionary

import msgspec

from playground.lessons.evidence import Evidence
from playground.lessons.facts import Value
from playground.lessons.format import Lesson, Meant

PREFIX = "own:"


class Handed(msgspec.Struct, frozen=True, weakref=True, eq=False):
    """A lesson that has been played: `positions` to `options` as in play.Played."""

    lesson: Lesson
    positions: Mapping[str, int]
    facts: Mapping[str, Value]
    keys: Mapping[str, Value]
    options: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, Evidence]
    revealed: tuple[str, ...] = ()
    meant: Mapping[str, tuple[Meant, ...]] = {}


_handed: WeakValueDictionary[str, Handed] = WeakValueDictionary()


def document_of(handed: Handed) -> tuple[str, bytes]:
    """The name that its content gives it, and the lesson under this name as bytes."""
    lesson = msgspec.structs.replace(handed.lesson, slug=PREFIX)
    content = msgspec.json.encode(msgspec.structs.replace(handed, lesson=lesson))
    slug = PREFIX + hashlib.blake2b(content, digest_size=20).hexdigest()
    named = msgspec.structs.replace(lesson, slug=slug)
    return slug, msgspec.json.encode(msgspec.structs.replace(handed, lesson=named))


def hand(document: bytes) -> Handed:
    """Make a lesson known here, for as long as what is returned is held."""
    read = msgspec.json.decode(document, type=Handed)
    return _handed.setdefault(read.lesson.slug, read)


def find_handed(slug: str) -> Handed | None:
    """The lesson of that name, if it is known here."""
    return _handed.get(slug)
