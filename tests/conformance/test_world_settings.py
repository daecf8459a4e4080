"""How the driver of the worlds reads settings and names."""

from typing import Any

from scheduler_core.testing.conformance.worlds import run_world
from scheduler_core.testing.conformance.worlds.paths import of_apiserver, of_controller_manager


def test_flags_may_be_written_as_on_a_command_line() -> None:
    assert of_apiserver({"authorization-mode": "Node,RBAC", "event-ttl": "1h"}) == {
        "authorization-mode": ["Node", "RBAC"]
    }
    assert of_controller_manager({"node-eviction-rate": "0.5", "concurrent-gc-syncs": 20}) == {
        "node-eviction-rate": 0.5
    }


def test_custom_kinds_go_by_their_name() -> None:
    custom: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Foo"}
    scenario = {
        "objects": [{**custom, "metadata": {"name": "a", "namespace": "default"}}],
        "steps": [
            {
                "at": "1s",
                "expect": [
                    {"object": "Foo/default/a", "exists": True},
                    {"object": "Bar/default/a", "exists": False},
                    {"count": {"kind": "Foo"}, "is": 1},
                ],
            },
            {"at": "2s", "do": {"evict": {"pod": {"labelSelector": "app=web"}}}, "answer": {"code": 404}},
        ],
    }
    assert run_world(scenario) is None
