"""Texts that are no objects: tables and descriptions that kubectl prints, templates, messages. Of each is said what to type instead."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from scheduler_core.formats.manifests.notes import Note, gettext_noop

# Tables that `kubectl get` prints and texts that `kubectl describe` prints: which command prints the same as objects.
# kube: pkg/printers/internalversion/printers.go (columns), kubectl/pkg/describe/describe.go @ v1.34.1

# Columns that tell a resource, and lines of a description that tell its kind, more telling ones first; resources of the cluster.
_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text())
_EVERYTHING = "kubectl get nodes,pods,namespaces -A -o yaml"
_HEAD = re.compile(r"[A-Z][A-Z0-9()%/_ -]{0,38}")
_GAP = re.compile(r" {2,}|\t")
_PREFIXED = re.compile(r"[a-z]+(?:\.[a-z0-9.-]+)?/[a-z0-9.-]+ ")
_REPLICAS = (("StrategyType:", "deployment"), ("Update Strategy:", "statefulset"), ("Pods Status:", "replicaset"))
_LINE = re.compile(r"([A-Z][\w ()/-]{0,60}): *(.{0,300})")


def find_table_command(lines: list[str]) -> str:
    """The command that prints the objects of a table; "" where the lines are none."""
    columns = [part for part in _GAP.split(lines[0].strip()) if part]
    words = [each.partition("(")[0] for each in columns]
    if len(columns) < 2 or not all(_HEAD.fullmatch(each) for each in words if each):
        return ""
    if "NAME" not in columns and "LAST SEEN" not in columns and "NAMESPACE" not in columns:
        return ""
    if any(_PREFIXED.match(line) for line in lines[1:3]):
        return _EVERYTHING
    spread = " -A" if "NAMESPACE" in columns else ""
    for marks, resource in _TABLES["columns"]:
        if all(each in columns for each in marks):
            return f"kubectl get {resource}{'' if resource in _TABLES['cluster'] else spread} -o yaml"
    return _EVERYTHING


def find_describe_command(lines: list[str]) -> str:
    """The command that prints the object that is described; "" where the lines describe none."""
    fields: dict[str, str] = {}
    for line in lines:
        match = _LINE.match(line)
        if match:
            fields.setdefault(match[1] + ":", match[2].strip())
    if not lines[0].startswith("Name:") or not fields.keys() & {"Labels:", "Annotations:", "Events:", "Namespace:"}:
        return ""
    kind = _find_described_kind(fields)
    if not kind:
        return _EVERYTHING
    space = fields.get("Namespace:") or ""
    return f"kubectl get {kind} {fields['Name:']}{f' -n {space}' if space else ''} -o yaml"


def _find_described_kind(fields: Mapping[str, str]) -> str:
    for marks, kind in _TABLES["descriptions"]:
        if marks in fields:
            return kind if marks != "Replicas:" else next((k for each, k in _REPLICAS if each in fields), "deployment")
    return ""


HELM = gettext_noop("This is a template of a Helm chart. Render it first: %(command)s")
GO_TEMPLATE = gettext_noop("This is a template with {{ }}. Render it first, then paste the result.")
TABLE = gettext_noop("This is a table, which lacks most fields of the objects. Get the objects: %(command)s")
DESCRIBED = gettext_noop("This is the output of kubectl describe. Get the object: %(command)s")
NAMES = gettext_noop("These are only names. Get the objects: %(command)s")
SAID = gettext_noop("This is a message of kubectl, not an object: %(said)s")
HTML = gettext_noop("This is a web page, not an object. Perhaps a login page or a proxy has answered.")
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


def recognise_text(text: str, readable: bool = False) -> Note | None:
    """Return a note on a text without objects; None if unknown. `readable`: it is YAML or JSON, with nothing to render."""
    lines = [line for line, _ in zip(_lines(text), range(400), strict=False)]
    if not lines:
        return None
    note = _message(lines)
    if note is None and (command := find_table_command(lines)):
        note = Note(TABLE, {"command": command})
    if note is None and (command := find_describe_command(lines)):
        note = Note(DESCRIBED, {"command": command})
    return note or _names(lines) or (None if readable else template(text))


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
    if first.lower().startswith(("<!doctype html", "<html")):
        return Note(HTML)
    return Note(SAID, {"said": first[:300]}) if first.startswith(_MESSAGES) else None


def _names(lines: list[str]) -> Note | None:
    if len(lines) < 2 and ":" in lines[0]:
        return None
    if not all(_NAME.fullmatch(line) for line in lines):
        return None
    kinds = ",".join(dict.fromkeys(line.partition("/")[0].partition(".")[0] for line in lines))
    return Note(NAMES, {"command": f"kubectl get {kinds} -o yaml"})
