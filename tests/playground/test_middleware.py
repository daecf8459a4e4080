"""What stands around every page: forms that can't be read, pages that nobody keeps, and errors that say what happened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import AsyncClient, Client

from playground.asgi import door, pages
from playground.middleware import MOST_ADDRESS
from playground.models import Session
from playground.sessions.web.client import SessionClient
from playground.settings import load_or_create_secret
from tests.playground.workbench.conftest import Visitor, page_text

PARTS = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nabc\r\n--x--\r\n'
ODD = PARTS.replace('name="name"', "name*=nonsense''x")
MANY = "&".join(f"a{number}=" for number in range(2000)).encode()
FORMS = {
    "application/x-www-form-urlencoded": b"name=abc",
    "multipart/form-data; boundary=x": PARTS.encode(),
    "text/plain": b"name=abc",
}


@pytest.fixture
def visitor(transactional_db: None) -> Callable[..., Visitor]:
    return lambda start="empty": Visitor(start)


@pytest.fixture
def begun(visitor: Callable[..., Visitor]) -> Visitor:
    begun = visitor()
    begun.browser.raise_request_exception = False
    return begun


@pytest.mark.parametrize(
    ("handler", "host", "status", "policies"),
    [(door, b"testserver", 401, 0), (door, b"elsewhere", 400, 0), (pages, b"testserver", 401, 1)],
    ids=["of the door", "of the door, for an unknown host", "of pages"],
)
async def test_only_pages_have_the_middleware_of_pages(
    transactional_db: None, handler: Any, host: bytes, status: int, policies: int
) -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/s/none/k8s/api",
        "query_string": b"",
        "headers": [(b"host", host)],
    }
    asked = ApplicationCommunicator(handler, scope)
    await asked.send_input({"type": "http.request"})
    answer = await asked.receive_output(30)
    names = [name.lower() for name, _ in answer["headers"]]
    assert (answer["status"], names.count(b"content-security-policy")) == (status, policies)
    assert names.count(b"cache-control") == 1


@pytest.mark.parametrize("host", ["10.1.2.3:8000", "[fd00::7]:8000", "playground-7d9f", "not a host"])
def test_a_probe_is_answered_whatever_host_it_asks_for_and_nobody_else(
    client: Client, transactional_db: None, host: str
) -> None:
    answer = client.get("/healthz", headers={"Host": host})
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    assert answer.headers["Cache-Control"] == "no-store"
    assert [client.get(path, headers={"Host": host}).status_code for path in ("/", "/metrics/", "/healthz/")] == [
        400
    ] * 3


@pytest.mark.parametrize(
    ("host", "client_address", "status"),
    [
        ("10.1.2.3:8000", "127.0.0.1", 200),
        ("[fd00::7]:8000", "127.0.0.1", 200),
        ("10.1.2.3:8000", "10.9.9.9", 404),
        ("elsewhere.example", "127.0.0.1", 400),
    ],
)
def test_metrics_are_told_to_those_named_under_any_address_and_under_no_strange_name(
    client: Client, host: str, client_address: str, status: int
) -> None:
    answer = client.get("/metrics", headers={"Host": host}, REMOTE_ADDR=client_address)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/", "/healthz", "/metrics", "/static/playground/icon.svg", "/nope"])
def test_head_is_answered_as_get_without_the_body(client: Client, transactional_db: None, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.getvalue()) == (got.status_code, b"")
    assert {*head.headers} == {*got.headers}
    assert head.headers["Content-Type"] == got.headers["Content-Type"]


def test_head_of_a_session_says_how_long_a_page_is_and_what_is_not_got_refuses_it(begun: Visitor) -> None:
    studio = begun.browser.head(begun.url)
    assert (studio.status_code, studio.content) == (200, b"")
    assert int(studio.headers["Content-Length"]) > 10_000
    export = begun.browser.head(begun.url + "export.jsonl")
    assert (export.status_code, export.content) == (200, b"")
    assert export.headers["Content-Disposition"].startswith("attachment")
    step = begun.browser.head(begun.url + "step")
    assert (step.status_code, step.headers["Allow"], step.content) == (405, "POST", b"")
    assert begun.browser.delete(begun.url).headers["Allow"] == "GET, HEAD"
    assert begun.head() == begun.session.head


def send(begun: Visitor, body: bytes, content_type: str, path: str = "rename") -> HttpResponse:
    answer: HttpResponse = begun.browser.generic("POST", begun.url + path, body, content_type)
    return answer


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "latin-1", "nonsense", "rot13", "idna", "'", "x" * 500])
@pytest.mark.parametrize("form", FORMS)
def test_a_form_in_another_encoding_is_refused_in_words(begun: Visitor, form: str, charset: str) -> None:
    answer = send(begun, FORMS[form], f"{form}; charset={charset}")
    assert answer.status_code == 415
    assert "must be UTF-8 text" in page_text(answer)


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", "us-ascii", '"utf-8"'])
@pytest.mark.parametrize("form", list(FORMS)[:2])
def test_utf_8_is_taken_by_whatever_name(begun: Visitor, form: str, charset: str) -> None:
    assert send(begun, FORMS[form], f"{form}; charset={charset}").status_code == 302
    begun.session.refresh_from_db()
    assert begun.session.name == "abc"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(ODD.encode(), "multipart/form-data; boundary=x", id="a part's unknown encoding"),
        pytest.param(b"", "multipart/form-data", id="no boundary"),
        pytest.param(MANY, "application/x-www-form-urlencoded", id="too many fields"),
        pytest.param(b"\xff\xfe", "multipart/form-data; boundary=\xff", id="a boundary of no characters"),
    ],
)  # fmt: skip
def test_a_form_that_is_broken_is_refused_in_words(begun: Visitor, body: bytes, content_type: str) -> None:
    answer = send(begun, body, content_type)
    assert answer.status_code == 400
    assert "can't be read" in page_text(answer) or "characters" in page_text(answer)


def test_a_form_that_is_larger_than_django_takes_is_413(begun: Visitor, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = send(begun, b"name=" + b"x" * 200, "application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "larger than the" in page_text(answer)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("rename", "name"),
        ("bookmarks", "name"),
        ("breakpoints", "name"),
        ("breakpoints", "cel"),
        ("fork", "pod"),
        ("rerun", "name"),
        ("calls", "pod"),
        ("build/nodes", "name"),
        ("objects/delete", "name"),
        ("import/apply", "token"),
    ],
)
def test_the_character_0_is_refused_before_any_database_sees_it(begun: Visitor, path: str, field: str) -> None:
    answer = begun.post(path, **{field: "before\0after"})
    assert answer.status_code == 400
    assert f"“{field}” contains a NUL character" in page_text(answer)
    assert begun.head() == 0


def test_the_character_0_in_the_name_of_a_new_session_is_refused(begun: Visitor) -> None:
    before = Session.objects.count()
    answer = begun.browser.post("/new", {"start": "empty", "name": "a\0b"})
    assert (answer.status_code, Session.objects.count()) == (400, before)


def test_the_character_0_in_a_text_is_shown_in_the_editor(begun: Visitor) -> None:
    answer = begun.post("yaml", text="a: 1\nb: \0\n", create="")
    assert answer.status_code == 422
    assert "control characters are not allowed" in page_text(answer)


def test_pages_that_hold_keys_are_kept_nowhere(begun: Visitor) -> None:
    for path in ("", "objects", "session", "yaml", "configuration", "export.jsonl", "cluster.yaml", "nodes.json"):
        assert begun.get(path)["Cache-Control"] == "no-store", path
    assert begun.browser.get("/")["Cache-Control"] == "no-store"
    assert begun.post("rename", name="b")["Cache-Control"] == "no-store"
    assert begun.browser.get("/s/no-such-key/")["Cache-Control"] == "no-store"


LONG = "ä" * 200


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("goto", {"pod": f"{LONG}/{LONG}", "node": LONG, "lane": LONG}),
        ("rename", {"name": "b", "back": "x" * 20_000}),
        ("rename", {"name": "b", "back": "ä" * 60}),
    ],
)
def test_an_answer_leads_nowhere_that_is_too_long_to_go_to(begun: Visitor, path: str, fields: dict[str, str]) -> None:
    answer = begun.post(path, **fields)
    assert answer.status_code == 302
    assert len(answer["Location"]) <= MOST_ADDRESS
    assert answer["Location"].startswith(begun.url)


@pytest.mark.parametrize("length", [3000, 20_000])
def test_a_long_address_leads_to_no_longer_one(begun: Visitor, length: int) -> None:
    answer = begun.browser.get("/s/" + "x" * length)
    assert answer.status_code in (400, 404)
    assert "Location" not in answer.headers


def test_what_django_refuses_is_said_in_words(begun: Visitor) -> None:
    answer = begun.browser.get("/", headers={"host": "elsewhere.example"})
    assert answer.status_code == 400
    assert "elsewhere.example" in page_text(answer)


def test_a_form_of_another_server_is_refused_and_given_back_to_be_copied() -> None:
    answer = Client(enforce_csrf_checks=True).post("/new", {"start": "import", "text": "my\ntext"})
    shown = unescape(answer.content.decode())
    assert answer.status_code == 403
    assert "outdated page" in shown
    assert "my\ntext" in shown
    assert "Send again" not in shown


async def test_a_mistake_in_the_server_is_told_and_gives_the_form_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(SessionClient, "open", fails)
    browser = AsyncClient(raise_request_exception=False)
    answer = await browser.post("/s/key/yaml", {"text": "my\ntext", "create": ""})
    shown = unescape(answer.content.decode())
    assert answer.status_code == 500
    assert "The server had an error" in shown
    assert "my\ntext" in shown
    assert "Nothing was changed" not in shown  # nobody knows


def test_an_empty_key_file_is_made_anew_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "var" / "secret-key"
    path.parent.mkdir()
    path.touch()
    key = load_or_create_secret(path)
    assert len(key) >= 50
    assert load_or_create_secret(path) == key == path.read_text()


def test_a_key_that_was_kept_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "secret-key").write_text("my own key\n")
    assert load_or_create_secret(tmp_path / "secret-key") == "my own key"


def test_a_key_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "secret-key").mkdir()
    with pytest.raises(ImproperlyConfigured, match=r"secret-key can't be read or made"):
        load_or_create_secret(tmp_path / "secret-key")


def test_processes_that_start_together_agree_on_a_key(tmp_path: Path) -> None:
    code = "import sys, pathlib; from playground.settings import kept_secret; print(kept_secret(pathlib.Path(sys.argv[1])))"
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "key")], stdout=subprocess.PIPE) for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in started}) == 1
