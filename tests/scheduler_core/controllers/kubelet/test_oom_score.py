"""oom_score_adj. Rows as in kube's policy_test.go TestGetContainerOOMScoreAdjust."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.kubelet.out_of_memory import oom_score_adj
from tests.scheduler_core.controllers.kubelet.worlds import pod

MEMORY = 8_000_000_000
EIGHTH, SOME_MORE = str(MEMORY // 8), str(MEMORY // 8 + 1000)


def container(name: str = "c", requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


MAIN = container("main", {"memory": EIGHTH}, {"memory": SOME_MORE})
INIT = container("init", {"memory": EIGHTH}, {"memory": SOME_MORE})


def sidecar(share: int) -> dict[str, Any]:
    return container("sidecar", {"memory": str(MEMORY // share)}, {"memory": SOME_MORE}, restartPolicy="Always")


@pytest.mark.parametrize(
    ("spec", "name", "lowest", "highest"),
    [
        ({"containers": [container(limits={"cpu": "10"})]}, "c", 999, 999),
        ({"containers": [container(requests={"cpu": "0"}, limits={"memory": "10G"})]}, "c", 999, 999),
        ({"containers": [container(limits={"memory": "0"})]}, "c", 1000, 1000),
        ({"containers": [container()]}, "c", 1000, 1000),
        (
            {"containers": [container(requests={"memory": "10G", "cpu": "5m"}, limits={"memory": "10G", "cpu": "5m"})]},
            "c",
            -997,
            -997,
        ),
        (
            {"containers": [container(requests={"memory": str(MEMORY // 2), "cpu": "5m"}, limits={"memory": "10G"})]},
            "c",
            495,
            505,
        ),
        ({"containers": [container(requests={"memory": str(MEMORY - 1), "cpu": "5m"})]}, "c", 3, 3),
        ({"containers": [container()], "priority": 2_000_000_000}, "c", 1000, 1000),
        (
            {"containers": [container()], "priority": 2_000_001_000, "priorityClassName": "system-node-critical"},
            "c",
            -997,
            -997,
        ),
        ({"containers": [MAIN], "initContainers": [INIT]}, "main", 875, 875),
        ({"containers": [MAIN], "initContainers": [INIT, sidecar(8)]}, "sidecar", 875, 875),
        ({"containers": [MAIN], "initContainers": [INIT, sidecar(20)]}, "sidecar", 875, 875),
        ({"containers": [MAIN], "initContainers": [INIT, sidecar(2)]}, "sidecar", 500, 500),
    ],
)
def test_the_score_follows_from_the_quality_of_service(
    spec: dict[str, Any], name: str, lowest: int, highest: int
) -> None:
    assert lowest <= oom_score_adj(Pod.from_manifest(pod("p", **spec)), name, MEMORY) <= highest
