"""Large imports: a file is read in turns, its page says how far that is, it can be cancelled, and what was tried is applied."""

import asyncio
import gzip
import json
import os
import re
import time
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from playground.models import ImportPreview, LogEntry, Session
from playground.sessions.protocol.moving import ApplyImport, ReadImport
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.imports import LEFT, drop_left
from playground.sessions.web.jobs.registry import Job
from tests.playground.workbench.conftest import page_text

NODES = 30
UNTIL_CANCELLED = 5.0  # seconds: longer than a busy machine takes for the pages that are asked for before


def cluster(pods: int = 60, **odd: object) -> bytes:
    """Nodes and pods of a running cluster, the newest first; `odd`: another pod."""
    meta = {"namespace": "default"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{i}", "uid": f"node-{i}", "creationTimestamp": f"2026-03-01T10:00:{i:02}Z"},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for i in range(NODES)
    ]
    made = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **meta,
                "name": f"p{i}",
                "uid": f"pod-{i}",
                "creationTimestamp": f"2026-03-01T11:{59 - i % 60:02}:00Z",
            },
            "spec": {"containers": [{"name": "a", "image": "b"}], **({"nodeName": f"n{i % NODES}"} if i % 2 else {})},
        }
        for i in range(pods)
    ]
    others = [{"apiVersion": "v1", "kind": "Pod", **odd}] if odd else []
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *made, *others]}, indent=1).encode()


@pytest.fixture(autouse=True)
def small(settings, tmp_path):
    """Every file is a large one here."""
    settings.LARGE_IMPORT_BYTES = 2000
    settings.UPLOADS = tmp_path / "uploads"


@pytest.fixture
def begun(visitor):
    return visitor("empty")


def bring(begun, data: bytes, name: str = "cluster.json", **fields: object):
    return begun.post("import", file=SimpleUploadedFile(name, data), **fields)


def follow(begun, answer):
    """The page that a large import leads to in the end."""
    for _ in range(100):
        if answer.status_code == 302:
            answer = begun.browser.get(answer["Location"])
        elif answer.status_code == 202:
            time.sleep(0.05)
            answer = begun.browser.get(answer.request["PATH_INFO"])
        else:
            return answer
    raise AssertionError(page_text(answer))


def left(settings) -> list[Path]:
    return list(settings.UPLOADS.glob("*"))


def test_a_large_file_is_previewed_and_applied_as_a_small_one_is(begun, visitor, settings):
    previewed = follow(begun, bring(begun, cluster()))
    assert f"created {NODES + 60}" in page_text(previewed)
    token = previewed.context["plan"]["token"]
    studio = follow(begun, begun.post("import/apply", token=token))
    assert f"{NODES + 60} objects imported" in page_text(studio)
    assert left(settings) == []
    settings.LARGE_IMPORT_BYTES = 8 << 20
    other = visitor("empty")
    shown = other.browser.get(bring(other, cluster())["Location"])
    other.post("import/apply", token=shown.context["plan"]["token"])
    large, small = (LogEntry.objects.filter(session=each.session).latest("pk") for each in (begun, other))
    assert bytes(large.payload) == bytes(small.payload)
    assert begun.objects("Pod") == other.objects("Pod")
    assert not ImportPreview.objects.filter(session=begun.session).exists()


def test_rows_stand_in_the_order_of_the_file(begun):
    rows = follow(begun, bring(begun, cluster())).context["plan"]["page"].rows
    assert [row.name for row in rows][:3] == ["n0", "n1", "n2"]
    assert [row.index for row in rows] == sorted(row.index for row in rows)


def test_what_is_wrong_in_a_large_file_is_said_with_its_line(begun):
    data = cluster(metadata={"name": "wrong"}, spec={"containers": [{"name": "a", "image": "b", "ports": 7}]})
    previewed = follow(begun, bring(begun, data))
    assert f"created {NODES + 60}" in page_text(previewed)
    token = previewed.context["plan"]["token"]
    refused = page_text(
        begun.browser.get(reverse("import", args=[begun.session.edit_key]), {"token": token, "show": "refused"})
    )
    assert re.search(r"refused Pod (default/)?wrong", refused)
    assert re.search(r"line \d+", refused)


def test_a_large_file_that_cannot_be_read_says_so_and_leaves_nothing(begun, settings):
    answer = follow(begun, bring(begun, cluster()[:-40]))
    assert answer.status_code == 422
    assert re.search(r"not readable as JSON .*line \d+", page_text(answer))
    assert begun.head() == 0
    assert left(settings) == []


def test_another_import_of_the_session_is_told_to_wait(begun, settings, monkeypatch):
    monkeypatch.setattr("playground.views.workbench.imports.PATIENCE", 0.05)
    monkeypatch.setattr(Worker, "call", _slowly(Worker.call))
    first = bring(begun, cluster())
    answer = bring(begun, cluster())
    assert answer.status_code == 422
    assert "The server is reading other large imports" in page_text(answer)
    follow(begun, first)
    assert left(settings) == []


def test_a_large_import_can_be_cancelled(begun, settings, monkeypatch):
    monkeypatch.setattr("playground.views.workbench.imports.PATIENCE", 0.05)
    monkeypatch.setattr(Worker, "call", _slowly(Worker.call, UNTIL_CANCELLED))
    page = begun.browser.get(bring(begun, cluster())["Location"])
    assert page.status_code == 202
    assert "Cancel the import" in page_text(page)
    path = page.request["PATH_INFO"]
    answer = begun.browser.post(f"{path}/cancel")
    assert answer["Location"] == reverse("import", args=[begun.session.edit_key])
    assert "The import was canceled" in page_text(begun.browser.get(answer["Location"]))
    again = begun.browser.get(path)
    assert "The import was canceled" in page_text(again)
    assert left(settings) == []
    assert not ImportPreview.objects.filter(session=begun.session).exists()


def test_a_script_gets_how_far_it_is_and_which_part_began(begun, monkeypatch):
    monkeypatch.setattr("playground.views.workbench.imports.PATIENCE", 0.05)
    monkeypatch.setattr(Worker, "call", _slowly(Worker.call, UNTIL_CANCELLED))
    page = begun.browser.get(bring(begun, cluster())["Location"])
    assert "Part 1 of 5" in page_text(page)
    path, by_script = page.request["PATH_INFO"], {"HX-Request": "true"}
    same = begun.browser.get(path, {"stage": "read"}, headers=by_script)
    assert same.status_code == 202
    assert "Part 1 of 5" in page_text(same)
    assert "Reading the file" not in page_text(same)
    assert "Reading the file" in page_text(begun.browser.get(path, {"stage": ""}, headers=by_script))
    assert b"<html" not in same.content
    begun.browser.post(f"{path}/cancel")
    over = begun.browser.get(path, {"stage": "read"}, headers=by_script)
    assert over.status_code == 286, "the page asks no more"
    assert "The import was canceled" in page_text(over)


@pytest.mark.parametrize("data", [cluster(), cluster()[:-40]], ids=["good", "unreadable"])
def test_once_it_is_over_a_script_loads_the_page_anew(begun, data):
    address = bring(begun, data)["Location"]
    follow(begun, begun.browser.get(address))
    over = begun.browser.get(address, {"stage": "save"}, headers={"HX-Request": "true"})
    assert over["HX-Refresh"] == "true"


def test_how_far_it_is_stands_there_in_percent(begun, monkeypatch):
    monkeypatch.setattr("playground.views.workbench.imports.PATIENCE", 0.05)
    monkeypatch.setattr(Worker, "call", _slowly(Worker.call))
    monkeypatch.setattr(Job, "advance", _at(Job.advance, 3, 7, "try"))
    said = page_text(begun.browser.get(bring(begun, cluster())["Location"]))
    assert "Trying each object" in said
    assert "Part 3 of 5, 42% done" in said


def test_an_import_waits_for_the_one_of_another_session(begun, visitor, monkeypatch):
    monkeypatch.setattr("playground.views.workbench.imports.PATIENCE", 0.05)
    monkeypatch.setattr(Worker, "call", _slowly(Worker.call))
    other = visitor("empty")
    first = bring(begun, cluster())
    waiting = other.browser.get(bring(other, cluster())["Location"])
    assert "Waiting for another large import to finish" in page_text(waiting)
    monkeypatch.undo()
    assert "created" in page_text(follow(begun, first))
    assert "created" in page_text(follow(other, waiting))


def test_what_changed_since_the_preview_is_tried_again(begun):
    token = follow(begun, bring(begun, cluster())).context["plan"]["token"]
    begun.post("import/apply", token=follow_small(begun))
    studio = follow(begun, begun.post("import/apply", token=token))
    assert f"{NODES + 60} objects imported" in page_text(studio)
    assert "extra" in begun.objects("Node")
    assert len(begun.objects("Pod")) == 60


def follow_small(begun) -> str:
    shown = begun.post("import", text="apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n")
    return begun.browser.get(shown["Location"]).context["plan"]["token"]


def test_at_an_earlier_step_it_is_looked_at_again_in_a_fork(begun):
    begun.post("import/apply", token=follow_small(begun))
    token = follow(begun, bring(begun, cluster(), at="0")).context["plan"]["token"]
    answer = begun.post("import/apply", token=token, at="0", past="fork")
    fork = Session.objects.latest("pk")
    assert fork.pk != begun.session.pk
    assert answer.status_code == 302
    assert fork.edit_key in answer["Location"]


def test_a_renamed_large_import_tells_the_names_once(begun):
    answer = bring(begun, cluster(), rename="yes")
    page = follow(begun, answer)
    assert "n1," in page.context["names"]
    again = follow(begun, begun.browser.get(answer["Location"]))
    assert "names" not in again.context
    assert "n1" not in [row.name for row in again.context["plan"]["page"].rows]


def test_an_archive_is_large_before_it_is_unpacked(begun, settings):
    settings.LARGE_IMPORT_BYTES = 8 << 10
    answer = bring(begun, gzip.compress(cluster(600)), "cluster.json.gz")
    assert "/importing/" in answer["Location"]
    assert f"created {NODES + 600}" in page_text(follow(begun, answer))


def test_a_file_over_the_limit_says_what_it_has_and_what_may_be(begun, settings):
    settings.MAX_IMPORT_BYTES = 3000
    answer = bring(begun, cluster())
    assert answer.status_code == 422
    assert re.search(r"The file has [\d,]+ bytes\. The limit is 3,000 \(MAX_IMPORT_BYTES\)", page_text(answer))


def test_several_files_have_the_limit_of_texts(begun, settings):
    settings.MAX_UPLOAD_BYTES = 3000
    files = [SimpleUploadedFile(f"{i}.yaml", b"#" * 2000) for i in range(2)]
    said = page_text(begun.post("import", file=files))
    assert "4,000 bytes together. The limit for several files is 3,000" in said
    assert "MAX_UPLOAD_BYTES" in said


def test_what_a_killed_server_left_goes(settings):
    settings.UPLOADS.mkdir()
    old, new = settings.UPLOADS / "old", settings.UPLOADS / "new"
    for each in (old, new):
        each.write_bytes(b"")
    before = time.time() - LEFT - 1
    os.utime(old, (before, before))
    drop_left()
    assert left(settings) == [new]


def test_a_view_link_sees_nothing_of_it(begun):
    job = bring(begun, cluster())["Location"].rsplit("/", 1)[1]
    assert begun.browser.get(f"{begun.view_url}importing/{job}").status_code == 403
    assert begun.browser.post(f"{begun.view_url}importing/{job}/cancel").status_code == 403


def _at(advance, done, total, stage):
    """A job that says it is there, whatever it is at."""

    def stuck(self, *_):
        advance(self, done, total, stage)

    return stuck


def _slowly(call, seconds=0.5):
    """A worker that takes its time for each turn of a large import."""

    async def slow(self, session, request, timeout=20):
        if isinstance(request, ReadImport | ApplyImport):
            await asyncio.sleep(seconds)
        return await call(self, session, request, timeout)

    return slow
