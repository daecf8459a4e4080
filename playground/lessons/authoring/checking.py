"""Whether a lesson that somebody wrote can be taken: read, played with its manifests written out, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from playground.lessons.authoring.files import BadFile, LessonFiles, read_files
from playground.lessons.checking import problems_of_play, problems_of_words
from playground.lessons.facts import Value
from playground.lessons.format import Act, Card, Lesson, Plan
from playground.lessons.judging import as_text
from playground.lessons.own import Handed, document_of, hand
from playground.lessons.play import Played, play
from playground.lessons.reading import beginning, command_of, lesson_of
from playground.lessons.texts import filled
from scheduler_core.commands import ApplyObjects, Refused
from scheduler_core.view import InvalidObject

LARGEST = 1 << 20  # with every manifest written out


class Finding(msgspec.Struct, frozen=True):
    """Something that is wrong, in a sentence, and where: the file and its line, as far as they are known."""

    text: str
    file: str = ""
    line: int = 0


class SeenCard(msgspec.Struct, frozen=True):
    """A card as it came out: the words in each language with their values, what it asks, and the key that the engine computed."""

    id: str
    position: int
    when: str
    texts: Mapping[str, str]
    asks: Mapping[str, str]
    key: str = ""
    options: tuple[str, ...] = ()
    acts: bool = False


class Checked(msgspec.Struct, frozen=True):
    """What a check found. `document` is the lesson as it is handed on, empty where it can't be played to its end."""

    findings: tuple[Finding, ...]
    titles: Mapping[str, str] = {}
    summaries: Mapping[str, str] = {}
    minutes: int = 0
    cards: tuple[SeenCard, ...] = ()
    slug: str = ""
    document: bytes = b""

    @property
    def questions(self) -> int:
        """How many cards ask."""
        return sum(bool(card.key) for card in self.cards)


def check(files: LessonFiles, most_objects: int) -> Checked:
    """Plays what somebody wrote; nothing that is wrong with it is an exception."""
    try:
        lesson = read_files(files)
    except BadFile as bad:
        return Checked((Finding(bad.why, bad.file, bad.line),))
    found = [*_of_plan(lesson), *problems_of_words(lesson, tuple(lesson.words))]
    titles = {language: words.title for language, words in lesson.words.items()}
    summaries = {language: words.summary for language, words in lesson.words.items()}
    seen = Checked(_findings(found), titles, summaries, lesson.plan.minutes, _unplayed(lesson))
    try:
        whole = _written_out(lesson, most_objects)
        played = play(whole)
        found += problems_of_play(whole, played)
        slug, document = document_of(
            Handed(whole, played.positions, played.facts, played.keys, played.options)
        )
        hand(document)
    except (Refused, InvalidObject) as refused:
        found += [str(error) for error in refused.errors] or [str(refused)]
        return msgspec.structs.replace(seen, findings=_findings(found))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        found.append(str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")
        return msgspec.structs.replace(seen, findings=_findings(found))
    if len(document) > LARGEST:
        found.append(f"with its manifests written out it has {len(document):,} bytes; {LARGEST:,} are expected at most")
        return msgspec.structs.replace(seen, findings=_findings(found))
    return msgspec.structs.replace(
        seen,
        findings=_findings(found),
        cards=tuple(_seen(lesson, card, played) for card in lesson.plan.cards),
        slug=slug,
        document=document,
    )


def _findings(found: list[str]) -> tuple[Finding, ...]:
    return tuple(Finding(text) for text in dict.fromkeys(found))


def _of_plan(lesson: Lesson) -> Iterator[str]:
    ids = [card.id for card in lesson.plan.cards]
    yield from (f"two cards have the id {each}" for each in sorted({each for each in ids if ids.count(each) > 1}))
    if lesson.plan.next and lesson_of(lesson.plan.next) is None:
        yield f"next: there is no lesson {lesson.plan.next}"
    if not lesson.plan.task.solution:
        yield "task: it has no solution yet; do it in the session, and set the task at the step before"


def _written_out(lesson: Lesson, most_objects: int) -> Lesson:
    """The same lesson with every manifest and command written out, so that whoever is handed it makes none."""
    plan = lesson.plan
    *_settings, world = beginning(plan)
    assert isinstance(world, ApplyObjects)
    if len(world.objects) > most_objects:
        raise ValueError(f"the lesson's world has {len(world.objects):,} objects; {most_objects:,} are allowed here")
    whole = msgspec.structs.replace(
        plan,
        nodes=(),
        pods=(),
        objects=tuple(dict(manifest) for manifest in world.objects),
        cards=tuple(msgspec.structs.replace(card, do=_command(card.do)) for card in plan.cards),
        task=msgspec.structs.replace(
            plan.task,
            start=tuple(filter(None, map(_command, plan.task.start))),
            solution=tuple(filter(None, map(_command, plan.task.solution))),
        ),
    )
    return Lesson(lesson.slug, msgspec.convert(msgspec.to_builtins(whole), Plan), lesson.words)


def _command(act: Act | None) -> Act | None:
    return None if act is None else Act(command=msgspec.to_builtins(command_of(act)), until=act.until)


def _unplayed(lesson: Lesson) -> tuple[SeenCard, ...]:
    return tuple(
        SeenCard(card.id, -1, _when(card), *_words(lesson, card, {}), acts=card.do is not None)
        for card in lesson.plan.cards
    )


def _seen(lesson: Lesson, card: Card, played: Played) -> SeenCard:
    key = played.keys.get(card.id)
    return SeenCard(
        card.id,
        played.positions[card.id],
        _when(card),
        *_words(lesson, card, played.facts),
        key="" if key is None else as_text(key),
        options=played.options.get(card.id, ()),
        acts=card.do is not None,
    )


def _when(card: Card) -> str:
    return ", ".join(f"{word}: {value}" for word, value in card.when.items())


def _words(lesson: Lesson, card: Card, facts: Mapping[str, Value]) -> tuple[dict[str, str], dict[str, str]]:
    said = {name: words.cards[card.id] for name, words in lesson.words.items() if card.id in words.cards}
    texts = {name: filled(words.text, facts) for name, words in said.items()}
    return texts, {name: filled(words.ask, facts) for name, words in said.items() if words.ask}
