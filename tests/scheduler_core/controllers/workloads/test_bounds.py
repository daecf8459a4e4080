"""kube: pkg/controller/deployment/util/deployment_util_test.go, pkg/controller/deployment/sync_test.go (TestScale) @ v1.34.1"""

import pytest

from scheduler_core.controllers.workloads.deployments.bounds import fenceposts, max_unavailable, new_size
from scheduler_core.controllers.workloads.deployments.controller import shares
from scheduler_core.controllers.workloads.owners import template_hash


@pytest.mark.parametrize(
    ("surge", "unavailable", "wanted", "result"),
    [
        ("0%", "0%", 0, (0, 1)),
        ("39%", "39%", 10, (4, 3)),
        (None, "39%", 10, (0, 3)),
        ("39%", None, 10, (4, 0)),
        (None, None, 10, (0, 1)),
        ("25%", "25%", 3, (1, 0)),
        (0, "30%", 7, (0, 2)),
    ],
)
def test_surge_rounds_up_and_unavailable_down(surge, unavailable, wanted, result):
    assert fenceposts(surge, unavailable, wanted) == result


def spec(replicas, surge=0, unavailable=0, type_="RollingUpdate"):
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"replicas": replicas, "strategy": {"type": type_, "rollingUpdate": rolling}}


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (spec(10, 0, 5), 5),
        (spec(10, "0%", "5%"), 1),
        (spec(10, 0, "50%"), 5),
        (spec(5, 0, 10), 5),
        (spec(0, 0, 10), 0),
        (spec(5, 0, 0, "Recreate"), 0),
    ],
)
def test_no_more_lack_than_are_wanted(given, result):
    assert max_unavailable(given) == result


@pytest.mark.parametrize(
    ("type_", "replicas", "surge", "new", "result"),
    [
        ("RollingUpdate", 1, 0, 5, 5),
        ("RollingUpdate", 6, 2, 10, 10),
        ("RollingUpdate", 10, 1, 5, 6),
        ("Recreate", 3, 1, 1, 3),
    ],
)
def test_the_new_replica_set_grows_as_far_as_the_surge_allows(type_, replicas, surge, new, result):
    others = [{"spec": {"replicas": 5}}, {"spec": {"replicas": new}}]
    assert new_size(spec(replicas, surge, 1, type_), others, new) == result


def replica_set(name, size, most):
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": f"2016-05-20T0{name[-1]}:00:00Z",
            "annotations": {"deployment.kubernetes.io/max-replicas": str(most)},
        },
        "spec": {"replicas": size},
    }


@pytest.mark.parametrize(
    ("before", "after", "sizes", "result"),
    [
        ((5, 0), (10, 0), {"v2": 2, "v1": 3}, {"v2": 4, "v1": 6}),
        ((5, 0), (3, 0), {"v2": 2, "v1": 3}, {"v2": 1, "v1": 2}),
        ((9, 0), (4, 0), {"v2": 8, "v1": 1}, {"v2": 4, "v1": 0}),
        ((7, 0), (10, 0), {"v3": 2, "v2": 3, "v1": 2}, {"v3": 3, "v2": 4, "v1": 3}),
        ((13, 0), (8, 0), {"v3": 2, "v2": 8, "v1": 3}, {"v3": 1, "v2": 5, "v1": 2}),
        ((3, 0), (4, 0), {"v3": 1, "v2": 1, "v1": 1}, {"v3": 2, "v2": 1, "v1": 1}),
        ((3, 0), (2, 0), {"v3": 1, "v2": 1, "v1": 1}, {"v3": 1, "v2": 1, "v1": 0}),
        ((4, 0), (5, 0), {"v2": 2, "v1": 2}, {"v2": 3, "v1": 2}),
        ((6, 0), (0, 0), {"v3": 3, "v2": 2, "v1": 1}, {"v3": 0, "v2": 0, "v1": 0}),
        ((10, 2), (20, 2), {"v2": 6, "v1": 6}, {"v2": 11, "v1": 11}),
        ((10, 3), (50, 6), {"v2": 5, "v1": 8}, {"v2": 22, "v1": 34}),
        ((10, 0), (14, 0), {"v2": 7, "v1": 3}, {"v2": 10, "v1": 4}),
    ],
)
def test_replica_sets_share_what_a_scaling_adds_in_proportion(before, after, sizes, result):
    sets = [replica_set(name, size, sum(before)) for name, size in sizes.items()]
    found = shares(sets, spec(*after), 0)
    assert {one["metadata"]["name"]: size for one, size in found} == result


def test_the_hash_of_a_template_is_spelt_like_kubes_and_changes_with_a_collision():
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}}
    assert template_hash(template) == template_hash({**template})
    assert set(template_hash(template)) <= set("45678bcdf9")
    assert len({template_hash(template, n) for n in (None, 0, 1)}) == 3
