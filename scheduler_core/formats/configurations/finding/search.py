"""All configurations of a text, whatever it is."""

from __future__ import annotations

import re
from itertools import islice

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits, load_manifests
from scheduler_core.formats.configurations.finding.documents import find_in
from scheduler_core.formats.configurations.finding.found import Found, as_template
from scheduler_core.formats.manifests.texts import extract_blocks
from scheduler_core.scheduler.config.schema import KIND

# Texts in which a configuration is quoted: Markdown's fences, and scripts that write a file.

_KIND = re.compile(rf"kind[\"']?:[ \t]*[\"']?{KIND}\b")
_MOST = 20


def extract_quotes(text: str) -> list[str]:
    """The parts of a text that quote a configuration, each with as many blank lines before it as the text has lines there."""
    parts = ("\n" * block.start + block.text for block in extract_blocks(text))
    held = (part for part in parts if _KIND.search(part) or ("predicates" in part and "priorities" in part))
    return list(islice(held, _MOST))


def find(text: str, limits: LoadLimits) -> list[Found]:
    """The configurations of YAML, JSON, or of a text that quotes them. InvalidObject where it is none of these, or breaks a limit."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        found = find_in(load_manifests(text, limits), text)
        if found:
            return found
    except InvalidObject as error:
        parts = extract_quotes(text)
        if not parts:
            raise InvalidObject(as_template(error, text)) from error
        return [each for part in parts for each in _search_part(part, limits)]
    return [each for part in extract_quotes(text) for each in _search_part(part, limits)]


def _search_part(part: str, limits: LoadLimits) -> list[Found]:
    try:
        return find_in(load_manifests(part, limits), part)
    except InvalidObject as error:
        first = error.errors[0]
        place = None if first.line is None else (first.line, first.column or 1)
        return [Found("configuration", {}, "", lambda _: place, errors=as_template(error, part))]
