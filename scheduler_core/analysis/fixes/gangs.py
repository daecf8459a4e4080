"""Fixes for a stuck gang: its members count as one workload, and a fix is proven when enough members have nodes."""

import itertools
from bisect import bisect_left
from collections.abc import Collection, Generator, Iterator
from dataclasses import replace
from typing import NamedTuple

from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose, scheduler_for
from scheduler_core.analysis.fixes.effects import Watch
from scheduler_core.analysis.fixes.fix import Budget, Findings
from scheduler_core.analysis.fixes.kubectl import bare, clean, workload_of
from scheduler_core.analysis.fixes.new_nodes import of_groups
from scheduler_core.analysis.fixes.placed import prove_each, set_field
from scheduler_core.analysis.fixes.proof import Prover
from scheduler_core.analysis.fixes.proposals import all_anew, wait
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.affinity import affinity_terms
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.framework.groups import KIND, gang, min_count, topology_key
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, as_new_node, delete_pods
from scheduler_core.scheduler.plugins.noderesources.fixes import ask_less
from scheduler_core.scheduler.plugins.outoftree import coscheduling
from scheduler_core.world.simulation import Simulation

MOST = 20  # members or nodes that a fix adds, and examined groups or pods in the way
TRIED = 2  # tried topology keys and kinds of nodes
_NO_ROOM = ("Insufficient ", "Too many pods")
_OF_MACHINES = ("kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/")


class Gang(NamedTuple):
    """A group of pods that needs a number of nodes at once. `manifest` is its PodGroup, or None if labels define the group."""

    name: str
    needed: int
    pods: tuple[Pod, ...]
    scheduled: int  # or assumed
    manifest: Manifest | None = None
    key: str = ""  # of its topology

    @property
    def lacking(self) -> int:
        return self.needed - self.scheduled


def find_gang(sim: Simulation, pod: Pod) -> Gang | None:
    """Return a pod's gang, by its PodGroup or by the labels of Coscheduling, or None if its scheduler has no gang for the pod."""
    scheduler = scheduler_for(sim, pod)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    if scheduler is None or framework is None:
        return None
    found = scheduler.pod_group(pod.namespace, pod.spec.group) if pod.spec.group else None
    if found is not None and gang(found.manifest) is not None:
        key = topology_key(found.manifest) if scheduler.features.topology_aware_scheduling else ""
        needed = min_count(found.manifest)
        return Gang(pod.spec.group, needed, found.pods, len(found.scheduled), found.manifest, key)
    try:
        group = coscheduling.group_of(pod)
    except coscheduling.BadGroup:
        return None
    if group is None or framework.plugin(coscheduling.NAME) is None:
        return None
    mine = tuple(each for each in sim.store.pods() if group.has(each) and not each.terminal)
    placed = sum(group.has(each) for pods in scheduler.cache.table().pods for each in pods)
    return Gang(group.name, group.min_member, mine, placed)


def group_of(pod: Pod) -> tuple[str, str]:
    """Return the namespace and name of a pod's group. The name is "" without a group."""
    return pod.namespace, pod.spec.group or pod.labels.get(coscheduling.LABEL, "")


Frees = dict[str, list[dict[str, int]]]


def free_by_domain(diagnosis: Diagnosis, key: str, without: Collection[str] = ()) -> Frees:
    """Return the free resources that the pod requests, by domain of the key, on nodes that reject the pod at most for lack of room."""
    nodes, found = diagnosis.nodes, Frees()
    for row, node in enumerate(nodes.nodes):
        status, domain = diagnosis.refused.get(row), node.labels.get(key) if key else ""
        if domain is None or not all(said.startswith(_NO_ROOM) for said in (status.reasons if status else ())):
            continue
        there = [pod.requests for pod in nodes.pods[row] if pod.key not in without]
        free = {n: node.allocatable.get(n) - sum(each.get(n) for each in there) for n in _names(diagnosis.pod)}
        free["pods"] = int(nodes.allowed_pods[row]) - len(there)
        found.setdefault(domain, []).append({name: max(amount, 0) for name, amount in free.items()})
    return found


def _names(pod: Pod) -> list[str]:
    names = ("cpu", "memory", "ephemeral-storage", *(name for name, _ in pod.requests.scalar))
    return [name for name in names if pod.requests.get(name)]


def count_rooms(pod: Pod, frees: Frees) -> dict[str, int]:
    """Return how many pods like this one fit in each domain."""
    terms = affinity_terms(pod).required_anti
    alone = pod.spec.host_ports or any(t.topology_key == HOSTNAME and t.selector.matches(pod.labels) for t in terms)
    each = {"pods": 1, **{name: pod.requests.get(name) for name in _names(pod)}}

    def room(free: dict[str, int]) -> int:
        found = min(amount // each[name] for name, amount in free.items())
        return min(found, 1) if alone else found

    return {domain: sum(map(room, nodes)) for domain, nodes in frees.items()}


def search_gang(sim: Simulation, pod: Pod, mine: Gang, budget: Budget) -> Generator[None, None, Findings]:
    """Prove fixes that give nodes to enough members of a gang."""
    diagnosis = diagnose(sim.fork(), pod)
    if diagnosis is None:
        return Findings(pod.key, "searched")
    last: tuple[Watch, int] | None = None

    def look(fixed: Watch) -> str | None:
        nonlocal last
        if last == (now := (fixed, len(fixed.log))):
            return None
        last, store = now, fixed.world.store
        placed = [p for p in store.pods() if p.node_name and not p.terminal and group_of(p) == group_of(pod)]
        group = None if mine.manifest is None else store.get(KIND, pod.namespace, mine.name)
        said = placed[0].annotations.get(coscheduling.MIN_MEMBER, "1") if placed else "1"
        return placed[0].key if placed and len(placed) >= (min_count(group) if group else int(said)) else None

    proposals = ((draft, look) for draft in _propose(sim, diagnosis, mine))
    return (yield from prove_each(sim, pod.key, Prover(sim, pod.key, budget), proposals, "searched"))


def _propose(sim: Simulation, diagnosis: Diagnosis, mine: Gang) -> Iterator[Draft]:
    pod, draft = diagnosis.pod, Draft(diagnosis.pod.manifest)
    frees = free_by_domain(diagnosis, mine.key)
    rooms = count_rooms(pod, frees)
    yield wait(draft, pod)
    made = next(_create_members(draft, sim, pod, mine), draft)
    if made is not draft:
        yield made
    fitting = min(mine.scheduled + max(rooms.values(), default=0), len(mine.pods))
    if fitting in range(1, mine.needed):
        if mine.manifest is not None:
            yield set_field(draft, mine.manifest, "schedulingPolicy.gang.minCount", fitting)
        else:
            change = {"owner": mine.name, "field": coscheduling.MIN_MEMBER, "from": mine.needed, "to": fitting}
            call = f"kubectl annotate pod {' '.join(each.name for each in mine.pods)} -n {pod.namespace} --overwrite"
            yield draft.typing(Change("field", change), f"{call} {coscheduling.MIN_MEMBER}={fitting}")
    yield from _add_nodes(made, sim, diagnosis, mine, rooms)
    if len(mine.pods) >= mine.needed:
        if mine.key and mine.manifest is not None:
            yield from _change_key(draft, diagnosis, mine, mine.manifest)
        yield from _shrink(draft, sim, pod, mine, frees)
        yield from _clear(draft, diagnosis, mine)


def _create_members(draft: Draft, sim: Simulation, pod: Pod, mine: Gang) -> Iterator[Draft]:
    """Propose to create the missing members, by more replicas or as copies of a pod."""
    missing, owner = mine.needed - len(mine.pods), workload_of(sim.store, pod.manifest)
    field = {"Deployment": "replicas", "ReplicaSet": "replicas", "StatefulSet": "replicas", "Job": "parallelism"}
    if not 0 < missing <= MOST:
        return
    if owner is None:
        names = (f"{pod.name}-{number}" for number in itertools.count(2))
        free = itertools.islice((name for name in names if sim.store.pod(pod.namespace, name) is None), missing)
        like = clean(bare(pod.manifest))
        copies = [{**like, "metadata": {**like["metadata"], "name": name}} for name in free]
        yield draft.with_applied(Change("members", {"count": missing, "group": mine.name, "like": pod.name}), *copies)
    elif name := field.get(owner["kind"]):
        yield set_field(draft, owner, name, int(owner["spec"].get(name, 1)) + missing)


def _change_key(draft: Draft, diagnosis: Diagnosis, mine: Gang, group: Manifest) -> Iterator[Draft]:
    """Propose to recreate the group with a key whose domains are larger, because a group's key is immutable."""
    values: dict[str, set[str]] = {}
    for node in diagnosis.nodes.nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    fewer = len(values.get(mine.key) or diagnosis.nodes.nodes)
    others = [key for key, found in values.items() if len(found) < fewer and not key.startswith(_OF_MACHINES)]
    for key in sorted(others, key=lambda key: (-len(values[key]), key))[:TRIED]:
        spec = {**group["spec"], "schedulingConstraints": {"topology": [{"key": key}]}}
        yield draft.with_object(
            Change("topology", {"from": mine.key, "to": key}), {**group, "spec": spec, "status": {}}
        )


def _find_largest(frees: list[int], wanted: int, needed: int) -> int:
    """Return the largest request, up to the wanted one, that fits as often as needed, or 0."""
    return bisect_left(range(1, wanted + 1), True, key=lambda size: sum(free // size for free in frees) < needed)


def _shrink(draft: Draft, sim: Simulation, pod: Pod, mine: Gang, domains: Frees) -> Iterator[Draft]:
    """Propose to lower the requests of all waiting members to the largest amounts that fit in one domain."""
    found = []
    for nodes in domains.values():
        missing: dict[str, int] = {}
        for name in _names(pod):
            wanted, frees = pod.requests.get(name), [each[name] for each in nodes]
            if (most := _find_largest(frees, wanted, mine.lacking)) < wanted:
                missing[name] = wanted - most
        if missing:
            found.append((max(lacking / pod.requests.get(name) for name, lacking in missing.items()), missing))
    owner = workload_of(sim.store, pod.manifest)
    others = [each for each in mine.pods if not each.node_name and each.key != pod.key]
    for _, missing in sorted(found, key=lambda each: each[0])[:1]:
        for made in ask_less(draft, pod, missing):
            if owner is not None and owner["kind"] in ("ReplicaSet", "StatefulSet"):
                made = replace(made, deleted=tuple((each.namespace, each.name) for each in others))
            for each in others if owner is None else ():
                for other in ask_less(Draft(each.manifest), each, missing):
                    made = made.beside_anew(other.pod or each.manifest)
            # A rolling update would keep large pods beside small ones, and wait for the gang that waits for the rollout.
            yield from all_anew(made, sim) if owner is not None and owner["kind"] == "Deployment" else (made,)


def _add_nodes(
    draft: Draft, sim: Simulation, diagnosis: Diagnosis, mine: Gang, rooms: dict[str, int]
) -> Iterator[Draft]:
    """Propose enough nodes like an existing one for the members without room."""
    pod = diagnosis.pod
    for one in itertools.islice(of_groups(draft, diagnosis, sim.store), TRIED):
        like = sim.store.node(one.changes[-1].values["like"])
        if like is None:
            continue
        empty = {name: like.allocatable.get(name) for name in _names(pod)}
        each = max(count_rooms(pod, {"": [empty]})[""], 1)
        count = -(-(mine.lacking - rooms.get(like.labels.get(mine.key, ""), 0)) // each)
        if count == 1:
            yield one
        elif 0 < count <= MOST:
            change, made = Change("nodes", {"count": count, "like": like.name}, count / 100), draft
            for number in range(count):
                name = f"{one.target}{chr(ord('a') + number)}"
                made = made.with_node(change, like.manifest, lambda manifest, name=name: as_new_node(manifest, name))  # type: ignore[misc]
            yield replace(made, changes=(*draft.changes, change))


def list_holders(diagnosis: Diagnosis) -> list[list[Pod]]:
    """List the groups and single pods outside the gang that occupy nodes, those of the lowest priority first."""
    own, holders = group_of(diagnosis.pod), dict[tuple[str, ...], list[Pod]]()
    for pod in itertools.chain.from_iterable(diagnosis.nodes.pods):
        owners = pod.manifest["metadata"].get("ownerReferences") or ()
        if group_of(pod) != own and not any(each.get("kind") in ("DaemonSet", "Node") for each in owners):
            holders.setdefault(("", *group_of(pod)) if group_of(pod)[1] else ("pod", pod.key), []).append(pod)
    rank = {key: (max(pod.priority for pod in pods), key) for key, pods in holders.items()}
    return [holders[key] for key in sorted(holders, key=rank.__getitem__)][:MOST]


def _clear(draft: Draft, diagnosis: Diagnosis, mine: Gang) -> Iterator[Draft]:
    """Propose to delete one group or pod that occupies the needed room, or as few as suffice."""
    holders = list_holders(diagnosis)
    for chosen in (*([each] for each in holders), *(holders[:count] for count in range(2, len(holders) + 1))):
        gone = [pod for pods in chosen for pod in pods]
        frees = free_by_domain(diagnosis, mine.key, {pod.key for pod in gone})
        if len(gone) <= MOST and max(count_rooms(diagnosis.pod, frees).values(), default=0) >= mine.lacking:
            yield delete_pods(draft, ", ".join(dict.fromkeys(pod.node_name for pod in gone)), gone)
            return
