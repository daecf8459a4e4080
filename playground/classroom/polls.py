"""Polls and answers in the database: ask, answer, count, and reveal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from playground.lessons import Question, judge
from playground.models import Answer, Poll
from playground.presenters.words import message
from playground.sessions.protocol.errors import LimitReached, SessionError

LONGEST = 2000  # signs of an answer
Counts = list[tuple[str, int, bool | None]]
"""Every answer that was given, how often, and whether it is right."""


@dataclass(frozen=True)
class PollQuestion:
    """A question for the room with its computed key (questions.py). models.Poll describes the fields."""

    kind: str
    words: Mapping[str, Mapping[str, str]]
    options: Sequence[str] = ()
    key: str | list[str] | None = None
    tolerance: float = 0
    position: int = 0
    pod: str = ""
    reasons: Mapping[str, Any] | None = None


@transaction.atomic
def ask(room_id: int, asked: PollQuestion) -> Poll:
    """Ask the room a question. The previous question disappears from the screens. Raise LimitReached."""
    polls = Poll.objects.filter(room_id=room_id)
    last = polls.aggregate(last=Max("number"))["last"] or 0
    if last >= settings.MAX_POLLS:
        raise LimitReached(message("A classroom has at most %(most)s questions.", most=f"{settings.MAX_POLLS:,}"))
    polls.filter(state=Poll.State.OPEN).update(state=Poll.State.CLOSED)
    polls.filter(shown=True).update(shown=False)
    lists = {"options": list(asked.options), "reasons": dict(asked.reasons or {})}
    return Poll.objects.create(room_id=room_id, number=last + 1, **{**vars(asked), **lists})


def current(room_id: int) -> Poll | None:
    """The question on the students' screens."""
    return Poll.objects.filter(room_id=room_id, shown=True).order_by("-number").first()


def close(room_id: int) -> None:
    """No more answers to the question on the screens."""
    Poll.objects.filter(room_id=room_id, shown=True, state=Poll.State.OPEN).update(state=Poll.State.CLOSED)


def reveal(poll: Poll, reasons: Mapping[str, Any]) -> None:
    """Reveal the answers, the solution, and the engine's reasons against the wrong answers."""
    poll.reasons, poll.state = dict(reasons), Poll.State.REVEALED
    poll.save(update_fields=["reasons", "state"])


def take_off(room_id: int) -> None:
    """Remove the question from the screens."""
    close(room_id)
    Poll.objects.filter(room_id=room_id, shown=True).update(shown=False)


def read_answer(poll: Poll, given: Sequence[str]) -> tuple[str, bool | None]:
    """Return an answer in its stored form, and whether it is right (None if no answer is right or wrong). Raise SessionError if invalid."""
    question = Question(poll.kind, {}, tolerance=poll.tolerance)  # type: ignore[arg-type]
    key = tuple(poll.key) if isinstance(poll.key, list) else poll.key
    read = [text.strip()[:300] for text in given if text.strip()]
    if poll.options and not set(read) <= set(poll.options):
        raise SessionError(message("This is not one of the answers."))
    if poll.kind == "victims":
        read = sorted(set(read))
    try:
        verdict = judge(question, "0" if key is None and poll.kind == "number" else key or "", read)
    except ValueError:
        raise SessionError(message("Choose an answer first. Write a number with digits, such as 3 or 0.5.")) from None
    if len(read) > 1 and poll.kind not in ("victims", "order"):
        raise SessionError(message("This question has a single answer."))
    text = f"{float(read[0]):g}" if poll.kind == "number" else ", ".join(read)
    return text[:LONGEST], None if key is None else verdict.right


@transaction.atomic
def save(answers: Sequence[tuple[int, int, str, bool | None]]) -> set[int]:
    """Store answers (poll, student, text, right) in one transaction. Return the polls that still accept answers."""
    polls = {poll for poll, _student, _text, _right in answers}
    taking = set(Poll.objects.filter(pk__in=polls, state=Poll.State.OPEN).values_list("pk", flat=True))
    last = {(poll, student): (text, right) for poll, student, text, right in answers if poll in taking}
    now = timezone.now()
    Answer.objects.bulk_create(
        [
            Answer(poll_id=poll, student_id=student, given=text, right=right, changed=now)
            for (poll, student), (text, right) in last.items()
        ],
        update_conflicts=True,
        unique_fields=["poll", "student"],
        update_fields=["given", "right", "changed"],
    )
    return taking


def counts(poll: Poll) -> Counts:
    """The answers of a poll, the most frequent first."""
    rows = poll.answers.values_list("given", "right").annotate(count=Count("pk"))
    return sorted(((given, count, right) for given, right, count in rows), key=lambda row: (-row[1], row[0]))
