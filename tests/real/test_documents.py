"""Each document of documents/*.yaml is read and tried on a new cluster: what is taken, refused and said of it.

A case has a `name`, a `text` (`written`: its encoding; `newline: crlf`), and what is expected: `takes` (all objects that are
created), `ignores`, `refuses` (object: part of the message), `lines` (object: its line), `stored` (object: parts of it as it is
kept), `says` (parts of notes), `count` (objects of a kind, where names are made up), or `is_no`, `unreadable`: part of why the
whole text is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apiserver.imports.items import Item, Plan
from scheduler_core.apiserver.imports.plan import plan_import
from scheduler_core.apiserver.imports.trial import apply
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.formats.manifests import NotObjects, read
from tests.scheduler_core.apiserver.cluster.requests import api_server

HERE = Path(__file__).parent / "documents"
Case = dict[str, Any]


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted(HERE.glob("*.yaml"))
        for case in yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    ]


def written(case: Case) -> bytes:
    text = case["text"].replace("\n", "\r\n") if case.get("newline") == "crlf" else case["text"]
    return str(text).encode(case.get("written", "utf-8"))


def named(item: Item) -> str:
    return f"{item.kind} {item.namespace}/{item.name}" if item.namespace else f"{item.kind} {item.name}".strip()


@pytest.mark.parametrize("case", cases())
def test_a_document_becomes_what_it_says(case: Case) -> None:
    if part := case.get("is_no"):
        with pytest.raises(NotObjects) as no:
            read(written(case))
        assert part in str(no.value)
    elif part := case.get("unreadable"):
        with pytest.raises(InvalidObject) as bad:
            read(written(case))
        assert part in str(bad.value)
    else:
        look(case)


def look(case: Case) -> None:
    brought = read(written(case))
    api = replace(api_server(), devices=DeviceGates())
    plan = plan_import(api, brought.objects)
    refused = {
        error.object or named(item): str(error)
        for item in plan.items
        if item.action == "refused" and not is_configuration(item)
        for error in reversed(item.errors)
    }
    expected = case.get("refuses", {})
    assert refused.keys() == expected.keys(), refused
    for key, part in expected.items():
        assert part in refused[key]
    if "count" in case:
        assert counted(plan) == case["count"]
    else:
        assert sorted(named(item) for item in plan.items if item.action == "created") == sorted(case.get("takes", []))
    said = [str(note) for note in brought.notes]
    for part in case.get("says", []):
        assert any(part in note for note in said), said
    look_closer(case, plan, api)


def look_closer(case: Case, plan: Plan, api: APIServer) -> None:
    """What was ignored, on which line errors are, and what is kept."""
    ignored = [named(item) for item in plan.items if item.action == "ignored" or is_configuration(item)]
    assert sorted(ignored) == sorted(case.get("ignores", []))
    lines = {error.object: error.line for item in plan.items for error in item.errors}
    assert case.get("lines", {}).items() <= lines.items()
    if case.get("stored"):
        apply(api, plan.accepted)
    for key, parts in case.get("stored", {}).items():
        kind, _, name = key.partition(" ")
        space, _, name = name.rpartition("/")
        assert_has(api.found((kind, space, name)), parts)


def counted(plan: Plan) -> dict[str, int]:
    kinds = [item.kind for item in plan.items if item.action == "created"]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def is_configuration(item: Item) -> bool:
    return item.kind == "KubeSchedulerConfiguration"


def assert_has(whole: Any, parts: Any) -> None:
    """All that the parts say is so; lists are compared entry by entry."""
    if isinstance(parts, Mapping):
        for name, part in parts.items():
            assert name in whole, (name, whole)
            assert_has(whole[name], part)
    elif isinstance(parts, list):
        assert len(whole) == len(parts)
        for one, part in zip(whole, parts, strict=True):
            assert_has(one, part)
    else:
        assert whole == parts


def test_there_are_enough_documents() -> None:
    assert len(cases()) >= 200
