"""Message catalogs: read the texts of the sources into locale/*/LC_MESSAGES. `make messages` runs this module.

Babel reads Python by itself; a template is first turned into calls of gettext by Django, as its own makemessages does. Neither needs the
programs of GNU gettext.
"""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Container, Iterator
from pathlib import Path

import yaml
from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation import templatize

ROOT = Path(__file__).parents[1]
LANGUAGES = ("zh_Hans",)
# Babel's own header has the time, names of nobody, and Babel's version: the file would change where no word does.
HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: Scheduler Playground\\n"
"Language: {language}\\n"
"Plural-Forms: {plural_forms}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "fill_text": None,  # of the sentences of records
    "Words": None,  # these three are of what plugins say of a node
    "phrase": None,
    "remark": None,
    "ngettext": (1, 2),
    "npgettext": ((1, "c"), 2, 3),
    "pgettext": ((1, "c"), 2),
}
_STRING = r"""u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
_CALL = re.compile(rf"\b(?:n?gettext|_)\(\s*({_STRING})(?:\s*,\s*({_STRING}))?")


def extract_texts(path: Path) -> Iterator[tuple[str | tuple[str, str], str | None, list[str]]]:
    """The texts that a source marks, each with its context and the comments for translators; of a YAML file, all texts but references."""
    if path.suffix == ".yaml":
        yield from ((text, None, []) for text in list_strings(yaml.safe_load(path.read_text())))
    elif path.suffix == ".json":
        rows = json.loads(path.read_text())
        rows = [{"text": why} for why in rows["reasons"].values()] if isinstance(rows, dict) else rows
        yield from ((row[name], None, []) for name in ("text", "unshown") for row in rows if name in row)
    elif path.suffix == ".html":
        yield from ((text, None, []) for text in extract_template(path.read_text()))
    else:
        with path.open("rb") as source:
            for _line, text, comments, context in extract("python", source, KEYWORDS, ("Translators:",)):
                yield text, context, comments
        yield from ((text, None, []) for text in list_messages(path.read_text()))


def list_messages(source: str) -> Iterator[str]:
    """The texts in a module's calls of `message`. Babel would take names of tables for texts there, as in `message(WORDS["found"])`."""
    for call in ast.walk(ast.parse(source)):
        match call:
            case ast.Call(func=ast.Name("message"), args=[ast.Constant(str(text)), *_]):
                yield text


# Keys of what is no text.
PLAIN = ("docs", "sources", "exact", "icon", "letter", "address", "type", "kinds", "applies", "path", "initial")


def list_strings(data: object, without: Container[str] = PLAIN) -> Iterator[str]:
    """Every string in YAML data, without keys."""
    if isinstance(data, str):
        yield data
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if key not in without or isinstance(value, dict):
            yield from list_strings(value, without)


def list_sources() -> Iterator[Path]:
    """The files that have texts: modules, the words beside presenters, and templates."""
    for folder in ("playground", "scheduler_core"):
        yield from sorted((ROOT / folder).rglob("*.py"))
    yield ROOT / "scheduler_core/base/releases.json"
    yield ROOT / "scheduler_core/formats/unsupported/declared.json"
    for folder in ("presenters", "features", "views", "workbench/actions", "workbench/forms"):
        yield from sorted((ROOT / "playground" / folder).rglob("*.yaml"))
    yield ROOT / "playground/workbench/builder/offered.yaml"
    yield from sorted((ROOT / "templates").rglob("*.html"))


def extract_catalog() -> Catalog:
    """Every text that the sources mark."""
    found = Catalog(project="Scheduler Playground", charset="utf-8")
    for path in list_sources():
        for text, context, comments in extract_texts(path):
            found.add(text, auto_comments=comments, context=context)
    return found


def extract_template(source: str) -> Iterator[str | tuple[str, str]]:
    """The texts of a template's tags."""
    for call in _CALL.finditer(templatize(source)):
        one = ast.literal_eval(call[1])
        yield (one, ast.literal_eval(call[2])) if call[2] else one


def folder(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES"


def read(language: str) -> Catalog:
    """A language's catalog as it is in the repository."""
    path = folder(language) / "django.po"
    if not path.exists():
        return Catalog(locale=language, project="Scheduler Playground", charset="utf-8")
    with path.open("rb") as source:
        return read_po(source, locale=language)


def update(language: str) -> None:
    """Bring a language's catalog up to date: new texts come in empty, those that nothing says any more go."""
    folder(language).mkdir(parents=True, exist_ok=True)
    (folder(language) / "django.po").write_bytes(render_catalog(language))


def render_catalog(language: str) -> bytes:
    """A language's catalog as `update` writes it: the words by their texts, with neither dates nor the places of the texts."""
    known = read(language)
    known.update(extract_catalog(), no_fuzzy_matching=True)
    known.obsolete.clear()
    out = io.BytesIO()
    out.write(HEADER.format(language=language, plural_forms=known.plural_forms).encode())
    write_po(out, known, width=0, sort_output=True, omit_header=True, no_location=True)
    return out.getvalue()


def find_untranslated(language: str) -> list[str]:
    """The texts that a language has no words for."""
    known = read(language)
    texts = (message for message in extract_catalog() if message.id)
    said = ((message, known.get(message.id, message.context)) for message in texts)
    return [str(message.id) for message, words in said if words is None or not _whole(words.string)]


def _whole(words: str | tuple[str, ...] | list[str]) -> bool:
    return all(words) if isinstance(words, (tuple, list)) else bool(words)


if __name__ == "__main__":
    for name in LANGUAGES:
        update(name)
        print(f"{name}: {len(find_untranslated(name))} texts without words")
