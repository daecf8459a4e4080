"""The disruption controller: computes how many pods each PodDisruptionBudget allows to be disrupted now."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, parse_time
from scheduler_core.apiserver import DELETED, NORMAL, WARNING, Kind, Store, WatchEvent, find_kind, with_condition
from scheduler_core.apiserver.eviction import disruption_allowed, set_condition
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.workloads import KIND, Coverage, DisruptionMemory

# The expected pods of a budget: the sum of the scales of the covered pods' controllers.
# kube: pkg/controller/disruption/disruption.go (finders, getExpectedScale, getExpectedPodCount) @ v1.34.1

_SCALED = ("ReplicationController", "Deployment", "ReplicaSet", "StatefulSet")


class CountFailed(Exception):
    """The expected number of pods can't be computed; the text is kube's error."""


class ExpectedPods(NamedTuple):
    """A budget's expected number of pods, of pods that must stay healthy, and of pods without a controller."""

    pods: int
    healthy: int
    unmanaged: int = 0


def evaluate_budget(store: Store, namespace: str, spec: Manifest, coverage: Coverage) -> ExpectedPods:
    """Evaluate a budget's spec for the pods that it covers. Raise CountFailed."""
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None:
        total = _scale_of_all(store, namespace, coverage)
        return ExpectedPods(total, max(0, total - resolve_int_or_percent(most, total)), coverage.unmanaged)
    # A plain number needs no total, so this is the one form that works for pods without a scalable controller.
    if isinstance(least, int):
        return ExpectedPods(len(coverage.pods), least)
    if least is None:
        return ExpectedPods(0, 0)
    total = _scale_of_all(store, namespace, coverage)
    return ExpectedPods(total, resolve_int_or_percent(least, total), coverage.unmanaged)


def resolve_int_or_percent(amount: int | str, total: int) -> int:
    """Return a number, or a percentage of a total, rounded up. Raise CountFailed."""
    if isinstance(amount, int):
        return amount
    digits = amount.removesuffix("%")
    if digits == amount or not digits.lstrip("-").isdecimal():
        raise CountFailed("invalid value for IntOrString: invalid type: string is not a percentage")
    return -(-int(digits) * total // 100)


def _scale_of_all(store: Store, namespace: str, coverage: Coverage) -> int:
    """Sum up the scales of the pods' controllers, each counted once. Raise CountFailed, with the name of the first pod concerned."""
    scales: dict[str, int] = {}
    failed: dict[str, str] = {}
    for uid, owner in coverage.references.items():
        try:
            found = _scale(store, owner, namespace)
        except CountFailed as problem:
            failed[uid] = str(problem)
            continue
        if found is None:
            failed[uid] = 'found no controllers for pod "{}"'
        else:
            scales[found[0]] = found[1]
    if failed:
        raise CountFailed(_first(store, coverage, failed))
    return sum(scales.values())


def _first(store: Store, coverage: Coverage, failed: Mapping[str, str]) -> str:
    """Return the failure that concerns the first pod."""
    for key in sorted(coverage.pods):
        pod = store.pod_at(key)
        owner = None if pod is None else controller_of(pod.manifest)
        if pod is not None and owner is not None and str(owner.get("uid")) in failed:
            return failed[str(owner.get("uid"))].replace("{}", pod.name)
    return ""


def _scale(store: Store, owner: Manifest, namespace: str) -> tuple[str, int] | None:
    """Return UID and scale of a controller (of the Deployment for its ReplicaSet), or None if it does not exist. Raise CountFailed."""
    version, name = str(owner.get("apiVersion")), str(owner.get("name"))
    kind = find_kind(version, str(owner.get("kind")))
    path = _replicas_path(store, kind) if kind is not None else None
    if kind is None or path is None:
        raise CountFailed(f'no matches for kind "{owner.get("kind")}" in version "{version}"')
    if not path:
        raise CountFailed(f"{kind.resource} does not implement the scale subresource")
    found = store.get(kind.key, namespace, name)
    if found is None or found["metadata"].get("uid") != owner.get("uid"):
        return None
    # During a rollout two ReplicaSets own pods of one Deployment; under its uid they count once.
    if kind.key == "ReplicaSet":
        found = _deployment(store, found, namespace) or found
    return found["metadata"]["uid"], _number(found, path)


def _replicas_path(store: Store, kind: Kind) -> str | None:
    """Return the path of a kind's replica count; "" if there is none, None if the kind is unknown."""
    if "." not in kind.key:
        return ".spec.replicas" if kind.key in _SCALED else ""
    definition = store.get("CustomResourceDefinition", "", kind.resource)
    if definition is None:
        return None
    for version in (definition.get("spec") or {}).get("versions") or ():
        scale = (version.get("subresources") or {}).get("scale")
        if scale is not None:
            return str(scale.get("specReplicasPath") or "")
    return ""


def _number(manifest: Manifest, path: str) -> int:
    value: Any = manifest
    for step in path.strip(".").split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return 1 if value is None else int(value)


def _deployment(store: Store, replica_set: Manifest, namespace: str) -> Manifest | None:
    owner = controller_of(replica_set)
    if owner is None or owner.get("kind") != "Deployment":
        return None
    found = store.get("Deployment", namespace, str(owner.get("name")))
    return found if found is not None and found["metadata"].get("uid") == owner.get("uid") else None


# The disruption-controller: updates the status of PodDisruptionBudgets, which the eviction subresource and preemption respect.
#
# disruptionsAllowed = currentHealthy - desiredHealthy, and 0 if no pods are expected. An evicted pod stays in disruptedPods, and
# counts as not healthy, until it is being deleted or 2 minutes have passed. The condition DisruptionTarget of a pod that lives on for
# 2 minutes is set to False.
#
# DEVIATION: of several budgets of one pod kube syncs one "arbitrarily"; here all are synced.
# kube: pkg/controller/disruption/disruption.go @ v1.34.1

DELETION_TIMEOUT = STALE_AFTER = 120 * SECOND
_PAUSE = 5 * MILLISECOND  # backoff of the queue for rechecks
_POD = "Pod/"
_FIGURES = ("currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed")
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of the PDB cannot "
    'be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" '
    "field of the PDB to an integer value."
)


class Disruption(Controller):
    """Budgets by namespace/name, pods with a condition that may have become stale by Pod/namespace/name."""

    name = "disruption-controller"
    component = "controllermanager"
    watches = ("Pod", KIND)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        memory = world.surroundings.disruption
        memory.hear(world.store, event)
        if event.kind == KIND:
            if event.type != DELETED:
                self.enqueue(world, f"{event.namespace}/{event.name}")
            return
        pod = event.new_pod or event.old_pod
        assert pod is not None
        keys = world.surroundings.disruption.budgets_for(world.store, pod)
        if len(keys) > 1:
            name = keys[0].partition("/")[2]
            why = f'Pod "{pod.namespace}"/"{pod.name}" matches multiple PodDisruptionBudgets.  Chose "{name}" arbitrarily.'
            self.event(world, WARNING, "MultiplePodDisruptionBudgets", "Pod", pod.key, why)
        for key in keys:
            self.enqueue(world, key)
        if event.new_pod is not None:
            self._enqueue_stale(world, pod)
        else:
            self.forget(world, _POD + pod.key)

    def on_start(self, world: World) -> None:
        for budget in world.store.list(KIND):
            self.enqueue(world, f"{budget['metadata']['namespace']}/{budget['metadata']['name']}")
        for pod in world.store.pods():
            self._enqueue_stale(world, pod)

    def sync(self, world: World, key: str) -> str:
        if key.startswith(_POD):
            return self._clear_stale(world, key.removeprefix(_POD))
        namespace, _, name = key.partition("/")
        budget = world.store.get(KIND, namespace, name)
        if budget is None:
            return ""
        try:
            return self._sync_budget(world, key, budget)
        except CountFailed as failed:
            # Allow no disruptions if pods can't be counted.
            why = str(failed)
            status = {**(budget.get("status") or {}), "disruptionsAllowed": 0}
            condition = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": why}
            status["conditions"] = set_condition(status, condition, world.store.timestamp(world.now))
            self._patch(world, key, status)
            return f"no pod can be evicted: {why}"

    def _sync_budget(self, world: World, key: str, budget: Manifest) -> str:
        coverage = world.surroundings.disruption.coverage(world.store, key)
        if not coverage.pods:
            self.event(world, NORMAL, "NoPods", KIND, key, "No matching pods found")
        try:
            wanted = evaluate_budget(world.store, budget["metadata"]["namespace"], budget.get("spec") or {}, coverage)
        except CountFailed as failed:
            why = f"Failed to calculate the number of expected pods: {failed}"
            self.event(world, WARNING, "CalculateExpectedPodCountFailed", KIND, key, why)
            raise
        if wanted.unmanaged:
            text = UNMANAGED.format(selector_text((budget.get("spec") or {}).get("selector")))
            self.event(world, WARNING, "UnmanagedPods", KIND, key, text)
        booked, recheck = self._still_booked(world, budget, coverage)
        namespace = budget["metadata"]["namespace"]
        healthy = coverage.healthy - sum(coverage.pods[f"{namespace}/{name}"] for name in booked)
        allowed = max(0, healthy - wanted.healthy) if wanted.pods > 0 else 0
        figures = dict(zip(_FIGURES, (healthy, wanted.healthy, wanted.pods, allowed), strict=True))
        text = self._write(world, key, budget, figures, booked)
        # Only after _write(), whose _patch() removes the key from the queue and with it an earlier recheck.
        if recheck is not None:
            self.enqueue_at(world, key, recheck + _PAUSE)
        return text

    def _still_booked(self, world: World, budget: Manifest, coverage: Coverage) -> tuple[dict[str, str], int | None]:
        """Return the evicted pods that are not being deleted yet, and the first time (ns) at which one counts as not deleted."""
        booked = (budget.get("status") or {}).get("disruptedPods") or {}
        kept: dict[str, str] = {}
        ends: list[int] = []
        for key in sorted(f"{budget['metadata']['namespace']}/{name}" for name in booked):
            pod = world.store.pod_at(key) if key in coverage.pods else None
            if pod is None or pod.deleting:
                continue
            end = parse_time(booked[pod.name]) - world.store.epoch + DELETION_TIMEOUT
            if end < world.now:
                # kube prints the namespace in place of the budget's name
                why = f"Pod was expected by PDB {pod.namespace}/{pod.namespace} to be deleted but it wasn't"
                self.event(world, WARNING, "NotDeleted", "Pod", pod.key, why)
            else:
                kept[pod.name] = booked[pod.name]
                ends.append(end)
        return kept, min(ends, default=None)

    def _write(
        self, world: World, key: str, budget: Manifest, figures: Mapping[str, int], booked: Mapping[str, str]
    ) -> str:
        old = budget.get("status") or {}
        generation = budget["metadata"].get("generation")
        status = {**old, **figures, "observedGeneration": generation, "disruptedPods": booked or None}
        same = all(old.get(name) == figures[name] for name in _FIGURES) and old.get("observedGeneration") == (
            generation
        )
        if same and (old.get("disruptedPods") or {}) == booked and _says_so(old):
            return ""
        status["conditions"] = disruption_allowed(status, world.store.timestamp(world.now))
        self._patch(world, key, status)
        text = "{disruptionsAllowed} can be evicted: {currentHealthy} of {expectedPods} pods are healthy, {desiredHealthy} are needed"
        return text.format(**figures)

    def _patch(self, world: World, key: str, status: Manifest) -> None:
        namespace, _, name = key.partition("/")
        world.api.patch_status((KIND, namespace, name), status)
        self.forget(world, key)  # the controller's own write needs no sync

    def _enqueue_stale(self, world: World, pod: Pod) -> None:
        since = _get_disruption_time(pod)
        if since is None:
            self.forget(world, _POD + pod.key)
        else:
            self.enqueue_at(world, _POD + pod.key, since - world.store.epoch + STALE_AFTER)

    def _clear_stale(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        since = None if pod is None else _get_disruption_time(pod)
        if pod is None or since is None:
            return ""
        if since - world.store.epoch + STALE_AFTER > world.now:
            self._enqueue_stale(world, pod)
            return ""
        generation = int(pod.manifest["metadata"].get("generation") or 0)
        condition = {"type": "DisruptionTarget", "status": "False", "observedGeneration": generation}
        status = with_condition(pod.manifest["status"], condition, world.store.timestamp(world.now))
        if status is None:
            return ""
        world.api.patch_status(("Pod", pod.namespace, pod.name), status)
        return f"removed the condition DisruptionTarget from {key}: the pod was not deleted within 2 minutes"


def predict_status(store: Store, budget: Manifest) -> dict[str, Any]:
    """Return the status that the controller would set for a budget without one."""
    meta = budget["metadata"]
    coverage = DisruptionMemory().coverage(store, f"{meta['namespace']}/{meta['name']}")
    try:
        wanted = evaluate_budget(store, meta["namespace"], budget.get("spec") or {}, coverage)
    except CountFailed as failed:
        condition = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": str(failed)}
        return {"disruptionsAllowed": 0, "conditions": [condition]}
    allowed = max(0, coverage.healthy - wanted.healthy) if wanted.pods > 0 else 0
    return dict(zip(_FIGURES, (coverage.healthy, wanted.healthy, wanted.pods, allowed), strict=True))


def selector_text(selector: Any) -> str:
    """Return a LabelSelector as Go prints it in messages."""
    if selector is None:
        return "nil"
    labels = "".join(f"{name}: {value}," for name, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},".format(
            raw.get("key"), raw.get("operator"), " ".join(raw.get("values") or ())
        )
        for raw in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]"
        f"LabelSelectorRequirement{{{expressions}}},}}"
    )


def _says_so(status: Manifest) -> bool:
    """Return whether the condition matches the status."""
    allowed = (status.get("disruptionsAllowed") or 0) > 0
    wanted = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    return any(
        (condition.get("status"), condition.get("reason")) == wanted
        for condition in status.get("conditions") or ()
        if condition.get("type") == "DisruptionAllowed"
    )


def _get_disruption_time(pod: Pod) -> int | None:
    """Return when (ns since 1970) a running pod got the condition DisruptionTarget, or None. A kubelet's own condition never expires."""
    condition = pod.condition("DisruptionTarget")
    if condition is None or condition.get("status") != "True" or pod.deleting or pod.terminal:
        return None
    if condition.get("reason") == "TerminationByKubelet":
        return None
    return parse_time(condition["lastTransitionTime"])
