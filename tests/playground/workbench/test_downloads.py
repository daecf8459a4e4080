"""Files that take long to make: a job makes them, a page says how far they are, and whoever has a link may have them."""

import asyncio
import csv
import io
import json
import time
import zipfile

import pytest

from playground.features.exports import views as downloads
from playground.sessions.web.jobs import traces as jobs
from playground.sessions.worker import engines as files
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES, PODS

PAGE = "text/html,application/xhtml+xml,*/*;q=0.8"


@pytest.fixture
def run(visitor):
    """A session in which pods were placed."""
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("build/pods", **PODS)
    begun.ask(lambda client: client.walk(120))
    return begun


def body(response):
    """All of an answer that is streamed."""

    async def read():
        return b"".join([part async for part in response.streaming_content])

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("name", "kind", "suffix"),
    [
        ("chrome.json", "application/json", "chrome.json"),
        ("otlp.json", "application/json", "otlp.json"),
        ("table.csv?table=attempts", "text/csv; charset=utf-8", "attempts.csv"),
        ("tables.zip", "application/zip", "tables.zip"),
        ("replay.html", "text/html; charset=utf-8", "html"),
    ],
)
def test_a_view_link_is_enough_for_every_file(run, name, kind, suffix):
    answer = run.browser.get(run.view_url + name)
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert answer["Content-Disposition"].endswith(f'.{suffix}"')
    data = body(answer)
    assert len(data) == int(answer["Content-Length"]) > 0


def test_spans_and_trace_events_are_those_of_the_session(run):
    events = json.loads(body(run.get("chrome.json")))["traceEvents"]
    assert {"Scheduling default/web-1", "NodeResourcesFit"} <= {event.get("name") for event in events}
    spans = json.loads(body(run.get("otlp.json")))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert len(spans) == sum(event["ph"] == "B" for event in events)


def test_tables_come_one_by_one_or_all_in_a_zip(run):
    one = body(run.get("table.csv", table="attempts"))
    assert [row["pod"] for row in csv.DictReader(io.StringIO(one.decode()))] == ["default/web-1", "default/web-2"]
    data = body(run.get("tables.zip"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {"attempts.csv", "moves.csv", "nodes.csv", "pods.csv", "plugin_ran.csv"} <= {*archive.namelist()}
        assert "preemption_started.csv" not in archive.namelist()  # no pod had to go
        assert archive.read("attempts.csv") == one
    assert body(run.get("tables.zip")) == data


def test_a_table_that_there_is_not_is_refused(run):
    answer = run.get("table.csv", table="secrets")
    assert answer.status_code == 400 and "No table has the name “secrets”" in page_text(answer)


def test_the_schema_needs_no_session(run):
    assert json.loads(run.browser.get("/trace.schema.json").content)["$id"].endswith(":1")


def test_somebody_with_a_browser_is_shown_how_far_it_is_and_gets_the_file_then(run, monkeypatch):
    monkeypatch.setattr(downloads, "PATIENCE", 0.0)
    answer = run.browser.get(run.url + "tables.zip", headers={"Accept": PAGE})
    assert answer.status_code == 302
    page = run.browser.get(answer["Location"])
    assert (page.status_code, "Creating a file" in page_text(page)) == (202, True)
    again = run.browser.get(run.url + "tables.zip", headers={"Accept": PAGE})
    assert again.status_code == 200 or again["Location"] == answer["Location"]
    monkeypatch.setattr(downloads, "PATIENCE", 30.0)
    page = run.browser.get(answer["Location"])
    assert page.status_code == 200 and "The file is ready" in page_text(page)
    assert 'content="0; url=?file=1"' in page.content.decode()
    file = run.browser.get(answer["Location"], {"file": 1})
    assert zipfile.is_zipfile(io.BytesIO(body(file)))


def test_a_file_that_is_being_made_can_be_stopped(run, monkeypatch):
    monkeypatch.setattr(downloads, "PATIENCE", 0.0)
    monkeypatch.setattr(downloads.Recording, "add", lambda *_: time.sleep(0.2))
    where = run.browser.get(run.url + "replay.html", headers={"Accept": PAGE})["Location"]
    assert run.browser.post(where)["Location"] == run.url + "exports"
    monkeypatch.setattr(downloads, "PATIENCE", 30.0)
    answer = run.browser.get(where)
    assert answer.status_code == 400 and "Creating the file was canceled" in page_text(answer)


def test_the_page_of_exports_says_what_is_made_for_this_browser(run, visitor, monkeypatch):
    monkeypatch.setattr(downloads, "PATIENCE", 0.0)
    monkeypatch.setattr(downloads.Recording, "add", lambda *_: time.sleep(0.2))
    where = run.browser.get(run.url + "replay.html", headers={"Accept": PAGE})["Location"]
    page = run.get("exports").content.decode()
    assert f'action="{where}"' in page and 'hx-trigger="every 1s"' in page
    run.browser.post(where)
    assert "made-html" not in run.get("exports").content.decode()
    monkeypatch.setattr(downloads, "PATIENCE", 30.0)
    body(run.get("tables.zip"))
    assert "The file up to step" in page_text(run.get("exports"))
    assert "The file up to step" not in page_text(visitor("empty").get("exports"))


def test_a_file_of_another_session_or_of_nobody_is_not_known(run, visitor, monkeypatch):
    monkeypatch.setattr(downloads, "PATIENCE", 0.0)
    where = run.browser.get(run.url + "tables.zip", headers={"Accept": PAGE})["Location"]
    token = where.rsplit("/", 1)[1]
    other = visitor("empty")
    for answer in (other.get(f"download/{token}"), other.post(f"download/{token}"), run.get("download/x")):
        assert answer.status_code == 404 and "has expired" in page_text(answer)


def test_a_file_that_would_be_too_large_is_not_made(run, monkeypatch):
    monkeypatch.setattr(jobs, "MOST", 100)
    answer = run.get("otlp.json")
    assert answer.status_code == 422 and "was not created" in page_text(answer)
    answer = run.get("replay.html")
    assert answer.status_code == 422 and "Choose fewer attempts" in page_text(answer)


def test_the_page_of_exports_and_the_dialog_name_every_file(run):
    page, studio = run.get("exports").content.decode(), run.get("").content.decode()
    for name in ("replay.html", "chrome.json", "otlp.json", "tables.zip", "export.jsonl", "cluster.yaml"):
        assert f'{run.url}{name}"' in page and f'href="{name}"' in studio
    assert f'{run.url}exports"' in run.get("session").content.decode()
    assert "<option>queue_moved</option>" in page and "/trace.schema.json" in page


def test_a_history_is_gone_through_in_turns(monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", -1.0)
    request = files.OpenFile(seed=0, rows=[], head=3, form="csv", table="nodes", most=1000)
    file = files.File(request)
    parts = [file.next() for _ in range(2)]
    assert [part.steps for part in parts] == [0, 0] and parts[-1].done
