"""The table of words that others say: each row knows a real message, and has a sentence and a step."""

from __future__ import annotations

import re

import pytest

from playground.common.catalogs import read_yaml
from playground.presenters.why.facts import MEANINGS
from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.admission import find_stopped
from scheduler_core.analysis.fixes.fix import rank_fixes
from scheduler_core.analysis.fixes.meanings import _read_table, advise, find_meanings
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.scheduler.framework.drafts import Change
from tests.scheduler_core.worlds import node, pod, scheduler_alone

POD = {
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "priority": -20,
        "imagePullSecrets": [{"name": "registry"}],
        "securityContext": {"fsGroup": 10000, "runAsUser": 100},
        "initContainers": [{"securityContext": {"runAsUser": 0, "capabilities": {"drop": ["ALL"]}}}],
        "containers": [
            {
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"memory": "1Gi"}},
                "startupProbe": {"failureThreshold": 3, "periodSeconds": 10},
                "lifecycle": {"postStart": {"exec": {"command": ["a"]}}, "preStop": {"exec": {"command": ["b"]}}},
            }
        ],
        "template": {"spec": {"serviceAccountName": "web"}},  # of a workload
    },
}
SANDBOX = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: "
SETUP = 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32 Output: '
EXAMPLES = {
    "ComponentIsAbsent": "kube-scheduler does not run: kube-scheduler-cp-1 NotFound",
    "ComponentIsDown": "kube-scheduler does not run: kube-scheduler-cp-1 CrashLoopBackOff",
    "NamespaceIsMissing": 'namespaces "shop" not found',
    "ObjectWasChanged": 'the object has been modified; please apply your changes to the latest version and try again',
    "DiscoveryFails": 'Discovery failed for some groups: the complete list of server APIs: metrics.k8s.io/v1beta1: stale',
    "FinalizersRemain": 'Some content in the namespace has finalizers remaining: acme.io/cleanup in 1 resource instances',
    "TokenIsRefused": 'failed to fetch token: Post "https://10.0.0.1:6443/api/v1/": net/http: request canceled (Client.Timeout exceeded)',
    "EtcdIsFull": "Error creating: etcdserver: mvcc: database space exceeded",
    "EtcdIsSlow": "Error creating: etcdserver: request timed out",
    "LacksPermission": 'User "system:serviceaccount:ci:runner" cannot create resource "pods" in API group "" in the namespace "ci"',
    "OwnerLacksFinalizers": "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
    "QuotaIsNotCounted": 'pods "api-1" is forbidden: status unknown for quota: team, resources: limits.cpu',
    "ContainerIsAdded": "proxy, init added by webhooks inject.mesh.io",
    "QuotaIsElsewhere": 'quota team-blue is of several namespaces',
    "QuotaStatusIsOld": 'quota compute has an old status',
    "ClaimHasAllUsers": 'ResourceClaim "fabric" is invalid: status.reservedFor: Too many: 257: must have at most 256 items',
    "WrittenByOther": "written by Tuner tuner of ops.acme.io",
    "IsExpendable": "cluster-autoscaler skips pods with a priority below -10",
    "ResourceIsNotServed": "the server could not find the requested resource (get volumesnapshots.snapshot.storage.k8s.io)",
    "SnapshotIsNotThere": 'volumesnapshots.snapshot.storage.k8s.io "nightly" not found',
    "KindIsNotServed": 'no matches for kind "Certificate" in version "cert-manager.io/v1"',
    "MustBeText": "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
    "ProbeSpeaksTls": 'Unhealthy: Readiness probe failed: Get "https://10.0.0.1:80/": http: server gave HTTP response to HTTPS client',
    "ProbeSpeaksPlainly": 'Liveness probe failed: Get "http://10.0.0.1:8443/": malformed HTTP response "\\x15\\x03"',
    "StartupTakesLonger": 'Startup probe failed: Get "http://10.0.0.3:8080/": dial tcp 10.0.0.3:8080: connect: connection refused',
    "ProbeFindsNobody": 'Readiness probe failed: Get "http://10.0.0.3:8080/ready": dial tcp 10.0.0.3:8080: connect: connection refused',
    "ProbeTimesOut": 'Liveness probe failed: Get "http://10.0.0.3:80/": context deadline exceeded',
    "ProbeIsRefused": "Readiness probe failed: HTTP probe failed with statuscode: 404",
    "ProbeHasNoProgram": 'Readiness probe errored: rpc error: exec failed: exec: "curl": executable file not found in $PATH',
    "ProbeFails": 'Unhealthy: Readiness probe failed: cat: /tmp/ready: No such file or directory',
    "CertificateExpired": "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time",
    "CertificateOfUnknownAuthority": 'Get "https://registry.local/v2/": x509: certificate signed by unknown authority',
    "CertificateForOtherName": "x509: certificate is valid for ingress.local, not registry.acme.io",
    "RegistryIsInsecure": "http: server gave HTTP response to HTTPS client",
    "ProxyDoesNotAnswer": 'Get "https://a.io/x": proxyconnect tcp: dial tcp 10.0.0.5:3128: connect: connection refused',
    "PullIsTooSlow": 'Failed to pull image "a.io/big:1": rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    "SignatureIsRefused": 'SignatureValidationFailed: image a.io/b:1',
    "CredentialsExpired": 'Failed to pull image "a": 403 Forbidden: denied: Your authorization token has expired. Reauthenticate',
    "RegistryRefuses": 'pull access denied for acme/app, repository does not exist or may require authorization',
    "RegistryLimitsPulls": "toomanyrequests: You have reached your pull rate limit",
    "ImageIsNotThere": 'failed to resolve reference "ghcr.io/acme/app:9": ghcr.io/acme/app:9: not found',
    "TagIsANumber": 'couldn\'t parse image name "a.io/b:4.5980468e+07": invalid reference format',
    "ImageNameIsInvalid": 'couldn\'t parse image name "Acme/App:1": invalid reference format: repository name (Acme/App) must be lowercase',
    "NameIsUnknown": "dial tcp: lookup registry.local on 10.0.0.2:53: no such host",
    "ImageIsCorrupt": "failed to extract layer sha256:1: unexpected EOF",
    "DirectoryToWorkIn": 'OCI runtime create failed: chdir to cwd ("/app") set in config.json failed: permission denied',
    "CgroupDriverDiffers": 'expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/x" instead',
    "RuntimeIsNotConfigured": 'failed to get sandbox runtime: no runtime for "nvidia" is configured',
    "DeviceIsUnknown": 'CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0',
    "UserIsUnknown": 'unable to find user app: no matching entries in passwd file',
    "CoresAreWhole": 'Allocate failed due to SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2, which is unexpected',
    "DevicePluginIsGone": 'Allocate failed due to no healthy devices present; cannot allocate unhealthy devices, which is unexpected',
    "SettingIsMissing": 'app: Error: Error: required environment variable DB_HOST is not set exit code 1',
    "SettingsAreWrong": 'app: Error: flag provided but not defined: -verbos exit code 2',
    "AddressIsInUse": 'app: Error: listen tcp :80: bind: permission denied exit code 1',
    "LoginIsRefused": 'app: Error: FATAL: password authentication failed for user "app" exit code 1',
    "StartedOutOfMemory": "container init was OOM-killed (memory limit too low?)",
    "ProgramIsNotThere": 'OCI runtime create failed: exec: "/app/run": stat /app/run: no such file or directory',
    "ProgramIsNoProgram": 'unable to start container process: exec: "/entry.sh": permission denied',
    "SubPathHasChanged": 'mounting "/var/lib/kubelet/pods/1/volume-subpaths/settings/app/0" to rootfs: no such file or directory: unknown',
    "FileOverDirectory": 'error mounting "/a" to rootfs at "/etc/x.conf": mount: not a directory',
    "CommandNotFound": "main: Error:  exit code 127",
    "CommandNotRun": "main: Error:  exit code 126",
    "OwnerMayNotChange": 'prepare: Error: chown: /vault/logs: Operation not permitted exit code 1',
    "FileSystemIsReadOnly": "open /tmp/x: read-only file system",
    "MayNotWrite": "main: Error: mkdir: cannot create directory '/data/db': Permission denied exit code 1",
    "KubeletLacksObject": 'object "shop"/"kube-root-ca.crt" not registered',
    "RootCertificateIsMissing": 'configmap "kube-root-ca.crt" not found',
    "SandboxIsLeft": 'pod sandbox with name "k8s_web_shop_1_0" already exists',
    "ContainerNameIsReserved": 'failed to reserve container name "a": name "a" is reserved for "b"',
    "KubeletWaitsForCache": "failed to sync configmap cache: timed out waiting for the condition",
    "ProfileIsNotLoaded": 'cannot load seccomp profile "/var/lib/kubelet/seccomp/a.json"',
    "CapabilityMissing": "unable to apply caps: operation not permitted",
    "DriverOfGpuFails": "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1",
    "NodeHasNoResourcesLeft": "failed to create fsnotify watcher: too many open files",
    "DiskIsFull": "write /var/lib/x: no space left on device",
    "HookFails": 'main: PostStartHookError: Exec lifecycle hook failed - error: command "a" exited with 1',
    "PodsAreChanged": 'pods are changed by webhook pods.example.com of pods',
    "MadeForService": 'svccontroller.k3s.cattle.io/svcname=second',
    "ReplicasAreContested": "Argo CD sets replicas of Deployment web against web",
    "VolumeIsBound": "bound to shop/data",
    "ServiceIsServedTwice": 'kube-system/svclb-web-x also serves Service shop/web',
    "HolderIsOfService": 'kube-system/svclb-web-x holds a port for Service shop/web',
    "JobWasReplaced": "CronJob sync deleted sync-29929540: Replace",
    "JobWasOld": "CronJob sync deleted sync-29929540: it had ended",
    "AttachmentIsMissing": 'cannot find a network-attachment-definition (lan) in namespace (shop)',
    "AddressesAreUsedUp": f"{SANDBOX}failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.254",
    "PluginIsNotInstalled": f'{SANDBOX}failed to find plugin "bridge" in path [/opt/cni/bin]',
    "NetworkIsNotSetUp": "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady cni plugin not initialized",
    "FlannelIsNotReady": f"{SANDBOX}open /run/flannel/subnet.env: no such file or directory",
    "BridgeHasOtherAddress": f'{SANDBOX}"cni0" already has an IP address different from 10.1.15.1/24',
    "PluginIsUnauthorized": f'{SANDBOX}plugin type="calico" failed (add): connection is unauthorized: Unauthorized',
    "AgentDoesNotAnswer": f"{SANDBOX}dial unix /var/run/cilium/cilium.sock: connect: no such file or directory",
    "SecretOfTheDriverIsMissing": 'error getting secret csi-creds in namespace storage',
    "DockerIsNotThere": 'MountVolume.SetUp failed for volume "s" : hostPath type check failed: /var/run/docker.sock is not a socket file',
    "DeviceIsBusy": '/dev/sdb is apparently in use by the system',
    "VolumeIsInAnotherZone": 'The volume vol-1 is not in the same availability zone as instance i-1',
    "AttachedToAnother": 'code = FailedPrecondition desc = volume vol-1 is attached to a different node i-9',
    "AttachLimitIsReached": 'Attachment limit exceeded: maximum number of attachments reached',
    "FilePermissionOfStorage": 'rbd: map failed: (1) Operation not permitted',
    "VolumeCannotGrow": 'VolumeResizeFailed: resize volume pv-d failed: rpc error: code = Internal desc = quota',
    "DriverIsNotRegistered": 'driver name ebs.csi.aws.com not found in the list of registered CSI drivers',
    "FileSystemMustGrow": 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
    "UnmountHangs": "unmounts data (nfs nfs1.storage.example /home)",
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
    "DriverLacksRoom": 'ProvisioningFailed: rpc error: code = ResourceExhausted desc = insufficient capacity',
    "CloudRefuses": "UnauthorizedOperation: You are not authorized to perform this operation",
    "CloudHasNoMachine": "InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity",
    "CloudQuotaIsUsedUp": "QUOTA_EXCEEDED: Instance could not be created: Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
    "NoPoolIsThere": 'no nodepools found',
    "GroupIsAtItsMaximum": "pod didn't trigger scale-up: 1 max node group size reached",
    "PoolDoesNotFit": 'incompatible with nodepool "gpu", daemonset overhead={}, did not tolerate nvidia.com/gpu=true:NoSchedule',
    "PoolHasNoSuchLabel": 'incompatible with nodepool "default", incompatible requirements, label "workload" does not have known values',
    "PoolHasNoSuchValue": 'incompatible with nodepool "default", incompatible requirements, key topology.kubernetes.io/zone, '
    "topology.kubernetes.io/zone In [c] not in topology.kubernetes.io/zone In [a b]",
    "PoolIsAtItsLimit": 'all available instance types exceed limits for nodepool: "default"',
    "PoolHasNoMachine": 'incompatible with nodepool "default", daemonset overhead={}, no instance type has enough resources',
    "QueueIsFull": "queue resource quota insufficient: insufficient nvidia.com/gpu",
    "AutoscalerBacksOff": "pod didn't trigger scale-up: 1 in backoff after failed scale-up",
    "AutoscalerIsAtItsMaximum": "pod didn't trigger scale-up: 1 max cluster cpu limit reached",
    "NodeWasScaledDown": "ScaleDown: deleting pod for node scale down",
    "EvictedByVpa": "EvictedByVPA: Pod was evicted by VPA Updater to apply resource recommendation.",
    "GangLacksRoom": '3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable',
    "NoGroupFits": "pod didn't trigger scale-up: 2 Insufficient cpu",
    "MetricsApiIsMissing": 'no custom metrics API (custom.metrics.k8s.io) registered',
    "TwoAutoscalers": 'pods by selector app=web are controlled by multiple HPAs: [shop/web shop/web2]',
    "AutoscalerMayNotMore": 'the desired replica count is more than the maximum replica count',
    "TooManyStartsWereMissed": 'too many missed start times: 10080. Set or decrease',
    "MetricNeedsRequest": "failed to get cpu utilization: missing request for cpu in container app of Pod web-1",
    "MetricsAreMissing": "unable to get metrics for resource cpu: no metrics returned from resource metrics API",
    "KubeletIsSilent": 'NodeStatusUnknown: Kubelet stopped posting node status.',
    "NodeShutsDown": 'KubeletNotReady: node is shutting down',
    "CsiNodeIsMissing": '[CSINode is not yet initialized]',
    "AddressOfTheNodeIsWrong": 'failed to validate nodeIP: node IP: "10.0.0.9" not found in the host\'s network interfaces',
    "NodeRanOutOfMemory": "SystemOOM: System OOM encountered, victim process: postgres, pid: 41233",
    "NodeIsUnderPressure": 'KubeletHasDiskPressure: kubelet has disk pressure',
    "RuntimeDoesNotAnswer": "PLEG is not healthy: pleg was last seen active 4m ago",
    "SecurityContextIsNotAllowed": 'pods "a-" is forbidden: unable to validate against any security context constraint: []',
    "WebhookWantsResources": 'admission webhook "validate.kyverno.svc-fail" denied the request: \n\nrequests and limits are required',
    "WebhookRefuses": 'admission webhook "policy.example.com" denied the request: no',
    "NobodyAnswers": 'Post "https://hook.a.svc:443/": dial tcp 10.96.0.7:443: connect: connection refused',
    "DriverIsBusy": 'code = Aborted desc = an operation with the given Volume ID vol-1 already exists',
    "DriverIsSlow": 'AttachVolume.Attach failed for volume "a" : rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    "StorageRefuses": 'failed to provision volume: rpc error: code = Unauthenticated desc = login',
    "DriverFails": 'AttachVolume.Attach failed for volume "a" : rpc error: code = Internal desc = no',
    "PathIsNotThere": 'app: Error: run.sh: line 10: cd: /opt/data/etc: No such file or directory exit code 1',
    "IsPreempted": 'PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod',
    "WasEvicted": 'Evicted: The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 0.',
    "WasDescheduled": 'Descheduled: pod eviction from n2 node by sigs.k8s.io/descheduler',
    "GateIsNotSet": 'ReadinessGatesNotReady: corresponding condition of pod readiness gate "lb.example.com/registered" does not exist.',
    "UsesMoreThanResized": 'Error: attempting to set pod memory limit (536870912) below current usage (805306368)',
    "ImageIsNotPulled": 'main: ImagePullBackOff: Back-off pulling image "registry.example/app:1"',
    "ImageIsPulled": 'Pulling: Pulling image "registry.example/app:1"',
    "InitContainerRuns": 'awaits the init container wait-for-db',
    "SidecarIsNotStarted": 'awaits the sidecar proxy',
    "ProvisionerIsSlow": 'awaits the provisioner local.csi.example for the claim lvm',
    "SegmentationFault": 'app: Error:  exit code 139',
    "ContainerIsNotFound": 'app: ContainerStatusUnknown: The container could not be located exit code 137',
    "WasKilled": 'app: Error:  exit code 137',
    "WasStopped": 'app: Error:  exit code 143',
    "EndsAtOnce": 'app: Completed:  exit code 0',
    "ProgramFails": 'app: Error:  exit code 3',
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


def test_the_pod_of_a_service_of_k3s_that_holds_a_port_is_named_with_the_service() -> None:
    holder, waiting = (pod(name) for name in ("svclb-web", "ingress"))
    for each in (holder, waiting):
        each["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    holder["metadata"]["labels"] = {"svccontroller.k3s.cattle.io/svcname": "web"}
    holder["spec"]["nodeName"] = "a"
    (found,) = advise(scheduler_alone(node("a"), holder, waiting), "default/ingress", {})
    assert (found.code, found.values["service"], found.values["space"]) == ("HolderIsOfService", "web", "default")


@pytest.mark.parametrize(("message", "codes"), [(" is invalid: spec.x", ["PodsAreChanged"]), (" is forbidden", [])])
def test_an_invalid_pod_of_a_valid_template_was_changed_by_a_webhook(message: str, codes: list[str]) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    hook = {"name": "pods.example.com", "rules": [rule], "clientConfig": {"url": "https://hooks.example.com/pods"}}
    hook |= {"sideEffects": "None", "admissionReviewVersions": ["v1"]}
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    hooks = {**kind, "metadata": {"name": "pods"}, "webhooks": [hook]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("web")["spec"]}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": spec}
    sim = scheduler_alone(node("a"), hooks, owner)
    text = f'Error creating: Pod "web-1"{message}'
    event = KubeEvent(0, "Warning", "FailedCreate", "DaemonSet", "default", "web", text, "daemonset-controller")
    events = {("DaemonSet", "default", "web"): {("web",): event}}
    assert [each.code for each in advise(sim, "DaemonSet/default/web", events)] == codes


def test_words_without_a_cause_mean_nothing() -> None:
    texts = ["0/3 nodes are available: 3 Insufficient cpu.", "Back-off restarting failed container app", ""]
    assert find_meanings(texts, POD) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("app: Error: HTTP 429 Too Many Requests exit code 1", "ProgramFails"),
        ("app: Error: rpc error: code = Aborted desc = conflict exit code 2", "ProgramFails"),
        ("app: Error: worker 7 left with exit code 139\nbye exit code 1", "ProgramFails"),
        ("app: OOMKilled:  exit code 137", "ProgramFails"),
        ("Unhealthy: Readiness probe failed: dial tcp: lookup db: no such host", "ProbeFails"),
        ("Unhealthy: Liveness probe errored: too many open files", "NodeHasNoResourcesLeft"),
    ],
)
def test_words_of_a_program_or_a_probe_are_not_taken_for_those_of_others(text: str, code: str) -> None:
    assert [each.code for each in find_meanings([text], POD, "a")] == [code]


@pytest.mark.parametrize(("reason", "message", "known"), [("Error", "bye", True), ("OOMKilled", "", False)])
def test_whether_a_container_was_killed_is_read_from_its_status(reason: str, message: str, known: bool) -> None:
    ended = {"exitCode": 137, "reason": reason, "message": message}
    killed = {**pod("web"), "status": {"containerStatuses": [{"name": "main", "lastState": {"terminated": ended}}]}}
    killed["spec"]["nodeName"] = "a"
    text = "System OOM encountered, victim process: web, pid: 7"
    events = {("Node", "", "a"): {("a",): KubeEvent(0, "Warning", "SystemOOM", "Node", "", "a", text, "kubelet")}}
    found = [each.code for each in advise(scheduler_alone(node("a"), killed), "default/web", events)]
    assert ("NodeRanOutOfMemory" in found) == known


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
