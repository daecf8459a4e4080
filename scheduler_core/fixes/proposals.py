"""Proposals: for one refusal of one node, the changes that could take it away, by the plugin that refused. Every proposal is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.fixes.diagnosis import Diagnosis
from scheduler_core.framework.drafts import Change, Draft, Refusal
from scheduler_core.framework.status import Status


def propose(draft: Draft, diagnosis: Diagnosis, row: int, status: Status) -> Iterator[Draft]:
    """Drafts with one refusal less, aimed at the row's node unless they bring another one."""
    plugin = diagnosis.framework.plugin(status.plugin)
    if plugin is None:
        return
    refusal = Refusal(diagnosis.pod, diagnosis.nodes, diagnosis.state, row, status)
    yield from plugin.propose_fixes(draft.aimed_at(refusal.node.name), refusal)


def ungated(draft: Draft, gates: tuple[str, ...]) -> Draft:
    """The pod without its scheduling gates: only then is anything else asked."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("schedulingGates", None)

    return draft.with_pod(Change("gates", {"gates": list(gates)}), edit)


def scheduled_by(draft: Draft, profile: str) -> Draft:
    """The pod with the schedulerName of a profile that exists."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["schedulerName"] = profile

    return draft.with_pod(Change("scheduler", {"name": profile}), edit)
