import pytest

from scheduler_core.apimachinery.objects.node import Taint
from scheduler_core.apimachinery.objects.pod import HostPort, Pod, PodSpec, Toleration


def manifest(name="p", spec=None, status=None, **metadata):
    full = {"containers": [{"name": "c", "image": "nginx"}], **(spec or {})}
    meta = {"name": name, "namespace": "team", "uid": f"team-{name}", **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": full, "status": status or {}}


def test_pods_of_one_template_share_their_compiled_spec():
    one, two = Pod.from_manifest(manifest("a")), Pod.from_manifest(manifest("b", {"nodeName": "n1"}))
    assert one.spec is two.spec


def test_pods_that_ask_for_different_things_do_not_share_a_spec():
    one, two = Pod.from_manifest(manifest("a")), Pod.from_manifest(manifest("b", {"priority": 5}))
    assert one.spec.fingerprint != two.spec.fingerprint


def test_binding_makes_a_new_pod_and_leaves_the_old_one_alone():
    pod = Pod.from_manifest(manifest())
    bound = pod.bound_to("n1")
    assert (pod.node_name, bound.node_name) == ("", "n1")
    assert "nodeName" not in pod.manifest["spec"]
    assert bound.manifest["spec"]["nodeName"] == "n1"
    assert bound.spec is pod.spec


def test_a_pod_reads_what_its_manifest_says():
    raw = manifest(
        labels={"app": "web"},
        creationTimestamp="1970-01-01T00:00:02Z",
        status={"phase": "Succeeded", "nominatedNodeName": "n2", "startTime": "1970-01-01T00:00:01Z"},
    )
    pod = Pod.from_manifest(raw)
    assert (pod.key, pod.uid, pod.labels) == ("team/p", "team-p", {"app": "web"})
    assert (pod.terminal, pod.nominated_node_name) == (True, "n2")
    assert (pod.start_time, pod.creation_time) == (10**9, 2 * 10**9)


def test_absent_fields_read_as_kubes_defaults():
    pod = Pod.from_manifest({"metadata": {"name": "p"}, "spec": {}})
    assert (pod.namespace, pod.phase, pod.priority, pod.deleting) == ("default", "Pending", 0, False)
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.termination_grace_seconds == 30


def test_host_ports_are_those_of_sidecars_and_containers():
    def with_port(port, **more):
        return {"name": f"c{port}", "ports": [{"containerPort": port, "hostPort": port}], **more}

    spec = {
        "initContainers": [with_port(1), with_port(2, restartPolicy="Always")],
        "containers": [with_port(3), {"name": "d", "ports": [{"containerPort": 4}]}],
    }
    ports = PodSpec.of(spec).host_ports
    assert ports == (HostPort("0.0.0.0", "TCP", 2), HostPort("0.0.0.0", "TCP", 3))


def test_images_come_init_containers_first_and_get_a_tag():
    spec = {
        "containers": [{"image": "nginx"}, {"image": "registry:5000/app"}],
        "initContainers": [{"image": "busybox:1"}],
    }
    compiled = PodSpec.of(spec)
    assert compiled.images == ("busybox:1", "nginx:latest", "registry:5000/app:latest")
    assert compiled.num_image_containers == 3


def test_preferred_terms_of_no_weight_or_no_expression_are_left_out():
    terms = [
        {"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        {"weight": 5, "preference": {}},
        {"weight": 7, "preference": {"matchExpressions": [{"key": "b", "operator": "Exists"}]}},
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    (kept,) = PodSpec.of({"affinity": affinity}).node_affinity_preferred
    assert kept[0] == 7


def test_a_running_pod_counts_what_it_is_allocated_when_a_resize_shrinks_it():
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    running = [{"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}]
    pod = Pod.from_manifest(manifest(spec=spec, status={"phase": "Running", "containerStatuses": running}))
    assert pod.requests.milli_cpu == 2000
    assert pod.spec.requests.milli_cpu == 1000


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration("k", "Equal", "v", "NoSchedule"), True),
        (Toleration("k", "", "v"), True),
        (Toleration("k", "Equal", "w"), False),
        (Toleration("k", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("k", "Exists", "", "NoExecute"), False),
        (Toleration("j", "Exists"), False),
        (Toleration("k", "Like", "v"), False),
    ],
)
def test_a_toleration_tolerates_as_kube_says(toleration, tolerated):
    assert toleration.tolerates(Taint("k", "v", "NoSchedule")) is tolerated


def test_the_token_volume_that_differs_from_pod_to_pod_does_not_keep_them_from_sharing():
    def spec(token):
        mounts = [{"name": token, "mountPath": "/var/run"}]
        return {
            "containers": [{"name": "c", "image": "i", "volumeMounts": mounts}],
            "volumes": [{"name": token, "projected": {}}],
        }

    assert PodSpec.of(spec("kube-api-access-a")) is PodSpec.of(spec("kube-api-access-b"))


def test_pods_with_different_claims_do_not_share_a_spec():
    def spec(claim):
        return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}

    one, two = PodSpec.of(spec("a")), PodSpec.of(spec("b"))
    assert one is not two
    assert one.volumes[0]["persistentVolumeClaim"] == {"claimName": "a"}
