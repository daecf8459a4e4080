import pytest

from scheduler_core.api.requests.workloads import expand


def workload(kind, **spec):
    versions = {"Job": "batch/v1"}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    full = {"selector": {"matchLabels": {"app": "x"}}, "template": template, **spec}
    meta = {"name": "x", "namespace": "team"}
    return {"apiVersion": versions.get(kind, "apps/v1"), "kind": kind, "metadata": meta, "spec": full}


def names(expansion):
    return [manifest["metadata"]["name"] for manifest in expansion.created]


def test_names_depend_on_the_manifest_alone():
    assert names(expand(workload("ReplicaSet", replicas=2))) == names(
        expand(workload("ReplicaSet", replicas=2))
    )


def test_all_names_differ():
    made = names(expand(workload("ReplicaSet", replicas=500)))
    assert len(dict.fromkeys(made)) == 500


def test_another_template_gives_another_replica_set():
    other = workload("Deployment")
    other["spec"]["template"]["spec"] = {"containers": [{"name": "c", "image": "j"}]}
    assert names(expand(workload("Deployment")))[0] != names(expand(other))[0]


def test_pods_refer_to_their_controller():
    expansion = expand(workload("Deployment", replicas=1))
    replica_set, pod = expansion.created
    (of_pod,) = pod["metadata"]["ownerReferences"]
    (of_set,) = replica_set["metadata"]["ownerReferences"]
    assert (of_pod["kind"], of_pod["uid"]) == ("ReplicaSet", replica_set["metadata"]["uid"])
    assert (of_set["kind"], of_set["uid"]) == ("Deployment", expansion.owner["metadata"]["uid"])
    assert of_pod["controller"] is True


def test_a_deployments_pods_carry_the_hash_of_their_template():
    replica_set, pod = expand(workload("Deployment", replicas=1)).created
    code = pod["metadata"]["labels"]["pod-template-hash"]
    assert pod["metadata"]["name"].startswith(f"x-{code}-")
    assert replica_set["spec"]["selector"]["matchLabels"] == {"app": "x", "pod-template-hash": code}


def test_a_stateful_sets_pods_are_numbered():
    assert names(expand(workload("StatefulSet", replicas=2))) == ["x-0", "x-1"]


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"parallelism": 5, "completions": 2}, 2),
        ({"parallelism": 0}, 0),
        ({"parallelism": 3, "suspend": True}, 0),
    ],
)
def test_a_job_runs_as_many_pods_as_it_may_at_first(spec, pods):
    assert expand(workload("Job", **spec)).pods == pods


def test_an_indexed_jobs_pods_know_their_index():
    first, second = expand(workload("Job", completionMode="Indexed", completions=2, parallelism=2)).created
    assert first["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert second["metadata"]["name"].startswith("x-1-")


def test_pods_live_where_their_workload_lives():
    (pod,) = expand(workload("StatefulSet")).created
    assert pod["metadata"]["namespace"] == "team"
