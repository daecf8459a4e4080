"""Real extenders: which servers are asked, and what becomes of those that hang, lie, fail or say too much."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import to_builtins

from playground.models import LogEntry, Session
from playground.sessions.database import log
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.moving import OutsideCall
from playground.sessions.web import outside
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.outside import asking
from playground.sessions.web.outside.http import AllowedHosts, NotAllowedHost
from playground.sessions.web.runtime import runtime
from scheduler_core.scheduler.extenders.behaviour import Remote
from scheduler_core.world.commands import OutsideAnswer, SetConfiguration, SetExtender, command_from_json
from scheduler_core.world.simulation import Simulation
from tests.playground.sessions.worlds import applying, node, pod

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SECOND = 1_000_000_000


@asynccontextmanager
async def serving(answer: Answer, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on this machine that answers each connection so; its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def saying(text: str | bytes) -> Answer:
    """The same bytes for every request, once that is read."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        await reader.readexactly(length)
        writer.write(text.encode() if isinstance(text, str) else text)
        await writer.drain()

    return answer


def http(status: str, body: str, *headers: str) -> str:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", body)
    return "\r\n".join(lines)


def call(port: int, host: str = "127.0.0.1", timeout: float = 5, **more: Any) -> OutsideCall:
    url = f"{more.pop('scheme', 'http')}://{host}:{port}/filter"
    return OutsideCall("kube-scheduler", 1, 0, url, b"{}", round(timeout * SECOND), **more)


async def asked(answer: Answer, timeout: float = 5) -> Data:
    """What a call of such a server comes to."""
    async with serving(answer) as port:
        command = to_builtins(await outside.ask(call(port, timeout=timeout)))
    result: Data = command["answer"]
    return result


@pytest.fixture(autouse=True)
def loopback_is_allowed(settings: Any) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]


async def test_an_answer_comes_back_with_what_it_took() -> None:
    answer = await asked(saying(http("200 OK", '{"NodeNames": []}')))
    assert (answer["status"], answer["body"]) == (200, '{"NodeNames": []}')
    assert 0 <= answer["latency"] < 5 * SECOND


async def test_an_answer_in_chunks_is_put_together() -> None:
    text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{} \r\n2;x=y\r\n  \r\n0\r\n\r\n"
    assert (await asked(saying(text)))["body"] == "{}   "


async def test_a_server_that_hangs_is_left_when_its_time_is_over() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(20)

    started = time.monotonic()
    answer = await asked(hang, timeout=0.2)
    assert time.monotonic() - started < 3
    assert answer == to_builtins(OutsideAnswer(0, in_body=False, latency=SECOND // 5))


async def test_a_server_that_drips_is_left_when_its_time_is_over() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    answer = await asked(drip, timeout=0.3)
    assert (answer["in_body"], answer["latency"]) == (True, 3 * SECOND // 10)


async def test_a_failing_server_is_told_by_its_status() -> None:
    answer = await asked(saying(http("500 Internal Server Error", "oops")))
    assert (answer["status"], answer["body"]) == (500, "oops")


async def test_a_page_of_html_is_what_the_scheduler_reads() -> None:
    answer = await asked(saying(http("200 OK", "<html>")))
    assert (answer["status"], answer["body"]) == (200, "<html>")


async def test_a_redirect_is_not_followed() -> None:
    reached = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(True)

    async with serving(note) as other:
        to = http("302 Found", "", f"Location: http://127.0.0.1:{other}/")
        answer = await asked(saying(to))
    assert answer["status"] == 302 and not reached


async def test_an_answer_of_100_mb_is_read_no_further_than_the_limit(settings: Any) -> None:
    settings.MAX_EXTENDER_BYTES = 1 << 20
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(1600):
            writer.write(b" " * 65_536)
            await writer.drain()
            sent += 65_536

    answer = await asked(pour)
    assert answer["error"] == "the answer has more than 1,048,576 bytes, the most that is read here"
    assert sent < 50 << 20


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "EOF"),
        ("SSH-2.0\r\n", 'net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0"'),
        ("HTTP/1.1 200 OK\r\nContent-Le", "unexpected EOF"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
            "net/http: HTTP/1.x transport connection broken: bad Content-Length",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "unexpected EOF"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}", "unexpected EOF"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfour\r\n{}\r\n", "invalid byte in chunk length"),
        ("HTTP/1.1 200 OK\r\nX: " + "x" * 100_000, "net/http: server response headers exceeded the limit"),
    ],
)
async def test_what_is_no_answer_is_told_in_gos_words(text: str, error: str) -> None:
    assert (await asked(saying(text)))["error"] == error


async def test_nobody_listens() -> None:
    async with serving(saying("")) as port:
        pass
    command = to_builtins(await outside.ask(call(port)))
    assert command["answer"]["error"] == f"dial tcp 127.0.0.1:{port}: connect: connection refused"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("ftp://127.0.0.1/x", 'unsupported protocol scheme "ftp"'),
        ("http:///x", "http: no Host in request URL"),
        ("http://127.0.0.1:99999/x", 'parse "http://127.0.0.1:99999/x": invalid port or host'),
        ("http://127.0.0.1/a\r\nX: y", "net/url: invalid control character in URL"),
    ],
)
async def test_a_url_that_is_none_goes_nowhere(url: str, error: str) -> None:
    command = to_builtins(await outside.ask(OutsideCall("s", 1, 0, url, b"{}", SECOND)))
    assert command["answer"]["error"] == error


# Which hosts

ALLOWED = AllowedHosts.read(["extender.example", "other.example:8080", "10.1.0.0/16", "[fd00::1]:80"])


@pytest.mark.parametrize(
    ("name", "port", "fine"),
    [
        ("extender.example", 80, True),
        ("Extender.Example.", 12345, True),
        ("other.example", 8080, True),
        ("other.example", 80, False),
        ("10.1.2.3", 80, True),
        ("10.2.2.3", 80, False),
        ("fd00::1", 80, True),
        ("fd00::1", 443, False),
        ("example", 80, False),
        ("evil-extender.example", 80, False),
        ("extender.example.evil.example", 80, False),
        ("2130706433", 80, False),
        ("0x7f.1", 80, False),
        ("127.1", 80, False),
        ("localhost", 80, False),
    ],
)
def test_only_listed_hosts_are_asked(name: str, port: int, fine: bool) -> None:
    if fine:
        ALLOWED.require_name(name, port)
    else:
        with pytest.raises(NotAllowedHost):
            ALLOWED.require_name(name, port)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd12::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::127.0.0.1",
    ],
)
def test_a_listed_name_that_leads_inside_is_not_asked(address: str) -> None:
    with pytest.raises(NotAllowedHost, match="not public"):
        ALLOWED.choose("extender.example", 80, [address])


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "10.1.2.3", "::ffff:10.1.2.3"])
def test_a_public_or_a_listed_address_is_asked(address: str) -> None:
    assert ALLOWED.choose("extender.example", 80, ["127.0.0.1", address]) == address


@pytest.mark.parametrize("entry", ["a/b", "host:x", "host:0", "", "[::1]:99999999", "a..b"])
def test_an_entry_that_is_no_host_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is no host|has no port"):
        AllowedHosts.read([entry])


async def test_a_name_is_resolved_once_and_that_address_is_asked(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EXTENDER_HOSTS = ["extender.example"]
    lookups = []

    async def resolve(name: str, port: int) -> list[str]:
        lookups.append(name)
        return ["127.0.0.1"]

    monkeypatch.setattr(asking, "_resolve", resolve)
    async with serving(saying(http("200 OK", "{}"))) as port:
        command = to_builtins(await outside.ask(call(port, "extender.example")))
        assert "leads to 127.0.0.1, which is not public" in command["answer"]["error"]
        settings.EXTENDER_HOSTS = ["extender.example", "127.0.0.1"]
        command = to_builtins(await outside.ask(call(port, "extender.example")))
    assert command["answer"]["body"] == "{}"
    assert lookups == ["extender.example"] * 2


async def test_nothing_is_asked_where_nothing_is_allowed(settings: Any) -> None:
    settings.EXTENDER_HOSTS = []
    answer = await asked(saying(http("200 OK", "{}")))
    assert "no extender that this server's operator allows" in answer["error"]


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await asked(saying(http("200 OK", "{}"))))["body"] == "{}"


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for extender.example that signs itself; beside its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "extender.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("extender.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "certificate.pem").write_bytes(public)
    (folder / "both.pem").write_bytes(private + public)
    return folder / "both.pem"


async def over_tls(certificate: Path, tls: dict[str, Any], enabled: bool = True) -> Data:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with serving(saying(http("200 OK", "{}")), context) as port:
        command = to_builtins(await outside.ask(call(port, scheme="https", tls=tls, enable_https=enabled)))
    result: Data = command["answer"]
    return result


async def test_https_without_a_ca_trusts_any_certificate_as_in_kube(certificate: Path) -> None:
    assert (await over_tls(certificate, {}))["body"] == "{}"


async def test_an_unknown_authority_is_refused(certificate: Path) -> None:
    answer = await over_tls(certificate, {}, enabled=False)
    assert answer["error"].startswith("tls: failed to verify certificate: x509:")


async def test_a_ca_and_a_server_name_are_used(certificate: Path) -> None:
    authority = base64.b64encode(certificate.with_name("certificate.pem").read_bytes()).decode()
    good = await over_tls(certificate, {"caData": authority, "serverName": "extender.example"})
    assert good["body"] == "{}"
    wrong = await over_tls(certificate, {"caData": authority})
    assert wrong["error"].startswith("tls: failed to verify certificate: x509:")


async def test_files_of_the_server_are_not_read(certificate: Path) -> None:
    answer = await over_tls(certificate, {"caFile": "/etc/passwd"})
    assert answer["error"] == "tlsConfig.caFile is a file, and this server reads none for a session: use caData"


async def test_http_where_https_is_expected_is_told() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(http("400 Bad Request", "").encode())

    async with serving(plain) as port:
        command = to_builtins(await outside.ask(call(port, scheme="https", enable_https=True, timeout=2)))
    assert command["answer"].get("error") == "http: server gave HTTP response to HTTPS client"


# A session


async def _session(port: int) -> tuple[Session, SessionClient]:
    """Two nodes, a pod, and an extender that is a real server at this port."""
    url = f"http://127.0.0.1:{port}"
    extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    commands = [
        to_builtins(SetConfiguration({**kind, "extenders": [extender]})),
        to_builtins(SetExtender(url, Remote())),
        applying(node("a"), node("b"), pod("web")),
    ]
    session = await create_session("Test", commands=commands)
    return session, await SessionClient.open(session.edit_key)


def vetoing(bodies: list[Any]) -> Answer:
    """Keeps node b alone, and notes what it is asked."""

    async def veto(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        bodies.append(json.loads(await reader.readexactly(length)))
        writer.write(http("200 OK", '{"NodeNames": ["b"], "FailedNodes": {"a": "not today"}}').encode())
        await writer.drain()

    return veto


@pytest.mark.django_db(transaction=True)
async def test_a_session_asks_a_real_extender_and_is_replayed_without_it() -> None:
    bodies: list[Any] = []
    async with serving(vetoing(bodies)) as port:
        session, client = await _session(port)
        await runtime().call(lambda: _run(client))
    assert [body["NodeNames"] for body in bodies] == [["a", "b"]]
    sim = await _replayed(session)
    live = sim.store.pod_at("default/web")
    assert live is not None and live.node_name == "b"
    assert len(bodies) == 1


@pytest.mark.django_db(transaction=True)
async def test_the_answer_of_an_extender_is_a_step_of_its_own() -> None:
    bodies: list[Any] = []
    async with serving(vetoing(bodies)) as port:
        session, client = await _session(port)
        for _ in range(60):
            await client.walk(1)
    assert len(bodies) == 1
    live = (await _replayed(session)).store.pod_at("default/web")
    assert live is not None and live.node_name == "b"


@pytest.mark.django_db(transaction=True)
async def test_a_pause_does_not_wait_for_an_extender_that_hangs() -> None:
    reached = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await asyncio.sleep(20)

    async with serving(hang) as port:
        _, client = await _session(port)
        await runtime().call(lambda: client.live().run(None))
        await asyncio.wait_for(reached.wait(), 10)
        started = time.monotonic()
        await runtime().call(lambda: client.live().pause())
    assert time.monotonic() - started < 3


async def _run(client: SessionClient) -> None:
    await client.live().run(None)
    while client.live().driver is not None:
        await asyncio.sleep(0.01)


async def _replayed(session: Session) -> Simulation:
    """The same world, made of the log alone."""
    await session.arefresh_from_db()
    commands = {
        entry.at: log.unpack(entry.payload)["command"]
        async for entry in LogEntry.objects.filter(session=session.pk, kind="command")
    }
    sim = Simulation()
    while sim.position < session.head:
        if sim.position in commands:
            sim.apply(command_from_json(commands[sim.position]))
        else:
            sim.advance()
    return sim
