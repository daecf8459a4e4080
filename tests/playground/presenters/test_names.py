"""Names in their short forms: what they share is taken off, and no two look the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.presenters.names import NARROW, WIDE, Names, fit, names_of, shorten
from playground.presenters.words import message
from playground.templating.environment import PanelEnvironment
from scheduler_core.world.commands import ApplyObjects
from tests.playground.presenters.worlds import node, world

EKS = [f"ip-10-0-{i}-{j}.eu-west-1.compute.internal" for i in (1, 2, 13) for j in (9, 22, 240)]
POOL = [f"gke-prod-pool-1-8f3a2c41-{end}" for end in ("n4kx", "x7k2", "q9d1")]
GKE = [*POOL, *(f"gke-prod-gpu-0c99d2e1-{end}" for end in ("n4kx", "p0aa"))]
AKS = [f"aks-nodepool{i}-12345678-vmss{j:06}" for i in (1, 2) for j in range(12)]
OPENSHIFT = [f"ci-ln-abc123-72292-{role}-{zone}-x7k2m" for role in ("master", "worker") for zone in "abc"]
LONG = [f"{'a' * 30}-{i:02}-{'b' * 29}" for i in range(20)] + [f"{i:02}{'c' * 61}" for i in range(20)]
PODS = [
    f"{name}-7d9f8b6c5d-{end}" for name in ("checkout", "payments-reconciliation-worker") for end in ("x7k2m", "m9d5r")
]
CLUSTERS = {
    "EKS": EKS,
    "GKE": GKE,
    "AKS": AKS,
    "OpenShift": OPENSHIFT,
    "63 letters": LONG,
    "all": [*EKS, *GKE, *AKS, *LONG],
}


@pytest.mark.parametrize("nodes", CLUSTERS.values(), ids=CLUSTERS)
def test_names_of_real_clusters_fit_and_look_different(nodes: list[str]) -> None:
    look_different(nodes, [*PODS, *(f"shop/kube-proxy-{name}" for name in nodes), *(f"ml/{name}" for name in PODS)])


def look_different(nodes: list[str], pods: list[str]) -> Names:
    names, whole = shorten(nodes, pods), {*nodes, *pods}
    for most in (NARROW, WIDE):
        shown = {name: names.fit(name, most) for name in whole}
        assert max(map(len, shown.values()), default=0) <= most
        assert len(set(shown.values())) == len(whole), sorted(shown.values())
    return names


LABEL = st.from_regex(r"[ab1](?:[ab1-]{0,61}[ab1])?", fullmatch=True)
NAME = st.one_of(
    st.lists(LABEL, min_size=1, max_size=3).map(lambda parts: ".".join(parts)[:63].rstrip("-.")),
    st.tuples(
        st.sampled_from("ab"), st.text("49bf", min_size=8, max_size=8), st.text("24", min_size=5, max_size=5)
    ).map("-".join),
    st.text("xy", min_size=2, max_size=3).map(lambda middle: f"{'a' * 30}{middle}{'b' * 30}"),
)


@given(
    st.lists(NAME, max_size=12),
    st.lists(st.tuples(st.sampled_from(["", "ml/", "shop/"]), NAME).map("".join), max_size=12),
)
def test_any_names_fit_and_look_different(nodes: list[str], pods: list[str]) -> None:
    look_different(nodes, pods)


@pytest.mark.parametrize(
    ("nodes", "name", "shown"),
    [
        (EKS, EKS[0], "1-9"),
        (EKS[:3], EKS[0], "1-9"),  # no number alone: "9 has only 2" would say nothing
        (EKS[:1], EKS[0], "ip-10-0-1-9"),
        (POOL, POOL[0], "n4kx"),
        (GKE, GKE[0], "pool-1-8f3a2c41-n4kx"),
        (AKS[:12], AKS[3], "vmss000003"),
        (["node-1", "node-2"], "node-2", "node-2"),
        ([*EKS, "master-0"], EKS[0], "1-9"),
        ([*EKS, "master-0"], "master-0", "master-0"),
        (["worker-pool-x-blue", "worker-pool-x-blue.a"], "worker-pool-x-blue", "worker-pool-x-blue"),
    ],
)
def test_nodes_lose_what_all_of_their_family_share(nodes: list[str], name: str, shown: str) -> None:
    assert shorten(nodes, []).fit(name) == shown


@pytest.mark.parametrize(
    ("name", "most", "shown"),
    [
        ("checkout-7d9f8b6c5d-x7k2m", NARROW, "checkout…x7k2m"),
        ("payments-reconciliation-worker-7d9f8b6c5d-x7k2m", WIDE, "payments-reconcili…x7k2m"),
        ("payments-reconciliation-worker-7d9f8b6c5d-x7k2m", NARROW, "payments-r…x7k2m"),
        ("ledger-2", NARROW, "ledger-2"),
        ("very-long-workload-name-blue-12", NARROW, "very-lon…blue-12"),
        ("shop/web-0", WIDE, "web-0"),
        ("a" * 31 + "b" * 32, NARROW, "a" * 7 + "…" + "b" * 8),
    ],
)
def test_pods_lose_the_hash_and_long_names_their_middle(name: str, most: int, shown: str) -> None:
    assert shorten([], [name]).fit(name, most) == shown


def test_two_pods_that_would_look_the_same_grow() -> None:
    names = shorten([], ["web-777777777-x7k2m", "web-888888888-x7k2m"])
    assert names.fit("web-777777777-x7k2m") == "web-777777777-x7k2m"
    assert names.fit("web-888888888-x7k2m", NARROW) != names.fit("web-777777777-x7k2m", NARROW)


def test_the_namespace_is_told_where_there_are_two() -> None:
    assert shorten([], ["shop/web-0", "ml/train-0"]).fit("shop/web-0") == "shop/web-0"
    assert shorten([], ["shop/web-0", "kube-system/dns"]).fit("shop/web-0") == "web-0"
    both = shorten([], ["shop/web-0", "kube-system/web-0"])
    assert {both.fit("shop/web-0", NARROW), both.fit("kube-system/web-0", NARROW)} == {"shop/web-0", "kube-syste…web-0"}


def test_a_world_s_names_are_computed_again_when_a_node_is_created() -> None:
    sim = world(*map(node, EKS[:2]))
    first = names_of(sim)
    assert (first.fit(EKS[0]), first.spell(EKS[0])) == ("1-9", ("ip-10-0-", "1-9", ".eu-west-1.compute.internal"))
    assert names_of(sim) is first
    sim.apply(ApplyObjects([node(EKS[0].replace("10-0", "10-7"))]))
    assert names_of(sim).fit(EKS[0]) == "0-1-9"


def test_a_copy_of_a_world_has_its_names_until_it_differs() -> None:
    sim = world(*map(node, EKS[:2]))
    copies = [sim.fork(), sim.fork()]
    assert {id(names_of(each)) for each in (sim, *copies)} == {id(names_of(sim))}
    copies[0].apply(ApplyObjects([node(EKS[0].replace("10-0", "10-7"))]))
    assert [names_of(each).fit(EKS[0]) for each in (sim, *copies)] == ["1-9", "0-1-9", "1-9"]


def test_templates_show_the_short_form_and_keep_the_whole_name_for_copies_and_screen_readers() -> None:
    names, environment = shorten(EKS, PODS), PanelEnvironment()
    shown = environment.from_string("{{ n|apart }} {{ p|apart(16) }} {{ n|spelled }} {{ m|translated }}").render(
        short_names=names, n=EKS[0], p=PODS[0], m=message("on %(node)s", node=EKS[1])
    )
    span = f'data-short="1-9" title="{EKS[0]}"><span>{EKS[0]}</span></span>'
    assert span in shown
    assert 'data-short="checkout…x7k2m"' in shown
    assert "<b>1-9</b> = ip-10-0-<b>1-9</b>.eu-west-1.compute.internal" in shown
    assert f'on <code class="apart" data-short="1-22" title="{EKS[1]}"><span>{EKS[1]}</span></code>' in shown


def test_what_a_name_holds_is_escaped_and_short_names_have_no_markup() -> None:
    environment = PanelEnvironment()
    template = environment.from_string("{{ n|apart }}")
    assert template.render(n="node-1") == "node-1"
    assert "<b>" not in template.render(n="<b>an-odd-name-of-nothing-at-all</b>")
    assert fit("") == ""
