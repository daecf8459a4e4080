"""KubeletConfiguration: defaults, and what is refused in kube's words."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.typed import FieldProblem, convert_data
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.kubelet import read_kubelet, without_effect

GI = 2**30


def hard(*given: dict[str, Any]) -> dict[str, int]:
    """Hard thresholds on a capacity of 100 Gi."""
    return {t.signal: t.amount.of(100 * GI) for t in read_kubelet(*given).thresholds if t.hard}


def test_the_defaults_are_kubes() -> None:
    configuration = read_kubelet({})
    assert configuration.transition_period == 300 * 10**9
    assert configuration.max_pods == 110
    assert hard({})["memory.available"] == hard({})["allocatableMemory.available"] == 100 * 2**20
    assert hard({})["nodefs.available"] == int(100 * GI * 0.10000000149011612)


def test_thresholds_that_are_given_replace_the_defaults_or_are_merged_with_them() -> None:
    given = {"evictionHard": {"memory.available": "1Gi"}}
    assert set(hard(given)) == {"memory.available", "allocatableMemory.available"}
    assert len(hard({**given, "mergeDefaultEvictionSettings": True})) == 6
    assert hard({"evictionHard": {"memory.available": "0%"}}) == {}


def test_a_node_s_own_fields_count_first() -> None:
    assert read_kubelet({"maxPods": 20}, {"maxPods": 30}).max_pods == 30


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"evictionHardd": {}}, 'strict decoding error: unknown field "evictionHardd"'),
        ({"evictionHard": {"memory.free": "1Gi"}}, "unsupported eviction signal memory.free"),
        (
            {"evictionHard": {"memory.available": "110%"}},
            "eviction percentage threshold memory.available must be <= 100%: 110%",
        ),
        ({"evictionHard": {"memory.available": "0"}}, "eviction threshold memory.available must be positive: 0"),
        (
            {"evictionSoft": {"memory.available": "1Gi"}},
            "grace period must be specified for the soft eviction threshold memory.available",
        ),
        (
            {"evictionSoftGracePeriod": {"memory.available": "-1m"}},
            "invalid eviction grace period specified: -1m, must be a positive value",
        ),
        (
            {"evictionMinimumReclaim": {"memory.available": "-1Gi"}},
            "negative eviction minimum reclaim specified for memory.available",
        ),
        ({"maxPods": -1}, "invalid configuration: maxPods (--max-pods) -1 must not be a negative number"),
        ({"kubeReserved": {"gpu": "1"}}, 'cannot reserve "gpu" resource'),
        ({"evictionHard": {"memory.available": "nan%"}}, 'strconv.ParseFloat: parsing "nan": invalid syntax'),
        ({"nodeStatusUpdateFrequency": "-1s"}, "a duration of 0 or more"),
        ({"maxPods": "many"}, "a whole number"),
    ],
)
def test_what_is_wrong_is_refused_in_kubes_words(given: dict[str, Any], why: str) -> None:
    with pytest.raises(FieldProblem) as problem:
        read_kubelet(given)
    assert problem.value.expected == why


def test_the_settings_say_which_node_s_field_is_wrong() -> None:
    with pytest.raises(InvalidObject) as invalid:
        convert_data({"kubelets": {"n1": {"maxPods": -5}}}, ClusterSettings)
    assert invalid.value.errors[0].path == "kubelets[n1].maxPods"


def test_fields_without_effect_are_named() -> None:
    assert without_effect({"maxPods": 5, "podCIDR": "10.0.0.0/8"}, {"port": 1}) == ["podCIDR", "port"]
