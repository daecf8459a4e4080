"""Namespaces, claims, and volumes in an undesired state: what blocks a deletion, and what a claim waits for."""

from collections.abc import Iterator

from scheduler_core.analysis.explain.ended import Past
from scheduler_core.analysis.explain.explanation import Explanation, Fact, State
from scheduler_core.analysis.explain.holders import describe_end
from scheduler_core.analysis.explain.placement import note
from scheduler_core.analysis.explain.workloads import SHOWN, describe_conditions
from scheduler_core.analysis.fixes.workloads import VOLUME, find_claim, is_kept, list_attachments, list_held, list_users
from scheduler_core.apimachinery.objects import Manifest, parse_time
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, class_of, volume_name
from scheduler_core.world.simulation import Simulation

_WAIT_FOR_POD = "WaitForFirstConsumer"


def explain_object(world: Simulation, key: str, found: Manifest, past: Past) -> Explanation:
    """Explain a namespace, a claim, or a volume."""
    kind, meta, facts = found["kind"], found["metadata"], []
    phase = (found.get("status") or {}).get("phase")
    waits = (kind == CLAIM and phase != "Bound") or (kind == VOLUME and is_kept(world, found))
    if since := meta.get("deletionTimestamp"):
        left = world.store.epoch + world.now - parse_time(since)
        facts.append(note("BeingDeleted", kind=kind, name=meta["name"], left=max(left, 0)))
        for each, names in list_held(world, found)[:SHOWN]:
            facts.append(note("KeepsFinalizers", kind=each["kind"], name=each["metadata"]["name"], finalizers=names))
        mine = (pod for pod in world.store.pods() if pod.deleting and pod.namespace == meta["name"])
        facts += [fact for pod in mine for fact in describe_end(world, pod)][:SHOWN]
    describe = {CLAIM: _describe_claim, VOLUME: _describe_volume}.get(kind)
    facts += [*describe_conditions([found]), *(describe(world, found, past) if describe is not None else ())]
    return Explanation(key, State.STUCK if since or waits else State.AS_WANTED, facts=tuple(facts))


def _describe_volume(world: Simulation, volume: Manifest, past: Past) -> Iterator[Fact]:
    """Yield the claim and the attachments that keep a volume, and the reports about it."""
    name, claim = volume["metadata"]["name"], find_claim(world, volume)
    if volume["metadata"].get("deletionTimestamp") and claim is not None:
        key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        users = [pod.key for pod in list_users(world, claim)]
        kept = "KeptByItsClaim" if users else "KeptByItsUnusedClaim"
        yield note(kept, volume=name, claim=key, pods=users[:SHOWN], count=len(users))
    for each in list_attachments(world, volume):
        spec, failed = each["spec"], (each.get("status") or {}).get("detachError") or {}
        text = str(failed.get("message") or "no error is reported").rstrip(". ")
        yield note("StaysAttached", name=each["metadata"]["name"], volume=name, node=spec.get("nodeName"), message=text)
    yield from past.report_on(VOLUME, "", name)


def _describe_claim(world: Simulation, claim: Manifest, past: Past) -> Iterator[Fact]:
    """Yield the pods that use a claim that is being deleted, or what a claim without a volume waits for."""
    meta, users = claim["metadata"], list_users(world, claim)
    if meta.get("deletionTimestamp"):
        for pod in users[:SHOWN]:
            yield note("UsesClaimAfterEnd" if pod.terminal else "KeepsClaim", pod=pod.key, claim=meta["name"])
    elif (claim.get("status") or {}).get("phase") != "Bound":
        of_class = world.store.get("StorageClass", "", class_of(claim)) or {}
        values = {"claim": meta["name"], "storageClass": class_of(claim) or "-"}
        if (claim.get("status") or {}).get("phase") == "Lost":
            yield note("ClaimIsLost", claim=meta["name"], volume=volume_name(claim) or "-")
        elif class_of(claim) and not of_class:
            yield note("ClassOfClaimIsMissing", **values)
        elif of_class.get("volumeBindingMode") == _WAIT_FOR_POD and not users:
            yield note("WaitsForFirstPod", **values)
        else:
            yield note("WaitsForVolume", **values, provisioner=of_class.get("provisioner") or "-")
        spec = claim.get("spec") or {}
        if source := spec.get("dataSourceRef") or spec.get("dataSource"):
            yield note("MadeOfSource", **values, kind=source.get("kind"), source=source.get("name"))
        yield from past.report_on(CLAIM, meta["namespace"], meta["name"])
