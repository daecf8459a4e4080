"""The page of the cluster, as a visitor asks for it."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from msgspec import to_builtins

from playground.sessions.web.client import create_session
from scheduler_core.testing.builders import make_node, make_pod
from scheduler_core.world.commands import ApplyObjects, StartScheduler
from tests.playground.workbench.conftest import Visitor, page_text

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
}


@pytest.fixture
def modelled(visitor) -> Visitor:
    """A visitor in a session with a node, a pod, and a budget."""
    begun: Visitor = visitor()
    objects = (make_node("n1").manifest(), make_pod("web").labels({"app": "web"}).manifest(), BUDGET)
    commands = [to_builtins(ApplyObjects(tuple(objects)))]
    begun.session = async_to_sync(create_session)("c", commands=commands)
    begun.url = f"/s/{begun.session.edit_key}/"
    begun.ask(lambda client: client.walk(100))
    return begun


def test_controllers_say_what_they_watch_and_what_they_did(modelled) -> None:
    text = page_text(modelled.get("cluster"))
    assert "disruption-controller" in text
    assert "watches Pod PodDisruptionBudget" in text
    assert "Last action, and why" in text


def test_what_a_controller_works_on_is_named_in_the_readers_language(modelled) -> None:
    text = page_text(modelled.browser.get(modelled.url + "cluster", headers={"accept-language": "zh-hans"}))
    assert "全部节点" in text and "all nodes" not in text


def test_a_budget_says_how_many_may_go(modelled) -> None:
    text = page_text(modelled.get("cluster", part="budgets"))
    assert "default/web minAvailable 2" in text
    assert "2 needed" in text
    assert "no pod can be evicted" in text


def test_schedulers_say_who_leads_and_since_when(modelled) -> None:
    for name in ("a", "b"):
        modelled.ask(lambda client, name=name: client.apply(to_builtins(StartScheduler(name))))
        modelled.ask(lambda client: client.walk(40))
    text = page_text(modelled.get("cluster", part="replicas"))
    assert "a leading" in text
    assert "b standby: follows the cluster and makes no decisions" in text
    assert "considers a the leader" in text
    assert "Lease kube-system/kube-scheduler" in text
    assert "kube-scheduler schedules without leader election" in text


def test_a_scheduler_is_started_and_killed_by_its_forms(modelled) -> None:
    form = {"kind": "Scheduler", "host": "x", "clock_rate": "0.5", "alone": "on"}
    assert modelled.post("act/start-scheduler", **form).status_code in (204, 302)
    modelled.ask(lambda client: client.walk(20))
    text = page_text(modelled.get("cluster", part="replicas"))
    assert "x schedules without leader election" in text
    assert "× 0.5" in text
    assert modelled.post("act/kill-scheduler", kind="Scheduler", name="x").status_code in (204, 302)
    text = page_text(modelled.get("cluster", part="replicas"))
    assert "exit code 137" in text


def test_nodes_lead_to_their_own_pages(modelled) -> None:
    assert "?part=nodes&amp;name=n1" in modelled.get("cluster", part="nodes").content.decode()
    assert "Conditions that changed" in page_text(modelled.get("cluster", part="nodes", name="n1"))


def test_a_node_that_is_not_there_is_told(modelled) -> None:
    assert "No node n9 exists at this step." in page_text(modelled.get("cluster", part="nodes", name="n9"))


def test_rollouts_are_empty_without_deployments(modelled) -> None:
    assert "The cluster has no Deployments." in page_text(modelled.get("cluster", part="rollouts"))


def test_a_page_that_has_seen_the_newest_step_gets_nothing(modelled) -> None:
    seen = {"seen": modelled.head(), "part": "controllers"}
    answer = modelled.browser.get(modelled.url + "cluster", seen, headers={"HX-Request": "true"})
    assert answer.status_code == 204
