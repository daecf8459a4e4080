"""Assignments: a room whose students play lessons alone at their own pace, with each student's first answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from playground.classroom import rooms
from playground.lessons import Lesson
from playground.models import Room, Session, Student, Work
from playground.sessions.database import lessons

MOST_LESSONS = 30
LONGEST = 300  # characters of an answer


def list_lessons(room: Room) -> list[Lesson]:
    """The lessons of an assignment, in their order."""
    return [lesson for slug in room.lessons if (lesson := lessons.of_story(slug)) is not None]


def find_work(session: Session) -> Work | None:
    """The work that a session, or the fork of a task, belongs to."""
    if not session.story:
        return None
    found = Work.objects.filter(Q(session=session) | Q(fork=session), student__removed=None)
    return found.select_related("student__room__session").first()


def begin_work(student: Student, slug: str, session: Session) -> Work:
    """Keep the session in which a student plays a lesson; a session that was deleted is replaced."""
    work, _new = Work.objects.update_or_create(student=student, slug=slug, defaults={"session": session})
    return work


def session_of(student: Student, slug: str) -> Session | None:
    """The session in which a student plays a lesson already."""
    work = student.works.filter(slug=slug, session__deleted=None).select_related("session").first()
    return None if work is None else work.session


def works_of(student: Student) -> dict[str, Work]:
    """Return the works that a student has begun, by lesson."""
    return {work.slug: work for work in student.works.all()}


@transaction.atomic
def record_answer(session: Session, card: int, given: Sequence[str] | None, right: bool | None) -> None:
    """Record the first try at a card's question, and whether the answer is known by now. Ignores sessions outside of an open assignment."""
    found = find_work(session)
    if found is None or rooms.is_over(found.student.room):
        return
    # Locked, because all tries are one column: two pages of a student that write at once would lose one of the answers.
    work = Work.objects.select_for_update().get(pk=found.pk)
    text = ", ".join(given or ())[:LONGEST]
    first, first_right, known = work.tries.get(str(card), (text, right, False))
    work.tries[str(card)] = [first, first_right, known or right is True]
    work.save(update_fields=["tries"])


def keep_fork(session: Session, fork: Session) -> None:
    """Note the fork in which a student does the task of a lesson."""
    Work.objects.filter(session=session).update(fork=fork)


def finish_work(work: Work) -> None:
    """Note that a lesson was played to its end, its task included."""
    Work.objects.filter(pk=work.pk, done=None).update(done=timezone.now())


def describe_work(lesson: Lesson, work: Work | None) -> dict[str, Any]:
    """Describe the state of a lesson. `stuck` is the card whose question was answered wrong and is still unknown."""
    tries: Mapping[str, Any] = {} if work is None else work.tries
    cards = [str(number) for number, card in enumerate(lesson.plan.cards, 1) if card.question is not None]
    unknown = [card for card in cards if card in tries and not tries[card][2]]
    return {
        "begun": work is not None,
        "done": work is not None and work.done is not None,
        "asked": len(cards),
        "answered": sum(card in tries for card in cards),
        "right": sum(tries[card][1] is True for card in cards if card in tries),
        "stuck": next(iter(unknown), "") if work is not None and work.done is None else "",
    }


def describe_room(room: Room) -> dict[str, Any]:
    """The table of an assignment: a row for each student, and the first tries by question, the hardest first."""
    found, works = list_lessons(room), _list_works(room)
    students = []
    for student in rooms.present(room):
        cells = [describe_work(lesson, works.get((student.pk, lesson.slug))) for lesson in found]
        row = {"student": student, "cells": cells, "done": sum(cell["done"] for cell in cells)}
        students.append({**row, **{word: sum(cell[word] for cell in cells) for word in ("right", "answered")}})
    return {"lessons": found, "students": students, "questions": _rank_questions(found, works)}


def _list_works(room: Room) -> dict[tuple[int, str], Work]:
    works = Work.objects.filter(student__room=room, student__removed=None)
    return {(work.student_id, work.slug): work for work in works}


def _rank_questions(found: list[Lesson], works: Mapping[tuple[int, str], Work]) -> list[dict[str, Any]]:
    """Return the questions with answers, by their share of right first tries."""
    rows = []
    for lesson in found:
        tries = [work.tries for (_student, slug), work in works.items() if slug == lesson.slug]
        for number, card in enumerate(lesson.plan.cards, 1):
            first = [each[str(number)][1] for each in tries if str(number) in each]
            if first:
                right = sum(each is True for each in first)
                ask = {language: words.cards[card.id].ask for language, words in lesson.words.items()}
                rows.append({"lesson": lesson, "card": number, "ask": ask, "right": right, "answered": len(first)})
    return sorted(rows, key=lambda row: row["right"] / row["answered"])


def list_rows(room: Room, language: str) -> Iterator[tuple[str, int, str, Student, list[Any] | None, Work | None]]:
    """Each question for each student: lesson, card, question, student, its tries, and the work."""
    found, works = list_lessons(room), _list_works(room)
    for student in rooms.present(room):
        for lesson in found:
            words = lesson.words.get(language) or next(iter(lesson.words.values()))
            work = works.get((student.pk, lesson.slug))
            for number, card in enumerate(lesson.plan.cards, 1):
                if card.question is not None:
                    tried = None if work is None else work.tries.get(str(number))
                    yield words.title, number, words.cards[card.id].ask.replace("`", ""), student, tried, work
