"""The example package of plugins of one's own (examples/own-plugins), as it is once it is installed: every extension point in Python."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework.plugin import METHODS, Point, takes_part
from scheduler_core.scheduler.plugins.registry import GROUP, load_installed, registry, with_plugins
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.own.worlds import at_point, profile, world
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, settle

PACKAGE = Path(__file__).resolve().parents[2] / "examples/own-plugins"
NAMES = ["AtMostPerNode", "FewestPodsFirst", "LicenseSeats", "PolitePreemption", "ShortNamesFirst"]


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What an installer leaves: the modules on the path, and the entry points in the package's metadata."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"][GROUP]
    metadata = tmp_path / "teaching_plugins-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: teaching-plugins\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    found, problems = load_installed(registry())
    assert problems == {}
    assert sorted(found) == NAMES
    with with_plugins(*found.values()):
        yield
    for module in [name for name in sys.modules if name.startswith("teaching_plugins")]:
        del sys.modules[module]


def labelled(name: str, cpu: str = "1", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    manifest = pod(name, cpu, **spec)
    manifest["metadata"]["labels"] = labels or {}
    return manifest


def test_every_extension_point_is_shown_by_one_of_them() -> None:
    points = [point for point in Point if point in METHODS]
    assert [p for p in points if not any(takes_part(registry()[name], p) for name in NAMES)] == []


def test_queue_sort() -> None:
    sim = world(at_point("ShortNamesFirst", "queueSort", "PrioritySort"), node("a"), pod("longer"), pod("x"))
    settle(sim)
    assert [attempt.pod for attempt in sim.journal.attempts] == ["default/x", "default/longer"]


def test_filter_and_its_events() -> None:
    web = {"app": "web"}
    sim = world(profile("AtMostPerNode"), node("a"), labelled("one", labels=web), labelled("two", labels=web))
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    assert "1 node(s) already had 1 pod(s) of the app" in sim.journal.attempts[1].message
    settle(sim)
    sim.apply(DeleteObjects((Ref("Pod", "default", "one"),)))
    settle(sim)
    assert nodes_of(sim)["default/two"] == "a"


def test_pre_enqueue() -> None:
    sim = world(profile("AtMostPerNode"), node("a"), labelled("empty", labels={"app": ""}))
    settle(sim)
    assert sim.journal.place("default/empty") == "gated"


def test_remove_pod_lets_preemption_find_its_victim() -> None:
    web = {"app": "web"}
    sim = world(profile("AtMostPerNode"), node("a", cpu="9"), labelled("low", labels=web))
    settle(sim)
    sim.apply(ApplyObjects((labelled("high", labels=web, priority=9),)))
    settle(sim)
    assert nodes_of(sim) == {"default/high": "a"}


def test_add_pod_counts_a_nominated_pod() -> None:
    web = {"app": "web"}
    sim = world(
        profile("AtMostPerNode"), node("a", cpu="2"), labelled("low", cpu="2", terminationGracePeriodSeconds=30)
    )
    settle(sim)
    sim.apply(ApplyObjects((labelled("high", cpu="1", labels=web, priority=9),)))
    sim.run(until=lambda w: bool(w.schedulers[0].queue.nominator.counted("a")), steps=500)
    sim.apply(ApplyObjects((labelled("second", cpu="0", labels=web),)))
    sim.run(until=lambda w: len(w.journal.attempts) >= 3, steps=500)
    archive = Archive()
    assert decode(encode(sim.fork(), archive), archive).position == sim.position
    second = next(each for each in sim.journal.attempts if each.pod == "default/second")
    assert "already had 1 pod(s) of the app" in second.message


def test_arguments_are_defaulted_and_validated() -> None:
    with pytest.raises(Refused) as refused:
        world(profile("AtMostPerNode", args={"AtMostPerNode": {"most": 0}}))
    assert str(refused.value) == (
        "profiles[0].pluginConfig[0].args.most: Invalid value: 0: must be greater than or equal to 1"
    )
    two = {"AtMostPerNode": {"most": 2}}
    web = {"app": "web"}
    sim = world(profile("AtMostPerNode", args=two), node("a"), *(labelled(f"p{i}", labels=web) for i in range(3)))
    sim.run(until=lambda w: len(w.journal.attempts) == 3)
    assert [attempt.outcome for attempt in sim.journal.attempts] == ["scheduled", "scheduled", "unschedulable"]


def test_score_and_normalize() -> None:
    sim = world(profile("FewestPodsFirst"), node("a"), node("b"), pod("there", nodeName="a"), pod("web"))
    records = settle(sim)
    ran = [r for r in of_kind(records, "plugin_ran") if r["plugin"] == "FewestPodsFirst" and "scores" in r]
    assert [(step["point"], step["scores"]) for step in ran] == [
        ("Score", {"a": 1, "b": 0}),
        ("NormalizeScore", {"a": 0, "b": 100}),
    ]
    assert nodes_of(sim)["default/web"] == "b"


def license_world(*pods: dict[str, Any], seats: int = 1) -> Simulation:
    chosen = profile("LicenseSeats", args={"LicenseSeats": {"seats": seats}})
    chosen["plugins"]["bind"] = {"enabled": [{"name": "LicenseSeats"}]}
    return world(chosen, node("a"), *pods)


def test_reserve_takes_a_seat_and_unreserve_gives_it_back() -> None:
    first, second = (labelled(name, labels={"license": "cad"}) for name in ("first", "second"))
    sim = license_world(first, second)
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    assert sim.journal.attempts[1].message == "0/1 nodes are available: 1 no seat of the license is free."
    other = sim.fork()
    settle(other)
    assert (nodes_of(sim)["default/second"], nodes_of(other)["default/first"]) == ("", "a")


def test_permit_allows_and_rejects_pods_that_wait() -> None:
    slow = labelled("slow", labels={"license": "cad", "slow": ""})
    sim = license_world(slow, labelled("next", labels={"license": "cad"}), seats=9)
    settle(sim)
    assert set(nodes_of(sim).values()) == {"a"}
    assert sim.now < 30 * 10**9
    sim = license_world(slow, labelled("first", labels={"license": "cad", "urgent": ""}), seats=9)
    records = sim.run(until=lambda w: nodes_of(w)["default/first"] == "a").records
    (ended,) = of_kind(records, "wait_ended")
    assert ended["status"] == {"code": "Unschedulable", "plugin": "LicenseSeats", "reasons": ["makes way for first"]}


def test_pre_bind_bind_and_post_bind() -> None:
    sim = license_world(labelled("first", labels={"license": "cad"}))
    records = settle(sim)
    ran = {r["point"]: r["status"] for r in of_kind(records, "plugin_ran") if r["plugin"] == "LicenseSeats"}
    assert ran["Bind"]["code"] == "Success"
    assert ran["PostBind"]["reasons"] == ["1 of 1 seats taken"]
    assert sim.now > 10_000_000


def test_a_preemption_of_ones_own() -> None:
    agreed, other = labelled("agreed", "4", {"evictable": "true"}, priority=50), labelled("other", "4")
    sim = world(at_point("PolitePreemption", "postFilter", "*"), node("a"), node("b"), other, agreed)
    settle(sim)
    sim.apply(ApplyObjects((labelled("web", "2"),)))
    settle(sim)
    assert "default/agreed" not in nodes_of(sim)
    assert nodes_of(sim)["default/web"] != ""


def test_post_filters_are_asked_in_order_until_one_succeeds() -> None:
    chosen = {
        "plugins": {
            "postFilter": {
                "disabled": [{"name": "*"}],
                "enabled": [{"name": "PolitePreemption"}, {"name": "DefaultPreemption"}],
            }
        }
    }
    sim = world(chosen, node("a"), labelled("low", "4"))
    settle(sim)
    sim.apply(ApplyObjects((labelled("high", "4", priority=9),)))
    records = settle(sim)
    asked = [r["plugin"] for r in of_kind(records, "plugin_ran") if r["point"] == "PostFilter"]
    assert asked[-2:] == ["PolitePreemption", "DefaultPreemption"]
    assert nodes_of(sim) == {"default/high": "a"}
