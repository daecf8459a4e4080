"""NodeDeclaredFeatures by example: what a pod needs is read once for all pods of one spec."""

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.releases import Release, behaviors_of
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.testing.builders import make_pod
from tests.support.drive import NoObjects

RESTARTS, USERS, MOUNTS = (
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
)
MOUNT = {"name": "data", "mountPath": "/data", "bindMountOptions": ["noexec"]}
RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]


def plugin(release: Release) -> NodeDeclaredFeatures:
    handle = NoObjects()
    handle.features = Features(behaviors=behaviors_of(release), node_declared_features=True)
    return NodeDeclaredFeatures({}, handle)


def pod(name: str = "p", **spec: Any) -> Pod:
    return make_pod(name).with_spec(**spec).pod()


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "c", "image": "i", **fields}


@pytest.mark.parametrize(
    ("spec", "needs"),
    [
        ({}, ()),
        ({"containers": [container(restartPolicyRules=RULES)]}, (RESTARTS,)),
        ({"initContainers": [container(restartPolicyRules=RULES)]}, (RESTARTS,)),
        ({"hostNetwork": True, "hostUsers": False}, (USERS,)),
        ({"hostNetwork": True, "hostUsers": True}, ()),
        ({"hostNetwork": True}, ()),
        ({"containers": [container(volumeMounts=[MOUNT])]}, (MOUNTS,)),
        ({"containers": [container(volumeMounts=[{"name": "data", "mountPath": "/data"}])]}, ()),
        ({"ephemeralContainers": [container(volumeMounts=[MOUNT])]}, (MOUNTS,)),
        (
            {"hostNetwork": True, "hostUsers": False, "initContainers": [container(volumeMounts=[MOUNT])]},
            (USERS, MOUNTS),
        ),
    ],
)
def test_needs_are_read_from_the_spec(spec: dict[str, Any], needs: tuple[str, ...]) -> None:
    assert plugin("1.37.2").needs_of(pod(**spec)) == needs


def test_each_release_remembers_its_own_answer_about_a_spec_that_they_share() -> None:
    one, other = pod(hostNetwork=True, hostUsers=False), pod("other", hostNetwork=True, hostUsers=False)
    assert one.spec is other.spec
    found = [plugin(release).needs_of(each) for each in (one, other) for release in ("1.35.4", "1.36.3", "1.37.2")]
    assert found == [(), (USERS,), (USERS,)] * 2


def test_pods_whose_mounts_decide_nothing_share_a_spec() -> None:
    token = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    pods = [pod(containers=[container(volumeMounts=[{**token, "name": f"kube-api-access-{i}"}])]) for i in range(2)]
    assert pods[0].spec is pods[1].spec
    assert pod(containers=[container(volumeMounts=[MOUNT])]).spec is not pods[0].spec
