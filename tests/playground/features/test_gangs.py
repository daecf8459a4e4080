"""The page that compares Coscheduling with pod groups."""

import pytest
from django.test import Client

from playground.features.gangs.views import _compare, list_sides
from playground.models import Session
from playground.presenters.stage.cluster import count_waiting
from playground.workbench.builder import inputs_of_gangs
from scheduler_core.analysis.gangs import WAYS, Input, Way, begin_way, compare_gangs, read_input
from scheduler_core.analysis.whatif import finish
from scheduler_core.world.commands import SetConfiguration
from scheduler_core.world.simulation import Simulation


def world_of(name: str, way: Way, steps: int) -> Simulation:
    world = Simulation()
    for command in begin_way(Input(inputs_of_gangs()[name]), way):
        world.apply(command)
    world.run(steps=steps)
    return world


def test_groups_hold_nothing_and_evict_nobody_in_vain() -> None:
    alone, plugin, groups = finish(compare_gangs(Input(inputs_of_gangs()["deadlock"])))
    assert [(each.placed, each.whole) for each in alone.gangs] == [(1, None), (1, None)]
    assert all(each.held > 50 * 10**9 for each in alone.gangs)
    for way in (plugin, groups):  # one gang has all, the other one nothing
        assert sorted(each.placed for each in way.gangs) == [0, 2]
    alone, plugin, groups = finish(compare_gangs(Input(inputs_of_gangs()["in-vain"])))
    assert alone.gone == plugin.gone == ("batch-1", "batch-2") and groups.gone == ()
    assert groups.others == (("batch-1", True), ("batch-2", True))
    assert [each.gangs[0].placed for each in (alone, plugin, groups)] == [2, 0, 0]


def test_the_members_of_a_group_that_waits_are_counted() -> None:
    assert count_waiting(world_of("deadlock", "groups", 0)) == 4
    assert count_waiting(world_of("deadlock", "coscheduling", 0)) == 4


@pytest.mark.parametrize("name", ["deadlock", "too-small", "with-effect"])
@pytest.mark.parametrize("way", ["coscheduling", "groups"])
def test_the_gangs_of_a_world_are_read_alike_from_either_form(name: str, way: Way) -> None:
    expected = finish(compare_gangs(Input(inputs_of_gangs()[name])))
    given = read_input(world_of(name, way, 0))
    groups = {each["metadata"]["name"]: each["spec"] for each in given.objects if each["kind"] == "PodGroup"}
    least = {each.name: each.least for each in expected[0].gangs}
    assert {group: spec["schedulingPolicy"]["gang"]["minCount"] for group, spec in groups.items()} == least
    for found, known in zip(finish(compare_gangs(given)), expected, strict=True):
        assert [(each.name, each.placed, each.whole is None) for each in found.gangs] == [
            (each.name, each.placed, each.whole is None) for each in known.gangs
        ]
        assert (found.others, found.gone) == (known.others, known.gone)


def test_pods_of_a_gang_begin_without_nodes_and_a_world_keeps_its_own_coscheduling() -> None:
    world = world_of("with-effect", "coscheduling", 3_000)
    assert all(pod.node_name for pod in world.store.pods())
    given = read_input(world)
    pods = [each for each in given.objects if each["kind"] == "Pod"]
    assert pods and not any(each["spec"].get("nodeName") for each in pods if each["spec"].get("schedulingGroup"))
    kept = begin_way(given, "coscheduling")[1]
    assert kept == SetConfiguration(given.configurations["kube-scheduler"], "kube-scheduler")
    plain = [each for each in begin_way(given, "groups") if isinstance(each, SetConfiguration)]
    assert "Coscheduling" in str(kept) and "Coscheduling" not in str(plain)


@pytest.mark.django_db(transaction=True)
def test_a_session_compares_its_own_gangs_and_opens_them() -> None:
    browser = Client()
    browser.post("/gangs", {"start": "too-small", "way": "coscheduling"})
    url = f"/s/{Session.objects.latest('pk').edit_key}/gangs"
    page = browser.get(url).content.decode()
    assert "minCount (3) cannot be satisfied" in page and "web" in page
    assert browser.post(url, {"way": "groups"}).status_code == 302
    made = Session.objects.latest("pk")
    assert made.name.endswith("Coscheduling · Pod groups")
    assert "minCount (3) cannot be satisfied" in browser.get(f"/s/{made.edit_key}/gangs").content.decode()
    browser.post("/new", {})
    assert "no gang" in browser.get(f"/s/{Session.objects.latest('pk').edit_key}/gangs").content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_page_shows_each_way_and_opens_it() -> None:
    browser = Client()
    page = browser.get("/gangs").content.decode()
    assert all(gang.message in page for side in list_sides(_compare("too-small")) for gang in side["outcome"].gangs)
    for way in WAYS:
        assert browser.post("/gangs", {"start": "too-small", "way": way}).status_code == 302
        assert Session.objects.latest("pk").name.startswith("A gang of three with room for two")
    wrong = browser.post("/gangs", {"start": "too-small", "way": "magic"})
    assert wrong.status_code == 400 and "too-small, magic" in wrong.content.decode()
