"""Answers to a lesson's questions: judged in the worker, by a key that no page is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from playground.lessons import Question, beginning, find_playthrough, read_lessons
from playground.lessons.checking import wrong_answer
from playground.lessons.judging import as_text
from playground.models import Session
from playground.presenters import Look
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import JudgeAnswer, OpenQuestion
from playground.sessions.web.client import SessionClient, create_session

SLUG = "gate"
LESSON = {lesson.slug: lesson for lesson in read_lessons()}[SLUG]
PLAYED = find_playthrough(SLUG, 0)


@pytest.fixture
def learner(transactional_db: Any) -> Iterator[SessionClient]:
    """Somebody who has come to the lesson's second card."""
    make = async_to_sync(create_session)
    session: Session = make("lesson", story=SLUG, commands=beginning(LESSON.plan))
    assert PLAYED is not None
    client = SessionClient(session, "edit")
    async_to_sync(client.walk)(PLAYED.positions[LESSON.plan.cards[0].id] - async_to_sync(client.head)())
    yield client
    async_to_sync(client.delete)()


def first() -> tuple[Question, Any, tuple[str, ...], tuple[str, ...]]:
    """The question of the first card, its key, a right answer, and a wrong one."""
    assert PLAYED is not None
    card, question = LESSON.plan.cards[0].id, LESSON.plan.cards[0].question
    assert question is not None
    key = PLAYED.keys[card]
    right = key if isinstance(key, tuple) else (as_text(key),)
    return question, key, right, wrong_answer(question, key, PLAYED.options[card])


def judge(client: SessionClient, given: list[str] | None, card: int = 1) -> Any:
    return async_to_sync(client.ask)(JudgeAnswer(card=card, given=given))


def test_the_worker_judges_by_the_lessons_key(learner: SessionClient) -> None:
    _question, _key, right, wrong = first()
    good, bad, told = judge(learner, list(right)), judge(learner, list(wrong)), judge(learner, None)
    assert (good.right, bad.right, told.right) == (True, False, None)
    assert set(good.words) == {"en", "zh-hans"}
    assert good.words != bad.words == told.words
    assert not hasattr(good, "key")


def test_a_panel_and_a_page_hold_no_key(learner: SessionClient) -> None:
    shown, _head = async_to_sync(learner.view)(Look(), ["story"])
    context = shown.panels["story"].context
    assert set(context["latest"]["question"]) == {"kind", "options", "places"}
    right = LESSON.words["en"].cards[LESSON.plan.cards[0].id].right
    assert right.split("{")[0].strip() not in orjson.dumps(context).decode()


def test_an_answer_is_shown_on_its_page(learner: SessionClient) -> None:
    _question, _key, right, wrong = first()
    address = f"/s/{learner.key}/lesson/1"
    page = Client().post(address, {"answer": list(right)}).content.decode()
    assert 'class="verdict right"' in page
    page = Client().post(address, {"answer": list(wrong)}).content.decode()
    assert 'class="verdict wrong"' in page
    assert "Your answer:" in page
    assert "show" not in page
    page = Client().post(address, {"show": "1"}).content.decode()
    assert 'class="verdict wrong"' in page
    assert "data-shown" in page
    assert "Your answer:" not in page


def test_a_teacher_gets_the_question_with_its_key(learner: SessionClient) -> None:
    question, key, _right, _wrong = first()
    found = async_to_sync(learner.ask)(OpenQuestion())
    assert found is not None
    assert (found.kind, found.key) == (question.kind, list(key) if isinstance(key, tuple) else as_text(key))
    assert set(found.words["en"]) == {"text", "ask", "right", "wrong"}


@pytest.mark.parametrize(
    ("card", "given", "said"),
    [(9, ["a"], "has not reached card 9"), (1, [], "Choose an answer first"), (0, None, "has not reached card 0")],
)
def test_what_can_not_be_judged_is_an_error(
    learner: SessionClient, card: int, given: list[str] | None, said: str
) -> None:
    with pytest.raises(SessionError, match=said):
        judge(learner, given, card)


def test_a_session_without_a_lesson_asks_nothing(transactional_db: Any) -> None:
    client = SessionClient(async_to_sync(create_session)("plain"), "edit")
    with pytest.raises(SessionError, match="no lesson"):
        judge(client, ["a"])
    async_to_sync(client.delete)()
