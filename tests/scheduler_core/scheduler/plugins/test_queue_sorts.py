"""Other orders of the queue: the examples, and plugins of installed packages."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.registry import GROUP, load_installed, registry, with_plugins
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod, scheduler_of, settle


def sorted_by(name: str, profile: str = "default-scheduler") -> dict[str, Any]:
    chosen = {"queueSort": {"enabled": [{"name": name}], "disabled": [{"name": "PrioritySort"}]}}
    return {"schedulerName": profile, "plugins": chosen}


def tried(name: str, *pods: dict[str, Any]) -> list[str]:
    """The pods in the order in which they are popped."""
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(profiles=[sorted_by(name)])))
    sim.apply(ApplyObjects((*pods, node("a", cpu="99"))))
    settle(sim)
    return [attempt.pod.partition("/")[2] for attempt in sim.journal.attempts]


def created(manifest: dict[str, Any], at: str) -> dict[str, Any]:
    manifest["metadata"]["creationTimestamp"] = at
    return manifest


def test_by_creation_the_oldest_is_first_whatever_its_priority() -> None:
    young = created(pod("young", priority=9), "2026-01-01T00:00:09Z")
    old = created(pod("old"), "2026-01-01T00:00:01Z")
    assert tried("CreationTimeSort", young, old) == ["old", "young"]


def test_by_size_the_smallest_is_first_and_among_equals_the_more_important() -> None:
    pods = (pod("large", cpu="2", priority=9), pod("small", cpu="1"), pod("urgent", cpu="1", priority=5))
    assert tried("SmallestFirstSort", *pods) == ["urgent", "small", "large"]


def test_of_equal_keys_the_longer_known_is_first() -> None:
    pods = tuple(pod(f"p{i}", cpu="1") for i in (3, 1, 2))
    assert tried("CreationTimeSort", *pods) == ["p3", "p1", "p2"]


def refused(*profiles: dict[str, Any]) -> str:
    with pytest.raises(Refused) as error:
        Simulation().apply(SetConfiguration(configuration(profiles=list(profiles))))
    return str(error.value)


def test_profiles_of_one_scheduler_cannot_sort_differently() -> None:
    said = refused(sorted_by("CreationTimeSort"), sorted_by("SmallestFirstSort", "other"))
    assert "profiles[1].plugins.queueSort" in said
    assert said.endswith("must be the same for all profiles")


def test_two_orders_at_once_are_refused() -> None:
    both = sorted_by("CreationTimeSort")
    del both["plugins"]["queueSort"]["disabled"]
    assert "only one queue sort plugin required for profile with scheduler name" in refused(both)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NodeName", 'plugin "NodeName" does not extend QueueSortPlugin plugin'),
        ("NoSuch", 'QueueSortPlugin "NoSuch" does not exist'),
    ],
)
def test_what_sorts_nothing_is_refused(name: str, said: str) -> None:
    assert said in refused(sorted_by(name))


# Installed packages


class ByName(Plugin):
    """Sorts by the length of the name."""

    name = "ByName"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (len(pod.name),)


class Idle(Plugin):
    name = "Idle"


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("some_plugins")
    vars(module).update(ByName=ByName, Idle=Idle, text="no plugin")
    monkeypatch.setitem(sys.modules, "some_plugins", module)
    return "some_plugins"


def test_a_plugin_of_an_installed_package_orders_the_queue(package: str) -> None:
    added, problems = load_installed(registry(), [EntryPoint("ByName", f"{package}:ByName", GROUP)])
    assert problems == {}
    with with_plugins(added["ByName"]):
        assert tried("ByName", pod("long-name"), pod("s"), pod("mid")) == ["s", "mid", "long-name"]
    assert "ByName" not in registry()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ByName", "no_such_module:ByName", "could not be loaded: ModuleNotFoundError"),
        ("ByName", "some_plugins:Other", "could not be loaded: AttributeError"),
        ("text", "some_plugins:text", "received 'no plugin'; expected a subclass"),
        ("Other", "some_plugins:ByName", "received the name 'ByName'; expected 'Other'"),
        ("Idle", "some_plugins:Idle", "takes part in no extension point"),
        ("NodeName", "some_plugins:ByName", "expected one that no other plugin has"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_left_out_with_the_reason(
    package: str, name: str, value: str, said: str
) -> None:
    added, problems = load_installed(registry(), [EntryPoint(name, value, GROUP)])
    assert said in problems[name]
    assert added == {}


def test_a_fork_sorts_alike() -> None:
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(profiles=[sorted_by("SmallestFirstSort")])))
    sim.apply(ApplyObjects((pod("large", cpu="2"), pod("small", cpu="1"))))
    assert [q.key for q in scheduler_of(sim.fork()).queue.active()] == ["default/small", "default/large"]
