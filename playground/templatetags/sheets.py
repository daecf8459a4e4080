"""{% joined_sheet "studio" %}: the style sheet css/joined/studio.css with all that it imports, as one file.

A page's first paint waits for all of its sheets, and each request costs the server more than its answer does.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from django import template
from django.contrib.staticfiles import finders
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()
FOLDER = "playground/css/joined/"

_SHEET = re.compile(r'^@import "([^"]+)"(?: ([^;"]+))?;\n', re.MULTILINE)

Version = tuple[int, int]  # when a file changed last, and its size


@dataclass(frozen=True, slots=True)
class Sheet:
    """A style sheet with all that it imports; `digest` is of its text."""

    text: bytes
    packed: bytes
    digest: str


@register.simple_tag
def joined_sheet(name: str) -> SafeString:
    """A link whose address goes by the content, so that a browser may keep it for good."""
    address = reverse("styles", kwargs={"name": name, "digest": sheet(name).digest})
    return format_html('<link rel="stylesheet" href="{}">', address)


def sheet(name: str) -> Sheet:
    """A sheet of the folder, made anew when a file of it has changed."""
    path = f"{FOLDER}{name}.css"
    return _join_sheet(path, tuple(_version(name) for name, _ in _parts(path)))


@lru_cache(maxsize=16)
def _join_sheet(path: str, _versions: tuple[Version, ...]) -> Sheet:
    text = "".join(_within(media, _SHEET.sub("", _read(name))) for name, media in _parts(path)).encode()
    return Sheet(text, gzip.compress(text, mtime=0), hashlib.sha256(text).hexdigest()[:16])


def _within(media: str, text: str) -> str:
    """The sheet's text, which holds in this medium alone."""
    if "@import" in text or "url(" in text:
        raise ValueError(f"it means something else when it is joined with others: {text[:80]}")
    return f"@media {media} {{\n{text}}}\n" if media else text


def _parts(path: str, media: str = "") -> Iterator[tuple[str, str]]:
    """Paths of the sheets that one is made of, itself last, each with its medium."""
    for name, its in _list_imports(path, _version(path)):
        yield from _parts(name, its or media)
    yield path, media


@lru_cache(maxsize=64)
def _list_imports(path: str, _version: Version) -> list[tuple[str, str]]:
    return [(_beside(path, name), media) for name, media in _SHEET.findall(_read(path))]


def _beside(path: str, name: str) -> str:
    return normpath(PurePosixPath(path).parent / name)


def _read(path: str) -> str:
    return _file(path).read_text(encoding="utf-8")


def _version(path: str) -> Version:
    about = _file(path).stat()
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=64)
def _file(path: str) -> Path:
    found = finders.find(path)
    if not isinstance(found, str):
        raise FileNotFoundError(path)
    return Path(found)
