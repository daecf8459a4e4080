import pytest

from scheduler_core.apimachinery.objects.resources import Resources, is_scalar_name, nonzero_requests, pod_requests

MI = 1024 * 1024


def container(name="c", restart=None, **requests):
    raw = {"name": name, "resources": {"requests": {key.replace("_", "-"): q for key, q in requests.items()}}}
    return {**raw, "restartPolicy": restart} if restart else raw


def test_containers_are_summed_before_they_are_rounded():
    spec = {"containers": [container(cpu="0.5m"), container(cpu="0.5m")]}
    assert pod_requests(spec).milli_cpu == 1


def test_the_largest_init_container_counts_where_it_needs_more():
    spec = {
        "containers": [container(cpu="1", memory="1Mi")],
        "initContainers": [container(cpu="2"), container(cpu="500m", memory="3Mi")],
    }
    assert pod_requests(spec) == Resources(2000, 3 * MI)


def test_a_sidecar_runs_beside_the_containers_and_the_later_init_containers():
    spec = {
        "containers": [container(cpu="1")],
        "initContainers": [container(cpu="1", restart="Always"), container(cpu="3"), container(cpu="100m")],
    }
    assert pod_requests(spec).milli_cpu == 4000


def test_overhead_is_added_to_everything():
    assert pod_requests({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}}).milli_cpu == 1250


def test_pod_level_requests_stand_in_for_the_containers_sum():
    spec = {"containers": [container(cpu="1", memory="1Mi")], "resources": {"requests": {"cpu": "3"}}}
    assert pod_requests(spec) == Resources(3000, MI)
    assert pod_requests(spec, pod_level=False).milli_cpu == 1000


def test_defaults_count_per_container_but_not_for_an_explicit_zero():
    spec = {"containers": [container(), container(cpu="0", memory="0")], "initContainers": [container()]}
    assert pod_requests(spec, defaults=True) == Resources(100, 200 * MI)


def test_with_pod_level_requests_defaults_stand_in_only_for_what_the_total_lacks():
    spec = {"containers": [container()], "resources": {"requests": {"cpu": "1"}}}
    assert nonzero_requests(spec) == (1000, 200 * MI)


def test_an_explicit_zero_of_a_scalar_resource_is_kept():
    found = Resources.of_list({"nvidia.com/gpu": "0", "pods": "3", "cpu": "1"})
    assert found == Resources(1000, scalar=(("nvidia.com/gpu", 0),))


def test_resources_add_and_take_the_greater_by_name():
    one, two = Resources(1, 5, 0, (("a/x", 1),)), Resources(2, 3, 1, (("b/y", 4),))
    assert one + two == Resources(3, 8, 1, (("a/x", 1), ("b/y", 4)))
    assert one.max(two) == Resources(2, 5, 1, (("a/x", 1), ("b/y", 4)))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-aws-ebs", True),
        ("kubernetes.io/batch", True),
        ("storage", False),
        ("requests.nvidia.com/gpu", False),
        ("nvidia.com/_", False),
    ],
)
def test_only_resources_that_kube_counts_are_scalar(name, counts):
    assert is_scalar_name(name) is counts
