"""A lesson of one's own, from a session to a link that starts it, in a browser without scripts."""

import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
import yaml
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from playground.lessons import read_lessons
from playground.lessons.authoring import LessonFiles, anchor_and_check, check, pack_folder
from playground.models import LessonDocument, OwnLesson, Session
from playground.sessions.database import lessons
from playground.sessions.web import client
from playground.views.lessons import course, making
from tests.playground.test_authoring import PLAN, WORDS
from tests.playground.workbench.conftest import page_text


class Author:
    """Somebody who writes a lesson, and what the page shows."""

    def __init__(self, browser, response):
        assert response.status_code == 302, page_text(response)
        self.browser, self.url = browser, response["Location"].split("?")[0]
        self.lesson = OwnLesson.objects.latest("pk")
        self.base = self.url.removesuffix("edit")

    def page(self):
        return page_text(self.browser.get(self.url))

    def fields(self):
        html = self.browser.get(self.url).content.decode()
        names = re.findall(r'name="((?:title|summary|sum_up|[\w-]+\.(?:text|ask|right|wrong|do)))"', html)
        return {name: f"Words of {name}" for name in dict.fromkeys(names)}

    def save(self, **more):
        sent = {**self.fields(), **more}
        return self.browser.post(self.url, sent)

    def moment(self, words):
        html = self.browser.get(self.url).content.decode()
        buttons = re.findall(r'name="add" value="(\d+)".*?</button>', html, re.DOTALL)
        texts = re.findall(r'(?s)name="add" value="\d+".*?<span>(.*?)</span>', html)
        return next(b for b, text in zip(buttons, texts, strict=True) if words in text)

    @property
    def plan(self):
        self.lesson.refresh_from_db()
        return yaml.safe_load(self.lesson.plan)


@pytest.fixture(autouse=True)
def checked_here(monkeypatch):
    """A check needs no process of its own, but where it is what is tested."""

    async def check_lesson(files, author, move=False):
        return (anchor_and_check if move else check)(files, settings.MAX_OBJECTS)

    monkeypatch.setattr(course, "check_lesson", check_lesson)
    monkeypatch.setattr(making, "check_lesson", check_lesson)


@pytest.fixture
def author(visitor):
    made = visitor("cluster:small")
    return Author(made.browser, made.post("make-lesson"))


@pytest.fixture
def given(transactional_db):
    def open_files(plan=PLAN, words=WORDS):
        browser = Client()
        data = pack_folder("given", LessonFiles(plan, {"en": words}))
        return browser.post("/lesson/new", {"file": SimpleUploadedFile("given.zip", data)})

    return open_files


@pytest.mark.usefixtures("transactional_db")
async def test_a_check_in_a_process_of_its_own_finds_the_same():
    files = LessonFiles(PLAN, {"en": WORDS})
    assert await client.check_lesson(files, "somebody") == check(files, settings.MAX_OBJECTS)


def test_a_session_becomes_a_lesson_of_its_own_world(author):
    page = author.page()
    assert "Playable to the end" in page
    assert "The scheduler starts an attempt for web-1" in page
    assert len(author.plan["cards"]) == 1


def test_a_card_is_made_for_a_moment_and_its_question_gets_its_words(author):
    author.save(add=author.moment("web-1 is scheduled to"))
    cards = author.plan["cards"]
    assert cards[1]["when"] == {"pod": "web-1", "outcome": "scheduled"}
    asks = json.dumps({"answer": {"node_of": "web-1"}, "kind": "node"}, sort_keys=True, separators=(",", ":"))
    author.save(**{"begin.question": asks})
    assert author.plan["cards"][0]["question"] == {"kind": "node", "answer": {"node_of": "web-1"}}
    words = yaml.safe_load(author.lesson.english)["cards"]["begin"]
    assert words["ask"] == "Which node will the scheduler choose for web-1?"
    assert words["wrong"].startswith("The engine says: {answer}. `node-1`: ")  # the totals, as a draft


def test_what_is_wrong_is_said_at_its_card(author):
    author.save(add=author.moment("web-1 is scheduled to"))
    page = author.page()
    assert "1 problem to fix" in page
    assert "Card 2 Write a text for this card." in page


def test_a_preview_shows_what_is_written_by_the_learners_template_and_keeps_nothing(author):
    sent = {**author.fields(), "begin.text": "Look at `node-1` <script>.", "goal": ""}
    shown = author.browser.post(f"{author.base}preview/begin", sent)
    assert shown.status_code == 200
    assert "<code>node-1</code> &lt;script&gt;." in shown.content.decode()
    assert 'id="panel-story"' in shown.content.decode()
    assert "node-1" not in yaml.safe_load(author.lesson.english)["cards"]["begin"]["text"]
    assert author.browser.post(f"{author.base}preview/nobody", sent).content == b""
    assert author.browser.post(f"/lesson/{author.lesson.key}/preview/begin", sent).status_code == 403


def test_a_card_goes_with_its_words(author):
    author.save(add=author.moment("web-1 is scheduled to"))
    author.save(remove=author.plan["cards"][1]["id"])
    assert [card["id"] for card in author.plan["cards"]] == ["begin"]


def test_anybody_starts_it_by_its_link_and_nobody_changes_it_by_that(author):
    author.save(add=author.moment("web-1 is scheduled to"))
    author.save()
    link = f"/lesson/{author.lesson.key}/"
    learner = Client()
    assert "Start the lesson" in page_text(learner.get(link))
    started = learner.post(link)
    session = Session.objects.latest("pk")
    assert started["Location"] == f"/s/{session.edit_key}/"
    studio = page_text(learner.get(started["Location"]))
    assert "Words of begin.text" in studio
    for page in ("edit", "files", "lesson.zip"):
        assert learner.get(link + page).status_code == 403
    assert learner.post(link + "delete").status_code == 403


def test_learners_keep_the_version_that_they_began(author):
    author.save()
    learner = Client()
    started = learner.post(f"/lesson/{author.lesson.key}/")
    author.save(**{"begin.text": "Other words."})
    author.browser.post(author.base + "delete")
    assert "Words of begin.text" in page_text(learner.get(started["Location"]))


def test_a_lesson_with_something_wrong_gives_learners_the_version_before(author):
    author.save()
    author.lesson.refresh_from_db()
    before = author.lesson.document
    author.save(**{"begin.text": ""})
    author.lesson.refresh_from_db()
    assert before
    assert author.lesson.document == before


def test_a_try_is_the_lesson_as_it_is_written_now(author):
    tried = author.save(goes="try")
    assert "Words of begin.text" in page_text(author.browser.get(tried["Location"]))
    assert Session.objects.latest("pk").name == "Try: Words of title"


def test_the_folder_comes_back_the_same(author, given):
    author.save(add=author.moment("web-1 is scheduled to"))
    author.save()
    data = author.browser.get(author.base + "lesson.zip").content
    assert {name.rpartition("/")[2] for name in zipfile.ZipFile(io.BytesIO(data)).namelist()} == {
        "lesson.yaml",
        "en.yaml",
    }
    author.browser.post("/lesson/new", {"file": SimpleUploadedFile("mine.zip", data)})
    again = OwnLesson.objects.latest("pk")
    author.lesson.refresh_from_db()
    assert again.pk != author.lesson.pk
    assert lessons.files_of(again) == lessons.files_of(author.lesson)


def test_files_that_can_not_be_read_are_kept_and_shown_with_their_line(given):
    made = given(PLAN.replace("minutes: 3", "minutes: soon"))
    browser = Client()
    files = browser.get(made["Location"])["Location"]
    page = page_text(browser.get(files))
    assert "lesson.yaml, line 2" in page
    browser.post(files, {"plan": PLAN, "en": WORDS})
    assert "Playable to the end" in page_text(browser.get(files))


def test_no_folder_makes_no_lesson(transactional_db):
    answer = Client().post("/lesson/new", {"file": SimpleUploadedFile("a.txt", b"nothing")})
    assert answer.status_code == 400
    assert "there is no lesson.yaml in it" in page_text(answer)
    assert Client().post("/lesson/new", {"copy": "../../etc"}).status_code == 400
    assert not OwnLesson.objects.exists()


def test_too_large_a_folder_is_refused(given, settings):
    settings.MAX_LESSON_BYTES = 100
    assert given().status_code == 400


def test_only_so_many_are_kept_of_one_client(given, settings):
    settings.MAX_LESSONS_PER_CLIENT = 1
    assert given().status_code == 302
    assert "which is the limit" in page_text(given())


def test_a_copy_of_a_lesson_is_whole_in_both_languages(transactional_db):
    browser = Client()
    copy = Author(browser, browser.post("/lesson/new", {"copy": "gate"}))
    assert "Playable to the end" in copy.page()
    assert (
        "带调度门控的 Pod" in page_text(browser.get(copy.url + "?words=zh-hans"))
        or "被门控" in browser.get(copy.url + "?words=zh-hans").content.decode()
    )


def test_the_words_that_there_are_come_first_whatever_the_page_speaks(author):
    author.save()
    page = author.browser.get(author.url, headers={"accept-language": "zh-hans"}).content.decode()
    assert "Words of begin.text" in page
    assert "文字" in page


def test_words_in_another_language_are_asked_for_card_by_card(author):
    author.save()
    answer = author.save(goes="zh-hans")
    assert answer["Location"].endswith("?words=zh-hans")
    author.browser.post(author.url, {"words": "zh-hans", "title": "三个节点", "begin.text": "看。"})
    author.lesson.refresh_from_db()
    assert yaml.safe_load(author.lesson.chinese)["title"] == "三个节点"
    assert "Playable to the end" in author.page()


def test_what_nobody_uses_goes_and_what_sessions_have_stays(author):
    author.save()
    Client().post(f"/lesson/{author.lesson.key}/")
    author.save(**{"begin.text": "Other words."})
    assert LessonDocument.objects.count() >= 2
    lessons.drop_unused(timezone.now() + timedelta(days=1))
    assert not OwnLesson.objects.exists()
    assert list(LessonDocument.objects.values_list("slug", flat=True)) == [Session.objects.latest("pk").story]


def test_there_is_a_lesson_to_copy_in_each_track(transactional_db):
    html = Client().get("/lesson/").content.decode()
    assert all(f'value="{lesson.slug}"' in html for lesson in read_lessons())
