"""kube: pkg/controller/controller_utils_test.go (TestSortingActivePodsWithRanks) @ v1.34.1"""

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import format_time, parse_time
from scheduler_core.controllers.workloads.replicas import DELETION_COST, deletion_cost, first_to_go

NOW = parse_time("2026-03-01T00:00:00Z")
HOUR = 3600 * 10**9
MONTH = 28 * 24 * HOUR


def pod(name, node="node", phase="Running", ready=True, since=0, created=0, restarts=(0, 0), cost=None):
    """`since` and `created` are ages in ns; None: no time is known."""
    time = None if since is None else format_time(NOW - since)
    born = None if created is None else format_time(NOW - created)
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": time}] if ready else []
    return Pod.from_manifest(
        {
            "metadata": {
                "name": name,
                "uid": name,
                "creationTimestamp": born,
                "annotations": {DELETION_COST: cost} if cost else {},
            },
            "spec": {
                "nodeName": node,
                "containers": [{"name": "c"}],
                "initContainers": [{"name": "s", "restartPolicy": "Always"}],
            },
            "status": {
                "phase": phase,
                "conditions": ready,
                "containerStatuses": [{"name": "c", "restartCount": restarts[0]}],
                "initContainerStatuses": [{"name": "s", "restartCount": restarts[1]}],
            },
        }
    )


UNSCHEDULED = pod("unscheduled", "", "Pending", ready=False, created=None)
PENDING = pod("pending", phase="Pending", ready=False, created=None)
UNKNOWN = pod("unknown", phase="Unknown", ready=False, created=None)
NOT_READY = pod("not-ready", ready=False, created=None)
READY_SINCE_UNKNOWN = pod("ready-since-unknown", since=None, created=None)
READY = pod("ready")
READY_LONG = pod("ready-long", since=MONTH, created=MONTH)
RESTARTED = pod("restarted", restarts=(9001, 0))
SIDECAR_RESTARTED = pod("sidecar-restarted", restarts=(9001, 9001))
OLD = pod("old", created=MONTH)
CHEAP = pod("cheap", created=MONTH, cost="10")
DEAR = pod("dear", created=MONTH, cost="100")


@pytest.mark.parametrize(
    ("first", "doubled", "second", "also"),
    [
        (UNSCHEDULED, 1, PENDING, 2),
        (UNSCHEDULED, 2, PENDING, 1),
        (PENDING, 1, UNKNOWN, 2),
        (UNKNOWN, 1, NOT_READY, 2),
        (NOT_READY, 1, READY_SINCE_UNKNOWN, 1),
        (READY_SINCE_UNKNOWN, 1, READY, 1),
        (READY, 2, READY_SINCE_UNKNOWN, 1),
        (READY, 1, READY_LONG, 1),
        (READY, 2, READY_LONG, 1),
        (RESTARTED, 1, READY, 1),
        (SIDECAR_RESTARTED, 1, RESTARTED, 1),
        (READY, 2, RESTARTED, 1),
        (READY, 1, OLD, 1),
        (OLD, 2, READY, 1),
        (CHEAP, 2, DEAR, 1),
        (pod("two", since=2 * HOUR, created=MONTH), 1, pod("five", since=5 * HOUR, created=MONTH), 1),
        (pod("a", since=8 * HOUR, created=MONTH), 1, pod("b", since=5 * HOUR, created=MONTH), 1),  # by uid
    ],
    ids=lambda value: value.name if isinstance(value, Pod) else "",
)
def test_the_pod_that_is_missed_less_goes_first(first, doubled, second, also):
    def on_node(one, number):
        return Pod.from_manifest({**one.manifest, "spec": {**one.manifest["spec"], "nodeName": number}})

    named = [
        one if not one.node_name else on_node(one, str(number)) for one, number in ((first, doubled), (second, also))
    ]
    for pods in (named, named[::-1]):
        assert [one.name for one in first_to_go(pods, 1, NOW, {"1": 1, "2": 2})] == [first.name]


@pytest.mark.parametrize(
    ("text", "cost"),
    [("10", 10), ("-5", -5), ("0", 0), ("+1", 0), ("01", 0), ("x", 0), ("2147483648", 0), ("-2147483648", -(2**31))],
)
def test_a_deletion_cost_is_a_number_of_32_bits(text, cost):
    assert deletion_cost({DELETION_COST: text}) == cost
