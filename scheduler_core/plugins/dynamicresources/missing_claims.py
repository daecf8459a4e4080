"""Claims for devices that a pod names and that do not exist: another one named, or the claim made."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from scheduler_core.devices import classes
from scheduler_core.devices.claims import KIND
from scheduler_core.framework.drafts import Change, Draft, Edit
from scheduler_core.framework.plugin import Handle
from scheduler_core.objects.pod import Pod

MOST = 2


def missing_claims(draft: Draft, pod: Pod, handle: Handle) -> Iterator[Draft]:
    """Claims of the namespace named most alike first; or the claim, for one device of a class."""
    there = [
        str(each["metadata"]["name"])
        for each in handle.list(KIND)
        if each["metadata"].get("namespace") == pod.namespace
    ]
    for entry in pod.manifest["spec"].get("resourceClaims") or ():
        name = entry.get("resourceClaimName")
        if not name or name in there:
            continue
        alike = sorted(there, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
        for other in alike[:MOST]:
            yield draft.with_pod(Change("claim-name", {"from": name, "to": other}), _using(name, other))
        for device_class in list(handle.list(classes.KIND))[:MOST]:
            yield _made(draft, pod.namespace, name, str(device_class["metadata"]["name"]))


def _using(old: str, new: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        for entry in manifest["spec"]["resourceClaims"]:
            if entry.get("resourceClaimName") == old:
                entry["resourceClaimName"] = new

    return edit


def _made(draft: Draft, namespace: str, name: str, device_class: str) -> Draft:
    ask = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "device", "exactly": ask}]}},
    }
    values = {"claim": f"{namespace}/{name}", "deviceClass": device_class}
    return draft.with_applied(Change("claim", values), claim).taking_time()
