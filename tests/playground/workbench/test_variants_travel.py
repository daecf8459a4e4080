"""A variant of a lesson in everything that its session can be taken along in: it stays the same one."""

import asyncio
import base64
import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import AsyncClient, Client
from jsonschema import Draft202012Validator

from playground.lessons.own import hand
from playground.models import LessonDocument, Session, ViewLink
from playground.sessions.database import lessons
from scheduler_core.formats.export import json_schema
from tests.playground.workbench.conftest import Visitor, page_text
from tests.playground.workbench.test_downloads import body


class Learner(Visitor):
    """Somebody with a variant, stepped to the end of its first attempt."""

    def __init__(self):
        self.browser = Client()
        answer = self.browser.post("/variant", {"lesson": "bin-packing", "variant": "5"})
        assert answer.status_code == 302, page_text(answer)
        self.session = Session.objects.latest("pk")
        self.url = f"/s/{self.session.edit_key}/"
        self.view_url = f"/s/{self.session.view_key}/"
        self.ask(lambda client: client.walk(40))

    @property
    def drawn(self):
        return hand(lessons.document(self.session.story)).lesson.drawn


def panel(session, browser=None):
    return page_text((browser or Client()).get(f"/s/{session.view_key}/panel/story"))


def told(session):
    """What the lesson says, from its title on."""
    return re.sub(r"\s+", " ", panel(session).partition("Two ways to pack")[2])


@pytest.fixture
def learner(transactional_db):
    return Learner()


def trace_of(learner):
    async def read():  # on one loop, as a server does: the view's has to be there until the last part
        answer = await AsyncClient().get(f"{learner.url}export.jsonl")
        return b"".join([part async for part in answer.streaming_content])

    return asyncio.run(read())


def brought(trace):
    """What the page says of an imported trace, and the session that it made."""
    file = SimpleUploadedFile("variant.jsonl", trace)
    page = page_text(Client().post("/import-trace", {"file": file}))
    return page, Session.objects.latest("pk")


def test_a_trace_names_the_variant_and_its_session_here_has_the_same_one(learner):
    trace = trace_of(learner)
    header = json.loads(trace.split(b"\n")[0])
    assert header["lesson"] == {"story": learner.session.story, "origin": "bin-packing", "variant": "5"}
    Draft202012Validator(json_schema()).validate(header)
    page, session = brought(trace)
    assert "Trace verified" in page and "this session has the same one" in page
    assert session.pk != learner.session.pk and session.story == learner.session.story
    assert told(session) == told(learner.session) != ""


def test_a_server_that_has_never_seen_the_variant_draws_the_very_same_one(learner):
    trace, before = trace_of(learner), told(learner.session)
    LessonDocument.objects.all().delete()
    page, session = brought(trace)
    assert "this session has the same one" in page
    assert (session.story, session.head) == (learner.session.story, learner.head())
    assert told(session) == before


@pytest.mark.parametrize(
    "lesson",
    [
        {"story": "own:0", "origin": "bin-packing", "variant": "5"},
        {"story": "own:0", "origin": "nowhere", "variant": "5"},
        {"story": "own:0"},
        {"story": "nowhere"},
    ],
)
def test_a_lesson_that_is_not_the_very_same_is_left_out_and_that_is_said(learner, lesson):
    first, _, rest = trace_of(learner).partition(b"\n")
    page, session = brought(json.dumps({**json.loads(first), "lesson": lesson}).encode() + b"\n" + rest)
    assert "a lesson that this server does not have" in page
    assert session.story == ""
    assert Client().get(f"/s/{session.edit_key}/").status_code == 200


@pytest.mark.parametrize("lesson", [None, "own", 3, {"story": 1}, []])
def test_a_header_that_names_no_lesson_is_read_as_one_without(learner, lesson):
    first, _, rest = trace_of(learner).partition(b"\n")
    page, session = brought(json.dumps({**json.loads(first), "lesson": lesson}).encode() + b"\n" + rest)
    assert "Trace verified" in page and "The session of the trace has a lesson" not in page
    assert session.story == ""


def test_a_lesson_as_it_is_written_goes_with_its_trace_and_an_empty_session_has_none(visitor):
    begun = visitor("story:gate")
    begun.ask(lambda client: client.walk(20))
    _page, session = brought(trace_of(begun))
    assert session.story == "gate"
    assert panel(session) == panel(begun.session)
    assert "lesson" not in json.loads(trace_of(visitor("empty")).split(b"\n")[0])


def test_the_command_prints_the_trace_with_its_variant_and_takes_it_from_a_file(learner, tmp_path):
    out = io.StringIO()
    call_command("export", learner.session.edit_key, "--format", "jsonl", stdout=out)
    printed, exported = out.getvalue().splitlines(), trace_of(learner).decode().splitlines()
    assert printed[1:] == exported[1:]
    assert {**json.loads(printed[0]), "created": ""} == {**json.loads(exported[0]), "created": ""}
    file = Path(tmp_path / "trace.jsonl")
    file.write_text(out.getvalue())
    again = io.StringIO()
    call_command("export", str(file), "--format", "jsonl", stdout=again)
    assert again.getvalue() == out.getvalue()


def test_the_offline_replay_shows_the_variants_own_world(learner):
    page = body(learner.get("replay.html")).decode()
    assert "variant 5" in page
    packed = re.search(r'id="film"[^>]*>([^<]+)<', page)[1]
    film = gzip.decompress(base64.b64decode(packed)).decode()
    for name in ("fuller", "emptier"):
        if name in learner.drawn:
            assert learner.drawn[name] in film
    assert learner.drawn["fuller"] in film


def test_spans_and_tables_name_the_variants_own_nodes_and_pods(learner):
    nodes = set(learner.objects("Node"))
    assert learner.drawn["fuller"] in nodes
    rows = list(csv.DictReader(io.StringIO(body(learner.get("table.csv", table="nodes")).decode())))
    assert {row["name"] for row in rows} == nodes
    attempts = list(csv.DictReader(io.StringIO(body(learner.get("table.csv", table="attempts")).decode())))
    assert attempts and attempts[0]["node"] in nodes
    events = json.loads(body(learner.get("chrome.json")))["traceEvents"]
    assert f"Scheduling {attempts[0]['pod']}" in {event.get("name") for event in events}
    spans = body(learner.get("otlp.json")).decode()
    assert json.loads(spans)["resourceSpans"] and attempts[0]["pod"] in spans


def test_a_fork_and_a_view_link_have_the_same_variant(learner):
    before = told(learner.session)
    learner.post("fork")
    fork = Session.objects.latest("pk")
    assert fork.pk != learner.session.pk and told(fork) == before
    learner.post("links", term="day")
    link = ViewLink.objects.latest("pk")
    stranger = Client()
    assert before[:200] in re.sub(r"\s+", " ", page_text(stranger.get(f"/s/{link.key}/panel/story")))
    stranger.post(f"/s/{link.key}/fork")
    taken = Session.objects.latest("pk")
    assert taken.pk != fork.pk and taken.story == learner.session.story
