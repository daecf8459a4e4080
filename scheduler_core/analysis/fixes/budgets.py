"""PodDisruptionBudgets that let go whom a fix displaces: each is lowered by just so many pods.

kube: pkg/controller/disruption/disruption.go (getExpectedPodCount) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.framework.preemption.choice import Budget, budgets_of, split_by_violation

KIND = "PodDisruptionBudget"


def within_budgets(draft: Draft, store: Store, pods: Sequence[Pod]) -> Draft | None:
    """The same where budgets first allow for the loss of all of these pods; None where each allows it already."""
    changed = draft
    for manifest, budget in _covering(store):
        lacking = sum(budget.covers(pod) for pod in pods) - budget.allowed
        if lacking > 0:
            field, was, to = _relax_limit(manifest, lacking)
            values = {"budget": key_of(manifest), "field": field, "from": was, "to": to}
            spec = {**manifest["spec"], field: to}
            changed = changed.with_applied(Change("budget", values, lacking), {**manifest, "spec": spec})
    new = changed.changes[len(draft.changes) :]
    return replace(changed, changes=(*new, *draft.changes)) if new else None


def violating(before: Store, after: Store, pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods that violate a budget of the world before, with its spec as in the world after."""
    manifests = [_as_in(each, before, after) for each in before.list(KIND)] if pods else []
    budgets = budgets_of(manifests)
    return split_by_violation(list(pods), budgets)[0] if budgets else []


def key_of(manifest: Manifest) -> str:
    return f"{manifest['metadata'].get('namespace') or 'default'}/{manifest['metadata']['name']}"


def _covering(store: Store) -> Iterator[tuple[Manifest, Budget]]:
    for manifest in store.list(KIND):
        for budget in budgets_of([manifest]):
            yield _fill_status(manifest, budget, store), budget


def _fill_status(manifest: Manifest, budget: Budget, store: Store) -> Manifest:
    """Return the manifest with a status; if no controller has written one, it is computed from the present pods."""
    status = manifest.get("status") or {}
    if "expectedPods" in status:
        return manifest
    covered = [pod for pod in store.pods() if budget.covers(pod)]
    healthy = sum(bool(pod.node_name) and not pod.deleting for pod in covered)
    found = {**manifest, "status": {**status, "expectedPods": len(covered), "currentHealthy": healthy}}
    return {**found, "status": {**found["status"], "desiredHealthy": _compute_desired_healthy(found)}}


def _as_in(manifest: Manifest, before: Store, after: Store) -> Manifest:
    """Return the manifest with `disruptionsAllowed` raised by as many as the budget's spec was lowered since."""
    meta = manifest["metadata"]
    now = after.get(KIND, meta.get("namespace") or "default", meta["name"])
    if now is None or now["spec"] == manifest["spec"]:
        return manifest
    for budget in budgets_of([manifest]):
        manifest = _fill_status(manifest, budget, before)
    status = manifest.get("status") or {}
    more = _compute_desired_healthy(manifest) - _compute_desired_healthy({**manifest, "spec": now["spec"]})
    return {**manifest, "status": {**status, "disruptionsAllowed": _surplus(status) + more}}


def _surplus(status: Manifest) -> int:
    """Healthy pods beyond those that have to be, less than 0 where some are missing."""
    return int(status.get("currentHealthy") or 0) - int(status.get("desiredHealthy") or 0)


def _compute_desired_healthy(manifest: Manifest) -> int:
    spec, total = manifest["spec"], _get_expected_pods(manifest)
    if spec.get("maxUnavailable") is not None:
        return max(0, total - _resolve_percentage(spec["maxUnavailable"], total))
    return _resolve_percentage(spec.get("minAvailable") or 0, total)


def _get_expected_pods(manifest: Manifest) -> int:
    return int((manifest.get("status") or {}).get("expectedPods") or 0)


def _resolve_percentage(amount: int | str, total: int) -> int:
    """A number, or a percentage of a total, rounded up."""
    return amount if isinstance(amount, int) else -(-int(amount.removesuffix("%")) * total // 100)


def _relax_limit(manifest: Manifest, lacking: int) -> tuple[str, int | str, int]:
    """The field that says how many may be missing, what it says, and what it has to say for so many more."""
    lacking += max(0, -_surplus(manifest.get("status") or {}))
    most = manifest["spec"].get("maxUnavailable")
    if most is not None:
        return "maxUnavailable", most, _resolve_percentage(most, _get_expected_pods(manifest)) + lacking
    least = manifest["spec"].get("minAvailable") or 0
    return "minAvailable", least, max(0, _resolve_percentage(least, _get_expected_pods(manifest)) - lacking)
