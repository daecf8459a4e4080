"""{% joined_sheet "studio" %} and {% joined_script "studio" %}: css/joined/studio.css and js/joined/studio.js with their imports.

A page's first paint waits for all of its sheets, its keyboard shortcuts wait for all of its modules, and each request takes a round trip.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
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

_SHEET = re.compile(r'^@import "([^"]+)"(?: ([^;"]+))?;\n', re.MULTILINE)
_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*/\*\*.*?\*/|^\s*//.*?$", re.MULTILINE | re.DOTALL)
_OTHERWISE = re.compile(r"^(?:import|export|await)\b|\bimport(?:\(|\.meta)", re.MULTILINE)

Version = tuple[int, int]  # when a file changed last, and its size


@dataclass(frozen=True, slots=True)
class JoinedFile:
    """A file with all that it imports; `digest` is of its text."""

    text: bytes
    packed: bytes
    digest: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of files. `imports`: paths that a text imports, with their media; `join`: the text of paths, each with its medium."""

    folder: str
    suffix: str
    mime: str
    imports: Callable[[str], list[tuple[str, str]]]
    join: Callable[[list[tuple[str, str]]], str]


@register.simple_tag
def joined_sheet(name: str) -> SafeString:
    """Return a link whose address depends on the content, so that browsers may cache it forever."""
    return format_html('<link rel="stylesheet" href="{}">', _address("styles", name))


@register.simple_tag
def joined_script(name: str) -> SafeString:
    """Return a script element whose address depends on the content."""
    return format_html('<script type="module" src="{}"></script>', _address("scripts", name))


def _address(kind: str, name: str) -> str:
    return reverse(kind, kwargs={"name": name, "digest": join(kind, name).digest})


def join(kind: str, name: str) -> JoinedFile:
    """Join a file of a kind's folder. Repeats this when one of the files has changed."""
    parts: dict[str, tuple[str, Version]] = {}
    _gather(kind, f"{KINDS[kind].folder}{name}{KINDS[kind].suffix}", "", parts, ())
    return _join_parts(
        kind, tuple((path, media) for path, (media, _) in parts.items()), tuple(at for _, at in parts.values())
    )


@lru_cache(maxsize=16)
def _join_parts(kind: str, parts: tuple[tuple[str, str], ...], _versions: tuple[Version, ...]) -> JoinedFile:
    text = KINDS[kind].join(list(parts)).encode()
    return JoinedFile(text, gzip.compress(text, mtime=0), hashlib.sha256(text).hexdigest()[:16])


def _gather(
    kind: str, path: str, media: str, parts: dict[str, tuple[str, Version]], importers: tuple[str, ...]
) -> None:
    """Add a file after those that it imports, each once, with its medium and its version."""
    if path in importers:
        raise ValueError(f"files that import each other can't be joined: {' '.join((*importers, path))}")
    if path in parts:
        return
    version = _version(path)
    for name, its in _list_imports(kind, path, version):
        _gather(kind, name, its or media, parts, (*importers, path))
    parts[path] = media, version


@lru_cache(maxsize=256)
def _list_imports(kind: str, path: str, _version: Version) -> list[tuple[str, str]]:
    return [(_beside(path, name), media) for name, media in KINDS[kind].imports(_read(path))]


def _join_sheets(parts: list[tuple[str, str]]) -> str:
    return "".join(_within(media, _SHEET.sub("", _read(path))) for path, media in parts)


def _within(media: str, text: str) -> str:
    """Return the sheet's text limited to this medium."""
    if "@import" in text or "url(" in text:
        raise ValueError(f"it means something else when it is joined with others: {text[:80]}")
    return f"@media {media} {{\n{text}}}\n" if media else text


def _join_modules(parts: list[tuple[str, str]]) -> str:
    """Give each module its own scope, with its imports as constants, after the modules that it imports, as browsers evaluate them."""
    numbers = {path: number for number, (path, _) in enumerate(parts)}
    return "".join(_scope(path, numbers) for path, _ in parts)


def _scope(path: str, numbers: dict[str, int]) -> str:
    text, number = _read(path), numbers[path]
    taken = [
        f"const {{ {names.replace(' as ', ': ').strip()} }} = m{numbers[_beside(path, name)]};\n"
        for names, name in _IMPORT.findall(text)
        if names.strip()
    ]
    given = ", ".join(name for _, name in _EXPORT.findall(text))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub("", text))
    if wrong := _OTHERWISE.search(_COMMENT.sub("", body)):
        raise ValueError(f"{path}: it means something else when it is joined with others: {wrong[0]}")
    return f"// {path}\nconst m{number} = (() => {{\n{''.join(taken)}{body}return {{ {given} }};\n}})();\n"


KINDS = {
    "styles": Kind("playground/css/joined/", ".css", "text/css", _SHEET.findall, _join_sheets),
    "scripts": Kind(
        "playground/js/joined/",
        ".js",
        "text/javascript",
        lambda text: [(name, "") for _, name in _IMPORT.findall(text)],
        _join_modules,
    ),
}


def _beside(path: str, name: str) -> str:
    return normpath(PurePosixPath(path).parent / name)


def _read(path: str) -> str:
    return _file(path).read_text(encoding="utf-8")


def _version(path: str) -> Version:
    about = _file(path).stat()
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=256)
def _file(path: str) -> Path:
    found = finders.find(path)
    if not isinstance(found, str):
        raise FileNotFoundError(path)
    return Path(found)
