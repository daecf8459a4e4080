"""Side effects of a fix: what happens to the other pods with the fix, compared with a run without it up to the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.framework.preemption.choice import Budget, budgets_of, split_by_violation
from scheduler_core.world.simulation import Simulation

# PodDisruptionBudgets relaxed for the pods that a fix displaces, each by just as many pods.
# kube: pkg/controller/disruption/disruption.go (getExpectedPodCount) @ v1.34.1

KIND = "PodDisruptionBudget"


def within_budgets(draft: Draft, store: Store, pods: Sequence[Pod]) -> Draft | None:
    """Return the draft with budgets relaxed to allow the loss of all these pods. Return None if the budgets already allow it."""
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
    """Return the manifest with a status. A missing status is computed from the present pods."""
    status = manifest.get("status") or {}
    if "expectedPods" in status:
        return manifest
    covered = [pod for pod in store.pods() if budget.covers(pod)]
    healthy = sum(bool(pod.node_name) and not pod.deleting for pod in covered)
    found = {**manifest, "status": {**status, "expectedPods": len(covered), "currentHealthy": healthy}}
    return {**found, "status": {**found["status"], "desiredHealthy": _compute_desired_healthy(found)}}


def _as_in(manifest: Manifest, before: Store, after: Store) -> Manifest:
    """Return the manifest with `disruptionsAllowed` raised by the relaxation of the budget's spec since."""
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
    """Return the number of healthy pods beyond the desired ones. A negative number is a lack."""
    return int(status.get("currentHealthy") or 0) - int(status.get("desiredHealthy") or 0)


def _compute_desired_healthy(manifest: Manifest) -> int:
    spec, total = manifest["spec"], _get_expected_pods(manifest)
    if spec.get("maxUnavailable") is not None:
        return max(0, total - _resolve_percentage(spec["maxUnavailable"], total))
    return _resolve_percentage(spec.get("minAvailable") or 0, total)


def _get_expected_pods(manifest: Manifest) -> int:
    return int((manifest.get("status") or {}).get("expectedPods") or 0)


def _resolve_percentage(amount: int | str, total: int) -> int:
    """Return a number, or a percentage of a total, rounded up."""
    return amount if isinstance(amount, int) else -(-int(amount.removesuffix("%")) * total // 100)


def _relax_limit(manifest: Manifest, lacking: int) -> tuple[str, int | str, int]:
    """Return the budget's field that limits disruptions, its value, and the value that allows so many more."""
    lacking += max(0, -_surplus(manifest.get("status") or {}))
    most = manifest["spec"].get("maxUnavailable")
    if most is not None:
        return "maxUnavailable", most, _resolve_percentage(most, _get_expected_pods(manifest)) + lacking
    least = manifest["spec"].get("minAvailable") or 0
    return "minAvailable", least, max(0, _resolve_percentage(least, _get_expected_pods(manifest)) - lacking)


# The worst first.
KINDS = ("violates", "evicted", "pending", "replaced", "moves", "placed")
HURTING = ("violates", "evicted", "pending")
_LOSING = ("evicted", "pending")
_DISTURBING = ("evicted", "replaced", "moves")
GONE, PENDING = None, ""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a fix on another pod.

    violates: the pod loses `node` although its disruption budget allows no further disruption.

    evicted: the pod loses `node` without a replacement, unless `by` names an owner ("ReplicaSet web") that would create one but is not
    running here; pending: the pod would be on `node`, and waits; replaced: the pod is deleted from `node`, and its owner's new pod `by`
    runs on `to` ("": waits); moves: from `node` to `to`, or to `to` instead of to `node`; placed: the pod would wait, and is scheduled to
    `to`.
    """

    kind: str
    pod: str
    node: str = ""
    to: str = ""
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "pod": self.pod, "node": self.node, "to": self.to, "by": self.by}


@dataclass(frozen=True, slots=True)
class PodPlace:
    """A pod's place: its node, "" if it waits, None if it is gone or terminating. `owner`: its controller's uid."""

    node: str | None
    owner: str = ""

    @classmethod
    def of(cls, pod: Pod | None, *, going: bool = False) -> PodPlace:
        if pod is None:
            return cls(GONE)
        references = pod.manifest["metadata"].get("ownerReferences") or ()
        owners = [str(ref.get("uid") or "") for ref in references if ref.get("controller")]
        ended = (pod.deleting and not going) or pod.terminal
        return cls(GONE if ended else pod.node_name, owners[0] if owners else "")


class Watch:
    """A running world with a log of its pods' changes and their times."""

    def __init__(self, world: Simulation) -> None:
        self.world = world
        self.log: list[tuple[int, str, PodPlace]] = []
        self.steps = 0

    def note(self) -> None:
        """Log the changes that the last transition made to pods."""
        for event in self.world.changes:
            if event.kind == "Pod":
                self.log.append((self.world.now, f"{event.namespace}/{event.name}", PodPlace.of(event.new_pod)))

    def advance(self) -> bool:
        moved = bool(self.world.advance()) or not self.world.over
        self.steps += 1
        self.note()
        return moved

    def until(self, time: int, most: int) -> Iterator[None]:
        """Run up to a time, or until the total number of transitions is reached."""
        while self.steps < most and self.world.due(time):
            self.world.advance()
            self.steps += 1
            self.note()
            yield

    def at(self, time: int) -> dict[str, PodPlace]:
        """Return the places, at a time, of the pods that changed before."""
        return {key: standing for t, key, standing in self.log if t <= time}


def effects_of(
    start: Simulation, without: dict[str, PodPlace], fixed: Watch, keys: Iterable[str] = ()
) -> tuple[Effect, ...]:
    """Return the effects on pods except `keys` whose place differs with the fix. Both worlds began as `start`."""
    now, stores = fixed.at(fixed.world.now), (start.store, fixed.world.store)
    found, gone, new = [], [], []
    for name in sorted({*without, *now}, key=lambda name: (name in keys, name)):
        first = PodPlace.of(start.store.pod_at(name))
        before, after = without.get(name, first), now.get(name, first)
        if before.node == after.node:
            continue
        if before.node is GONE and first.node is GONE:
            new.append((name, after))
        elif name in keys:
            continue
        elif after.node is GONE:
            gone.append((name, before))
        else:
            found.append(_describe_move(name, before.node, after.node or ""))
    found += _match_replacements(start, gone, new, _list_roots(stores) if gone and new else {})
    found += [
        Effect("violates", pod.key, pod.node_name) for pod in violating(*stores, list_displaced_pods(start, found))
    ]
    return tuple(sorted(found, key=lambda effect: (KINDS.index(effect.kind), effect.pod)))


def find_disturbance(start: Simulation, world: Simulation, key: str, was: Pod | None, effects: Iterable[Effect]) -> str:
    """Return a fix's worst effect on others, one of fix.DISTURBANCES. `was` is the pod before the fix, `key` the pod after it."""
    found, effects = world.store.pod_at(key), tuple(effects)
    losing = [effect for effect in effects if effect.kind in _LOSING or _is_replaced_in_vain(world, effect, found)]
    losers = [each for effect in losing if (each := start.store.pod_at(effect.pod)) is not None and not each.deleting]
    mine = found or was
    if mine is not None and any(each.node_name and each.priority > mine.priority for each in losers):
        return "evicts-superior"
    places = [found.node_name if found is not None else "", *(effect.to for effect in effects)]
    if found is not None and _shared_claims(world, found, was):
        return "shares-disk"
    # A node may need its daemon to become ready.
    first = int(found is not None and (controller_of(found.manifest) or {}).get("kind") == "DaemonSet")
    if any(_is_dead(world, start, name) for name in places[first:] if name):
        return "dead-node"
    owner = PodPlace.of(was).owner or PodPlace.of(found).owner
    siblings = {each.pod for each in losing if PodPlace.of(start.store.pod_at(each.pod), going=True).owner == owner}
    # A sibling without a node loses nothing, and neither does a pod that is known not to be ready.
    losing_pods = [
        each.pod
        for each in losing
        if (each.node or not owner or each.pod not in siblings)
        and not _is_outdated(start, each.pod, was)
        and not _is_unready(start, each.pod)
    ]
    if owner and any(each in siblings for each in losing_pods):
        return "evicts-sibling"
    is_daemon = was is not None and (controller_of(was.manifest) or {}).get("kind") == "DaemonSet"
    is_given_up = found is None and was is not None and not was.node_name and not is_daemon
    if (
        losing_pods
        or is_given_up
        or any(
            each.kind == "moves" or (each.kind == "violates" and not _is_unready(start, each.pod)) for each in effects
        )
    ):
        return "displaces"
    return "restarts" if any(effect.kind == "replaced" for effect in effects) else "nothing"


def _is_replaced_in_vain(world: Simulation, effect: Effect, found: Pod | None) -> bool:
    """Return whether an effect's new pod has no node, or would use a claim whose volume is on the node of the fixed pod."""
    new = world.store.pod_at(effect.by) if effect.kind == "replaced" else None
    if new is None or found is None or not effect.to or effect.to == found.node_name:
        return effect.kind == "replaced" and not effect.to
    return new.namespace == found.namespace and bool(_claims(new) & _claims(found))


def _is_unready(start: Simulation, key: str) -> bool:
    """Return whether a controller's pod is known not to be ready."""
    pod = start.store.pod_at(key)
    return (
        pod is not None
        and bool(controller_of(pod.manifest))
        and (pod.condition("Ready") or {}).get("status") == "False"
    )


def _is_outdated(start: Simulation, key: str, was: Pod | None) -> bool:
    """Return whether a pod belongs to another revision of the fixed pod's Deployment, so that the rollout removes it anyway."""
    pod = start.store.pod_at(key)
    if pod is None or was is None or pod.namespace != was.namespace:
        return False
    sets = [controller_of(each.manifest) or {} for each in (pod, was)]
    if sets[0].get("kind") != "ReplicaSet" or sets[0] == sets[1]:
        return False
    above = [start.store.get("ReplicaSet", pod.namespace, str(each.get("name") or "")) for each in sets]
    owners = [controller_of(each) if each is not None else None for each in above]
    return owners[0] is not None and owners[0] == owners[1]


def _is_dead(world: Simulation, start: Simulation, name: str) -> bool:
    """Return whether nothing runs on a node: the node is not ready, and existed before."""
    node = world.store.node(name)
    return node is not None and start.store.node(name) is not None and node.ready not in ("True", "")


def _shared_claims(world: Simulation, pod: Pod, was: Pod | None) -> set[str]:
    """Return the claims that a pod newly shares with another pod."""
    mine = _claims(pod) - (_claims(was) if was is not None else set())
    if not mine:
        return set()
    others = (each for each in world.store.pods() if each.key != pod.key and each.namespace == pod.namespace)
    return {name for each in others if not each.terminal for name in _claims(each) & mine}


def _claims(pod: Pod) -> set[str]:
    return {use.name(pod) for use in volumes_of(pod.spec).claims} if pod.spec.volumes else set()


def list_displaced_pods(start: Simulation, effects: Iterable[Effect]) -> list[Pod]:
    """Return the pods that lose the nodes they had at the start."""
    keys = [effect.pod for effect in effects if effect.kind in _DISTURBING and effect.node]
    return [pod for key in keys if (pod := start.store.pod_at(key)) is not None and pod.node_name]


def _describe_move(name: str, before: str | None, after: str) -> Effect:
    if not after:
        return Effect("pending", name, before or "")
    if not before:
        return Effect("placed", name, to=after)
    return Effect("moves", name, before, after)


def _list_roots(stores: Iterable[Store]) -> dict[str, str]:
    """Return the uid of each ReplicaSet's Deployment: a rollout replaces pods by those of another ReplicaSet."""
    return {
        str(each["metadata"].get("uid")): str(ref.get("uid"))
        for store in stores
        for each in store.list("ReplicaSet")
        for ref in each["metadata"].get("ownerReferences") or ()
        if ref.get("controller")
    }


def _match_replacements(
    start: Simulation, gone: list[tuple[str, PodPlace]], new: list[tuple[str, PodPlace]], roots: Mapping[str, str]
) -> list[Effect]:
    """Return effects for the deleted pods, each with the new pod of the same owner if one exists."""
    out, left = [], [(roots.get(each.owner, each.owner), name, each) for name, each in new]
    for name, before in gone:
        owner = roots.get(before.owner, before.owner)
        new_ones = (each for each in left if owner and each[0] == owner)
        mine = min(new_ones, key=lambda each: each[2].node != before.node, default=None)
        if mine is None:
            out.append(Effect("evicted", name, before.node or "", by=_idle_owner(start, name)))
        else:
            left.remove(mine)
            out.append(Effect("replaced", name, before.node or "", mine[2].node or "", mine[1]))
    return out


def _idle_owner(start: Simulation, key: str) -> str:
    """Return kind and name of a pod's controller if it does not exist or is not running here, else ""."""
    pod = start.store.pod_at(key)
    owner = controller_of(pod.manifest) if pod is not None else None
    if pod is None or owner is None or owner["kind"] == "Node":
        return ""
    is_there = start.store.get(str(owner["kind"]), pod.namespace, str(owner["name"])) is not None
    return "" if is_there and start.settings.cluster.controllers is None else f"{owner['kind']} {owner['name']}"
