"""kube: pkg/apis/apps/validation/validation_test.go, pkg/apis/batch/validation/validation_test.go @ v1.34.1"""

import pytest

from scheduler_core.apiserver.kinds import kind_of
from scheduler_core.apiserver.validation.cluster import validate
from scheduler_core.apiserver.workload_defaults import apply_workload_defaults

POD = {"containers": [{"name": "c", "image": "i"}]}
RULE = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}


def errors(kind, pod=None, **spec):
    batch = kind in ("Job", "CronJob")
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {**POD, **(pod or {})}}
    if batch and "restartPolicy" not in template["spec"]:
        template["spec"]["restartPolicy"] = "Never"
    selected = {} if batch else {"selector": {"matchLabels": {"app": "a"}}}
    full = {"template": template, **selected, **spec}
    if kind == "ReplicationController":
        full["selector"] = spec.get("selector", {"app": "a"})
    version = {"ReplicationController": "v1"}.get(kind, "batch/v1" if batch else "apps/v1")
    manifest = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", "namespace": "default", "uid": "u"},
        "spec": full,
    }
    manifest = apply_workload_defaults(manifest)
    return [str(error) for error in validate(manifest, kind_of(manifest))]


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"]
)
def test_a_plain_workload_is_fine(kind):
    assert errors(kind) == []


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"])
def test_pods_that_run_for_ever_are_restarted_always(kind):
    (message,) = errors(kind, {"restartPolicy": "Never"})
    assert message.endswith('restartPolicy: Unsupported value: "Never": supported values: "Always"')
    assert "is not Supported" in errors(kind, {"activeDeadlineSeconds": 5})[0]


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("ReplicaSet", {"selector": {}}, "empty selector is invalid for deployment"),
        ("ReplicationController", {"selector": {"app": "b"}}, "`selector` does not match template `labels`"),
        ("StatefulSet", {"podManagementPolicy": "Any"}, "must be 'OrderedReady' or 'Parallel'"),
        ("StatefulSet", {"updateStrategy": {"type": "Fast"}}, "must be 'RollingUpdate' or 'OnDelete'"),
        (
            "StatefulSet",
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
            "only allowed for updateStrategy 'RollingUpdate'",
        ),
        (
            "StatefulSet",
            {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}},
            "must be greater than or equal to 0",
        ),
        (
            "StatefulSet",
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Keep"}},
            'supported values: "Retain", "Delete"',
        ),
        ("StatefulSet", {"ordinals": {"start": -1}}, "must be greater than or equal to 0"),
        ("StatefulSet", {"serviceName": "a.b"}, "must not contain dots"),
        ("DaemonSet", {"updateStrategy": {"type": "Slow"}}, 'supported values: "RollingUpdate", "OnDelete"'),
        (
            "DaemonSet",
            {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}},
            "cannot be 0 when maxSurge is 0",
        ),
        (
            "DaemonSet",
            {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
            "may not be set when maxUnavailable is non-zero",
        ),
        ("Job", {"completionMode": "Indexed", "parallelism": 1}, "when completion mode is Indexed"),
        ("Job", {"completionMode": "Odd"}, 'supported values: "NonIndexed", "Indexed"'),
        ("Job", {"backoffLimitPerIndex": 1}, "requires indexed completion mode"),
        ("Job", {"backoffLimit": -1}, "must be greater than or equal to 0"),
        ("Job", {"successPolicy": {"rules": []}}, "requires indexed completion mode"),
        (
            "Job",
            {"completionMode": "Indexed", "completions": 2, "successPolicy": {"rules": [{}]}},
            "at least one of succeededCount or succeededIndexes must be specified",
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [RULE]}, "podReplacementPolicy": "TerminatingOrFailed"},
            'supported values: "Failed"',
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [{"action": "Ignore"}]}},
            "specifying one of OnExitCodes and OnPodConditions is required",
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [{**RULE, "action": "Shout"}]}},
            'supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [{**RULE, "action": "FailIndex"}]}},
            "requires the backoffLimitPerIndex to be set",
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [{**RULE, "onExitCodes": {"operator": "In", "values": [2, 0]}}]}},
            "must not be 0 for the In operator",
        ),
        (
            "Job",
            {"podFailurePolicy": {"rules": [{**RULE, "onExitCodes": {"operator": "In", "values": [2, 1]}}]}},
            "must be ordered",
        ),
    ],
)
def test_what_a_workload_may_not_say(kind, spec, message):
    found = errors(kind, **spec)
    assert any(message in error for error in found), found


@pytest.mark.parametrize(
    ("pod", "spec", "message"),
    [
        ({"restartPolicy": "Always"}, {}, 'Required value: valid values: "OnFailure", "Never"'),
        ({"restartPolicy": "Once"}, {}, 'supported values: "OnFailure", "Never"'),
        (
            {"restartPolicy": "OnFailure"},
            {"podFailurePolicy": {"rules": [RULE]}},
            'only "Never" is supported when podFailurePolicy is specified',
        ),
    ],
)
def test_a_jobs_pods_end(pod, spec, message):
    assert any(message in error for error in errors("Job", pod, **spec))
