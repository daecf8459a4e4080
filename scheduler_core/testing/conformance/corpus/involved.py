"""Which plugins a scenario is about: those that refused a node or the pod, scored, or looked for victims in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.testing.conformance.corpus.reading import Scenario


def plugins_in(scenario: Scenario) -> list[str]:
    """Names, sorted; of what was expected, which is what happened where the scenario passes."""
    return sorted({name for attempt in scenario.attempts for name in _in(attempt) if name})


def _in(attempt: Mapping[str, Any]) -> Iterator[str]:
    for status in ((attempt.get("preEnqueue") or {}), (attempt.get("preFilter") or {})):
        yield status.get("plugin") or ""
    yield from (attempt.get("preFilter") or {}).get("nodePlugins") or ()
    for status in (attempt.get("filter") or {}).values():
        yield (status or {}).get("plugin") or ""
    yield from (attempt.get("scores") or {}).get("plugins") or ()
    yield from attempt.get("unschedulablePlugins") or ()
    if attempt.get("preemption"):
        yield "DefaultPreemption"
