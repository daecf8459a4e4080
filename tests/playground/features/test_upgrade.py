"""The preview of an upgrade, the page of what is different, and the clusters that show it."""

import os
import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from playground.features.upgrade import views
from playground.features.upgrade.presenter import MOST_MOVED, describe_upgrade
from playground.features.upgrade.views import list_differences
from playground.management.explaining import plain
from playground.models import Session
from playground.workbench.builder import begin_difference, clusters_of_differences
from scheduler_core.analysis.upgrade import Stage, preview_upgrade
from scheduler_core.base.releases import DIFFERENCES, NEWEST, RELEASES, Behavior, Release, behaviors_of
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod
from tests.support.public_clusters import CLUSTERS, objects_of

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
pytestmark = pytest.mark.django_db(transaction=True)


# The behavior that is one gate and that no code asks for by name.
GATES = {"batching": {"opportunistic_batching": False}}


def world_of(name: str, release: Release, without: str = "") -> Simulation:
    world = Simulation()
    world.apply(SetSettings({"release": release, "switched_off": [without] if without else []}))
    world.apply(SetSettings(GATES.get(without, {})))
    for command in begin_difference(name, release):
        if isinstance(command, int):
            world.run(steps=command, timers=True)
        else:
            world.apply(command)
    return world


def show(world: Simulation) -> dict[str, Any]:
    """Run a cluster, and return its outcome for each part of the screen."""
    world.run(steps=120, timers=True)
    scheduler = world.schedulers[0]
    pods = [(each.key, each.node_name, each.nominated_node_name, each.conditions) for each in world.store.pods()]
    attempts = [(each.pod, each.node, each.message, each.evaluated, each.refusals) for each in world.journal.attempts]
    return {
        "pods": pods,
        "attempts": attempts,
        "moves": [(each.pod, each.place, each.cause) for each in world.journal.moves],
        "events": [(each.reason, each.message) for each in world.store.events],
        "claims": [each.get("status") for each in world.store.list("ResourceClaim")],
        "plugins": scheduler.configuration.profiles[0].plugins,
        "incoming": scheduler.queue.metrics.incoming,
        "unschedulable": scheduler.queue.metrics.unschedulable,
        "nominations": scheduler.queue.nominator.everything(),
    }


@pytest.mark.parametrize("name", clusters_of_differences())
def test_a_cluster_shows_its_difference_and_nothing_else_is_the_cause(name: str) -> None:
    before = [release for release in RELEASES if Behavior(name) not in behaviors_of(release)][-1]
    newest, old, without = (show(world_of(name, *how)) for how in ((NEWEST,), (before,), (NEWEST, name)))
    caused = [part for part in newest if newest[part] != without[part]]
    assert [part for part in caused if newest[part] != old[part]], f"nothing differs, or only {caused}"


def test_every_difference_has_a_cluster_or_says_why_it_has_none() -> None:
    assert {each.behavior for each in DIFFERENCES if not each.unshown} == set(clusters_of_differences())


def test_an_upgrade_says_which_pods_end_elsewhere_and_proves_the_cause() -> None:
    found = preview_upgrade(world_of("balance-by-change", "1.34.1"), "1.37.2")
    assert [(each.pod, each.before, each.after, each.cause) for each in found.moved] == [
        ("default/p", "b", "a", "balance-by-change")
    ]
    assert found.at_rest and not found.cut
    assert "default-scheduler: Score: + DynamicResources (weight 2)" in found.configuration
    assert "default-scheduler: Filter: NodeName before NodeUnschedulable" in found.configuration
    said = [plain(each) for each in describe_upgrade(found)]
    (moved,) = found.moved
    assert said[:3] == [
        "p is placed on a instead of b.",
        f"The runs diverge in attempt 1, which starts at step {moved.position} under kube 1.37.2.",
        "The cause is balance-by-change. Without this difference, the placement of the pod does not change.",
    ]


def test_a_text_that_comes_or_goes_is_called_new_or_gone() -> None:
    there, back = Simulation(), Simulation()
    there.apply(SetSettings({"release": "1.36.3"}))
    back.apply(SetSettings({"release": "1.37.2"}))
    ups, downs = (
        [plain(each) for each in describe_upgrade(preview_upgrade(world, target))]
        for world, target in ((there, "1.37.2"), (back, "1.36.3"))
    )
    gone = "Change alerts for the text 'no new claims to deallocate': it no longer appears (quiet-without-claims)."
    assert gone in ups and "A new text may appear: 'no new claims to deallocate' (quiet-without-claims)." in downs


def test_the_restart_of_the_schedulers_moves_no_pod() -> None:
    # Restarted, a scheduler lists the pods by name; before that, z is first in the queue.
    world = Simulation()
    world.apply(SetSettings({"release": "1.36.3"}))
    world.apply(ApplyObjects((node("n", cpu="1"), pod("z"))))
    world.apply(ApplyObjects((pod("a"),)))
    assert preview_upgrade(world, "1.37.2").moved == ()


@pytest.mark.parametrize(
    ("name", "release", "causes"),
    [
        ("console", "1.34.1", {"ties-in-order", "ties-in-order + balance-by-change"}),
        ("console", "1.35.4", {"balance-by-change"}),
        ("databases", "1.36.3", {"StorageCapacityScoring"}),
        ("gpu", "1.36.3", set()),
    ],
)
def test_pods_of_public_clusters_move_for_proven_causes(name: str, release: str, causes: set[str]) -> None:
    world = Simulation()
    world.apply(SetSettings({"release": release}))
    world.apply(ApplyObjects(tuple(objects_of(name))))
    found = preview_upgrade(world, NEWEST)
    assert {each.cause for each in found.moved} == causes and found.at_rest
    for cause in causes - {"StorageCapacityScoring"}:
        twin = world.fork()
        twin.apply(SetSettings({"release": NEWEST, "switched_off": cause.split(" + ")}))
        twin.run(steps=5_000)
        nodes = {each.key: each.node_name for each in twin.store.pods()}
        assert all(nodes[each.pod] == each.before for each in found.moved if each.cause == cause)


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, "1.34.1") for name in (CLUSTERS if LONG else ("console", "aks"))] + [("databases", "1.36.3")],
)
def test_the_way_back_to_an_older_release_has_the_same_causes(name: str, target: Release) -> None:
    worlds = Simulation(), Simulation()
    for world, release in zip(worlds, (target, NEWEST), strict=True):
        world.apply(SetSettings({"release": release}))
        world.apply(ApplyObjects(tuple(objects_of(name))))
    there, back = preview_upgrade(worlds[0], NEWEST), preview_upgrade(worlds[1], target)
    assert there.moved and all(each.cause for each in there.moved)
    assert [(each.pod, each.after, each.before, each.cause) for each in back.moved] == [
        (each.pod, each.before, each.after, each.cause) for each in there.moved
    ]


@pytest.mark.parametrize("release", ("1.34.1", "1.35.4", "1.36.3") if LONG else ("1.34.1",))
@pytest.mark.parametrize("name", CLUSTERS if LONG else ("aks",))
def test_each_pod_of_a_public_cluster_that_moves_has_a_cause(name: str, release: Release) -> None:
    world = Simulation()
    world.apply(SetSettings({"release": release}))
    world.apply(ApplyObjects(tuple(objects_of(name))))
    found = preview_upgrade(world, NEWEST)
    assert found.at_rest and all(each.cause for each in found.moved)


def test_what_moves_pods_most_often_is_tried_first_and_the_rest_at_once() -> None:
    world, stages = Simulation(), list[Stage]()
    world.apply(SetSettings({"release": "1.34.1"}))
    world.apply(ApplyObjects(tuple(objects_of("console"))))
    found = preview_upgrade(world, NEWEST, report=stages.append)
    assert {each.cause for each in found.moved} == {"ties-in-order", "ties-in-order + balance-by-change"}
    assert found.tried == 5 and stages == []  # small worlds have no news
    world = Simulation()
    world.apply(SetSettings({"release": "1.36.3"}))
    world.apply(ApplyObjects((node("n", cpu="100"), *(pod(f"p-{number}") for number in range(100)))))
    preview_upgrade(world, NEWEST, report=stages.append)
    assert stages == [Stage(1, "", 2_000), Stage(2, "", 2_000)]


def test_of_many_moves_some_are_named_and_the_others_counted() -> None:
    found = preview_upgrade(world_of("balance-by-change", "1.34.1"), "1.37.2")
    many = replace(found, moved=tuple(replace(found.moved[0], pod=f"default/p-{n}") for n in range(MOST_MOVED + 7)))
    said = [plain(each) for each in describe_upgrade(many)]
    assert said[0] == "p-0 is placed on a instead of b."
    assert said[3 * MOST_MOVED] == "The placement of 7 more pods changes. The cause is balance-by-change."


def test_pods_that_begin_or_stop_to_wait_are_named_before_the_others() -> None:
    found = preview_upgrade(world_of("balance-by-change", "1.34.1"), "1.37.2")
    moves = [replace(found.moved[0], pod=f"default/p-{n}") for n in range(MOST_MOVED + 7)]
    moves[-1], moves[-2] = replace(moves[-1], after=""), replace(moves[-2], before="")
    said = [plain(each) for each in describe_upgrade(replace(found, moved=tuple(moves)))]
    assert said[0].startswith("p-26 waits instead of running") and said[3].endswith("instead of waiting.")


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


def test_the_pages_show_differences_and_a_preview_that_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Client()
    shown = browser.get("/releases").content.decode()
    assert all(each["name"] in shown for each in list_differences())
    assert all(each["unshown"] in shown for each in list_differences())
    browser.post("/new", {"start": "difference:taints-unheard", "release": "1.36.3"})
    assert Session.objects.latest("pk").head > 23  # a cluster with steps between its commands
    browser.post("/new", {"start": "difference:balance-by-change", "release": "1.35.4"})
    url = f"/s/{Session.objects.latest('pk').edit_key}"
    page = browser.get(f"{url}/upgrade").content.decode()
    assert "balance-by-change" in page and "Fork with kube 1.37.2" in page
    assert re.search(r"The runs diverge in attempt 1, which starts at step \d+ under kube 1\.37\.2\.", page)
    assert re.findall(r'<option value="([0-9.]+)"', page) == [each for each in RELEASES if each != "1.35.4"]
    monkeypatch.setattr(views, "SECONDS", 0.0)  # each request does a piece
    piece = browser.get(f"{url}/upgrade", {"release": "1.36.3"}).content.decode()
    assert "Run 1" in piece and "Fork with" not in piece
    monkeypatch.setattr(views, "SECONDS", 60.0)
    again = re.search(r'href="([^"]+)"\s+hx-get', piece)
    assert again and "balance-by-change" in browser.get(again[1].replace("&amp;", "&")).content.decode()
    assert browser.get(f"{url}/upgrade", {"release": "9"}).status_code == 400
    forked = browser.post(f"{url}/upgrade", {"release": "1.37.2"}, follow=True).content.decode()
    assert "kube 1.37.2" in forked
