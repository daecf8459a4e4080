"""Which scenarios of a corpus can be judged."""

from __future__ import annotations

from scheduler_core.base.releases import OLDEST
from scheduler_core.testing.conformance.corpus.reading import Scenario
from scheduler_core.testing.conformance.timelines import unknown_operation


def not_supported(scenario: Scenario) -> str:
    """Return the reason why a scenario can't be judged, read from its data, never its name; "" if it can."""
    data = scenario.data
    if is_world(scenario) or is_object(scenario):
        return ""
    if "steps" in data and scenario.release != OLDEST:
        return f"the queue of kube {scenario.release}"
    if "steps" in data:
        return unknown_operation(data)
    if "attempts" not in (data.get("expect") or {}):
        return "another kind of corpus"
    return ""


def is_object(scenario: Scenario) -> bool:
    """Return whether a scenario is one object with the errors of kube's validation."""
    return "object" in scenario.data and "errors" in scenario.data


def is_world(scenario: Scenario) -> bool:
    """Return whether a scenario is a world: objects, and steps in time; a timeline's steps are operations."""
    return "objects" in scenario.data and "steps" in scenario.data
