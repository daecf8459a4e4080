"""The menu on an object, as an editor and a viewer get it."""

from pathlib import Path

import pytest

from playground.workbench.actions import ACTIONS
from playground.workbench.actions.menu import menu
from tests.playground.workbench.conftest import Visitor, page_text
from tests.playground.workbench.test_actions import subject
from tests.playground.workbench.test_build import NODES


def titles(kind: str, about: object, may_edit: bool = True, **more: object) -> dict[str, list[str]]:
    """The titles of each sheet."""
    sheets = menu(kind, "", "web", about, may_edit, **more)
    return {sheet.name: [entry.title for group in sheet.groups for entry in group] for sheet in sheets}


def test_a_node_offers_its_actions_first_those_that_are_rare_and_breakpoints_in_sheets_of_their_own():
    sheets = titles("Node", subject("Node"))
    assert list(sheets) == ["main", "more", "travel"]
    assert {"Taint", "Cordon", "Drain", "Edit YAML", "History"} <= set(sheets["main"])
    assert "Stop the kubelet" in sheets["more"]
    assert "Break when a plugin refuses this node" in sheets["travel"]


def test_a_view_link_offers_what_is_only_looked_at():
    sheets = titles("Pod", subject("Pod"), may_edit=False)
    assert sheets["main"] == ["YAML", "Why not on a node", "Journey", "Commands about this object"]
    assert all(title.startswith(("Back", "Forward")) for title in sheets["travel"])


def test_a_point_offers_a_breakpoint_at_each_of_its_plugins():
    sheets = menu("Point", "", "Filter", None, True, plugins=["NodeName", "NodePorts"])
    fields = [entry.fields for group in sheets[0].groups for entry in group if entry.send]
    assert fields == [
        {"point": "Filter"},
        {"point": "Filter", "plugin": "NodeName"},
        {"point": "Filter", "plugin": "NodePorts"},
    ]


def test_a_plugin_is_stopped_at_where_it_is_seen():
    [here, *_] = menu("Plugin", "", "NodePorts", None, True, point="Filter")[0].groups[0]
    assert here.fields == {"plugin": "NodePorts", "point": "Filter"}


@pytest.mark.parametrize("kind", ["Node", "Pod", "Deployment", "PodDisruptionBudget", "ResourceClaim"])
def test_no_letter_chooses_two_things(kind):
    letters = [entry.letter for group in menu(kind, "ns", "web", subject(kind), True)[0].groups for entry in group]
    chosen = [letter for letter in letters if letter]
    assert len(chosen) == len(set(chosen)), chosen


def test_every_icon_is_drawn():
    icons = (Path(__file__).parents[3] / "templates/playground/icons.html").read_text()
    assert [each.name for each in ACTIONS if each.icon and f'id="i-{each.icon}"' not in icons] == []


def test_the_page_asks_for_it_where_the_viewer_stands(visitor):
    begun: Visitor = visitor("empty")
    begun.post("build/nodes", **NODES)
    answer = begun.get("menu", kind="Node", name="node-1")
    assert "Taint…" in page_text(answer)
    assert begun.get("menu", kind="Node", name="node-1", at=0).status_code == 404


def test_a_world_without_controllers_offers_to_delete():
    assert titles("Node", None)["main"] == ["Delete", "Edit YAML", "History", "Commands about this object"]


def test_several_objects_offer_what_can_be_done_to_all_at_once():
    [sheet] = menu("Node", "", "zone-a", subject("Node"), True, many="label:zone=a")
    [entries] = sheet.groups
    assert [entry.title for entry in entries] == ["Taint", "Label", "Cordon", "Uncordon", "Delete"]
    assert entries[2].fields == {"kind": "Node", "many": "label:zone=a"}
