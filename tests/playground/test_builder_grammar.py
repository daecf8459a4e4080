"""kubectl's little languages, read by the builder's forms."""

import pytest

from playground.workbench.builder import grammar
from playground.workbench.builder.grammar import GrammarError


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("dedicated=infra:NoSchedule", {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}),
        ("gpu:NoExecute", {"key": "gpu", "effect": "NoExecute"}),
        ("gpu=:PreferNoSchedule", {"key": "gpu", "effect": "PreferNoSchedule"}),
    ],
)
def test_a_taint_is_written_as_kubectl_takes_it(text, taint):
    assert grammar.parse_taints(text) == [taint]


@pytest.mark.parametrize("text", ["dedicated=infra", "dedicated=infra:Never", ":NoSchedule", "=x:NoSchedule"])
def test_a_taint_without_key_or_effect_is_refused_with_an_example(text):
    with pytest.raises(GrammarError, match="Write it as dedicated=infra:NoSchedule"):
        grammar.parse_taints(text)


@pytest.mark.parametrize(
    ("text", "toleration"),
    [
        ("a=b:NoSchedule", {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}),
        ("a:NoSchedule", {"key": "a", "operator": "Exists", "effect": "NoSchedule"}),
        ("a", {"key": "a", "operator": "Exists"}),
        ("*", {"operator": "Exists"}),
        ("*:NoExecute for 300s", {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
    ],
)
def test_a_toleration_names_as_much_of_the_taint_as_it_tolerates(text, toleration):
    assert grammar.parse_tolerations(text) == [toleration]


@pytest.mark.parametrize("text", ["a=b:Never", "a=b:NoSchedule for ever", "=b"])
def test_a_toleration_that_cannot_be_read_is_refused(text):
    with pytest.raises(GrammarError, match="is not a toleration"):
        grammar.parse_tolerations(text)


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("zone in (a, b)", {"key": "zone", "operator": "In", "values": ["a", "b"]}),
        ("zone notin (a)", {"key": "zone", "operator": "NotIn", "values": ["a"]}),
        ("disk=ssd", {"key": "disk", "operator": "In", "values": ["ssd"]}),
        ("disk != ssd", {"key": "disk", "operator": "NotIn", "values": ["ssd"]}),
        ("cores>8", {"key": "cores", "operator": "Gt", "values": ["8"]}),
        ("cores < 8", {"key": "cores", "operator": "Lt", "values": ["8"]}),
        ("gpu", {"key": "gpu", "operator": "Exists"}),
        ("!gpu", {"key": "gpu", "operator": "DoesNotExist"}),
    ],
)
def test_every_operator_of_a_selector_can_be_written(text, requirement):
    assert grammar.parse_requirements(text) == [requirement]


def test_a_comma_inside_parentheses_does_not_end_a_requirement():
    assert [each["key"] for each in grammar.parse_requirements("zone in (a,b),disk=ssd")] == ["zone", "disk"]


@pytest.mark.parametrize("text", ["zone in a, b", "a b", "=x", "(a)", "zone in ((a)"])
def test_a_selector_that_cannot_be_read_is_refused(text):
    with pytest.raises(GrammarError, match="is not a selector"):
        grammar.parse_requirements(text)


def test_a_selector_of_pods_puts_plain_pairs_into_match_labels():
    found = grammar.parse_label_selector("app=web, tier in (a, b)")
    assert found == {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
    }


def test_a_pod_term_without_topology_means_the_node():
    assert grammar.parse_pod_term("app=web")["topologyKey"] == "kubernetes.io/hostname"


@pytest.mark.parametrize("text", ["0 disk=ssd", "101 disk=ssd", "disk=ssd", "50"])
def test_a_preference_needs_a_weight_from_1_to_100(text):
    with pytest.raises(GrammarError, match="weight from 1 to 100"):
        grammar.parse_weighted(text)


def test_a_key_given_twice_is_refused():
    with pytest.raises(GrammarError, match="already used"):
        grammar.parse_pairs("a=1, a=2")


def test_a_host_port_has_address_and_protocol():
    assert grammar.parse_ports("127.0.0.1:53/UDP") == [
        {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "127.0.0.1"}
    ]


@pytest.mark.parametrize("text", ["0", "65536", "http", "80/ICMP"])
def test_a_port_out_of_range_or_of_no_protocol_is_refused(text):
    with pytest.raises(GrammarError, match="is not a host port"):
        grammar.parse_ports(text)


def test_resources_are_kept_as_they_were_written():
    assert grammar.parse_resources("nvidia.com/gpu=2, hugepages-2Mi=64Mi") == {
        "nvidia.com/gpu": "2",
        "hugepages-2Mi": "64Mi",
    }


@pytest.mark.parametrize("text", ["my gpu=1", "nvidia.com/my gpu=1", "a/b/c=1", "gpu!=1"])
def test_a_resource_whose_name_the_api_server_would_not_take_is_refused_with_an_example(text):
    with pytest.raises(GrammarError, match=f"“{text}” is not a resource. Write it as nvidia.com/gpu=1"):
        grammar.parse_resources(text)
