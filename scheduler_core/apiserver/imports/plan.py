"""The plan of an import: what would become of each object, as the screens show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.imports.items import IGNORED, REFUSED, Item, Located, Plan, notes, source_of
from scheduler_core.apiserver.imports.missing import missing
from scheduler_core.apiserver.imports.pools import SLICE, pool_notes
from scheduler_core.apiserver.imports.trial import PASSED_OVER, Outcome, Trial, run_trial
from scheduler_core.apiserver.server import APIServer

_REFERRED = {
    "namespaces": re.compile(r'namespaces "([^"]*)" not found').match,
    "priorityclasses": re.compile(r".*no PriorityClass with name (\S+) was found").match,
    "runtimeclasses": re.compile(r'.*RuntimeClass "([^"]*)" not found').match,
}


def plan_import(api: APIServer, sources: Sequence[Manifest | Located]) -> Plan:
    """Return the plan of an import, without importing. Sources are manifests or loaded texts."""
    read = [source_of(index, source) for index, source in enumerate(sources)]
    return build_plan(api, read, run_trial(api, [source.manifest for source in read]))


def build_plan(api: APIServer, sources: Sequence[Any], trial: Trial) -> Plan:
    """Return the plan of an import whose sources were tried."""
    items = tuple(_item(source, outcome) for source, outcome in zip(sources, trial.outcomes, strict=True))
    slices = [item.name for item in items if item.kind == SLICE and item.action != REFUSED]
    pools = pool_notes(trial.store, slices)
    accepted = [item.manifest for item in items if item.manifest and item.action not in (REFUSED, IGNORED)]
    said = (*_missing(trial.outcomes), *notes(api.store, items), *pools)
    return Plan(items, said, missing(trial.store, accepted))


def _missing(outcomes: Sequence[Outcome]) -> list[str]:
    """Return notes on the absent objects that refused objects refer to, and the command that gets them."""
    said = []
    for kind, pattern in _REFERRED.items():
        found = [pattern(outcome.answer.message) for outcome in outcomes if outcome.answer is not None]
        names = ", ".join(f'"{name}"' for name in sorted({match[1] for match in found if match}))
        if names:
            get = f"import them too, as kubectl get {kind} -o yaml prints them"
            said.append(f"not in the cluster, and not in this import: {kind} {names}; {get}")
    return said


def _item(source: Any, outcome: Outcome) -> Item:
    errors = outcome.errors
    if source.locate is not None:
        errors = tuple(error.at(source.locate(error.path)).in_file(source.file) for error in errors)
    return Item(
        outcome.action,
        outcome.kind,
        outcome.namespace,
        outcome.name,
        source.index,
        source.manifest if isinstance(source.manifest, dict) else {},
        outcome.changed,
        PASSED_OVER.get(outcome.kind, ""),
        errors,
    )
