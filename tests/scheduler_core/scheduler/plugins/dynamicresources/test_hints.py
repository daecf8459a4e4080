"""Which changes of claims and pods may help a pod.

kube: plugins/dynamicresources/dynamicresources_test.go (Test_isSchedulableAfterClaimChange, Test_isSchedulableAfterPodChange) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.plugins.dynamicresources import hints
from tests.scheduler_core.worlds import pod
from tests.support.devices import claim, claiming
from tests.support.drive import NoObjects, make_plugin


class Claims(NoObjects):
    """A handle that knows some claims."""

    def __init__(self, *claims: Manifest) -> None:
        super().__init__()
        self.known = {each["metadata"]["name"]: each for each in claims}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self.known.get(name) if kind == "ResourceClaim" else None


def known(name: str, owner: str = "", finalizers: tuple[str, ...] = (), **status: Any) -> Manifest:
    made = claim(name)
    made["metadata"] |= {"uid": f"uid-{name}", "finalizers": list(finalizers)}
    if owner:
        made["metadata"]["ownerReferences"] = [{"uid": owner, "controller": True}]
    return {**made, "status": status}


def using(*claims: str, uid: str = "p", statuses: Mapping[str, str] | None = None, **templates: str) -> Pod:
    manifest = claiming(pod("p"), *claims, **templates)
    named = [{"name": key, "resourceClaimName": value} for key, value in (statuses or {}).items()]
    metadata = {**manifest["metadata"], "uid": uid, "namespace": "default"}
    return Pod.from_manifest({**manifest, "metadata": metadata, "status": {"resourceClaimStatuses": named}})


ALLOCATED = {"allocation": {"devices": {}}}
BY_NAME = using("c")
BY_TEMPLATE = using(statuses={"x": "c"}, x="template")


@pytest.mark.parametrize(
    ("case", "who", "claims", "old", "new", "helps"),
    [
        ("another pod owns it", BY_TEMPLATE, [known("c", "q")], None, known("c", "q"), False),
        ("it is of no concern", BY_NAME, [known("c")], None, known("other"), False),
        ("the claim was created", BY_NAME, [known("c")], None, known("c"), True),
        ("it got a finalizer", BY_NAME, [known("c")], known("c"), known("c", finalizers=("f",)), False),
        ("its status changed", BY_NAME, [known("c")], known("c"), known("c", **ALLOCATED), True),
        ("another one was deallocated", BY_NAME, [known("c")], known("other", **ALLOCATED), known("other"), True),
        (
            "the pod lacks another claim",
            using("c", "missing"),
            [known("c")],
            known("other", **ALLOCATED),
            known("other"),
            False,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_after_a_claim_changed(
    case: str, who: Pod, claims: list[Manifest], old: Manifest | None, new: Manifest, helps: bool
) -> None:
    plugin = make_plugin("DynamicResources", handle=Claims(*claims))
    assert hints.after_claim_change(plugin, who, old, new) is helps


TWO = {"x": "template", "y": "template"}


@pytest.mark.parametrize(
    ("case", "waiting", "changed", "claims", "helps"),
    [
        ("all claims are there", using(x="template"), BY_TEMPLATE, [known("c", "p")], True),
        ("another pod", using(uid="q", x="template"), BY_TEMPLATE, [known("c", "p")], False),
        ("the claim is not known", using(x="template"), BY_TEMPLATE, [], False),
        (
            "one of two is not created",
            using("c", **TWO),
            using("c", statuses={"x": "c"}, **TWO),
            [known("c", "p")],
            False,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_after_the_pod_changed(case: str, waiting: Pod, changed: Pod, claims: list[Manifest], helps: bool) -> None:
    plugin = make_plugin("DynamicResources", handle=Claims(*claims))
    assert hints.after_pod_change(plugin, waiting, None, changed) is helps
