"""Where a field stands in a YAML text: paths as Kubernetes writes them, `spec.containers[0].resources.requests[cpu]`."""

from __future__ import annotations

import re

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEGMENT = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


def mark_field(text: str, path: str) -> dict[str, str]:
    """The text before the field's lines, these as `mark`, and the `rest`; all of it as `text` where there is no such field."""
    span = _span(text, path) if path else None
    if span is None:
        return {"text": text, "mark": "", "rest": ""}
    lines, (start, end) = text.splitlines(keepends=True), span
    return {"text": "".join(lines[:start]), "mark": "".join(lines[start:end]), "rest": "".join(lines[end:])}


def _span(text: str, path: str) -> tuple[int, int] | None:
    """First line and the one behind the last."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:  # a text that was cut
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
    """The line where the child of this name or number begins, and the child."""
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark.line, v) for k, v in node.value if k.value == key), None)
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        return node.value[int(key)].start_mark.line, node.value[int(key)]
    return None
