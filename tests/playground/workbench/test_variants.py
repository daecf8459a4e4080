"""A variant of a lesson, from the button that starts it; the session keeps it."""

import pytest
from django.conf import settings
from django.test import Client

from playground.lessons.authoring import check, files_in
from playground.lessons.own import hand
from playground.lessons.reading import CONTENT
from playground.models import LessonDocument, OwnLesson, Session
from playground.sessions.database import lessons
from tests.playground.workbench.conftest import page_text


@pytest.fixture
def begun(transactional_db):
    def begin(**fields):
        browser = Client()
        answer = browser.post("/variant", fields)
        return browser, answer

    return begin


def panel(browser, session):
    return page_text(browser.get(f"/s/{session.edit_key}/panel/story"))


def drawn(session):
    return hand(lessons.document(session.story)).lesson.drawn


def test_a_variant_is_drawn_and_stays_with_its_session_and_forks(begun):
    browser, answer = begun(lesson="bin-packing", variant="5")
    assert answer.status_code == 302, page_text(answer)
    session = Session.objects.latest("pk")
    assert session.name == "Two ways to pack, variant 5"
    values = drawn(session)
    before = panel(browser, session)
    assert "variant 5" in before
    assert f"Both nodes have {values['size']} cpu" in before
    assert f"requested on {values['fuller']}" in before
    browser.post(f"/s/{session.edit_key}/fork")
    fork = Session.objects.latest("pk")
    assert fork.pk != session.pk
    assert fork.story == session.story
    assert panel(browser, fork) == before


def test_the_same_number_is_the_same_variant_for_everybody(begun):
    for _somebody in range(2):
        begun(lesson="bin-packing", variant="5")
    assert len(set(Session.objects.values_list("story", flat=True))) == 1
    assert LessonDocument.objects.count() == 1


def test_another_variant_starts_from_a_session_and_leaves_it_as_it_is(begun):
    browser, _answer = begun(lesson="bin-packing", variant="5")
    first = Session.objects.latest("pk")
    before = panel(browser, first)
    answer = browser.post(f"/s/{first.view_key}/lesson/variant", {"variant": "6"})
    assert answer.status_code == 302, page_text(answer)
    second = Session.objects.latest("pk")
    assert drawn(second) != drawn(first)
    assert panel(browser, first) == before


def test_a_question_of_a_variant_is_judged_by_its_own_key(begun):
    browser, _answer = begun(lesson="bin-packing", variant="5")
    session = Session.objects.latest("pk")
    key = hand(lessons.document(session.story)).keys["begin"]
    browser.post(f"/s/{session.edit_key}/step", {"grain": "call"})
    right = browser.post(f"/s/{session.edit_key}/lesson/1", {"answer": str(key)})
    wrong = browser.post(f"/s/{session.edit_key}/lesson/1", {"answer": str(key + 9), "tried": "1"})
    values = drawn(session)
    assert f"{values['together']} of {values['size']}" in page_text(right)
    assert f"It is {key}: {values['used']} and" in page_text(wrong)


@pytest.mark.parametrize("fields", [{"lesson": "nowhere"}, {"lesson": "spread-or-pack"}, {}])
def test_a_lesson_without_variants_is_refused(begun, fields):
    _browser, answer = begun(**fields)
    assert "This lesson has no variants" in page_text(answer)
    assert not Session.objects.exists()


@pytest.mark.parametrize("variant", ["0", "10000", "-1", "one", "1.5"])
def test_a_number_of_a_variant_that_can_not_be_is_refused(begun, variant):
    _browser, answer = begun(lesson="bin-packing", variant=variant)
    assert f"The variant “{variant}” is not a whole number from 1 to 9999." in page_text(answer)
    assert not Session.objects.exists()


def test_a_lesson_of_ones_own_has_variants_for_whoever_has_its_link(transactional_db):
    files = files_in(CONTENT / "last-port")
    lesson = lessons.create(files, "somebody")
    lessons.keep(lesson.pk, files, check(files, settings.MAX_OBJECTS))
    link = f"/lesson/{OwnLesson.objects.get().key}/"
    browser = Client()
    assert "Start with other numbers" in page_text(browser.get(link))
    answer = browser.post(link + "variant", {"variant": "5"})
    assert answer.status_code == 302, page_text(answer)
    session = Session.objects.latest("pk")
    values = drawn(session)
    browser.post(f"/s/{session.edit_key}/step", {"grain": "call"})
    assert f"{values['nodes']} large nodes and {values['pods']} small pods" in panel(browser, session)


def test_a_teacher_opens_a_room_from_a_variant_and_asks_its_questions(begun):
    browser, _answer = begun(lesson="bin-packing", variant="5")
    session = Session.objects.latest("pk")
    room = browser.post(f"/s/{session.edit_key}/room")["Location"]
    assert browser.get(room).context["lesson"] is True
