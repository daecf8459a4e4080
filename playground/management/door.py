"""A local door: a TLS listener that forwards to a session, for tools that need a root path, https, or a token.

It listens on the loopback address only, with a temporary certificate of its own, and connects only to the session's server.
"""

import base64
import contextlib
import http.client
import json
import re
import secrets
import ssl
import tempfile
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.core.management.base import CommandError

from playground.common.kubeconfig import write_kubeconfig

HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "authorization", "host", "accept-encoding")
CHUNK = 1 << 16


def read_link(link: str) -> tuple[str, str]:
    """Return the server and the key of a session's link. Raise CommandError."""
    parts = urlsplit(link)
    found = re.search(r"^(.*)/s/([^/]+)", parts.path)
    if parts.scheme not in ("http", "https") or found is None:
        raise CommandError(f"{link!r} is no link of a session. Expected: https://SERVER/s/KEY/.")
    return f"{parts.scheme}://{parts.netloc}{found[1]}", found[2]


class Door:
    """A forwarder of requests to the session of a link (http://HOST/s/KEY/), for callers with its token."""

    def __init__(self, link: str, port: int = 0) -> None:
        server, key = read_link(link)
        parts = urlsplit(server)
        self.host, self._encrypted = parts.netloc, parts.scheme == "https"
        self._prefix = f"{parts.path}/s/{key}/k8s"
        self.token = secrets.token_urlsafe(24)
        self._folder = tempfile.TemporaryDirectory()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Own", (_Handler,), {"door": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def start(self) -> str:
        """Start to listen. Return a kubeconfig for this door."""
        path = Path(self._folder.name) / "door.pem"
        certificate = _write_certificate(path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        # Handshakes run in each client's own thread, so that a silent client does not block others.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread.start()
        cluster = {"server": self.address, "certificate-authority-data": base64.b64encode(certificate).decode()}
        return write_kubeconfig("playground", cluster, {"token": self.token})

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the session's server."""
        kind = http.client.HTTPSConnection if self._encrypted else http.client.HTTPConnection
        return kind(self.host, timeout=4000)

    def path(self, path: str) -> str:
        return self._prefix + path

    def version(self) -> str:
        """Return the resourceVersion of the session's objects."""
        connection = self.connect()
        try:
            connection.request("GET", self.path("/api/v1/namespaces?limit=1"))
            return str(json.loads(connection.getresponse().read())["metadata"]["resourceVersion"])
        finally:
            connection.close()


def _write_certificate(path: Path) -> bytes:
    """Write a key and its own certificate for the loopback address; return the certificate as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    # A day back, because clocks differ.
    built = built.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=30))
    pem = built.add_extension(names, critical=False).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + pem)
    return pem


class _Handler(BaseHTTPRequestHandler):
    """The handler of one client's requests, which forwards them."""

    door: Door
    protocol_version = "HTTP/1.1"

    def _forward(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {self.door.token}":
            self.send_error(401)
            return
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else self._read_chunks()
        names = [name for name in self.headers if name.lower() not in HOP_BY_HOP]
        headers = {name: ",".join(self.headers.get_all(name) or ()) for name in names}
        with contextlib.closing(self.door.connect()) as connection:
            try:
                connection.request(self.command, self.door.path(self.path), body or None, {**headers, "X-Door": "root"})
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                self._refuse(f"the playground at {self.door.host} does not answer: {error}")
            else:
                self._send(answer)

    def _refuse(self, message: str) -> None:
        """Refuse a request in the format that clients of an API server print."""
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        body = json.dumps({**status, "message": message, "reason": "ServiceUnavailable", "code": 503}).encode()
        self.send_response(503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _read_chunks(self) -> bytes:
        body = b""
        while "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            size = int(self.rfile.readline().split(b";")[0], 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                break
        return body

    def _send(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if answer.status == 304:
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        # Without the last chunk, a client detects that the response was cut off.
        self.close_connection = True
        with contextlib.suppress(OSError, http.client.HTTPException):
            while part := answer.read1(CHUNK):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            self.close_connection = False

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
