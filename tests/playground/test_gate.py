"""The gate: how large a body may be, and which pages may open a socket."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from playground.serving.bodies import FREE, NOTHING, body_limit
from playground.serving.gate import LimitedBody, ReadableType, is_own_origin
from playground.urls import urlpatterns


async def through(parts: list[bytes], headers: list[tuple[bytes, bytes]], path: str = "/new") -> list[Any]:
    """What a server would send for a request whose body comes in parts."""
    sent: list[Any] = []
    waiting = [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]

    async def reads_all(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    await LimitedBody(ReadableType(reads_all))(scope, receive, send)
    return sent


@pytest.fixture(autouse=True)
def small(settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = settings.MAX_IMPORT_BYTES = 1000
    settings.MAX_TRACE_BYTES = 200_000
    settings.ALLOWED_HOSTS = ["play.example", "[::1]"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example"]


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    sent = await through([b""], [(b"Content-Length", str(1001 + FREE).encode())])
    assert sent[0]["status"] == 413
    assert b"of 66,537 bytes is larger than the 1,000 bytes" in sent[1]["body"]


@pytest.mark.parametrize(
    ("path", "setting"),
    [
        ("/new", "MAX_IMPORT_BYTES"),
        ("/s/key/import", "MAX_IMPORT_BYTES"),
        ("/s/key/yaml", "MAX_UPLOAD_BYTES"),
        ("/import-trace", "MAX_TRACE_BYTES"),
    ],
)
def test_each_path_has_the_limit_of_a_setting_and_names_it(settings: Any, path: str, setting: str) -> None:
    settings.MAX_IMPORT_BYTES = 3000
    limit = body_limit(path)
    assert limit.most == getattr(settings, setting)
    assert str(limit.refusal()).endswith(
        f"larger than the {limit.most:,} bytes that this server takes at once here ({setting})."
    )


@pytest.mark.django_db(transaction=True)
def test_exactly_the_paths_that_take_a_form_take_more_than_almost_nothing(client: Any) -> None:
    """A view that takes no form answers 405; /new is asked for a start that there is none of."""
    wrong = []
    for pattern in urlpatterns:
        arguments = {name: each.to_python("1") for name, each in pattern.pattern.converters.items()}
        path = reverse(pattern.name, kwargs=arguments)
        answer = client.post(path, {"start": "nothing:such"}, headers={"host": "play.example"})
        if (answer.status_code == 405) is not (body_limit(path).bytes == NOTHING):
            wrong.append((pattern.name, answer.status_code))
    assert not wrong


@pytest.mark.parametrize(("path", "method"), [("/nope", "POST"), ("/new", "GET"), ("/s/x/import", "PUT")])
def test_what_is_no_form_takes_almost_nothing(path: str, method: str) -> None:
    assert body_limit(path, method).bytes == NOTHING


async def test_the_refusal_is_a_page_that_leads_back_to_the_session() -> None:
    sent = await through([b"x" * 100_000], [], "/s/some-key/import")
    page = sent[1]["body"].decode()
    assert (b"content-type", b"text/html; charset=utf-8") in sent[0]["headers"]
    assert page.startswith("<!DOCTYPE html>")
    assert 'role="alert"' in page
    assert "Nothing was changed." in page
    assert 'href="/s/some-key/"' in page


async def test_the_refusal_in_the_drawer_is_a_fragment() -> None:
    sent = await through([b"x" * 100_000], [(b"X-Drawer", b"1")], "/s/some-key/import")
    page = sent[1]["body"].decode()
    assert "<html" not in page
    assert 'id="workbench"' in page


async def test_a_key_in_a_path_is_escaped_in_the_refusal() -> None:
    sent = await through([b"x" * 100_000], [], '/s/"><script>/import')
    assert b"<script>/" not in sent[1]["body"]


async def test_a_body_that_becomes_too_large_is_refused_when_it_does() -> None:
    assert (await through([b"x" * 40_000] * 3, []))[0]["status"] == 413


async def test_a_body_within_the_limit_passes() -> None:
    assert (await through([b"x" * 500] * 2, []))[0]["status"] == 200


@pytest.mark.parametrize(
    "odd", [b"a/b; charset*=nonsense''x", b"multipart/form-data; boundary*=nonsense''x", b"a/b; charset=\0"]
)
async def test_a_content_type_that_cannot_be_taken_apart_is_refused_in_words(odd: bytes) -> None:
    sent = await through([b"name=x"], [(b"Content-Type", odd)])
    assert sent[0]["status"] == 415
    assert b"Content-Type" in sent[1]["body"]


async def test_a_trace_may_be_larger() -> None:
    assert (await through([b"x" * 40_000] * 3, [], "/import-trace"))[0]["status"] == 200


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://play.example", "play.example", True),
        ("https://play.example", "play.example", True),
        ("http://play.example:8000", "play.example:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://PLAY.example", "play.EXAMPLE", True),
        ("https://front.example", "play.example", True),
        ("http://play.example:8001", "play.example:8000", False),
        ("http://play.example.evil.example", "play.example", False),
        ("http://evil.example", "evil.example", False),
        ("null", "play.example", False),
        ("", "play.example", False),
        ("file://", "", False),
        ("http://[", "[", False),
    ],
)
def test_only_our_own_pages_open_sockets(origin: str, host: str, own: bool) -> None:
    assert is_own_origin(origin, host) is own
