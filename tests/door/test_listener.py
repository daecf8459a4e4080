"""The listener of `door` on the user's machine: its certificate, and what it says when the session's server is away."""

import http.client
import json
import socket
import ssl
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from playground.management.door import Door


class Cut(BaseHTTPRequestHandler):
    """A server that ends in the middle of an answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"4\r\nhalf\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Cut)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def door(server: HTTPServer) -> Iterator[tuple[http.client.HTTPSConnection, dict[str, str]]]:
    """A connection to a door, which trusts its kubeconfig's certificate alone, and the header that opens it."""
    door = Door(f"http://127.0.0.1:{server.server_port}/s/key/")
    config = yaml.safe_load(door.start())
    cluster = config["clusters"][0]["cluster"]
    trusted = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
    connection = http.client.HTTPSConnection(urlsplit(cluster["server"]).netloc, context=trusted, timeout=10)
    yield connection, {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
    connection.close()
    door.stop()


Opened = tuple[http.client.HTTPSConnection, dict[str, str]]


def test_an_answer_that_is_cut_off_ends_as_one(door: Opened) -> None:
    connection, token = door
    connection.request("GET", "/api", headers=token)
    with pytest.raises(http.client.IncompleteRead) as cut:
        connection.getresponse().read()
    assert cut.value.partial == b"half"


def test_a_server_that_is_away_is_named_in_a_status(server: HTTPServer, door: Opened) -> None:
    server.shutdown()
    server.server_close()
    connection, token = door
    connection.request("GET", "/api", headers=token)
    answer = connection.getresponse()
    status = json.loads(answer.read())
    assert (answer.status, status["kind"], status["reason"]) == (503, "Status", "ServiceUnavailable")
    assert status["message"].startswith(f"the playground at 127.0.0.1:{server.server_port} does not answer")


def test_a_client_that_says_nothing_holds_up_no_other(door: Opened) -> None:
    connection, _ = door
    with socket.create_connection((connection.host, connection.port)):
        connection.request("GET", "/api")
        assert connection.getresponse().status == 401  # without the token
