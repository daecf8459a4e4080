"""What there is to try: every URL pattern of the site, and every form and link of its pages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from django.urls import Resolver404, get_resolver, resolve
from django.urls.resolvers import RoutePattern, URLPattern

from playground.presenters.look import FIELDS

_ASKS = re.compile(r"\b(?:GET|POST|given|parameters|query)\b")
_WORD = re.compile(r'"(\w+)"')


@dataclass(frozen=True)
class Place:
    """A URL pattern: its route as it is written, and the parameters in it with the kind of each."""

    name: str
    route: str
    parameters: Mapping[str, str]
    module: str

    @property
    def words(self) -> tuple[str, ...]:
        """The names that its view asks a query or a form for, as the view's module has them."""
        source = inspect.getsource(import_module(self.module))
        lines = [line for line in source.splitlines() if _ASKS.search(line)]
        looks = FIELDS if "Look" in source else ()
        return tuple(sorted({"at", "past", *looks, *_WORD.findall("\n".join(lines))}))

    def path(self, values: Mapping[str, str]) -> str:
        """The address with these values as they are."""
        path = f"/{self.route}"
        for parameter, kind in self.parameters.items():
            path = path.replace(f"<{kind}:{parameter}>", values[parameter])
        return path


@cache
def places() -> tuple[Place, ...]:
    """Every URL pattern that the site has."""
    return tuple(map(_place, get_resolver().url_patterns))


def _place(pattern: Any) -> Place:
    assert isinstance(pattern, URLPattern) and isinstance(pattern.pattern, RoutePattern), pattern
    route = str(pattern.pattern)
    kinds = dict(reversed(part.partition(">")[0].split(":", 1)) for part in route.split("<")[1:])
    assert set(kinds) == set(pattern.pattern.converters), route
    return Place(pattern.name or route, route, kinds, inspect.unwrap(pattern.callback).__module__)


def name_of(path: str) -> str:
    """Which pattern an address is of; "" for none."""
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


@dataclass
class Form:
    """A form as a page has it: where it goes, its fields with what they hold, and what else they may be called."""

    method: str
    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)  # those of several lines, which something reads
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def kind(self) -> tuple[str, ...]:
        """Forms of one kind differ in what they hold alone."""
        path = urlsplit(self.action).path
        last = path.rsplit("/", 1)[1] if name_of(path) == "act" else ""
        return (self.method, name_of(path), last, *sorted(self.names))

    def choices(self) -> Iterator[dict[str, list[str]]]:
        """What it sends as it stands, with a button of each name; without one where it has none."""
        if not self.buttons:
            yield dict(self.fields)
        for name, value in dict(self.buttons).items():
            yield {**self.fields, name: [value]}


class Page(HTMLParser):
    """The forms and links of a page."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__()
        self.path = path
        self.forms: list[Form] = []
        self.links: set[str] = set()
        self._form: Form | None = None
        self._select: tuple[str, list[str]] | None = None
        self._area: tuple[str, str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for link in (given.get("href"), given.get("hx-get"), given.get("data-href")):
            if link and not link.startswith("#") and not urlsplit(link).netloc:
                self.links.add(urljoin(self.path, link))
        if tag == "form":
            action = urljoin(self.path, given.get("action", ""))
            self._form = Form(given.get("method", "get").upper(), action)
            self.forms.append(self._form)
        elif posted := given.get("hx-post"):
            self.forms.append(Form("POST", urljoin(self.path, posted)))
        if self._form is not None:
            self._take(tag, given, self._form)

    def _take(self, tag: str, given: dict[str, str], form: Form) -> None:
        name = given.get("name", "")
        if tag == "option" and self._select is not None:
            if "selected" in given or not self._select[1]:
                self._select[1][:] = [given.get("value", "")]
        elif not name:
            return
        elif tag == "select":
            self._select = (name, form.fields.setdefault(name, []))
        elif tag == "textarea":
            self._area = (name, "")
            form.texts.add(name)
        elif tag == "button" or (tag == "input" and given.get("type") in ("submit", "image")):
            form.buttons.append((name, given.get("value", "")))
        elif tag == "input" and (given.get("type") not in ("checkbox", "radio") or "checked" in given):
            form.fields.setdefault(name, []).append(given.get("value", ""))
        if name:
            form.names.add(name)

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area = (self._area[0], self._area[1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = None
        elif tag == "textarea" and self._area is not None and self._form is not None:
            self._form.fields.setdefault(self._area[0], []).append(self._area[1].removeprefix("\n"))
            self._area = None


def shape(link: str) -> tuple[str, ...]:
    """Links of one shape differ in their values alone; actions are told apart."""
    parts = urlsplit(link)
    name = name_of(parts.path)
    last = parts.path.rsplit("/", 1)[1] if name in ("act", "panel") else ""
    return (name, last, *sorted(key for key, _ in parse_qsl(parts.query, keep_blank_values=True)))
