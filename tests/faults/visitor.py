"""Somebody with a browser: gets pages, sends forms, and keeps the cookies. An answer that is an error is an answer too."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPMessage
from http.cookiejar import CookieJar
from typing import Any

Fields = Mapping[str, str | bytes | Sequence[str | bytes]]
TOKEN = re.compile(r'csrfmiddlewaretoken" value="([^"]+)')


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:
        return None


@dataclass(frozen=True)
class Answer:
    """What came of a request, after its redirects."""

    status: int
    text: str
    headers: HTTPMessage
    url: str
    seconds: float = 0.0
    body: bytes = b""


class Visitor:
    """Of the server at `url`; every request is given up after `patience` seconds."""

    def __init__(self, url: str, patience: float = 30) -> None:
        self.url = url
        self._patience = patience
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._staying = urllib.request.build_opener(cookies, Stay)
        self._token = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self._open(urllib.request.Request(self.url + path, headers=_named(headers)))

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send any request; its answer as it is."""
        request = urllib.request.Request(self.url + path, body, _named(headers), method=method)
        return self._open(request, self._staying)

    def post(self, path: str, fields: Fields, **headers: str) -> Answer:
        """Send a form, and go where its answer leads."""
        return self._open(self._form(path, fields, headers))

    def upload(self, path: str, body: bytes, boundary: str) -> Answer:
        """Send a form whose fields are written already, as multipart/form-data."""
        headers = {"Origin": self.url, "Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self._open(urllib.request.Request(self.url + path, body, headers))

    def send(self, path: str, fields: Fields, **headers: str) -> Answer:
        """Send a form; its answer as it is."""
        return self._open(self._form(path, fields, headers), self._staying)

    def token(self) -> str:
        """The token of the visitor's forms, asked for once."""
        if not self._token:
            found = TOKEN.search(self.get("/").text)
            assert found, "the first page has no form"
            self._token = found[1]
        return self._token

    def _form(self, path: str, fields: Fields, headers: dict[str, str]) -> urllib.request.Request:
        form = urllib.parse.urlencode({"csrfmiddlewaretoken": self.token(), **fields}, doseq=True).encode()
        named = {"Origin": self.url, **_named(headers)}
        return urllib.request.Request(self.url + path, form, named)

    def _open(self, request: urllib.request.Request, opener: urllib.request.OpenerDirector | None = None) -> Answer:
        begun = time.monotonic()
        try:
            answer = (opener or self._opener).open(request, timeout=self._patience)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
        seconds = time.monotonic() - begun
        return Answer(answer.status, body.decode(errors="replace"), answer.headers, answer.url or "", seconds, body)

    def new_session(self, start: str = "story:first-placement") -> str:
        """Make a session; its edit key."""
        answer = self.post("/new", {"start": start, "release": "1.34.1"})
        assert answer.status == 200, answer.text
        return urllib.parse.urlsplit(answer.url).path.split("/")[2]


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
