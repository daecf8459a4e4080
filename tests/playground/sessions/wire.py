"""A WebSocket client of some sixty lines: tests may send whatever bytes they like, and a benchmark times each message."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Closed(Exception):
    """The server closed the connection; `code` is its reason."""

    def __init__(self, code: int) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class Wire:
    """A connection to ws/s/<key>/ of the server at `url`, or to another `path`. `status` is the handshake's HTTP status (101: open)."""

    def __init__(
        self,
        url: str,
        key: str,
        origin: str | None = "same",
        headers: dict[str, str] | None = None,
        path: str = "",
        patience: float = 30,
    ) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=patience)
        self._buffer = b""
        lines = [
            f"GET {path or f'/ws/s/{key}/'} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        ]
        if origin is not None:
            lines.append(f"Origin: {url if origin == 'same' else origin}")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self._buffer:
            data = self._socket.recv(4096)
            if not data:
                break
            self._buffer += data
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else 0

    def send(self, message: Any) -> None:
        """Send a message as JSON."""
        self.send_frame(TEXT, json.dumps(message).encode())

    def send_frame(self, opcode: int, payload: bytes) -> None:
        """Send one frame as it is."""
        size = len(payload)
        if size < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, size)
        self._socket.sendall(head + bytes(4) + payload)  # a mask of zeros leaves the payload as it is

    def receive(self, timeout: float = 20) -> dict[str, Any]:
        """The next message. Raises Closed, or TimeoutError."""
        deadline = time.monotonic() + timeout
        while True:
            opcode, payload = self._frame(deadline)
            if opcode == TEXT:
                message: dict[str, Any] = json.loads(payload)
                return message
            if opcode == CLOSE:
                raise Closed(struct.unpack(">H", payload[:2])[0] if payload else 1005)
            if opcode == PING:
                self.send_frame(PONG, payload)

    def until(self, wanted: Callable[[dict[str, Any]], Any], timeout: float = 20) -> dict[str, Any]:
        """The next message that is wanted; those before it are passed over."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(deadline - time.monotonic())
            if wanted(message):
                return message

    def shown(self, timeout: float = 20) -> dict[str, Any]:
        """The next delta. Others may speak before it: a notice, say, that a play goes on after a death."""
        return self.until(lambda message: message["type"] == "delta", timeout)

    def _frame(self, deadline: float) -> tuple[int, bytes]:
        head = self._take(2, deadline)
        size = head[1] & 127
        if size == 126:
            size = struct.unpack(">H", self._take(2, deadline))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._take(8, deadline))[0]
        return head[0] & 15, self._take(size, deadline)

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Closed(1006)
            self._buffer += data
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    def close(self) -> None:
        self._socket.close()
