"""Objects about devices as kube's own strategies judged them: conversions, defaults, dropped fields and validation, word for word.

validated.json.xz holds requests that differ in what is wrong with them: manifest, old (of an update), subresource, gates, labels of the
namespace, and kube's errors, sorted. The record cuts long texts and lists.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates, apply_device_defaults
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.config.gates import gates_of

RECORDED = json.loads(lzma.decompress(Path(__file__).with_name("validated.json.xz").read_bytes()))
NO_NAMESPACES = APIServerOptions(disable_admission_plugins=("NamespaceLifecycle",))


def errors_of(case: dict[str, Any]) -> list[str]:
    """What this API server says of a request."""
    gates = DeviceGates(**{gates_of()[name].setting: on for name, on in case["gates"].items()})
    api = APIServer(Store(), NO_NAMESPACES, 0, devices=gates)
    namespace = {"name": "default", "labels": case["labels"]}
    api.store.create({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace}, "Namespace", 0)
    manifest = case["manifest"]
    try:
        if "old" not in case:
            api.create(manifest)
        else:
            kind, old = api.read(case["old"])
            there = api.store.create(apply_device_defaults(old, kind.key, "2026-01-01T00:00:00Z"), kind.key, 0).new
            assert there is not None
            meta = {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
            api.update({**manifest, "metadata": {**manifest["metadata"], **meta}}, case.get("subresource", ""))
    except Refused as refused:
        return sorted(_worded(error, case["errors"]) for error in refused.errors)
    return []


def _worded(error: FieldError, recorded: list[str]) -> str:
    """The error as the record has it, which cuts long texts and lists, and no other values."""
    if str(error) in recorded or len(error.received) <= 200:
        return str(error)
    return str(replace(error, received=f"{error.received[:197]}..."))


def test_objects_about_devices_are_judged_as_kube_judges_them() -> None:
    different = [case for case in RECORDED if errors_of(case) != case["errors"]]
    assert different == []


def test_the_record_has_objects_of_all_kinds_good_and_bad() -> None:
    kinds = {(case["manifest"]["kind"], not case["errors"]) for case in RECORDED}
    assert len(kinds) == 10
