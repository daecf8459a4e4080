"""Which scenarios can be judged yet: those whose course needs nothing that comes later.

What a scenario needs is read from its own objects, configuration and expectations, never from its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.config import SchedulerConfiguration
from scheduler_core.framework.plugin import Point
from scheduler_core.plugins import REGISTRY
from scheduler_core.testing.corpus.reading import Scenario

Attempt = Mapping[str, Any]


def format_not_supported(scenario: Scenario) -> str:
    """Why a scenario of another kind of corpus can't be run; empty where it is a scenario of scheduling cycles."""
    data = scenario.data
    if "attempts" not in (data.get("expect") or {}):
        return "timelines of the scheduling queue"
    if "extenderBehaviour" in data or (data.get("config") or {}).get("extenders"):
        return "HTTP extenders"
    return ""


def not_supported(scenario: Scenario, configuration: SchedulerConfiguration) -> str:
    """Why a scenario of scheduling cycles can't be judged yet; empty where it can."""
    for attempt in scenario.attempts:
        plugin = plugin_that_comes_later(attempt, configuration)
        if plugin:
            return plugin
    return ""


def plugin_that_comes_later(attempt: Attempt, configuration: SchedulerConfiguration) -> str:
    """A plugin that had something to do in the attempt and is not built: it neither skipped nor was skipped."""
    status_giver = (attempt.get("preEnqueue") or attempt.get("preFilter") or {}).get("plugin")
    if status_giver and status_giver not in REGISTRY:
        return str(status_giver)
    profile = configuration.profile(attempt["profile"])
    pre_filter = attempt.get("preFilter")
    if profile is None or pre_filter is None or pre_filter["code"] != "Success":
        return ""
    filtered = [name for name, _ in profile.plugins[Point.FILTER] if name not in pre_filter["skippedFilters"]]
    narrowing = list(pre_filter["nodePlugins"])
    scored: list[str] = []
    if attempt.get("scored"):
        skipped = attempt.get("skippedScores") or ()
        scored = [name for name, _ in profile.plugins[Point.SCORE] if name not in skipped]
    return next((name for name in (*narrowing, *filtered, *scored) if name not in REGISTRY), "")


def built(names: Iterable[str]) -> list[str]:
    """The names of plugins that are built; the others' places in a list are not compared."""
    return [name for name in names if name in REGISTRY]
