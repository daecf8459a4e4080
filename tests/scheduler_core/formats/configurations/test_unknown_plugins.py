"""Plugins that are not here: where they are named, and what is left without them."""

from __future__ import annotations

from typing import Any

from scheduler_core.formats.configurations.unknown_plugins import KNOWN, unknown_plugins, without_plugins
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.config.schema import FIELDS
from scheduler_core.scheduler.plugins import DEFAULT_ORDER
from tests.scheduler_core.scheduler.config.test_loading import TYPE, errors


def configuration(*profiles: Any) -> dict[str, Any]:
    return {**TYPE, "profiles": [{"plugins": profile} for profile in profiles]}


GANG = {
    "queueSort": {"enabled": [{"name": "NodeResourceTopologyMatch"}], "disabled": [{"name": "*"}]},
    "permit": {"enabled": [{"name": "NodeResourceTopologyMatch"}]},
    "score": {"enabled": [{"name": "Mine", "weight": 2}, {"name": "NodeAffinity", "weight": 5}]},
}


def test_they_are_found_with_their_points_and_places() -> None:
    gang, mine = unknown_plugins(configuration(GANG))
    assert (gang.name, gang.points) == ("NodeResourceTopologyMatch", ("queueSort", "permit"))
    assert mine.places == ("profiles[0].plugins.score.enabled[0]",)
    assert "NUMA" in gang.about
    assert mine.about == ""


def test_without_them_the_rest_loads_and_the_queue_is_sorted_as_usual() -> None:
    given = configuration(GANG)
    left = without_plugins(given, ("NodeResourceTopologyMatch", "Mine"))
    [profile] = load_configuration(left).profiles
    assert profile.plugins[FIELDS["queueSort"]] == (("PrioritySort", 0),)
    assert dict(profile.plugins[FIELDS["score"]])["NodeAffinity"] == 5
    assert given == configuration(GANG)


def test_without_a_binder_kubes_binds() -> None:
    bind = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "Mine"}]}}
    [profile] = load_configuration(without_plugins(configuration(bind), ("Mine",))).profiles
    assert profile.plugins[FIELDS["bind"]] == (("DefaultBinder", 0),)


def test_their_arguments_go_too() -> None:
    manifest = {**TYPE, "profiles": [{"pluginConfig": [{"name": "Mine", "args": {"a": 1}}]}]}
    assert without_plugins(manifest, ("Mine",))["profiles"] == [{}]


def test_what_is_known_of_is_not_kubes() -> None:
    assert not {name for name, _ in DEFAULT_ORDER} & set(KNOWN)


def test_an_error_of_multipoint_is_at_the_index_that_was_given() -> None:
    multi = {"enabled": [{"name": "NodeAffinity", "weight": 3}, {"name": "Mine"}]}
    [error] = errors(configuration({"multiPoint": multi}))
    assert error.startswith("profiles[0].plugins.multiPoint.enabled[1]: ")
