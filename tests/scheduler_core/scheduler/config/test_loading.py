"""Defaults, and what is refused in whose words."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.scheduler.config import ConfigurationError, SchedulerConfiguration, load_configuration

TYPE = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def load(**fields: Any) -> SchedulerConfiguration:
    return load_configuration({**TYPE, **fields})


def errors(manifest: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(manifest)
    return [str(error) for error in caught.value.errors]


def refused(**fields: Any) -> list[str]:
    return errors({**TYPE, **fields})


def args_refused(plugin: str, **args: Any) -> list[str]:
    path = "profiles[0].pluginConfig[0].args."
    texts = refused(profiles=[{"pluginConfig": [{"name": plugin, "args": args}]}])
    assert all(text.startswith(path) for text in texts)
    return [text.removeprefix(path) for text in texts]


def test_nothing_given_is_kubes_default() -> None:
    configuration = load_configuration(None)
    assert [profile.scheduler_name for profile in configuration.profiles] == ["default-scheduler"]
    assert configuration.percentage_of_nodes_to_score == 0
    assert (configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds) == (1, 10)


def test_arguments_get_their_defaults() -> None:
    args = load_configuration(None).profiles[0].args
    resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    assert args["NodeResourcesFit"]["scoringStrategy"] == {"type": "LeastAllocated", "resources": resources}
    assert args["NodeResourcesBalancedAllocation"]["resources"] == resources
    assert args["InterPodAffinity"]["hardPodAffinityWeight"] == 1


def test_a_strategy_without_resources_gets_the_default_ones_and_missing_weights_are_one() -> None:
    def strategy(**fields: Any) -> Any:
        config = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", **fields}}}
        return load(profiles=[{"pluginConfig": [config]}]).profiles[0].args["NodeResourcesFit"]["scoringStrategy"]

    assert [r["name"] for r in strategy()["resources"]] == ["cpu", "memory"]
    assert strategy(resources=[{"name": "nvidia.com/gpu"}, {"name": "cpu", "weight": 0}])["resources"] == [
        {"name": "nvidia.com/gpu", "weight": 1},
        {"name": "cpu", "weight": 1},
    ]


def test_a_profiles_percentage_is_its_own() -> None:
    configuration = load(percentageOfNodesToScore=40, profiles=[{"percentageOfNodesToScore": 0}])
    assert configuration.percentage_of_nodes_to_score == 40
    assert configuration.profiles[0].percentage_of_nodes_to_score == 0


def test_null_counts_as_absent() -> None:
    assert load(percentageOfNodesToScore=None, profiles=None, podMaxBackoffSeconds=None) == load()


def test_the_given_manifest_is_left_as_it_is() -> None:
    manifest = {**TYPE, "profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}}}]}
    before = deepcopy(manifest)
    load_configuration(manifest)
    assert manifest == before


def test_a_configuration_must_say_what_it_is() -> None:
    assert errors({}) == [
        "apiVersion: Required value: expected kubescheduler.config.k8s.io/v1",
        "kind: Required value: expected KubeSchedulerConfiguration",
    ]


def test_another_version_is_refused() -> None:
    version = "kubescheduler.config.k8s.io/v1beta3"
    assert errors({**TYPE, "apiVersion": version}) == [
        f'apiVersion: Invalid value: "{version}": no kind "KubeSchedulerConfiguration" is registered for version "{version}"'
    ]


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    (text,) = refused(profiles=[{"plugins": {"score": {"enable": []}}}])
    assert text == 'profiles[0].plugins.score.enable: unknown field "enable" expected one of disabled, enabled'


def test_an_unknown_argument_is_refused() -> None:
    (text,) = args_refused("NodeAffinity", added={})
    assert text.startswith('added: unknown field "added"')


def test_arguments_of_a_plugin_that_is_not_ours_are_left_alone() -> None:
    configuration = load(profiles=[{"pluginConfig": [{"name": "Coscheduling", "args": {"any": "thing"}}]}])
    assert configuration.profiles[0].args["Coscheduling"] == {"any": "thing"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"profiles": {}}, "profiles: {} is an object, expected a list"),
        ({"profiles": [None]}, "profiles[0]: null is null, expected an entry of the list"),
        ({"parallelism": "16"}, 'parallelism: "16" is a string, expected an integer'),
        ({"parallelism": True}, "parallelism: true is a boolean, expected an integer"),
        ({"parallelism": 2**31}, "parallelism: 2147483648 expected an integer from -2147483648 to 2147483647"),
        ({"parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        (
            {"profiles": [{"percentageOfNodesToScore": -1}]},
            "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
        ),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        (
            {"podInitialBackoffSeconds": 20},
            "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            {"leaderElection": {"resourceLock": "endpoints"}},
            'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
        ),
        (
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
            "profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName",
        ),
        ({"profiles": [{"schedulerName": "a"}, {}]}, "profiles[1].schedulerName: Required value"),
        (
            {"profiles": [{"pluginConfig": [{"name": "EBSLimits"}]}]},
            'profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": was invalid in version "kubescheduler.config.k8s.io/v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        (
            {"profiles": [{"pluginConfig": [{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]}]},
            'profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
        ),
        (
            {"extenders": [{"urlPrefix": "http://x", "prioritizeVerb": "p"}]},
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        ),
    ],
)
def test_a_bad_value_is_refused_in_kubes_words(fields: dict[str, Any], expected: str) -> None:
    assert refused(**fields) == [expected]


def test_every_profile_must_sort_the_queue_alike() -> None:
    off = {"plugins": {"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]}}}
    texts = refused(profiles=[{"schedulerName": "a"}, {"schedulerName": "b", **off}])
    assert len(texts) == 1
    assert texts[0].startswith("profiles[1].plugins.queueSort: Invalid value:")
    assert texts[0].endswith("must be the same for all profiles")


@pytest.mark.parametrize(
    ("plugin", "args", "expected"),
    [
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "Best"}},
            'scoringStrategy.type: Unsupported value: "Best": supported values: '
            '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 101}]}},
            "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {}}},
            "scoringStrategy.shape: Required value: at least one point must be specified",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "scoringStrategy.requestedToCapacityRatio: Required value: the strategy needs a shape",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 11}]},
                }
            },
            "scoringStrategy.shape[0].score: Invalid value: 11: not in valid range [0, 10]",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {
                        "shape": [{"utilization": 9, "score": 1}, {"utilization": 9, "score": 2}]
                    },
                }
            },
            "scoringStrategy.shape[1].utilization: Invalid value: 9: values must be sorted in increasing order",
        ),
        (
            "NodeResourcesFit",
            {"ignoredResourceGroups": ["a/b"]},
            "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
        ),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu", "weight": 2}]},
            "resources[0].weight: Invalid value: 2: must be 1",
        ),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu"}, {"name": "cpu"}]},
            'resources[1].name: Duplicate value: "cpu"',
        ),
        (
            "InterPodAffinity",
            {"hardPodAffinityWeight": 101},
            "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
            'defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
        ),
        ("NodeAffinity", {"kind": "FitArgs"}, None),
    ],
)
def test_bad_arguments_are_refused_in_kubes_words(plugin: str, args: dict[str, Any], expected: str | None) -> None:
    texts = args_refused(plugin, **args)
    assert len(texts) == 1
    if expected is not None:
        assert texts == [expected]


def test_an_added_affinity_that_does_not_parse_is_refused() -> None:
    requirement = {"key": "size", "operator": "Gt", "values": ["much"]}
    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    }
    (text,) = args_refused("NodeAffinity", addedAffinity=added)
    assert text.startswith("addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].")
    assert text.endswith("for 'Gt', 'Lt' operators, the value must be an integer")


FULL = {
    **TYPE,
    "parallelism": 4,
    "percentageOfNodesToScore": 50,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 5,
    "leaderElection": {"leaderElect": False, "resourceLock": "leases"},
    "clientConnection": {"qps": 10, "burst": 20},
    "extenders": [
        {"urlPrefix": "http://x", "prioritizeVerb": "p", "weight": 1, "managedResources": [{"name": "example.com/gpu"}]}
    ],
    "profiles": [
        {
            "schedulerName": "a",
            "percentageOfNodesToScore": 10,
            "plugins": {
                "multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 5}], "disabled": [{"name": "NodeName"}]},
                "score": {
                    "enabled": [{"name": "ImageLocality", "weight": 5}],
                    "disabled": [{"name": "TaintToleration"}],
                },
            },
            "pluginConfig": [
                {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "cpu", "weight": 1}]}},
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "ignoredResources": ["example.com/gpu"],
                        "ignoredResourceGroups": ["example.com"],
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 3}],
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 1}]},
                        },
                    },
                },
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                                ]
                            },
                            "preferredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "weight": 1,
                                    "preference": {"matchFields": [{"key": "metadata.name", "operator": "In"}]},
                                }
                            ],
                        }
                    },
                },
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
                        ],
                    },
                },
            ],
        },
        {"schedulerName": "b"},
    ],
}

words = st.text("ab*{}/", max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 200) | st.floats(-2, 2) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything within a manifest."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in entries for place in places(item, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    twin = dict(value) if isinstance(value, dict) else list(value)
    twin[path[0]] = put(twin[path[0]], path[1:], new)
    return twin


@settings(max_examples=400)
@given(st.sampled_from(places(FULL)), json_values)
def test_whatever_stands_anywhere_loads_or_is_refused_with_a_reason(place: tuple[Any, ...], value: Any) -> None:
    try:
        configuration = load_configuration(put(FULL, place, value))
    except ConfigurationError as refusal:
        if not refusal.errors:
            raise
    else:
        assert load_configuration(configuration.manifest) == configuration
