"""Behind proxies: the client is who asked the first of them that is trusted, however much others claim."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from playground.serving.gate import apply_forwarded_headers, is_own_origin
from playground.settings import env_networks
from tests.faults.servers import serving
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Wire

TRUSTED = [ip_network(each) for each in ("127.0.0.1", "10.0.0.0/8", "fd00::/8")]


def scope(peer: str, *headers: tuple[str, str], kind: str = "http") -> dict[str, Any]:
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    scheme = "ws" if kind == "websocket" else "http"
    return {"type": kind, "scheme": scheme, "client": (peer, 4711), "headers": encoded, "path": "/"}


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        pytest.param("127.0.0.1", ["192.0.2.1"], "192.0.2.1", id="one proxy"),
        pytest.param("127.0.0.1", ["192.0.2.1, 10.1.2.3"], "192.0.2.1", id="two proxies"),
        pytest.param("127.0.0.1", ["192.0.2.1", "10.1.2.3"], "192.0.2.1", id="in two lines"),
        pytest.param("127.0.0.1", ["198.51.100.9, 192.0.2.1, 10.1.2.3"], "192.0.2.1", id="a client that claims another"),
        pytest.param("127.0.0.1", ["10.9.9.9, 192.0.2.1"], "192.0.2.1", id="a client that claims to be a proxy"),
        pytest.param("192.0.2.7", ["198.51.100.9"], "192.0.2.7", id="nobody's proxy"),
        pytest.param("127.0.0.1", [], "127.0.0.1", id="a proxy that says nothing"),
        pytest.param("127.0.0.1", ["10.1.1.1, 10.2.2.2"], "10.1.1.1", id="proxies alone"),
        pytest.param("127.0.0.1", ["192.0.2.1, unknown, 10.1.2.3"], "10.1.2.3", id="a hop that hides"),
        pytest.param("127.0.0.1", ["192.0.2.1:5555"], "192.0.2.1", id="with a port"),
        pytest.param("127.0.0.1", ["[2001:db8::1]:5555"], "2001:db8::1", id="IPv6 with a port"),
        pytest.param("127.0.0.1", ["2001:db8::1, fd00::2"], "2001:db8::1", id="IPv6"),
        pytest.param("::ffff:127.0.0.1", ["::ffff:192.0.2.1"], "192.0.2.1", id="IPv4 in IPv6"),
        pytest.param("127.0.0.1", ["192.0.2.1,,  ,"], "192.0.2.1", id="empty hops"),
        pytest.param("127.0.0.1", ["x" * 10_000], "127.0.0.1", id="no address"),
        pytest.param("not an address", ["192.0.2.1"], "not an address", id="a socket of the machine"),
    ],
)  # fmt: skip
def test_the_client_is_who_asked_the_first_trusted_proxy(peer: str, forwarded_for: list[str], client: str) -> None:
    asked = scope(peer, *(("X-Forwarded-For", each) for each in forwarded_for))
    assert apply_forwarded_headers(asked, TRUSTED)["client"][0] == client


@pytest.mark.parametrize(
    ("peer", "protocol", "http", "socket"),
    [
        ("127.0.0.1", "https", "https", "wss"),
        ("127.0.0.1", "HTTPS", "https", "wss"),
        ("127.0.0.1", "https, http", "http", "ws"),
        ("127.0.0.1", "gopher", "http", "ws"),
        ("192.0.2.7", "https", "http", "ws"),
    ],
)
def test_the_scheme_is_what_the_nearest_trusted_proxy_was_asked_by(
    peer: str, protocol: str, http: str, socket: str
) -> None:
    header = ("X-Forwarded-Proto", protocol)
    assert apply_forwarded_headers(scope(peer, header), TRUSTED)["scheme"] == http
    assert apply_forwarded_headers(scope(peer, header, kind="websocket"), TRUSTED)["scheme"] == socket


def test_what_a_stranger_forwards_goes_no_further() -> None:
    asked = scope("192.0.2.7", ("X-Forwarded-For", "10.0.0.1"), ("X-Forwarded-Proto", "https"), ("Accept", "a"))
    assert apply_forwarded_headers(asked, TRUSTED)["headers"] == [(b"Accept", b"a")]


def test_without_trusted_proxies_nothing_is_read() -> None:
    asked = scope("127.0.0.1", ("X-Forwarded-For", "192.0.2.1"))
    assert apply_forwarded_headers(asked, []) is asked
    life: dict[str, Any] = {"type": "lifespan"}
    assert apply_forwarded_headers(life, TRUSTED) is life


def test_networks_are_read_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1 10.0.0.0/8 fd00::/8")
    assert env_networks("TRUSTED_PROXIES") == TRUSTED
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1 proxy.example")
    with pytest.raises(ImproperlyConfigured, match=r"TRUSTED_PROXIES.*'proxy\.example'"):
        env_networks("TRUSTED_PROXIES")
    monkeypatch.delenv("TRUSTED_PROXIES")
    assert env_networks("TRUSTED_PROXIES") == []


@pytest.mark.parametrize(
    ("origin", "encrypted", "own"),
    [
        ("https://play.example", True, True),
        ("http://play.example", True, False),
        ("http://play.example", False, True),
        ("https://play.example", False, True),  # a proxy that does not say how it was asked
    ],
)
def test_a_page_without_encryption_opens_no_encrypted_socket(
    settings: Any, origin: str, encrypted: bool, own: bool
) -> None:
    settings.ALLOWED_HOSTS = ["play.example"]
    assert is_own_origin(origin, "play.example", encrypted) is own


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("secure", [True, False])
def test_cookies_are_secure_where_the_page_is(secure: bool) -> None:
    cookies = Client().get("/", secure=secure).cookies
    assert cookies
    assert [bool(cookie["secure"]) for cookie in cookies.values()] == [secure] * len(cookies)


def test_a_server_behind_a_trusted_proxy_tells_its_clients_apart(tmp_path: Path) -> None:
    settings = {"TRUSTED_PROXIES": "127.0.0.1", "MAX_SESSIONS_PER_CLIENT": "2"}
    with serving(tmp_path, **settings) as (server,):
        secure = server.url.replace("http:", "https:")

        def begin(address: str) -> int:
            forwarded = {"X_Forwarded_For": address, "X_Forwarded_Proto": "https", "Origin": secure}
            return Visitor(server.url).post("/new", {"start": "empty"}, **forwarded).status

        assert [begin("192.0.2.1") for _ in range(3)] == [200, 200, 422]
        assert [begin("192.0.2.2") for _ in range(2)] == [200, 200]
        assert begin("192.0.2.2, 192.0.2.1") == 422  # what a client claims is left of what the proxy adds

        home = Visitor(server.url).get("/", X_Forwarded_Proto="https")
        assert all("Secure" in cookie for cookie in home.headers.get_all("Set-Cookie") or ["none"])
        plain = Visitor(server.url).get("/")
        assert not any("Secure" in cookie for cookie in plain.headers.get_all("Set-Cookie") or [])

        key = Visitor(server.url).new_session()
        https = {"X-Forwarded-Proto": "https"}
        assert Wire(server.url, key, origin=secure, headers=https).status == 101
        assert Wire(server.url, key, origin=server.url, headers=https).status == 403
        assert Wire(server.url, key).status == 101
