"""The table of words that others say: each row knows a real message, and has a sentence and a step."""

from __future__ import annotations

import re

import pytest

from playground.common.catalogs import read_yaml
from playground.presenters.why.facts import MEANINGS
from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.admission import find_stopped
from scheduler_core.analysis.fixes.fix import rank_fixes
from scheduler_core.analysis.fixes.meanings import _read_table, find_meanings
from scheduler_core.scheduler.framework.drafts import Change
from tests.scheduler_core.worlds import node, pod, scheduler_alone

POD = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"securityContext": {"fsGroup": 10000}, "containers": [{"ports": [{"containerPort": 80}]}]},
}
SANDBOX = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: "
SETUP = 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32 Output: '
EXAMPLES = {
    "ComponentIsAbsent": "kube-scheduler does not run: kube-scheduler-cp-1 NotFound",
    "ComponentIsDown": "kube-scheduler does not run: kube-scheduler-cp-1 CrashLoopBackOff",
    "EtcdIsFull": "Error creating: etcdserver: mvcc: database space exceeded",
    "EtcdIsSlow": "Error creating: etcdserver: request timed out",
    "LacksPermission": 'User "system:serviceaccount:ci:runner" cannot create resource "pods" in API group "" in the namespace "ci"',
    "OwnerLacksFinalizers": "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
    "KindIsNotServed": 'no matches for kind "Certificate" in version "cert-manager.io/v1"',
    "MustBeText": "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
    "CertificateExpired": "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time",
    "CertificateOfUnknownAuthority": 'Get "https://registry.local/v2/": x509: certificate signed by unknown authority',
    "CertificateForOtherName": "x509: certificate is valid for ingress.local, not registry.acme.io",
    "RegistryIsInsecure": "http: server gave HTTP response to HTTPS client",
    "ProbeFindsNobody": 'Readiness probe failed: Get "http://10.0.0.3:8080/ready": dial tcp 10.0.0.3:8080: connect: connection refused',
    "ProbeTimesOut": 'Liveness probe failed: Get "http://10.0.0.3:80/": context deadline exceeded',
    "ProbeIsRefused": "Readiness probe failed: HTTP probe failed with statuscode: 404",
    "ProbeHasNoProgram": 'Readiness probe errored: rpc error: exec failed: exec: "curl": executable file not found in $PATH',
    "RegistryLimitsPulls": "toomanyrequests: You have reached your pull rate limit",
    "ImageIsNotThere": 'failed to resolve reference "ghcr.io/acme/app:9": ghcr.io/acme/app:9: not found',
    "TagIsANumber": 'couldn\'t parse image name "a.io/b:4.5980468e+07": invalid reference format',
    "NameIsUnknown": "dial tcp: lookup registry.local on 10.0.0.2:53: no such host",
    "ImageIsCorrupt": "failed to extract layer sha256:1: unexpected EOF",
    "StartedOutOfMemory": "container init was OOM-killed (memory limit too low?)",
    "ProgramIsNotThere": 'OCI runtime create failed: exec: "/app/run": stat /app/run: no such file or directory',
    "ProgramIsNoProgram": 'unable to start container process: exec: "/entry.sh": permission denied',
    "FileOverDirectory": 'error mounting "/a" to rootfs at "/etc/x.conf": mount: not a directory',
    "CommandNotFound": "main: Error:  exit code 127",
    "CommandNotRun": "main: Error:  exit code 126",
    "FileSystemIsReadOnly": "open /tmp/x: read-only file system",
    "MayNotWrite": "main: Error: mkdir: cannot create directory '/data/db': Permission denied exit code 1",
    "ContainerNameIsReserved": 'failed to reserve container name "a": name "a" is reserved for "b"',
    "KubeletWaitsForCache": "failed to sync configmap cache: timed out waiting for the condition",
    "ProfileIsNotLoaded": 'cannot load seccomp profile "/var/lib/kubelet/seccomp/a.json"',
    "CapabilityMissing": "unable to apply caps: operation not permitted",
    "DriverOfGpuFails": "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1",
    "NodeHasNoResourcesLeft": "failed to create fsnotify watcher: too many open files",
    "DiskIsFull": "write /var/lib/x: no space left on device",
    "HookFails": 'main: PostStartHookError: Exec lifecycle hook failed - error: command "a" exited with 1',
    "AddressesAreUsedUp": f"{SANDBOX}failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.254",
    "PluginIsNotInstalled": f'{SANDBOX}failed to find plugin "bridge" in path [/opt/cni/bin]',
    "NetworkIsNotSetUp": "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady cni plugin not initialized",
    "FlannelIsNotReady": f"{SANDBOX}open /run/flannel/subnet.env: no such file or directory",
    "BridgeHasOtherAddress": f'{SANDBOX}"cni0" already has an IP address different from 10.1.15.1/24',
    "PluginIsUnauthorized": f'{SANDBOX}plugin type="calico" failed (add): connection is unauthorized: Unauthorized',
    "AgentDoesNotAnswer": f"{SANDBOX}dial unix /var/run/cilium/cilium.sock: connect: no such file or directory",
    "SubPathIsNotThere": 'failed to prepare subPath for volumeMount "data" of container "main"',
    "NfsRefusesNode": f"{SETUP}mount.nfs: access denied by server while mounting 10.0.0.5:/srv",
    "NfsHasNoPath": f"{SETUP}mount.nfs: mounting 10.0.0.5:/srv failed, reason given by server: No such file or directory",
    "ServerDoesNotAnswer": f"{SETUP}mount.nfs: Connection timed out",
    "MountHelperIsMissing": f"{SETUP}mount: bad option; for several filesystems you might need a /sbin/mount.<type> helper program.",
    "FileSystemIsDamaged": "'fsck' found errors on device /dev/xvdb but could not correct them",
    "OwnerOfEveryFile": "Setting volume ownership for 5ac1/mount, processed 1843200 files.",
    "PropagationIsPrivate": 'failed to generate spec: path "/var/lib/x" is mounted on "/var/lib/x" but it is not a shared mount',
    "StillAttached": 'Multi-Attach error for volume "pv-1" Volume is already exclusively attached to one node',
    "MountIsLeft": 'the device mount path "/var/lib/kubelet/globalmount" is still mounted by other references [/a]',
    "AttacherDoesNotAnswer": "timed out waiting for external-attacher of disk.csi.azure.com CSI driver to attach volume a",
    "VolumeIsGoneOutside": 'AttachVolume.Attach failed: rpc error: code = NotFound desc = Volume "vol-1" not found',
    "DriverLacksTopology": "error generating accessibility requirements: no topology key found on CSINode a",
    "ClassHasABadParameter": "rpc error: code = InvalidArgument desc = Invalid parameter key foo for CreateVolume",
    "CloudRefuses": "UnauthorizedOperation: You are not authorized to perform this operation",
    "CloudHasNoMachine": "InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity",
    "CloudQuotaIsUsedUp": "QUOTA_EXCEEDED: Instance could not be created: Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
    "PoolDoesNotFit": 'incompatible with nodepool "gpu", daemonset overhead={}, did not tolerate nvidia.com/gpu=true:NoSchedule',
    "PoolHasNoSuchLabel": 'incompatible with nodepool "default", incompatible requirements, label "workload" does not have known values',
    "PoolHasNoSuchValue": 'incompatible with nodepool "default", incompatible requirements, key topology.kubernetes.io/zone, '
    "topology.kubernetes.io/zone In [c] not in topology.kubernetes.io/zone In [a b]",
    "PoolIsAtItsLimit": 'all available instance types exceed limits for nodepool: "default"',
    "PoolHasNoMachine": 'incompatible with nodepool "default", daemonset overhead={}, no instance type has enough resources',
    "QueueIsFull": "queue resource quota insufficient: insufficient nvidia.com/gpu",
    "AutoscalerBacksOff": "pod didn't trigger scale-up: 1 in backoff after failed scale-up",
    "AutoscalerIsAtItsMaximum": "pod didn't trigger scale-up: 1 max cluster cpu limit reached",
    "MetricNeedsRequest": "failed to get cpu utilization: missing request for cpu in container app of Pod web-1",
    "MetricsAreMissing": "unable to get metrics for resource cpu: no metrics returned from resource metrics API",
    "RuntimeDoesNotAnswer": "PLEG is not healthy: pleg was last seen active 4m ago",
    "SecurityContextIsNotAllowed": 'pods "a-" is forbidden: unable to validate against any security context constraint: []',
    "WebhookRefuses": 'admission webhook "policy.example.com" denied the request: no',
    "NobodyAnswers": 'Post "https://hook.a.svc:443/": dial tcp 10.96.0.7:443: connect: connection refused',
}  # fmt: skip


def test_every_row_has_an_example_a_step_and_if_it_is_not_silent_a_sentence() -> None:
    words, rows = read_yaml(MEANINGS), _read_table()
    assert [code for code, *_ in rows] == list(EXAMPLES)
    assert {code for code, *_ in rows} == words["steps"].keys()
    assert {code for code, _, row in rows if not row.get("silent")} == words["meanings"].keys()


@pytest.mark.parametrize(("code", "text"), EXAMPLES.items())
def test_a_message_means_what_its_row_says(code: str, text: str) -> None:
    (found,) = find_meanings([text], POD, "node-a")
    assert found.code == code
    for part in ("meanings", "steps"):
        names = re.findall(r"%\((\w+)\)s", read_yaml(MEANINGS)[part].get(code, ""))
        assert all(found.values[name] not in ("", "-") for name in names)


def test_words_without_a_cause_mean_nothing() -> None:
    texts = ["0/3 nodes are available: 3 Insufficient cpu.", "Back-off restarting failed container app", ""]
    assert find_meanings(texts, POD) == []


def test_a_command_without_the_node_that_it_needs_is_left_out() -> None:
    assert find_meanings(["no space left on device"], POD)[0].show == ""


def test_a_step_outside_is_offered_without_a_proof_and_with_the_command_that_shows_the_cause() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no space left on device"}}, "name": "main"}
    stuck = {**pod("web"), "status": {"phase": "Pending", "containerStatuses": [waiting]}}
    stuck["spec"]["nodeName"] = "a"
    (found,) = [fix for fix in find_fixes(scheduler_alone(node("a"), stuck), "default/web") if fix.kind == "outside"]
    assert (found.proven, found.commands, found.kubectl) == (False, (), "kubectl describe node a")


def test_a_component_without_a_pod_beside_those_of_the_others_is_stopped() -> None:
    plane = {**pod("kube-apiserver-cp"), "metadata": {"name": "kube-apiserver-cp", "namespace": "kube-system"}}
    plane["metadata"]["labels"] = {"component": "kube-apiserver"}
    plane["spec"]["nodeName"] = "cp"
    sim = scheduler_alone(node("cp"), plane)
    assert find_stopped(sim, "kube-scheduler") == ("kube-scheduler-cp", "NotFound")
    assert find_stopped(scheduler_alone(node("cp")), "kube-scheduler") is None


def test_a_label_that_another_value_is_written_over_comes_after_a_new_node() -> None:
    over, new = ({"node": "a", "key": "pool", "value": "batch", "was": was} for was in ("web", None))
    changes = (Change("label", over), Change("node", {"node": "b", "like": "a", "labels": {}}), Change("label", new))
    fixes = (Fix((each,), (), "a", 0, recreated=False) for each in changes)
    assert [fix.changes[0].values.get("was", "") for fix in rank_fixes(fixes)] == [None, "", "web"]
