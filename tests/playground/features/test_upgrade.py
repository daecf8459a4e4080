"""The preview of an upgrade, the page of what is different, and the clusters that show it."""

from typing import Any

import pytest
from django.test import Client

from playground.features.upgrade.presenter import describe_upgrade
from playground.features.upgrade.views import list_differences
from playground.management.explaining import plain
from playground.models import Session
from playground.workbench.builder import clusters_of_differences
from scheduler_core.analysis.upgrade import preview_upgrade
from scheduler_core.analysis.whatif import settle
from scheduler_core.base.releases import NEWEST, RELEASES, Behavior, behaviors_of
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation

pytestmark = pytest.mark.django_db(transaction=True)


def world_of(name: str, release: str, switched_off: tuple[str, ...] = ()) -> Simulation:
    world = Simulation()
    world.apply(SetSettings({"release": release, "switched_off": list(switched_off)}))
    world.apply(ApplyObjects(tuple(clusters_of_differences()[name])))
    return world


def show(world: Simulation) -> Any:
    """What a cluster shows in the end: nodes, messages, and the events that moved pods."""
    settle(world, 5_000)
    pods = {
        pod.key: (pod.node_name, (pod.condition("PodScheduled") or {}).get("message")) for pod in world.store.pods()
    }
    messages = [attempt.message for attempt in world.journal.attempts]
    return pods, messages, sorted(world.schedulers[0].queue.metrics.incoming)


@pytest.mark.parametrize("name", clusters_of_differences())
def test_a_cluster_shows_its_difference_and_nothing_else_is_the_cause(name: str) -> None:
    before = [release for release in RELEASES if Behavior(name) not in behaviors_of(release)][-1]
    newest = show(world_of(name, NEWEST))
    assert newest != show(world_of(name, before))
    assert newest != show(world_of(name, NEWEST, (name,)))


def test_an_upgrade_says_which_pods_end_elsewhere_and_proves_the_cause() -> None:
    found = preview_upgrade(world_of("balance-by-change", "1.34.1"), "1.37.2")
    assert [(each.pod, each.before, each.after, each.cause) for each in found.moved] == [
        ("default/p", "b", "a", "balance-by-change")
    ]
    assert found.at_rest and not found.cut
    assert "default-scheduler: Score: + DynamicResources (weight 2)" in found.configuration
    assert "default-scheduler: Filter: NodeName before NodeUnschedulable" in found.configuration
    said = [plain(each) for each in describe_upgrade(found)]
    assert said[:2] == [
        "p goes to a instead of b.",
        "The cause is balance-by-change: without it, the pod stays where it was.",
    ]


def test_an_upgrade_says_which_messages_change_and_what_is_read() -> None:
    found = preview_upgrade(world_of("constant-taint-text", "1.34.1"), "1.34.2")
    assert found.moved == ()
    assert [each.pods for each in found.messages] == [("default/web",)]
    assert "untolerated taint {" in found.messages[0].before and "taint(s)" in found.messages[0].after
    assert [(each.before, each.because) for each in found.texts] == [
        ("node(s) had untolerated taint {", "constant-taint-text")
    ]
    back = preview_upgrade(world_of("constant-taint-text", "1.34.2"), "1.34.1")
    assert [each.after for each in back.texts] == ["node(s) had untolerated taint {"]
    read = preview_upgrade(world_of("declared-features", "1.35.4"), "1.36.3")
    assert [(each.kind, each.names, each.because) for each in read.objects] == [
        ("Node", ("new",), "NodeDeclaredFeatures")
    ]
    assert [(each.before, each.after, each.cause) for each in read.moved] == [("old", "new", "NodeDeclaredFeatures")]


def test_the_pages_show_differences_and_a_preview_that_forks() -> None:
    browser = Client()
    shown = browser.get("/releases").content.decode()
    assert all(each["name"] in shown for each in list_differences())
    browser.post("/new", {"start": "difference:balance-by-change", "release": "1.35.4"})
    url = f"/s/{Session.objects.latest('pk').edit_key}"
    page = browser.get(f"{url}/upgrade").content.decode()
    assert "balance-by-change" in page and "Fork with kube 1.37.2" in page
    assert browser.get(f"{url}/upgrade", {"release": "9"}).status_code == 400
    forked = browser.post(f"{url}/upgrade", {"release": "1.37.2"}, follow=True).content.decode()
    assert "kube 1.37.2" in forked
