"""The catalogue of words: what the sources say, read into locale/*/LC_MESSAGES. `make messages` brings it up to date and compiles it.

Babel reads Python by itself; a template is first turned into calls of gettext by Django, as its own makemessages does. Neither needs the
programs of GNU gettext.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation import templatize

ROOT = Path(__file__).parents[1]
LANGUAGES = ("zh_Hans",)
SINCE = datetime(2026, 1, 1, tzinfo=UTC)  # so that the same words are compiled to the same bytes
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "npgettext": ((1, "c"), 2, 3),
    "pgettext": ((1, "c"), 2),
}
_STRING = r"""u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
_CALL = re.compile(rf"\b(?:n?gettext|_)\(\s*({_STRING})(?:\s*,\s*({_STRING}))?")


def catalogue() -> Catalog:
    """Every text that the sources mark, with the files it stands in."""
    found = Catalog(project="Scheduler Playground", charset="utf-8")
    for folder in ("playground", "scheduler_core"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            with path.open("rb") as source:
                for _line, text, comments, context in extract("python", source, KEYWORDS, ("Translators:",)):
                    found.add(text, None, [(_name(path), None)], auto_comments=comments, context=context)
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for text in _of_template(path.read_text()):
            found.add(text, None, [(_name(path), None)])
    return found


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _of_template(source: str) -> Iterator[str | tuple[str, str]]:
    """The texts of a template's tags."""
    for call in _CALL.finditer(templatize(source)):
        one = ast.literal_eval(call[1])
        yield (one, ast.literal_eval(call[2])) if call[2] else one


def folder(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES"


def read(language: str) -> Catalog:
    """A language's catalogue as it is in the repository."""
    path = folder(language) / "django.po"
    if not path.exists():
        return Catalog(locale=language, project="Scheduler Playground", charset="utf-8")
    with path.open("rb") as source:
        return read_po(source, locale=language)


def compiled(language: Catalog) -> bytes:
    """What the running playground reads."""
    said = Catalog(locale=language.locale, charset="utf-8", creation_date=SINCE, revision_date=SINCE)
    for message in language:
        if message.id and _whole(message.string):
            said.add(message.id, message.string, context=message.context)
    out = io.BytesIO()
    write_mo(out, said)
    return out.getvalue()


def update(language: str) -> None:
    """Bring a language's catalogue up to date: new texts come in empty, those that nothing says any more go."""
    known, sources = read(language), catalogue()
    known.update(sources, no_fuzzy_matching=True)
    known.obsolete.clear()
    folder(language).mkdir(parents=True, exist_ok=True)
    with (folder(language) / "django.po").open("wb") as out:
        write_po(out, known, width=0, sort_output=True, omit_header=False)
    (folder(language) / "django.mo").write_bytes(compiled(known))


def unsaid(language: str) -> list[str]:
    """The texts that a language has no words for."""
    known = read(language)
    texts = (message for message in catalogue() if message.id)
    said = ((message, known.get(message.id, message.context)) for message in texts)
    return [str(message.id) for message, words in said if words is None or not _whole(words.string)]


def _whole(words: str | tuple[str, ...] | list[str]) -> bool:
    return all(words) if isinstance(words, (tuple, list)) else bool(words)


if __name__ == "__main__":
    for name in LANGUAGES:
        update(name)
        print(f"{name}: {len(unsaid(name))} texts without words")
