"""The check of a user's lesson: reads it, plays it with its manifests written out, and reports findings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from playground.lessons.authoring.files import BadFile, LessonFiles, read_files
from playground.lessons.authoring.moments import Moment, Watch, limit_moments
from playground.lessons.authoring.suggestions import SuggestedTask, Suggestion, suggest_tasks, suggestions
from playground.lessons.authoring.writing import Writing
from playground.lessons.checking import problems_of_play, problems_of_words
from playground.lessons.conditions import holds
from playground.lessons.facts import LessonObservations, Value
from playground.lessons.format import Card, Lesson, Question
from playground.lessons.judging import as_text
from playground.lessons.own import document_of, hand
from playground.lessons.play import WRONG, Playthrough, World, begin_lesson, play, step
from playground.lessons.reading import command_of, lesson_of
from playground.lessons.texts import fill_placeholders
from playground.lessons.variants import problems_of_variants
from playground.lessons.varying.filling import with_names
from playground.lessons.whole import expand_lesson
from scheduler_core.world.commands import Refused
from scheduler_core.world.readonly import InvalidObject

# Goes through a lesson's world as far as it leads, whatever is wrong with its cards: what they can wait for, and what they can ask.

MOST_STEPS = 6_000


@dataclass(frozen=True)
class Exploration:
    """`positions`: the steps of the cards that the world reached. `last`: the world at the last card's step. `end`: the final world."""

    seen: LessonObservations
    moments: list[Moment]
    positions: Mapping[str, int] = field(default_factory=dict)
    last: World | None = None
    end: World | None = None


def explore(lesson: Lesson) -> Exploration:
    """Run the lesson's world to its end, taking each offer at its card, or at the end if the card is never reached."""
    world, seen = begin_lesson(lesson)
    watch, positions, left, last = Watch(world), {}, MOST_STEPS, None

    def go_on() -> bool:
        nonlocal left
        left -= 1
        if left <= 0 or world.idle or not step(world, seen):
            return False
        watch.look(world)
        return True

    for card in lesson.plan.cards:
        there = holds(card.when, world)
        while not there and go_on():
            there = holds(card.when, world)
        if there:
            positions[card.id] = world.position
            seen.at[card.id] = last = world.fork()
        if card.do is not None:
            try:
                world.apply(command_of(card.do))
            except (Refused, InvalidObject):
                continue
            watch.look(world)
    while go_on():
        pass
    whole = len(positions) == len(lesson.plan.cards)
    return Exploration(seen, watch.moments, positions, last if whole else None, world)


def anchor_cards(lesson: Lesson) -> Lesson:
    """Return the lesson with each card that waits for a position waiting for the last moment up to it instead, if there is one."""
    explored = explore(lesson)
    cards: list[Card] = []
    for card in lesson.plan.cards:
        moment = _last(explored.moments, int(card.when.get("position", -1)))
        taken = any(moment is not None and each.when == moment.when for each in cards)
        whole = card if moment is None or taken else msgspec.structs.replace(card, when=moment.when)
        cards.append(whole)
    return msgspec.structs.replace(lesson, plan=msgspec.structs.replace(lesson.plan, cards=tuple(cards)))


def _last(moments: list[Moment], position: int) -> Moment | None:
    return next((moment for moment in reversed(moments) if moment.position <= position), None)


LARGEST = 1 << 20  # with every manifest written out


class Finding(msgspec.Struct, frozen=True):
    """One error in a sentence, with its file and line if known."""

    text: str
    file: str = ""
    line: int = 0


class SeenCard(msgspec.Struct, frozen=True):
    """A played card: its words in each language with their values, its question, and the key that the engine computed."""

    id: str
    position: int
    when: str
    texts: Mapping[str, str]
    asks: Mapping[str, str]
    key: str = ""
    options: tuple[str, ...] = ()
    acts: bool = False
    suggested: tuple[Suggestion, ...] = ()


class CheckResult(msgspec.Struct, frozen=True):
    """The result of a check. `document` is the lesson for learners, empty if the lesson can't be played to its end.

    `moments` are the moments for which its cards can wait; `tasks` are possible tasks; `files` are the files if cards were moved to
    moments.
    """

    findings: tuple[Finding, ...]
    titles: Mapping[str, str] = {}
    summaries: Mapping[str, str] = {}
    minutes: int = 0
    track: str = ""
    cards: tuple[SeenCard, ...] = ()
    moments: tuple[Moment, ...] = ()
    tasks: tuple[SuggestedTask, ...] = ()
    slug: str = ""
    document: bytes = b""
    files: LessonFiles | None = None

    @property
    def questions(self) -> int:
        """The number of cards that ask a question."""
        return sum(bool(card.key) for card in self.cards)


def anchor_and_check(files: LessonFiles, most_objects: int) -> CheckResult:
    """Check the lesson after moving its cards from positions to moments where possible."""
    try:
        lesson = anchor_cards(read_files(files))
    except (BadFile, *WRONG):
        return check(files, most_objects)
    writing = Writing(files, next(iter(lesson.words)))
    for card in lesson.plan.cards:
        if card.when:
            writing.set_on_card(card.id, "when", dict(card.when))
    moved = writing.files()
    return msgspec.structs.replace(check(moved, most_objects), files=moved)


def check(files: LessonFiles, most_objects: int) -> CheckResult:
    """Play a user's lesson. Errors in it become findings, not exceptions."""
    try:
        lesson = read_files(files)
    except BadFile as bad:
        return CheckResult((Finding(bad.why, bad.file, bad.line),))
    found = [*_of_plan(lesson), *problems_of_words(lesson, tuple(lesson.words))]
    summaries = {language: words.summary for language, words in lesson.words.items()}
    seen = CheckResult(
        _findings(found), lesson.titles, summaries, lesson.plan.minutes, lesson.plan.track, _list_unplayed_cards(lesson)
    )
    try:
        whole = expand_lesson(lesson, most_objects)
        seen = _with_names(_with_explored(seen, whole, explore(whole)), lesson)
        played = play(whole)
        found += problems_of_play(whole, played)
        found += problems_of_variants(lesson, most_objects)
        slug, document = document_of(played.hand_on(whole))
        hand(document)
    except (Refused, InvalidObject) as refused:
        found += [str(error) for error in refused.errors] or [str(refused)]
        return msgspec.structs.replace(seen, findings=_findings(found))
    except WRONG as error:
        found.append(str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")
        return msgspec.structs.replace(seen, findings=_findings(found))
    if len(document) > LARGEST:
        found.append(f"with its manifests written out it has {len(document):,} bytes; {LARGEST:,} are expected at most")
        return msgspec.structs.replace(seen, findings=_findings(found))
    return msgspec.structs.replace(
        seen,
        findings=_findings(found),
        cards=tuple(
            msgspec.structs.replace(_build_seen_card(lesson, card, played), suggested=known.suggested)
            for card, known in zip(lesson.plan.cards, seen.cards, strict=True)
        ),
        slug=slug,
        document=document,
    )


def _with_explored(checked: CheckResult, lesson: Lesson, explored: Exploration) -> CheckResult:
    cards = tuple(
        msgspec.structs.replace(
            seen, position=explored.positions.get(card.id, -1), suggested=suggestions(card, explored.seen)
        )
        for card, seen in zip(lesson.plan.cards, checked.cards, strict=True)
    )
    moments = limit_moments(explored.moments)
    tasks = suggest_tasks(lesson, explored.last, explored.end) if explored.last and explored.end else ()
    return msgspec.structs.replace(checked, cards=cards, moments=moments, tasks=tasks)


def _with_names(checked: CheckResult, lesson: Lesson) -> CheckResult:
    """Return the result with the names of varying values in suggested conditions and questions."""
    if not lesson.drawn:
        return checked
    cards = tuple(
        msgspec.structs.replace(
            card,
            suggested=tuple(
                msgspec.structs.replace(
                    each,
                    question=msgspec.convert(with_names(msgspec.to_builtins(each.question), lesson.drawn), Question),
                )
                for each in card.suggested
            ),
        )
        for card in checked.cards
    )
    moments = tuple(
        msgspec.structs.replace(moment, when=with_names(dict(moment.when), lesson.drawn)) for moment in checked.moments
    )
    return msgspec.structs.replace(checked, cards=cards, moments=moments)


def _findings(found: list[str]) -> tuple[Finding, ...]:
    return tuple(Finding(text) for text in dict.fromkeys(found))


def _of_plan(lesson: Lesson) -> Iterator[str]:
    ids = [card.id for card in lesson.plan.cards]
    yield from (f"two cards have the id {each}" for each in sorted({each for each in ids if ids.count(each) > 1}))
    if not all(words.title.strip() for words in lesson.words.values()):
        yield "the lesson has no title"
    silent = {card for words in lesson.words.values() for card, said in words.cards.items() if not said.text.strip()}
    yield from (f"card {card} says nothing" for card in ids if card in silent)
    if lesson.plan.next and lesson_of(lesson.plan.next) is None:
        yield f"next: there is no lesson {lesson.plan.next}"


def _list_unplayed_cards(lesson: Lesson) -> tuple[SeenCard, ...]:
    return tuple(
        SeenCard(card.id, -1, _when(card), *_words(lesson, card, {}), acts=card.do is not None)
        for card in lesson.plan.cards
    )


def _build_seen_card(lesson: Lesson, card: Card, played: Playthrough) -> SeenCard:
    key = played.keys.get(card.id)
    return SeenCard(
        card.id,
        played.positions[card.id],
        _when(card),
        *_words(lesson, card, played.values_at(card.id)),
        key="" if key is None else as_text(key),
        options=played.options.get(card.id, ()),
        acts=card.do is not None,
    )


def _when(card: Card) -> str:
    return ", ".join(f"{word}: {value}" for word, value in card.when.items())


def _words(lesson: Lesson, card: Card, facts: Mapping[str, Value]) -> tuple[dict[str, str], dict[str, str]]:
    said = {name: words.cards[card.id] for name, words in lesson.words.items() if card.id in words.cards}
    texts = {name: fill_placeholders(words.text, facts) for name, words in said.items()}
    return texts, {name: fill_placeholders(words.ask, facts) for name, words in said.items() if words.ask}
