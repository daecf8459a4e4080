"""Texts in which a configuration is quoted: Markdown's fences, and scripts that write a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from scheduler_core.scheduler.config.types import KIND

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
