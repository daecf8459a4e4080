"""YAML: the chosen object as kubectl would print it, with the field that the viewer was led to marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from playground.presenters.inspector.marking import mark_field
from playground.presenters.inspector.objects import find_chosen_object
from playground.presenters.look import Look
from playground.presenters.scene import find_pod, scheduler_of, table_of
from scheduler_core.formats.unsupported import without_effect
from scheduler_core.world.readonly import WorldView

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
LONGEST = 20_000


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The manifest of what was chosen last, else the pod's."""
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


def _present_manifest(kind: str, name: str, manifest: Mapping[str, Any], field: str) -> dict[str, Any]:
    text = yaml.dump(_plain(manifest), Dumper=_DUMPER, sort_keys=False, default_flow_style=False, width=100)
    return {
        "kind": "yaml",
        "object": kind,
        "name": name,
        **mark_field(text[:LONGEST], field),
        "cut": len(text) > LONGEST,
        "silent": silent(manifest),
    }


def silent(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """Fields that are set and have no effect here, each with the reason."""
    return [{"path": path, "why": why} for path, why in without_effect(manifest)]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
