"""Reasons for a pod's wait apart from the filters: preemption that does not help, and events that do or do not requeue it."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from scheduler_core.analysis.explain.explanation import Fact, GivenReason, Preemption
from scheduler_core.analysis.explain.placement import list_keys_left_out, note
from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.analysis.fixes.gangs import count_rooms, find_gang, free_by_domain, group_of, list_holders
from scheduler_core.analysis.fixes.proposals import list_owners, list_partners, map_namespace_labels
from scheduler_core.apimachinery.objects import Pod, Taint
from scheduler_core.apimachinery.objects.affinity import affinity_terms
from scheduler_core.apimachinery.objects.labels import IN
from scheduler_core.apimachinery.objects.spec import Toleration
from scheduler_core.base.trace.journal import Attempt, Place
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework import Point
from scheduler_core.scheduler.framework.events import ASSIGNED_POD_DELETE
from scheduler_core.scheduler.framework.preemption.choice import budgets_of
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_filter
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME
from scheduler_core.scheduler.plugins.interpodaffinity.counts import with_named_namespaces
from scheduler_core.scheduler.plugins.nodeaffinity.fixes import find_meant
from scheduler_core.scheduler.queue.groups import group_key
from scheduler_core.scheduler.queue.hints import list_registrations
from scheduler_core.scheduler.queue.types import GROUP, QueuedPod
from scheduler_core.world.simulation import Simulation

SHOWN, LOOKED_AT = 3, 400
NODES = 2


def explain_preemption(diagnosis: Diagnosis, preemption: Preemption, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield why evicting pods of lower priority does not make room: the policy, the priorities, or a rule that it breaks."""
    pod, nodes = diagnosis.pod, diagnosis.nodes
    if preemption.victims:
        keys = list(preemption.victims[:SHOWN])
        values = {"node": preemption.nominated, "priority": preemption.priority}
        yield note("Preempts", pod=pod.key, pods=keys, count=len(preemption.victims), **values)
        return
    if preemption.nominated:
        ending = list_victims(pod, nodes)
        if preemption.lower > len(ending):
            yield note("PreemptsNoMore", pod=pod.key, pods=ending[:SHOWN], count=len(ending), node=preemption.nominated)
        return
    if pod.nominated_node_name:
        code = "NominatedInVain" if pod.nominated_node_name in nodes.rows else "NominatedNodeIsGone"
        yield note(code, pod=pod.key, node=pod.nominated_node_name)
    if preemption.policy == "Never":
        yield note("PreemptsNever", pod=pod.key)
        return
    near = [each for reason in reasons for each in (reason.evidence.get("near") or {}).get("nodes", ())[:NODES]]
    if not preemption.lower:
        if near:
            yield note("NoLowerPriority", pod=pod.key, priority=preemption.priority)
        return
    needed = [each for each in _list_needed(diagnosis) if each.priority < pod.priority]
    if needed:
        keys = [each.key for each in needed[:SHOWN]]
        yield note("NeedsItsVictims", pod=pod.key, pods=keys, priority=pod.priority, theirs=needed[0].priority)
        return
    for reason in reasons:
        found = reason.evidence.get("near") or {}
        resource = str(reason.evidence.get("resource") or "")
        for each in found.get("nodes", ())[:NODES]:
            row = nodes.row(each["node"])
            lower = [p for p in nodes.pods[row] if p.priority < pod.priority] if row is not None else []
            freed = sum(p.requests.get(resource) for p in lower)
            if not lower:
                yield note("NoLowerPriorityOnNode", pod=pod.key, node=each["node"], priority=pod.priority)
            elif freed < each["short"]:
                values = {"resource": resource, "freed": freed, "short": each["short"]}
                yield note("VictimsTooSmall", pod=pod.key, node=each["node"], **values)
            else:
                rules = [text for code, text, _ in preemption.reasons if not code.startswith("DefaultPreemption/")]
                for text in rules[:1]:
                    yield note("VictimsDoNotHelp", pod=pod.key, node=each["node"], message=text)


def list_victims(pod: Pod, nodes: NodeTable) -> list[str]:
    """List the terminating pods of lower priority that a nominated pod waits for. kube: PodEligibleToPreemptOthers."""
    row = nodes.row(pod.nominated_node_name)
    there = [] if row is None else nodes.pods[row]
    return [each.key for each in there if each.deleting and each.priority < pod.priority]


def list_chosen(pod: Pod, nodes: NodeTable, attempt: Attempt | None) -> tuple[str, ...]:
    """List the victims of a pod's last attempt that are on its nominated node and are not terminating yet."""
    row = nodes.row(pod.nominated_node_name)
    if attempt is None or row is None or attempt.nominated != pod.nominated_node_name:
        return ()
    return tuple(each.key for each in nodes.pods[row] if each.key in attempt.victims and not each.deleting)


def list_spared(world: Simulation, diagnosis: Diagnosis, node: str) -> Iterator[Fact]:
    """Yield the pods of lower priority on nodes other than `node` that preemption spared because of budgets."""
    budgets = budgets_of([*world.store.list("PodDisruptionBudget")])
    others = [each for pods in diagnosis.nodes.pods for each in pods if each.priority < diagnosis.pod.priority]
    for each in [each for each in others if each.node_name != node]:
        if any(budget.covers(each) and budget.allowed <= 0 for budget in budgets):
            yield note("SparedByBudget", holder=each.key, node=each.node_name)


def _list_needed(diagnosis: Diagnosis) -> list[Pod]:
    """List the pods that the pod's required affinity selects."""
    terms = affinity_terms(diagnosis.pod).required
    found = [each for pods in diagnosis.nodes.pods for each in pods] if terms else []
    for term in terms:
        near = (each for each in found if each.namespace in (term.namespaces or (each.namespace,)))
        found = [each for each in near if term.selector.matches(each.labels)]
    return sorted(found, key=lambda each: (each.priority, each.key))


def explain_selection(world: Simulation, pod: Pod, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the targets of the pod's affinity, and requirements that some nodes meet one by one and no node meets together."""
    for reason in reasons:
        if reason.plugin in ("InterPodAffinity", "PodTopologySpread"):
            yield from list_keys_left_out(pod)
        if reason.code == "InterPodAffinity/NoMatchingPod":
            yield from _list_partners(world, pod)
        if reason.code == "InterPodAffinity/MatchingPod":
            yield from _list_shared_domains(world, pod)
        required = pod.spec.node_affinity_required
        if (
            reason.code == "NodeAffinity/NoMatch"
            and required is not None
            and any(term.empty for term in required.terms)
        ):
            yield note("EmptyTerm", pod=pod.key)
        if reason.plugin == "NodeAffinity" and required is not None and len(required.terms) == 1:
            named = [name for each in required.terms[0].fields for name in each.values if each.op == IN]
            if gone := [name for name in named if world.store.node(name) is None]:
                yield note("NamedNodeIsGone", pod=pod.key, names=gone[:SHOWN])
        asked = reason.evidence.get("requirements") or ()
        for each in asked if reason.code == "NodeAffinity/NoMatch" else ():
            if not each["labelled"]:
                yield from _list_meant(world, pod, str(each["key"]), str(each["text"]).partition("=")[2])
            name = str(each["text"]).partition("=")[2]
            if each["key"] == HOSTNAME and name and not each["matching"] and world.store.node(name) is None:
                yield note("NodeIsMissing", name=name)
        if reason.code == "NodeAffinity/NoMatch" and len(asked) > 1 and all(each["matching"] for each in asked):
            yield note("NoNodeHasAll", pod=pod.key, requirements=[str(each["text"]) for each in asked])
        for each in reason.evidence.get("constraints") or () if reason.code == "PodTopologySpread/SkewTooLarge" else ():
            if (each.get("minDomains") or 0) > each["domainCount"]:
                values = {"topologyKey": each["topologyKey"], "minDomains": each["minDomains"]}
                yield note("TooFewDomains", **values, there=each["domainCount"])
            honored = each.get("withPolicies") or {}
            if honored.get("set"):
                values = {"topologyKey": each["topologyKey"], "domains": each["closedDomains"]}
                yield note("PolicyIsIgnore", **values, policies=list(honored["set"]), passing=honored["passing"])
        if reason.code == "NodePorts/HostPortsTaken" and pod.manifest["spec"].get("hostNetwork"):
            ports = sorted({port.port for port in pod.spec.host_ports})
            yield note("HostNetworkPorts", pod=pod.key, ports=ports)


def _list_partners(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the pods that a pod's required affinity selects, and those of them without a node."""
    terms, near = affinity_terms(pod).required, list_partners(world, pod)
    for term, resolved in zip(terms, with_named_namespaces(terms, world.store), strict=True):
        selector = ", ".join(map(str, term.selector.requirements))
        itself, found = term.selector.matches(pod.labels), list(dict.fromkeys(resolved.namespaces))
        values = {"selector": selector, "namespaces": found, "topologyKey": term.topology_key}
        if not found and term.namespace_selector.requirements:
            text = ", ".join(map(str, term.namespace_selector.requirements))
            yield note("NoNamespaceMatches", pod=pod.key, selector=selector, namespaceSelector=text)
            continue
        other = itself and bool(term.namespaces) and pod.namespace not in term.namespaces
        yield note("MatchesItselfElsewhere" if other else "AffinityLooksFor", pod=pod.key, **values)
        partners = [e for e in near if e.namespace in found and term.selector.matches(e.labels)]
        for owner in list_owners(world, partners) if len(partners) > 1 else ():
            there = [each.node_name for each in partners]
            known = {"kind": owner["kind"], "owner": owner["metadata"]["name"], "nodes": sorted(there)[:SHOWN]}
            yield note("PartnersAreOf", **known, count=len(there), replicas=owner["spec"].get("replicas", 1))
        idle = (e for e in world.store.pods() if (e.terminal or not e.node_name) and e.namespace in found)
        alike = [each for each in idle if term.selector.matches(each.labels)]
        for each in [e for e in alike if e.terminal][:1]:
            yield note("PartnerHasEnded", pod=each.key, node=each.node_name)
        for each in [e for e in alike if not (e.node_name or e.terminal or e.uid == pod.uid)][:1]:
            back = any(t.selector.matches(pod.labels) for t in affinity_terms(each).required)
            yield note("PartnersWait" if back and not itself else "PartnerIsPending", pod=each.key, other=pod.key)


def _list_shared_domains(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the topology keys of the anti-affinity that put all nodes into one domain, with a pod to avoid there."""
    spaces = map_namespace_labels(world)
    for term in affinity_terms(pod).required_anti:
        found = [node.labels.get(key := term.topology_key) for node in world.store.nodes()]
        if len(found) < 2 or len({*found}) > 1 or found[0] is None:
            continue
        others = (e for e in world.store.pods() if e.node_name)
        there = next((e.key for e in others if term.matches(e.namespace, e.labels, spaces.get(e.namespace, {}))), None)
        if there is not None:
            yield note("AllInOneDomain", topologyKey=key, domain=found[0], count=len(found), pod=there)


def _list_meant(world: Simulation, pod: Pod, key: str, value: str) -> Iterator[Fact]:
    """Yield the label that a node has instead of one that the pod requires and no node has."""
    for node in world.store.nodes()[:LOOKED_AT]:
        for other, has in find_meant(node, key, value):
            yield note("LabelWasMeant", pod=pod.key, node=node.name, key=key, other=f"{other}={has}" if has else other)
            return


def list_tied_nodes(diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield all rejections of the pod on the few nodes that can use its volumes, beyond the first filter."""
    nodes, state = diagnosis.nodes, diagnosis.state
    out = {name for reason in reasons for name in reason.nodes if reason.code in _OUT_OF_REACH}
    rows = np.array([row for row, name in enumerate(nodes.names) if name not in out], np.intp)
    if not out or len(rows) > LOOKED_AT:
        return
    found: dict[str, list[str]] = {}
    trial = Trial(diagnosis.pod, nodes, state)
    for plugin in diagnosis.framework.at(Point.FILTER):
        skipped = plugin.name in state.skip_filter
        for row, status in () if skipped else run_filter(plugin, trial, state, nodes, rows)[0].refusals():
            out |= {nodes.names[row]} if plugin.name in _OF_VOLUMES else set()
            texts = (diagnosis.specify(status.by(plugin.name), text, row) for text in status.reasons)
            found.setdefault(nodes.names[row], []).extend(text.removeprefix("node(s) ") for text in texts)
    tied = {name: messages for name, messages in found.items() if name not in out}
    for name, messages in tied.items() if len(tied) <= NODES else ():
        if len(messages) > 1 + (UNSCHEDULABLE in messages):  # cordoning also adds a taint
            yield note("TiedNodeRefuses", node=name, messages=messages)


UNSCHEDULABLE = "were unschedulable"
_OF_VOLUMES = ("VolumeBinding", "VolumeZone")
_OUT_OF_REACH = ("VolumeBinding/VolumeOutOfReach", "VolumeZone/OtherZone")
_OF_TAINTS = ("TaintToleration/UntoleratedTaint", "TaintToleration/UntoleratedTaints")


def list_near_tolerations(diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the pod's tolerations that fail to match a taint of the same key because of the effect or the value."""
    pod, nodes = diagnosis.pod, diagnosis.nodes
    for reason in reasons:
        row = nodes.row(reason.nodes[0]) if reason.code in _OF_TAINTS and reason.nodes else None
        yield from list_near(pod.key, pod.spec.tolerations, nodes.nodes[row].taints) if row is not None else ()


def list_near(key: str, tolerations: Sequence[Toleration], taints: Iterable[Taint]) -> Iterator[Fact]:
    """Yield a pod's or a workload's tolerations that fail to match a taint because of the effect or the value."""
    for taint in taints:
        for each in tolerations if not any(one.tolerates(taint) for one in tolerations) else ():
            if each.key == taint.key:
                other = bool(each.effect) and each.effect != taint.effect
                has = f"effect {each.effect}" if other else f"value {each.value or '-'}"
                yield note("AlmostTolerates", pod=key, taint=str(taint), has=has)


def list_other_kinds(diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the related resources that nodes offer if none offers the requested one: other huge page sizes, other devices."""
    for reason in reasons:
        resource = str(reason.evidence.get("resource") or "")
        family = resource.partition("/")[0] if "/" in resource else resource.partition("-")[0]
        if not family or reason.evidence.get("most") != 0:
            continue
        if resource == "ephemeral-storage":
            yield note("DiskIsNotMeasured", nodes=list(reason.nodes[:SHOWN]), count=reason.count)
        refused = [
            diagnosis.nodes.nodes[row] for n in reason.nodes[:LOOKED_AT] if (row := diagnosis.nodes.row(n)) is not None
        ]
        for node in refused:  # none has the resource in allocatable, so capacity is worth a note
            has = str(((node.manifest.get("status") or {}).get("capacity") or {}).get(resource) or "0")
            if has != "0":
                yield note("NotAllocatable", node=node.name, name=resource, capacity=has)
                break
        offers: dict[str, list[str]] = {}
        for node in diagnosis.nodes.nodes[:LOOKED_AT]:
            for name, amount in ((node.manifest.get("status") or {}).get("allocatable") or {}).items():
                alike = (
                    name.startswith((f"{family}/", f"{family}-"))
                    or name.partition("/")[2] == resource.partition("/")[2] != ""
                )
                if name != resource and alike and str(amount) != "0":
                    offers.setdefault(name, []).append(node.name)
        for name, names in sorted(offers.items())[:SHOWN]:
            yield note("OffersInstead", resource=resource, other=name, nodes=names[:SHOWN], count=len(names))


def explain_waking(
    world: Simulation,
    framework: Framework,
    entry: QueuedPod,
    attempt: Attempt | None,
    holders: Iterable[str],
    fits: bool,
) -> Iterator[Fact]:
    """Yield the pods whose end requeues the pod, and those whose end the rejecting plugins' hints skip."""
    wakers = []
    for key in dict.fromkeys(holders):
        holder = world.store.pod_at(key)
        if holder is None or not holder.node_name:
            continue
        if _wakes(framework, entry, holder):
            wakers.append(key)
        else:
            yield note("NotWokenByEndOf", pod=entry.pod.key, holder=key, plugins=list(entry.rejectors))
    if wakers:
        yield note("WokenByEndOf", pod=entry.pod.key, holders=wakers)
    if fits and attempt is not None:
        # The pods that ended since the attempt, the last first. Their ends did not requeue the pod, which still waits.
        found: dict[str, None] = {}
        for move in reversed(world.journal.moves[-LOOKED_AT:]):
            if move.t < attempt.ended:
                break
            if move.place == Place.DELETED:
                found[move.pod] = None
        for key in list(found)[:SHOWN]:
            yield note("SlippedBy", pod=entry.pod.key, holder=key, plugins=list(entry.rejectors))


def _wakes(framework: Framework, entry: QueuedPod, holder: Pod) -> bool:
    for plugin in map(framework.plugin, entry.rejectors):
        for on in list_registrations(plugin) if plugin is not None else ():
            if on.matches(ASSIGNED_POD_DELETE) and (on.hint is None or on.hint(plugin, entry.pod, holder, None)):
                return True
    return False


# Why a pod's gang is stuck: how many of its pods have a node, and the message of its last cycle.
# kube: pkg/scheduler/schedule_one_podgroup.go @ v1.37.2


def find_entry(scheduler: Scheduler, pod: Pod) -> QueuedPod | None:
    """Return the pod's entry in the queue, or that of its group if the pod is a member of an existing group."""
    entity = scheduler.queue.find(GROUP + group_key(pod)) if pod.spec.group else None
    return entity or scheduler.queue.find(pod.key)


def explain_group(world: Simulation, pod: Pod, diagnosis: Diagnosis | None = None) -> Iterator[Fact]:
    """Yield what the pod's gang lacks: members, room in a domain, and nodes that others hold."""
    mine = find_gang(world, pod)
    if mine is None or mine.lacking <= 0:
        return
    counts = {"needed": mine.needed, "members": len(mine.pods), "scheduled": mine.scheduled}
    yield note("GroupBelowQuorum", group=mine.name, **counts)
    conditions = ((mine.manifest or {}).get("status") or {}).get("conditions") or ()
    message = next((each.get("message") for each in conditions if each.get("status") == "False"), None)
    if message:
        yield note("GroupCycleFailed", group=mine.name, message=message)
    said: dict[str, str] = {}
    for each in mine.pods if len(mine.pods) >= mine.needed else ():
        index = world.journal.last_attempt.get(each.key)
        attempt = None if index is None else world.journal.attempts[index]
        if attempt is None or attempt.outcome != "unschedulable" or attempt.message in (text := message or "\n"):
            continue
        if text not in attempt.message:
            said.setdefault(attempt.message, each.key)
    for text, key in list(said.items())[:SHOWN]:
        yield note("GroupMemberRefused", pod=key, message=text)
    if diagnosis is None or len(mine.pods) < mine.needed:
        return
    rooms = count_rooms(pod, free_by_domain(diagnosis, mine.key))
    if mine.key and max(rooms.values(), default=0) < mine.lacking:
        most = sorted(rooms, key=lambda domain: (-rooms[domain], domain))[:SHOWN]
        domains = [f"{domain} ({rooms[domain]})" for domain in most]
        yield note("GroupNeedsDomain", topologyKey=mine.key, needed=mine.lacking, domains=domains)
    for holders in list_holders(diagnosis) if sum(rooms.values()) < mine.lacking else ():
        if name := group_of(holders[0])[1]:
            keys, nodes = [each.key for each in holders], list(dict.fromkeys(each.node_name for each in holders))
            yield note("GroupHoldsNodes", group=name, pods=keys[:SHOWN], count=len(keys), nodes=nodes[:SHOWN])
