"""Users' lessons in this process, with their manifests written out and the results of playing them.

The name of such a lesson depends on its content (`own:` and a digest), so it never changes while in use. The process knows it while it is
referenced: by a session's engine in a worker, or by a request in the web process.
"""

import hashlib
from collections.abc import Mapping
from weakref import WeakValueDictionary

import msgspec

from playground.lessons.evidence import Evidence
from playground.lessons.facts import Value
from playground.lessons.format import Lesson, Mistake

PREFIX = "own:"


class PlayedLesson(msgspec.Struct, frozen=True, weakref=True, eq=False):
    """A played lesson. `positions` to `options` are as in play.Played."""

    lesson: Lesson
    positions: Mapping[str, int]
    facts: Mapping[str, Value]
    keys: Mapping[str, Value]
    options: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, Evidence]
    revealed: tuple[str, ...] = ()
    meant: Mapping[str, tuple[Mistake, ...]] = {}


_handed: WeakValueDictionary[str, PlayedLesson] = WeakValueDictionary()


def document_of(handed: PlayedLesson) -> tuple[str, bytes]:
    """Return the name of a lesson by its content, and the lesson under this name as bytes."""
    lesson = msgspec.structs.replace(handed.lesson, slug=PREFIX)
    content = msgspec.json.encode(msgspec.structs.replace(handed, lesson=lesson))
    slug = PREFIX + hashlib.blake2b(content, digest_size=20).hexdigest()
    named = msgspec.structs.replace(lesson, slug=slug)
    return slug, msgspec.json.encode(msgspec.structs.replace(handed, lesson=named))


def hand(document: bytes) -> PlayedLesson:
    """Register a lesson while the returned object is referenced."""
    read = msgspec.json.decode(document, type=PlayedLesson)
    return _handed.setdefault(read.lesson.slug, read)


def find_handed(slug: str) -> PlayedLesson | None:
    """Return the registered lesson of that name, or None."""
    return _handed.get(slug)
