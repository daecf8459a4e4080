"""The complete state of a room's screens, read from the database, and sent to (re)connecting pages and after each change.

All students get the same message; each student's own state is sent beside it.
"""

from dataclasses import dataclass
from typing import Any

from playground.classroom import polls, rooms
from playground.models import Answer, Poll, Room, Student


@dataclass(frozen=True)
class Board:
    """`poll` is the question on the screens, `students` their message, and `common` the fields that it shares with the teacher's
    (docs/classroom.md).
    """

    room: Room
    poll: Poll | None
    students: dict[str, Any]
    common: dict[str, Any]


def board_of(room_id: int) -> Board | None:
    """Read the part that students wait for; None where the room was removed."""
    room = Room.objects.select_related("session", "shown__fork").filter(pk=room_id).first()
    if room is None:
        return None
    poll = polls.current(room_id)
    counts = [] if poll is None else polls.counts(poll)
    asked = None if poll is None else _describe_poll(poll, counts)
    results = {} if poll is None else _describe_results(poll, counts)
    # Students get neither key nor counts until they are revealed; how many have answered would be sent for each answer.
    revealed = poll is not None and poll.state == Poll.State.REVEALED
    over, shown = rooms.is_over(room), _describe_shown_fork(room)
    students = {
        "type": "room",
        "name": room.session.name,
        "over": over,
        "session": room.session.view_key,
        "standing": room.standing,
        "shown": shown,
        "poll": asked and {**asked, **(results if revealed else {"answered": None})},
    }
    return Board(room, poll, students, {"over": over, "shown": shown, "poll": asked and {**asked, **results}})


def describe_desk(board: Board) -> dict[str, Any]:
    """Return the teacher's message. It takes longer, because it lists every student."""
    present = list(rooms.present(board.room).select_related("fork").order_by("pk"))
    return {
        "type": "board",
        **board.common,
        "joined": len(present),
        "joining": not board.room.locked,
        "students": _describe_students(present, board.poll),
        "hands": [_person(each) for each in sorted(_list_raised_hands(present), key=lambda each: each.hand)],  # type: ignore[arg-type,return-value]
        "forks": [
            {**_person(each), "key": each.fork.edit_key}
            for each in present
            if each.fork is not None and each.fork.deleted is None
        ],
    }


def yours(student: Student) -> dict[str, Any]:
    """Return one student's own data, sent on connecting and after changes."""
    fork = student.fork
    return {
        "type": "you",
        "name": student.name,
        "hand": student.hand is not None,
        "fork": fork.edit_key if fork is not None and fork.deleted is None else None,
        "answers": {
            str(number): given
            for number, given in student.answers.filter(poll__shown=True).values_list("poll__number", "given")
        },
    }


def _list_raised_hands(students: list[Student]) -> list[Student]:
    return [each for each in students if each.hand is not None]


def _person(student: Student) -> dict[str, Any]:
    return {"id": student.pk, "name": student.name}


STUCK = 3  # wrong answers one after another


def _describe_students(present: list[Student], poll: Poll | None) -> list[dict[str, Any]]:
    """Return each student with the number of right answers so far, and whether this question is answered.

    Its own answers count once it is revealed: a projector may show the desk.
    """
    given: dict[int, list[bool | None]] = {}
    rows = Answer.objects.filter(student__in=present, right__isnull=False).order_by("poll__number")
    if poll is not None and poll.state != Poll.State.REVEALED:
        rows = rows.exclude(poll=poll)
    for student, right in rows.values_list("student_id", "right"):
        given.setdefault(student, []).append(bool(right))
    answered = set() if poll is None else set(poll.answers.values_list("student_id", flat=True))
    return [
        {
            **_person(each),
            "answered": each.pk in answered,
            "right": sum(given.get(each.pk, ())),
            "asked": len(given.get(each.pk, ())),
            "hand": each.hand is not None,
            "stuck": len(last := given.get(each.pk, ())[-STUCK:]) == STUCK and not any(last),
        }
        for each in present
    ]


def _describe_shown_fork(room: Room) -> dict[str, Any] | None:
    student = room.shown
    fork = None if student is None else student.fork
    if student is None or fork is None or fork.deleted is not None:
        return None
    return {"key": fork.view_key, "name": student.name, "id": student.pk}


def _describe_poll(poll: Poll, counts: polls.Counts) -> dict[str, Any]:
    return {
        "number": poll.number,
        "kind": poll.kind,
        "state": poll.state,
        "ask": {language: words.get("ask", "") for language, words in poll.words.items()},
        "situation": {language: words.get("text", "") for language, words in poll.words.items()},
        "options": poll.options,
        "places": len(poll.key) if poll.kind == "order" and isinstance(poll.key, list) else 0,
        "answered": sum(count for _given, count, _right in counts),
    }


def _describe_results(poll: Poll, counts: polls.Counts) -> dict[str, Any]:
    groups: dict[str, dict[str, Any]] = {}
    for given, count, right in counts:
        reason = poll.reasons.get(given)
        if right is False and reason is not None:
            label = f"{reason['why']} {reason.get('text', '')}"
            group = groups.setdefault(
                label, {"why": reason["why"], "text": reason.get("text", ""), "count": 0, "given": []}
            )
            group["count"] += count
            group["given"].append(given)
    return {
        "counts": [[given, count, right] for given, count, right in counts],
        "key": poll.key,
        "groups": sorted(groups.values(), key=lambda group: -int(group["count"])),
        "said": {
            language: {word: text for word, text in words.items() if word in ("right", "wrong")}
            for language, words in poll.words.items()
        },
    }
