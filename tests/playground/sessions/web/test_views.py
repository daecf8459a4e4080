"""The studio's page and its forms, which do without a socket what a socket does."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from django.urls import reverse

from playground.models import LogEntry, Session
from playground.presenters import PANELS
from playground.presenters.look import TABS
from playground.sessions.protocol.looking import Objects, ObjectYaml
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.live import LiveSession
from playground.sessions.web.runtime import runtime
from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from tests.playground.sessions.worlds import applying, cluster, pod

pytestmark = pytest.mark.django_db(transaction=True)

ACTIONS = ["step", "play", "run", "pause", "undo", "redo", "rename", "delete"]


@pytest.fixture
def browser() -> AsyncClient:
    return AsyncClient()


def url(page: str, session: Session, access: str = "edit_key", **more: Any) -> str:
    return reverse(page, kwargs={"key": getattr(session, access), **more})


async def body(response: Any) -> bytes:
    if response.streaming:
        return b"".join([part async for part in response.streaming_content])
    content: bytes = response.content
    return content


async def names(client: SessionClient, kind: str | None = None) -> list[str]:
    return [listed.name for listed in await client.ask(Objects(kind=kind))]


async def head(session: Session) -> int:
    await session.arefresh_from_db()
    return session.head


async def test_the_studio_shows_every_panel(browser: AsyncClient, session: Session) -> None:
    response = await browser.get(url("studio", session))
    page = response.content.decode()
    assert response.status_code == 200
    assert [name for name in PANELS if f'id="panel-{name}"' not in page] == []
    assert session.edit_key in page
    assert session.view_key in page


@pytest.mark.parametrize("tab", TABS)
async def test_every_tab_of_the_inspector_has_an_address(browser: AsyncClient, session: Session, tab: str) -> None:
    page = (await browser.get(url("studio", session), {"tab": tab})).content.decode()
    (current,) = re.findall(r'<a id="tab-([a-z]+)"[^>]* aria-current="page">', page)
    assert current == tab


async def test_a_view_link_does_not_tell_the_edit_link(browser: AsyncClient, session: Session) -> None:
    for name in ("studio", "nodes", "session", "objects", "export", "cluster", "cluster-yaml"):
        response = await browser.get(url(name, session, "view_key"))
        assert response.status_code == 200
        assert session.edit_key.encode() not in await body(response)


async def test_a_url_names_a_session_and_a_step(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("step", session), {"grain": "pod"})
    response = await browser.get(url("studio", session) + "?at=1")
    assert b'data-seen="1"' in response.content
    assert f'data-head="{await head(session)}"'.encode() in response.content


async def test_a_link_nobody_has_is_a_404(browser: AsyncClient, transactional_db: None) -> None:
    assert (await browser.get("/s/nobody/")).status_code == 404


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_view_link_is_told_that_it_may_not_edit(browser: AsyncClient, session: Session, action: str) -> None:
    response = await browser.post(url(action, session, "view_key"), {"name": "x", "rate": "5"})
    assert response.status_code == 403
    assert "only shows the session" in response.content.decode()
    assert (await head(session), await LogEntry.objects.acount(), session.name) == (1, 1, "Test")


@pytest.mark.parametrize("action", [*ACTIONS, "back", "goto", "fork", "duplicate"])
async def test_nothing_is_changed_by_following_a_link(browser: AsyncClient, session: Session, action: str) -> None:
    assert (await browser.get(url(action, session))).status_code == 405


async def test_forms_without_their_token_are_refused(session: Session) -> None:
    browser = AsyncClient(enforce_csrf_checks=True)
    assert (await browser.post(url("step", session), {"grain": "pod"})).status_code == 403
    assert await head(session) == 1


async def test_a_step_by_form_leads_to_the_studio(browser: AsyncClient, session: Session) -> None:
    response = await browser.post(url("step", session), {"grain": "point"})
    assert (response.status_code, response["Location"]) == (302, url("studio", session))
    assert await head(session) > 1


async def test_back_and_goto_by_form_name_the_position(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("step", session), {"grain": "pod"})
    at = await head(session)
    response = await browser.post(url("back", session), {"at": str(at), "grain": "call"})
    assert response["Location"] == url("studio", session) + f"?at={at - 1}"
    response = await browser.post(url("goto", session), {"at": "1"})
    assert response["Location"] == url("studio", session) + "?at=1"
    response = await browser.post(url("goto", session), {"at": ""})
    assert response["Location"] == url("studio", session)


async def test_a_step_by_form_in_the_past_goes_on_without_a_fork(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("step", session), {"grain": "pod"})
    before = await head(session)
    response = await browser.post(url("step", session), {"grain": "call", "at": "1"})
    assert response["Location"] == url("studio", session) + "?at=2"
    assert await head(session) == before


async def test_htmx_gets_what_changed(browser: AsyncClient, session: Session) -> None:
    response = await browser.post(url("step", session), {"grain": "call"}, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert 'hx-swap-oob="true"' in response.content.decode()


async def test_a_run_by_form_runs_to_the_end(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("run", session))
    await at_rest(await SessionClient.open(session.edit_key))
    assert await head(session) > 60


async def at_rest(client: SessionClient) -> None:
    """Wait until nothing drives the session any more."""

    async def finished(live: LiveSession) -> None:
        if live.driver is not None:
            await live.driver.finished()

    await client.on_loop(finished)


@pytest.mark.parametrize("rate", ["fast", "nan", "inf", "-1", "0", ""])
async def test_a_speed_that_makes_no_sense_is_refused(browser: AsyncClient, session: Session, rate: str) -> None:
    response = await browser.post(url("play", session), {"rate": rate})
    assert response.status_code == 400
    assert await head(session) == 1


async def test_a_form_tells_what_a_socket_would_have_been_told(browser: AsyncClient, transactional_db: None) -> None:
    empty = await create_session("Empty")
    response = await browser.post(url("step", empty), {"grain": "call"}, follow=True)
    assert "The simulation has nothing more to do." in response.content.decode()
    assert "The simulation has nothing more to do." not in (await browser.get(url("studio", empty))).content.decode()


async def test_a_search_by_form_tells_where_it_held(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    await browser.post(url("breakpoints", session), {"kind": "attempt_ended", "name": "decided"})
    response = await browser.post(url("search", session), {"direction": "back"}, follow=True)
    assert "“decided” was hit at step" in response.content.decode()


@pytest.mark.parametrize("grain", ["year", ""])
async def test_a_grain_that_makes_no_sense_is_refused(browser: AsyncClient, session: Session, grain: str) -> None:
    response = await browser.post(url("step", session), {"grain": grain})
    assert response.status_code == 400
    assert "must be one of call, plugin, point, pod, event" in response.content.decode()
    assert await head(session) == 1


async def test_undo_by_form_is_a_command(browser: AsyncClient, session: Session) -> None:
    client = await SessionClient.open(session.edit_key)
    await client.apply(applying(pod("new")))
    await browser.post(url("undo", session))
    assert await names(client, "Pod") == ["p0", "p1", "p2", "p3"]
    assert await head(session) == 3


async def test_undo_in_the_past_forks(browser: AsyncClient, session: Session) -> None:
    client = await SessionClient.open(session.edit_key)
    await client.apply(applying(pod("new")))
    response = await browser.post(url("undo", session), {"at": "1", "past": "fork"})
    fork = await Session.objects.exclude(pk=session.pk).aget()
    assert response["Location"] == reverse("studio", args=[fork.edit_key])
    assert (await head(session), fork.origin_position) == (2, 1)


async def test_a_session_can_be_renamed(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("rename", session), {"name": "  My   <b>cluster</b> "})
    await session.arefresh_from_db()
    assert session.name == "My <b>cluster</b>"
    assert b"<b>cluster" not in (await browser.get(url("studio", session))).content


@pytest.mark.parametrize("name", ["", "   ", "x" * 121])
async def test_a_name_that_is_empty_or_too_long_is_refused(browser: AsyncClient, session: Session, name: str) -> None:
    assert (await browser.post(url("rename", session), {"name": name})).status_code == 400
    await session.arefresh_from_db()
    assert session.name == "Test"


async def test_a_view_link_may_have_a_copy_of_its_own(browser: AsyncClient, session: Session) -> None:
    response = await browser.post(url("duplicate", session, "view_key"))
    copy = await Session.objects.exclude(pk=session.pk).aget()
    assert response["Location"] == reverse("studio", args=[copy.edit_key])
    assert (copy.name, copy.head) == ("Test (copy)", 1)


async def test_a_fork_begins_where_the_viewer_stands(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("step", session), {"grain": "pod"})
    await browser.post(url("fork", session), {"at": "4"})
    fork = await Session.objects.exclude(pk=session.pk).aget()
    assert (fork.head, fork.origin_id, fork.origin_position) == (4, session.pk, 4)


async def test_a_fork_shows_and_links_its_origin(browser: AsyncClient, session: Session) -> None:
    await browser.post(url("fork", session), {"at": "1"})
    fork = await Session.objects.exclude(pk=session.pk).aget()
    studio = (await browser.get(url("studio", fork))).content.decode()
    assert f'title="Fork of {session.name} at step 1"' in studio
    page = (await browser.get(url("branches", fork))).content.decode()
    assert f'href="{url("studio", session, "view_key")}?at=1"' in page
    assert session.edit_key not in studio + page


async def test_a_step_beyond_the_head_follows_the_head(browser: AsyncClient, session: Session) -> None:
    page = (await browser.get(url("studio", session) + "?at=99999999")).content.decode()
    assert 'id="standing" hidden' in page


async def test_an_address_that_leads_nowhere_says_so_and_leads_home(browser: AsyncClient) -> None:
    response = await browser.get("/nope")
    assert response.status_code == 404
    assert "Nothing exists at this address." in response.content.decode()
    assert 'href="/"' in response.content.decode()


async def test_a_deleted_session_is_a_404(browser: AsyncClient, session: Session) -> None:
    assert (await browser.post(url("delete", session)))["Location"] == "/"
    assert (await browser.get(url("studio", session))).status_code == 404
    assert (await browser.get(url("studio", session, "view_key"))).status_code == 404


async def test_the_nodes_names_come_once_in_the_maps_order(browser: AsyncClient, session: Session) -> None:
    response = await browser.get(url("nodes", session))
    assert response.json() == {"names": ["n0", "n1", "n2"]}


async def test_one_panel_can_be_had_alone(browser: AsyncClient, session: Session) -> None:
    response = await browser.get(url("panel", session, name="queues"))
    assert b'id="panel-queues"' in response.content
    assert b"<html" not in response.content
    assert (await browser.get(url("panel", session, name="nothing"))).status_code == 400


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("Content-Security-Policy", "script-src 'self'"),
        ("Content-Security-Policy", "frame-ancestors 'self'"),  # a classroom's desk has the studio in a frame
        ("X-Frame-Options", "SAMEORIGIN"),
        ("Referrer-Policy", "same-origin"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ],
)
async def test_pages_are_guarded(browser: AsyncClient, session: Session, header: str, part: str) -> None:
    response = await browser.get(url("studio", session))
    assert part in response[header]
    assert "unsafe-inline" not in response["Content-Security-Policy"].split("script-src")[1].split(";")[0]


async def test_a_session_that_is_being_replayed_says_how_far(
    browser: AsyncClient, session: Session, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.post(url("run", session))
    live = runtime().sessions[session.pk]
    await runtime().call(live.pause)
    await runtime().call(live.close)
    settings.OPEN_WAIT = 0
    response = await browser.get(url("studio", session))
    assert response.status_code == 202
    assert "being replayed" in response.content.decode()
    await runtime().call(live.ready)
    assert (await browser.get(url("studio", session))).status_code == 200


# Ways out and back in.


async def exported(browser: AsyncClient, session: Session, query: str = "") -> list[dict[str, Any]]:
    response = await browser.get(url("export", session) + query)
    assert response.status_code == 200
    return [orjson.loads(line) for line in (await body(response)).splitlines()]


async def run_to_the_end(session: Session) -> None:
    client = await SessionClient.open(session.edit_key)
    await client.on_loop(LiveSession.run)
    await at_rest(client)


async def test_an_export_holds_commands_decisions_and_digests(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session)
    assert (lines[0]["type"], lines[0]["head"]) == ("header", await head(session))
    kinds = {line["type"] for line in lines}
    assert kinds == {"header", "command", "record", "digest"}
    assert [line["attempt"] for line in lines if line["type"] == "digest"] == [1, 2, 3, 4]


async def test_an_export_holds_the_detail_of_the_attempts_asked_for(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session, "?first=2&last=3")
    assert [line["attempt"] for line in lines if line["type"] == "detail"] == [2, 3]


@pytest.mark.parametrize("query", ["?first=x", "?last=-1", "?first=1e3", "?last=99999999999999999999"])
async def test_a_range_that_makes_no_sense_is_refused(browser: AsyncClient, session: Session, query: str) -> None:
    assert (await browser.get(url("export", session) + query)).status_code == 400


def upload(lines: list[dict[str, Any]] | bytes) -> dict[str, Any]:
    data = lines if isinstance(lines, bytes) else b"\n".join(orjson.dumps(line) for line in lines)
    return {"file": SimpleUploadedFile("trace.jsonl", data)}


async def test_an_exported_session_comes_back_the_same(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session)
    response = await browser.post(reverse("import-trace"), upload(lines))
    assert "all 4 attempts have the same result on every node" in " ".join(response.content.decode().split())
    copy = await Session.objects.exclude(pk=session.pk).aget()
    again = await exported(browser, copy)
    assert again[1:] == lines[1:]


async def test_the_import_of_a_trace_says_who_made_it_and_what_was_done(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session)
    lines[0] |= {"engine": "0.9", "kube": "v1.30.0"}
    lines[1]["command"]["shape"] = "round"
    records = sum(line["type"] == "record" for line in lines)
    page = " ".join((await browser.post(reverse("import-trace"), upload(lines))).content.decode().split())
    assert "created by engine 0.9, as kube-scheduler v1.30.0." in page
    assert f"The session of the trace started on {lines[0]['created']}" in page
    assert f"Skipped fields that this version does not know: {lines[1]['command']['kind']}.shape." in page
    assert f"computed by engine {ENGINE_VERSION} as kube-scheduler {KUBE_VERSION}" in page
    assert f"compared with the {records} records" in page
    assert "Another engine created the file" in page


async def test_the_import_of_a_trace_names_the_release_that_computed_it(browser: AsyncClient, session: Session) -> None:
    client = await SessionClient.open(session.edit_key)
    await client.apply({"kind": "SetSettings", "settings": {"release": "1.37.2"}})
    await run_to_the_end(session)
    page = (await browser.post(reverse("import-trace"), upload(await exported(browser, session)))).content.decode()
    assert f"computed by engine {ENGINE_VERSION} as kube-scheduler v1.37.2" in " ".join(page.split())
    assert "kube-scheduler v1.37.2" in " ".join((await browser.get(url("studio", session))).content.decode().split())


async def test_a_replay_has_the_steps_of_the_attempts_that_are_chosen(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session)
    ends = [line["position"] for line in lines if line["type"] == "digest"]
    address = reverse("replay", args=[session.view_key])
    response = await browser.get(address, {"first": "2", "last": "3"})
    page = b"".join([part async for part in response.streaming_content]).decode()
    assert f'min="{ends[0]}"' in page and f'max="{ends[2]}"' in page
    assert session.edit_key not in page


async def test_a_trace_that_was_changed_says_where_it_differs(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    lines = await exported(browser, session)
    third = next(line for line in lines if line["type"] == "digest" and line["attempt"] == 3)
    third["digest"] = "0" * len(third["digest"])
    response = await browser.post(reverse("import-trace"), upload(lines))
    page = " ".join(response.content.decode().split())
    assert "The trace differs" in page
    assert f"Line {lines.index(third) + 1} of the file" in page
    assert "2 attempts are the same" in page


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"no json\n", "Line 1 of the trace is not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b'{"type": "header"}\n', "format"),
        (b"\xff\xff", "Line 1"),
    ],
)
async def test_a_file_that_is_no_trace_is_refused(
    browser: AsyncClient, transactional_db: None, data: bytes, says: str
) -> None:
    response = await browser.post(reverse("import-trace"), upload(data))
    assert response.status_code in (400, 422)
    assert says in response.content.decode()
    assert await Session.objects.acount() == 0


async def test_a_trace_with_a_command_that_is_refused_is_refused(browser: AsyncClient, session: Session) -> None:
    lines = await exported(browser, session)
    lines[1]["command"]["objects"][0]["metadata"]["name"] = "Not A Name"
    response = await browser.post(reverse("import-trace"), upload(lines))
    assert response.status_code == 422
    assert "Not A Name" in response.content.decode()


async def test_a_trace_may_not_bring_more_objects_than_are_allowed(
    browser: AsyncClient, session: Session, settings: Any
) -> None:
    lines = await exported(browser, session)
    settings.MAX_OBJECTS = 6
    response = await browser.post(reverse("import-trace"), upload(lines))
    assert response.status_code == 422
    assert "7 objects. The limit is 6" in response.content.decode()


async def test_no_file_is_no_trace(browser: AsyncClient, transactional_db: None) -> None:
    response = await browser.post(reverse("import-trace"))
    assert response.status_code == 400
    assert "Choose a trace file" in response.content.decode()


async def test_the_cluster_at_a_step_can_be_imported_again(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    text = await body(await browser.get(url("cluster-yaml", session)))
    copy = await create_session("Copy")
    client = await SessionClient.open(copy.edit_key)
    plan = (await client.apply_text(text)).plan
    assert {item.action for item in plan.items} == {"created"}
    original = await SessionClient.open(session.edit_key)
    assert await names(client) == await names(original)
    p0 = ObjectYaml(kind="Pod", namespace="default", name="p0")
    specs = [yaml.safe_load((await each.ask(p0)).text)["spec"] for each in (client, original)]
    assert specs[0] == specs[1]


async def test_the_cluster_at_an_earlier_step_is_as_it_was(browser: AsyncClient, session: Session) -> None:
    await run_to_the_end(session)
    assert b"nodeName" not in await body(await browser.get(url("cluster-yaml", session) + "?at=1"))
    assert b"nodeName" in await body(await browser.get(url("cluster-yaml", session)))


async def test_a_large_cluster_comes_in_parts_and_whole(browser: AsyncClient, transactional_db: None) -> None:
    session = await create_session("Large", commands=[cluster(200, 400)])
    text = await body(await browser.get(url("cluster-yaml", session)))
    assert text.count(b"---\n") == 600
