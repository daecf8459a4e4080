"""A lesson's address: a page that describes it, and starts it by POST alone; and the page of the lessons by document."""

import pytest
from django.conf import settings

from playground.lessons import LANGUAGES, find_playthrough, read_lessons
from playground.lessons.reading import read_documents
from playground.models import Session

pytestmark = pytest.mark.django_db(transaction=True)


async def test_an_address_describes_the_lesson_and_makes_no_session(async_client):
    page = await async_client.get("/l/taints/?variant=17&lang=zh-hans&card=3")
    text = page.content.decode()
    assert page.status_code == 200 and 'value="17"' in text and 'value="3"' in text
    assert "污点" in text and "taint-and-toleration/" in text
    assert await Session.objects.acount() == 0


async def test_a_lesson_begins_at_the_card_and_in_the_language_of_its_address(async_client):
    started = await async_client.post("/l/first-placement/", {"card": "4", "lang": "zh-hans"})
    assert started.status_code == 302 and started.cookies[settings.LANGUAGE_COOKIE_NAME].value == "zh-hans"
    session = await Session.objects.aget()
    assert (session.story, session.head) == (
        "first-placement",
        find_playthrough("first-placement", 0).positions["score"],
    )


async def test_offers_before_the_card_are_taken_and_a_variant_is_drawn(async_client):
    started = await async_client.post("/l/taints/", {"card": "6", "variant": "17"})
    assert started.status_code == 302
    page = (await async_client.get(started.url)).content.decode()
    assert 'data-card="6"' in page and "17" in page


@pytest.mark.parametrize(
    ("address", "status"), [("/l/nowhere/", 404), ("/l/taints/?card=9", 400), ("/l/taints/?card=x", 400)]
)
async def test_an_address_that_leads_nowhere_says_so(async_client, address, status):
    assert (await async_client.get(address)).status_code == status


async def test_each_lesson_names_a_document_that_it_plays(async_client):
    slugs = {lesson.slug for lesson in read_lessons()}
    assert {slug for document in read_documents() for slug in document["lessons"]} == slugs
    assert all(set(document["title"]) == set(LANGUAGES) for document in read_documents())
    page = (await async_client.get("/lessons/documents/")).content.decode()
    assert all(f"/l/{slug}/" in page for slug in slugs)
