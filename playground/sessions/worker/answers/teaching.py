"""Requests of lessons: predictions, the verdicts and the evidence of questions, and the check of a lesson."""

from collections.abc import Iterator, Sequence

from playground.lessons import Card, Lesson, Playthrough, fill_placeholders, find_playthrough, judge, list_reached_cards
from playground.lessons.authoring import CheckResult, anchor_and_check, check
from playground.lessons.evidence import nth_attempt
from playground.lessons.format import Mistake
from playground.lessons.judging import as_text
from playground.lessons.named import short
from playground.lessons.own import document_of, hand
from playground.lessons.reading import lesson_of
from playground.lessons.variants import AmbiguousVariants, proven
from playground.presenters.story.goals import describe_meanings, list_hints
from playground.presenters.words import Message, gettext_noop, message
from playground.sessions.protocol import looking
from playground.sessions.protocol.errors import SessionError
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.memory import ALONE, Budget
from playground.sessions.worker.time_sharing import Steps, answers, answers_as_worker
from playground.sessions.worker.world import Simulation
from scheduler_core.world.readonly import Attempt
from scheduler_core.world.simulation import Grain

MOST_STEPS = 20_000
DEFAULT = "default/"


@answers(looking.Predict)
def foresee(engine: Engine, request: looking.Predict) -> Steps[looking.Prediction]:
    """Return the outcome of the next attempt of a pod (of any pod if none is named), on a fork that runs until the attempt ends."""
    world = (yield from engine.at(request.position)).fork()
    position, before = world.position, len(world.journal.attempts)
    places = {_short(key): str(world.journal.place(key)) for key in _pending(world)}
    attempt: Attempt | None = None
    steps = 0
    while attempt is None and steps < MOST_STEPS:
        here = world.position
        world.step(Grain.CALL)
        steps += 1
        attempt = next((each for each in world.journal.attempts[before:] if _is_it(each, request, position)), None)
        if world.position == here:
            break
        if engine.slice.over():
            yield
    if attempt is None:
        return looking.Prediction(position, request.pod, "", looked=steps)
    return _answer(world, attempt, request.about, position, places)


def _is_it(attempt: Attempt, request: looking.Predict, position: int) -> bool:
    """Return whether an attempt is the requested one: the next to begin, or one of the pod, which may have begun already."""
    if request.about == "next":
        return attempt.first_position > position
    return not request.pod or attempt.pod == request.pod


def _answer(
    world: Simulation, attempt: Attempt, about: str, position: int, places: dict[str, str]
) -> looking.Prediction:
    if about == "next":
        key = _short(attempt.pod)
        reasons = {pod: {"why": "waits", "text": place} for pod, place in places.items() if pod != key}
        return looking.Prediction(position, "", "pod", key, sorted({*places, key}), reasons)
    if about == "scheduled":
        return looking.Prediction(
            position,
            attempt.pod,
            "yesno",
            "yes" if attempt.node else "no",
            ["yes", "no"],
            _explain_wrong_answer(attempt),
        )
    if about == "feasible":
        return looking.Prediction(position, attempt.pod, "number", f"{attempt.feasible:g}")
    nodes = sorted(node["metadata"]["name"] for node in world.store.list("Node"))
    return looking.Prediction(position, attempt.pod, "node", attempt.node or None, nodes)


def _explain_wrong_answer(attempt: Attempt) -> dict[str, dict[str, str]]:
    """Return the attempt's result, which the wrong answer overlooks."""
    if attempt.node:
        return {"no": {"why": "fits", "text": attempt.node}}
    return {"yes": {"why": "refused", "text": attempt.message}}


def _pending(world: Simulation) -> list[str]:
    """Return the pods without a node, as namespace/name."""
    return [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in world.store.list("Pod")
        if not pod["spec"].get("nodeName")
    ]


def _short(key: str) -> str:
    return key.removeprefix(DEFAULT)


TOO_MUCH_DRAWN = gettext_noop("A variant of this lesson needs more memory than the limit.")
TOO_MUCH = gettext_noop("The lesson needs more memory than the limit. Your text is kept.")


@answers_as_worker(looking.CheckLesson)
def check_lesson(engines: object, session: int, request: looking.CheckLesson) -> Steps[CheckResult]:
    """Check a lesson's files by playing it."""
    yield
    with Budget(ALONE, TOO_MUCH):
        return (anchor_and_check if request.move else check)(request.files, request.max_objects)


@answers_as_worker(looking.DrawVariant)
def draw_variant(engines: object, session: int, request: looking.DrawVariant) -> Steps[looking.Variant]:
    """Draw a variant and prove that it works."""
    yield
    handed = hand(request.lesson) if request.lesson else None
    lesson = lesson_of(request.slug) if handed is None else handed.lesson
    if lesson is None:
        return looking.Variant(why=f"there is no lesson {request.slug}")
    with Budget(ALONE, TOO_MUCH_DRAWN):
        try:
            slug, document = document_of(proven(lesson, request.seed, request.max_objects))
        except AmbiguousVariants as error:
            return looking.Variant(why=str(error))
    return looking.Variant(slug, document)


@answers(looking.JudgeAnswer)
def judge_answer(engine: Engine, request: looking.JudgeAnswer) -> Steps[looking.AnswerVerdict]:
    """Judge an answer by the lesson's key, which is never sent to a page."""
    world = yield from engine.at(request.position)
    lesson, played, reached = _cards(engine.panels.story, world)
    if not 1 <= request.card <= len(reached):
        text = gettext_noop("The lesson has not reached card %(number)d yet.")
        raise SessionError(message(text, number=request.card))
    card = reached[request.card - 1]
    if card.question is None:
        raise SessionError(message("This card of the lesson has no question."))
    right = None
    if request.given is not None:
        try:
            right = judge(card.question, played.keys[card.id], request.given).right
        except ValueError:
            text = gettext_noop("Choose an answer first. Write a number with digits, such as 3 or 0.5.")
            raise SessionError(message(text)) from None
    if request.again and right is False and len(played.options[card.id]) != 2:
        return looking.AnswerVerdict(False, {}, hints=list_hints(card, played, request.given or ()))
    evidence = played.evidence.get(card.id)
    said = evidence.said if evidence is not None and card.question.kind == "node" and not right else {}
    return looking.AnswerVerdict(
        right,
        {language: words["right" if right else "wrong"] for language, words in _words(lesson, card, played)},
        [(name, said[name]) for name in request.given or () if said.get(name)],
        _find_evidence(card, played, world),
        meant=_find_meaning(played.meant.get(card.id, ()), request.given) if right is False else [],
    )


def _find_meaning(meant: Sequence[Mistake], given: Sequence[str] | None) -> list[Message]:
    """Return the mistakes that lead to the given wrong numbers."""
    found = describe_meanings(meant)
    return [found[text] for text in (f"{float(each):g}" for each in given or () if found) if text in found]


@answers(looking.OpenQuestion)
def open_question(engine: Engine, request: looking.OpenQuestion) -> Steps[looking.LessonQuestion | None]:
    """Return the question of the last card that the world has reached, or None."""
    world = yield from engine.at(request.position)
    lesson, played, reached = _cards(engine.panels.story, world)
    card = reached[-1] if reached else None
    if card is None or card.question is None:
        return None
    key = played.keys[card.id]
    return looking.LessonQuestion(
        card.question.kind,
        dict(_words(lesson, card, played)),
        list(played.options[card.id]),
        list(key) if isinstance(key, tuple) else as_text(key),
        card.question.tolerance,
        world.position,
        describe_meanings(played.meant.get(card.id, ())),
    )


def _cards(story: str, world: Simulation) -> tuple[Lesson, Playthrough, list[Card]]:
    """Return a session's lesson, its playthrough, and the cards that a world has reached. Raise SessionError if there is no lesson."""
    lesson = lesson_of(story) if story else None
    played = find_playthrough(story, world.seed) if lesson is not None else None
    if lesson is None or played is None:
        raise SessionError(message("This session has no lesson."))
    return lesson, played, list(list_reached_cards(lesson, world))


def _words(lesson: Lesson, card: Card, played: Playthrough) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the texts of a question and its answers, by language."""
    values = played.values_at(card.id)
    for language, words in lesson.words.items():
        said = words.cards[card.id]
        texts = {"text": said.text, "ask": said.ask, "right": said.right, "wrong": said.wrong}
        yield language, {name: fill_placeholders(text, values) for name, text in texts.items()}


def _find_evidence(card: Card, played: Playthrough, world: Simulation) -> looking.AnswerEvidence | None:
    found = played.evidence.get(card.id)
    if found is None:
        return None
    there = nth_attempt(world.journal.attempts, found.pod, found.attempt)
    at = found.position if there is None else there.last_position
    return looking.AnswerEvidence(found.pod, short(found.pod), found.attempt, at, there is not None, found.stage)
