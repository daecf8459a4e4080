"""YAML: the chosen object as kubectl prints it, with the linked field marked."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import yaml

from playground.presenters.inspector.objects import find_chosen_object
from playground.presenters.look import Look
from playground.presenters.scene import NoSubject, find_pod, scheduler_of, table_of
from scheduler_core.formats.unsupported import without_effect
from scheduler_core.world.readonly import WorldView

# The lines of a field in a YAML text. Paths have Kubernetes' notation, `spec.containers[0].resources.requests[cpu]`.

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEGMENT = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


class MarkedText(TypedDict):
    """The text before the field's lines, its lines as `mark`, and the `rest`; without such a field, the whole as `text`."""

    text: str
    mark: str
    rest: str


def mark_field(text: str, path: str) -> MarkedText:
    span = _span(text, path) if path else None
    if span is None:
        return {"text": text, "mark": "", "rest": ""}
    lines, (start, end) = text.splitlines(keepends=True), span
    return {"text": "".join(lines[:start]), "mark": "".join(lines[start:end]), "rest": "".join(lines[end:])}


def _span(text: str, path: str) -> tuple[int, int] | None:
    """Return the first line of a field, and the line after its last; None if there is no such field."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:  # a truncated text
        return None
    start, end = 0, None
    for bracket, name in _SEGMENT.findall(path):
        found = _step(node, name or bracket)
        if found is None:
            return None
        start, node = found
        end = node.end_mark
    if end is None:
        return None
    return start, max(end.line + (end.column > 0), start + 1)


def _step(node: yaml.Node | None, key: str) -> tuple[int, yaml.Node] | None:
    """Return the first line of the child with this name or index, and the child, or None."""
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark.line, v) for k, v in node.value if k.value == key), None)
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        return node.value[int(key)].start_mark.line, node.value[int(key)]
    return None


class Excerpt(MarkedText):
    """The smallest part of a manifest around the field at `path` that is useful on its own."""

    path: str


EXCERPT = 8  # lines


def cut_out(manifest: Mapping[str, Any], path: str) -> Excerpt | None:
    """Return the largest part around a field that is short, or None if the manifest has no such field."""
    segments = [bracket or name for bracket, name in _SEGMENT.findall(path)]
    value: Any = manifest
    for i, segment in enumerate(segments):
        value = _child(value, segment)
        if value is None:
            return None
        text = _dump({segment: value}) if not segment.isdecimal() else _dump(value)
        if text.count("\n") <= EXCERPT or i == len(segments) - 1:
            inside = segments[i:] if not segment.isdecimal() else segments[i + 1 :]
            marked = mark_field(text, "".join(f"[{each}]" for each in inside) if len(inside) > 1 else "")
            return {"path": ".".join(segments[: i + 1]), **marked}
    return None


def _child(value: Any, segment: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(segment)
    found = isinstance(value, (list, tuple)) and segment.isdecimal() and int(segment) < len(value)
    return value[int(segment)] if found else None


def _dump(value: object) -> str:
    return str(yaml.dump(_plain(value), Dumper=_DUMPER, sort_keys=False, default_flow_style=False, width=100))


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
LONGEST = 20_000


def present(sim: WorldView, look: Look, key: str) -> "YamlBody | NoSubject":
    """Return the manifest of the object that was chosen last, else of the pod."""
    if look.about in ("claim", "controller") and (ref := find_chosen_object(sim, look)) is not None:
        manifest = sim.store.get(*ref)
        if manifest is not None:
            return _present_manifest(ref[0], ref[2], manifest, look.field)
    if look.node and look.about == "node":
        table = table_of(scheduler_of(sim))
        row = table.row(look.node)
        if row is not None:
            return _present_manifest("Node", look.node, table.nodes[row].manifest, look.field)
    pod = find_pod(sim, key) if key else None
    return _present_manifest("Pod", key, pod.manifest, look.field) if pod is not None else {"kind": "none"}


class SilentField(TypedDict):
    path: str
    why: str


class YamlBody(MarkedText):
    kind: Literal["yaml"]
    object: str
    name: str
    cut: bool
    silent: list[SilentField]


def _present_manifest(kind: str, name: str, manifest: Mapping[str, Any], field: str) -> YamlBody:
    text = _dump(manifest)
    return {
        "kind": "yaml",
        "object": kind,
        "name": name,
        **mark_field(text[:LONGEST], field),
        "cut": len(text) > LONGEST,
        "silent": silent(manifest),
    }


def silent(manifest: Mapping[str, Any]) -> list[SilentField]:
    """Return the fields that are set but have no effect here, each with the reason."""
    return [{"path": path, "why": why} for path, why in without_effect(manifest)]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
