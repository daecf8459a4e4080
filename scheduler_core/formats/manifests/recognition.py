"""Texts that are no objects: tables and descriptions that kubectl prints, templates, messages. Of each is said what to type instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scheduler_core.formats.manifests.notes import Note, gettext_noop
from scheduler_core.formats.manifests.tables import find_describe_command, find_table_command

HELM = gettext_noop("This is a template of a Helm chart. Render it first: %(command)s")
GO_TEMPLATE = gettext_noop("This is a template with {{ }}. Render it first, then paste the result.")
TABLE = gettext_noop("This is a table, which lacks most fields of the objects. Get the objects: %(command)s")
DESCRIBED = gettext_noop("This is the output of kubectl describe. Get the object: %(command)s")
NAMES = gettext_noop("These are only names. Get the objects: %(command)s")
SAID = gettext_noop("This is a message of kubectl, not an object: %(said)s")
NOTHING = gettext_noop("kubectl found nothing: %(said)s Search all namespaces: %(command)s")
TAB = gettext_noop(
    "Line %(line)s is indented with a tab, which YAML does not allow. Replace the tabs with spaces: %(command)s"
)

_TEMPLATE = re.compile(r"\{\{[-~]?\s*[.$\w\"(/*]")
_OF_HELM = re.compile(
    r"\{\{[-~]?\s{0,9}(?:include|template|define|tpl)\b"
    r"|\{\{[^{}\n]{0,200}?\.(?:Values|Release|Chart|Capabilities|Template)\b"
)
_MESSAGES = ("Error from server", "error:", "Error:", "Unable to connect to the server", "The connection to the server")
_NAME = re.compile(r"[a-z][a-z0-9.]*/\S+")
_EVERYTHING = "kubectl get nodes,pods,namespaces -A -o yaml"


def recognise_text(text: str, readable: bool = False) -> Note | None:
    """Return a note on a text without objects; None if unknown. `readable`: it is YAML or JSON, with nothing to render."""
    lines = [line for line, _ in zip(_lines(text), range(400), strict=False)]
    if not lines:
        return None
    for look in (_message, _table, _description, _names):
        note = look(lines)
        if note is not None:
            return note
    return None if readable else template(text)


def template(text: str) -> Note | None:
    """Return a note that the text must be rendered first, or None if it is no template."""
    if _OF_HELM.search(text):
        return Note(HELM, {"command": "helm template RELEASE CHART"})
    return Note(GO_TEMPLATE) if _TEMPLATE.search(text) else None


def find_tab_indent(text: str, line: int | None) -> Note | None:
    """Return a note that the line which is no valid YAML, or one next to it, begins with a tab; else None."""
    lines = text.split("\n")
    for number in (line, line + 1, line - 1) if line else ():
        if 1 <= number <= len(lines):
            start = lines[number - 1][: len(lines[number - 1]) - len(lines[number - 1].lstrip())]
            if "\t" in start:
                return Note(TAB, {"line": number, "command": "expand -t 2 FILE"})
    return None


def _lines(text: str) -> Iterator[str]:
    """Lines that say something, of a text that may be very long."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + 1000)].rstrip()
        if line and not line.startswith("---"):
            yield line
        start = end + 1


def _message(lines: list[str]) -> Note | None:
    first = lines[0].strip()
    if first.startswith("No resources found"):
        return Note(NOTHING, {"said": first, "command": _EVERYTHING})
    return Note(SAID, {"said": first[:300]}) if first.startswith(_MESSAGES) else None


def _table(lines: list[str]) -> Note | None:
    command = find_table_command(lines)
    return Note(TABLE, {"command": command}) if command else None


def _description(lines: list[str]) -> Note | None:
    command = find_describe_command(lines)
    return Note(DESCRIBED, {"command": command}) if command else None


def _names(lines: list[str]) -> Note | None:
    if len(lines) < 2 and ":" in lines[0]:
        return None
    if not all(_NAME.fullmatch(line) for line in lines):
        return None
    kinds = ",".join(dict.fromkeys(line.partition("/")[0].partition(".")[0] for line in lines))
    return Note(NAMES, {"command": f"kubectl get {kinds} -o yaml"})
