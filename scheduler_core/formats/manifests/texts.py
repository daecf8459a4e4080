"""From bytes to the text that holds objects: encodings, line ends, Markdown around it, logs in between, the prompt above it.

Lines keep their numbers: what goes is left blank.
"""

from __future__ import annotations

import codecs
import re

from scheduler_core.formats.manifests.notes import Note, NotObjects, gettext_noop

_WIDE = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FENCE = re.compile(r"^[ \t>]{0,12}(?:```|~~~)", re.MULTILINE)
_LOGS, _END_OF_LOGS = "==== START logs for container ", "==== END logs for container "
_PROMPT = re.compile(r"(?:[\w.@:~/\\\[\]() -]{0,80}[$>%#❯➜]\s)?\s*(?:sudo )?(?:kubectl|oc|k) [a-z]")

NOT_UTF8 = gettext_noop("The file is not text in UTF-8: byte %(byte)s cannot be read.")
NOT_UTF8_NAMED = gettext_noop("%(file)s is not text in UTF-8: byte %(byte)s cannot be read.")


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
    if not _PROMPT.match(text, start, len(text) if end < 0 else end):
        return text
    return "\n" * start + ("" if end < 0 else text[end:])


def extract_fences(text: str) -> str | None:
    """Return the contents of a Markdown text's fences, as documents; None if there are none."""
    if not _FENCE.search(text):
        return None
    kept, within = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            within = not within
            kept.append("---" if within else "")
        else:
            kept.append(line if within else "")
    return "\n".join(kept)
