"""Devices, claims and the search for devices, as a visitor asks for them."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from msgspec import to_builtins

from playground.sessions.web.client import create_session
from scheduler_core.testing.builders import make_node, make_pod
from scheduler_core.world.commands import ApplyObjects
from tests.playground.workbench.conftest import Visitor, page_text
from tests.support.devices import claim, claiming, device_class, gpus


@pytest.fixture
def begun(visitor) -> Visitor:
    """A visitor in a session in which two pods share a claim, and a third one has one that asks for too much."""
    begun: Visitor = visitor()
    pods = [
        claiming(make_pod(name).manifest(), name_of)
        for name, name_of in (("a", "shared"), ("b", "shared"), ("late", "large"))
    ]
    objects = (
        make_node("n1").manifest(),
        gpus("n1", 2),
        device_class("gpu"),
        claim("shared"),
        claim("large", count=9),
        *pods,
    )
    commands = [to_builtins(ApplyObjects(tuple(objects)))]
    begun.session = async_to_sync(create_session)("c", commands=commands)
    begun.url = f"/s/{begun.session.edit_key}/"
    begun.ask(lambda client: client.walk(200))
    return begun


def test_pools_and_classes_are_a_part_of_the_cluster(begun) -> None:
    text = page_text(begun.get("cluster", part="devices"))
    assert "n1 gpu.example.com n1 1 complete 1/1 2 1 free, 1 in use" in text
    assert 'gpu device.driver == "gpu.example.com"' in text


def test_a_pool_lists_its_devices_with_their_claims(begun) -> None:
    text = page_text(begun.get("cluster", part="devices", name="gpu.example.com/n1"))
    assert "gpu-0 shared a b" in text
    assert "gpu-1 free" in text
    assert begun.get("cluster", part="devices", name="none/none").status_code == 404


def test_a_node_of_the_cluster_shows_its_devices(begun) -> None:
    assert "gpu-0 shared a b" in page_text(begun.get("cluster", part="nodes", name="n1"))


def test_claims_are_listed_by_state(begun) -> None:
    text = page_text(begun.get("cluster", part="claims"))
    assert "pending 1" in text
    assert "shared in use r: 1 × gpu gpu-0 on n1 a b" in text
    assert "shared" not in page_text(begun.get("cluster", part="claims", state="pending")).partition("pods")[2]


def test_a_claim_says_how_it_came_to_be_what_it_is(begun) -> None:
    text = page_text(begun.get("cluster", part="claims", name="default/shared"))
    assert "Created. No device is allocated yet." in text
    assert "gpu-0 on n1 allocated. Reserved for a" in text
    assert "Reserved for b" in text
    assert begun.get("cluster", part="claims", name="default/none").status_code == 404


def test_the_search_is_walked_at_the_step_at_which_it_was_made(begun) -> None:
    text = page_text(begun.get("device-search", pod="default/a", node="n1"))
    assert "Cycle 1, a , in Filter" in text
    assert "n1 can provide all devices. 1 tried, 0 undone." in text
    assert 'device.driver "gpu.example.com"' in text


def test_a_search_that_found_nothing_gives_kubes_answer(begun) -> None:
    text = page_text(begun.get("device-search", pod="default/late"))
    assert "n1 cannot provide all devices." in text
    assert "cannot allocate all claims" in text


def test_where_nothing_was_searched_the_page_says_so(begun) -> None:
    text = page_text(begun.get("device-search", pod="default/nobody"))
    assert "has not searched devices for default/nobody" in text
    assert "No search on n1" in page_text(begun.get("device-search", pod="default/b", node="n1"))
