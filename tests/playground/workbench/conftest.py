"""A visitor with a session, and the real engine behind it."""

import re
from collections.abc import Callable
from html import unescape

import pytest
import yaml
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import Client

from playground.models import Session
from playground.sessions.protocol.looking import Objects, ObjectYaml
from playground.sessions.web.client import SessionClient


class Visitor:
    """Somebody with a browser without JavaScript, in the session that `start` began."""

    def __init__(self, start: str) -> None:
        self.browser = Client()
        began = self.browser.post("/new", {"start": start, "release": "1.34.1"})
        assert began.status_code == 302, page_text(began)
        self.session = Session.objects.latest("pk")
        self.url = f"/s/{self.session.edit_key}/"
        self.view_url = f"/s/{self.session.view_key}/"

    def get(self, path: str, **query: object) -> HttpResponse:
        return self.browser.get(self.url + path, query)

    def post(self, path: str, **fields: object) -> HttpResponse:
        return self.browser.post(self.url + path, fields)

    def objects(self, kind: str | None = None) -> list[str]:
        """Names of all objects of a kind at the head."""
        return [listed.name for listed in self.ask(lambda client: client.ask(Objects(kind=kind)))]

    def manifest(self, kind: str, name: str, namespace: str = "default") -> dict:
        asked = ObjectYaml(kind=kind, namespace="" if kind == "Node" else namespace, name=name)
        return yaml.safe_load(self.ask(lambda client: client.ask(asked)).text)

    def head(self) -> int:
        self.session.refresh_from_db()
        return self.session.head

    def ask(self, question: Callable) -> object:
        """The answer of a SessionClient with the edit key."""

        async def ask() -> object:
            return await question(await SessionClient.open(self.session.edit_key))

        return async_to_sync(ask)()


def page_text(response: HttpResponse) -> str:
    """What a page says, without its markup."""
    body = re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", response.content.decode())
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture
def visitor(transactional_db: None) -> Callable[[str], Visitor]:
    """Begins a session in one of the ways of the first page."""
    return lambda start="empty": Visitor(start)
