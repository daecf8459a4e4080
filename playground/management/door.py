"""A door on this machine: a local TLS listener that forwards to a session, for tools that need a root path, https, or a token.

It listens on the loopback alone, with a certificate of its own that lives as long as it does, and asks nobody but the session's server.
"""

import base64
import contextlib
import http.client
import json
import re
import secrets
import ssl
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError

from playground.common.kubeconfig import write_kubeconfig

HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "authorization", "host", "accept-encoding")
CHUNK = 1 << 16


def read_link(link: str) -> tuple[str, str]:
    """The server and the key of a session's link. CommandError."""
    parts = urlsplit(link)
    found = re.search(r"^(.*)/s/([^/]+)", parts.path)
    if parts.scheme not in ("http", "https") or found is None:
        raise CommandError(f"{link!r} is no link of a session. Expected: https://SERVER/s/KEY/.")
    return f"{parts.scheme}://{parts.netloc}{found[1]}", found[2]


class Door:
    """Forwards what comes to it to the session of a link (http://HOST/s/KEY/), once the caller has shown its token."""

    def __init__(self, link: str, port: int = 0) -> None:
        server, key = read_link(link)
        parts = urlsplit(server)
        self._host, self._encrypted = parts.netloc, parts.scheme == "https"
        self._prefix = f"{parts.path}/s/{key}/k8s"
        self.token = secrets.token_urlsafe(24)
        self._folder = tempfile.TemporaryDirectory()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def start(self) -> str:
        """Begin to listen; a kubeconfig that leads here."""
        # A certificate for the loopback address, made with openssl.
        folder = Path(self._folder.name)
        subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "30",
        ]
        files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
        subprocess.run([*command, *subject, *files], check=True, capture_output=True)  # noqa: S603 - fixed words
        certificate = folder
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread.start()
        cluster = {"server": self.address, "certificate-authority-data": _encode(certificate / "cert.pem")}
        return write_kubeconfig("playground", cluster, {"token": self.token})

    def stop(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the session's server."""
        kind = http.client.HTTPSConnection if self._encrypted else http.client.HTTPConnection
        return kind(self._host, timeout=4000)

    def path(self, path: str) -> str:
        return self._prefix + path

    def version(self) -> str:
        """The resourceVersion of the session's objects."""
        connection = self.connect()
        try:
            connection.request("GET", self.path("/api/v1/namespaces?limit=1"))
            return str(json.loads(connection.getresponse().read())["metadata"]["resourceVersion"])
        finally:
            connection.close()


def _encode(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _handler(door: Door) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self) -> None:
            if self.headers.get("Authorization") != f"Bearer {door.token}":
                self.send_error(401)
                return
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size) if size else self._read_chunks()
            names = [name for name in self.headers if name.lower() not in HOP_BY_HOP]
            headers = {name: ",".join(self.headers.get_all(name) or ()) for name in names}
            connection = door.connect()
            try:
                connection.request(self.command, door.path(self.path), body or None, {**headers, "X-Door": "root"})
                self._send(connection.getresponse())
            finally:
                connection.close()

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
            with contextlib.suppress(OSError):
                while part := answer.read1(CHUNK):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler
