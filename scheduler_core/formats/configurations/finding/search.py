"""All configurations of a text, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits, load_manifests
from scheduler_core.formats.configurations.finding.documents import find_in
from scheduler_core.formats.configurations.finding.found import Found, as_template
from scheduler_core.scheduler.config.types import KIND

# Texts in which a configuration is quoted: Markdown's fences, and scripts that write a file.

_FENCE = re.compile(r"[ \t>*-]*(```|~~~)")
_HEREDOC = re.compile(r"<<-?[ \t]*[\"'\\]?([A-Za-z_]\w{0,40})")
_KIND = re.compile(rf"kind[\"']?:[ \t]*[\"']?{KIND}\b")
_LEFT_OUT = re.compile(r"^[ \t]*\.\.\.[ \t]*$", re.MULTILINE)  # what a text does not quote
_MOST = 20


def extract_quotes(text: str) -> list[str]:
    """The parts of a text that quote a configuration, each with as many blank lines before it as the text has lines there."""
    parts = []
    for start, lines in _blocks(text.split("\n")):
        body = dedent("\n".join(lines))
        if _KIND.search(body) or ("predicates" in body and "priorities" in body):
            parts.append("\n" * start + _LEFT_OUT.sub("", body))
        if len(parts) == _MOST:
            break
    return parts


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Blocks with the number of lines before them."""
    end, start = "", 0
    for number, line in enumerate(lines):
        if not end:
            fence, here = _FENCE.match(line), _HEREDOC.search(line)
            if fence is not None or here is not None:
                end, start = (
                    fence[1] if fence is not None else here[1] if here is not None else "",
                    number + 1,
                )
        elif line.strip().lstrip(">* ").startswith(end):
            yield start, lines[start:number]
            end = ""
    if end:
        yield start, lines[start:]


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
