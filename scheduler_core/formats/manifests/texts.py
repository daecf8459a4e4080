"""From bytes to the text that holds objects: encodings, line ends, Markdown around it, logs in between, the prompt above it.

Lines keep their numbers: what goes is left blank.
"""

import codecs
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

from scheduler_core.formats.manifests.notes import Note, NotObjects, gettext_noop

_WIDE = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FENCE = re.compile(r"[ \t>*-]{0,40}(?P<mark>`{3,20}|~{3,20})[ \t]*\{?\.?(?P<language>[\w+-]{0,40})")
_QUOTE = re.compile(r"^[ \t]{0,40}(?:>[ \t]?){1,10}")
_HEREDOC = re.compile(r"<<-?[ \t]*[\"'\\]?([A-Za-z_]\w{0,40})")
_SHELL = re.compile(r"[ \t>]{0,40}\$ \S")
_LOGS, _END_OF_LOGS = "==== START logs for container ", "==== END logs for container "
_PROMPT = re.compile(r"(?:[\w.@:~/\\\[\]() -]{0,80}[$>%#❯➜]\s)?\s*(?:sudo )?(?:kubectl|oc|k) [a-z]")

NOT_UTF8 = gettext_noop("The file is not UTF-8 text: byte %(byte)s cannot be read.")
NOT_UTF8_NAMED = gettext_noop("%(file)s is not UTF-8 text: byte %(byte)s cannot be read.")


def decode_text(data: bytes, name: str = "") -> str:
    """The text of a file in UTF-8, with or without a mark, or in UTF-16 as PowerShell writes it."""
    try:
        return _decode_bytes(data).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        values = {"byte": f"{error.start + 1:,}"}
        if name:
            raise NotObjects(Note(NOT_UTF8_NAMED, {"file": name, **values})) from None
        raise NotObjects(Note(NOT_UTF8, values)) from None


def _decode_bytes(data: bytes) -> str:
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return data.decode(encoding)
    if data[1:2] == b"\x00" and data[:1].isascii() and b"\x00" not in data[:1]:
        return data.decode("utf-16-le")
    return data.decode("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8")


def without_logs(text: str) -> str:
    """The objects of `kubectl cluster-info dump`, without the logs that follow them."""
    if _LOGS not in text:
        return text
    kept, within = [], False
    for line in text.split("\n"):
        within = within or line.startswith(_LOGS)
        kept.append("" if within else line)
        within = within and not line.startswith(_END_OF_LOGS)
    return "\n".join(kept)


def without_prompt(text: str) -> str:
    """Without the command that printed it, where that was copied too."""
    start = len(text) - len(text.lstrip("\n"))
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if not _PROMPT.match(text, start, end) or _HEREDOC.search(text, start, end):
        return text
    return "\n" * start + text[end:]


class Block(NamedTuple):
    """A part of a text that may hold objects: the number of lines before it, the language that its fence names, and its lines."""

    start: int
    language: str
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines without what quotes and indents them, and without `...` in the place of what was left out."""
        return dedent("\n".join("" if line.strip() == "..." else _QUOTE.sub("", line) for line in self.lines))


def extract_blocks(text: str) -> Iterator[Block]:
    """Yield the heredocs and the outputs of commands in the code blocks of a Markdown text, or in a script or a transcript.

    A text that quotes nothing has no blocks.
    """
    lines = text.split("\n")
    whole = Block(0, "", lines)
    for fence in list(_split_fences(lines)) or [whole]:
        yield from (block for block in _split_commands(fence) if block != whole)


def _split_fences(lines: list[str]) -> Iterator[Block]:
    end, language, start = "", "", 0
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if not end and fence is not None:
            end, language, start = fence["mark"], fence["language"].lower(), number + 1
        elif end and fence is not None and fence["mark"].startswith(end) and not fence["language"]:
            yield Block(start, language, lines[start:number])
            end = ""
    if end:
        yield Block(start, language, lines[start:])


def _split_commands(block: Block) -> Iterator[Block]:
    """Yield the heredocs of a block, and what stands between prompts."""
    end, start = "", 0
    for number, line in enumerate(block.lines):
        here = _HEREDOC.search(line)
        if end:
            if _QUOTE.sub("", line).strip() != end:
                continue
            end = ""
        elif here is not None:
            end = here[1]
        elif not _PROMPT.match(line) and not _SHELL.match(line):
            continue
        if number > start:
            yield Block(block.start + start, block.language, block.lines[start:number])
        start = number + 1
    if start < len(block.lines):
        yield Block(block.start + start, block.language, block.lines[start:])
