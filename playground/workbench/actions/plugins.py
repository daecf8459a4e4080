"""What can be done to a plugin of a profile: another weight, or none of it. The scheduler restarts with the configuration."""

from collections.abc import Callable, Mapping
from typing import Any

from playground.workbench.actions.contract import Subject, Values, read_action
from scheduler_core.world.commands import SetConfiguration

KIND = "Plugin"  # no object of the API: `manifest` holds the scheduler's configuration
PLUGIN = (KIND,)
MULTI = "multiPoint"


def _profiles(subject: Subject) -> list[dict[str, Any]]:
    return [dict(each) for each in subject.part("configuration", "profiles") or ()]


def _list_enabled_entries(subject: Subject) -> list[Mapping[str, Any]]:
    sets = [(profile.get("plugins") or {}).get(MULTI) or {} for profile in _profiles(subject)]
    return [each for one in sets for each in one.get("enabled") or () if each.get("name") == subject.name]


def _weight(subject: Subject) -> Any:
    return next((each.get("weight") for each in _list_enabled_entries(subject)), None) or 1


def _change_plugins(
    subject: Subject, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], disabled: bool
) -> SetConfiguration:
    """The configuration with the list of plugins at all points changed, in every profile that has this one."""
    profiles = []
    for profile in _profiles(subject):
        plugins = dict(profile.get("plugins") or {})
        multi = dict(plugins.get(MULTI) or {})
        named = [dict(each) for each in multi.get("enabled") or ()]
        if any(each.get("name") == subject.name for each in named):
            multi["enabled"] = change(named)
            if disabled:
                multi["disabled"] = [*(multi.get("disabled") or ()), {"name": subject.name}]
            profile["plugins"] = {**plugins, MULTI: multi}
        profiles.append(profile)
    configuration = {**(subject.part("configuration") or {}), "profiles": profiles}
    return SetConfiguration(configuration, subject.part("metadata", "scheduler"))


def _weigh(subject: Subject, values: Values) -> SetConfiguration:
    def change(named: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "weight": values["weight"]} if each.get("name") == subject.name else each for each in named]

    return _change_plugins(subject, change, disabled=False)


def _disable(subject: Subject, values: Values) -> SetConfiguration:
    return _change_plugins(
        subject, lambda named: [each for each in named if each.get("name") != subject.name], disabled=True
    )


ACTIONS = (
    read_action(
        "weight",
        PLUGIN,
        _weigh,
        applies=lambda subject: any("weight" in each for each in _list_enabled_entries(subject)),
        fields={"weight": {"initial": _weight}},
    ),
    read_action("disable", PLUGIN, _disable, applies=lambda subject: bool(_list_enabled_entries(subject))),
)
