"""How many more of a pod, or of a set of pods, fit: copies are created on a fork until one does not fit, as in cluster-capacity.

Each copy goes through the scheduler, so all rules for pods apply to the copies too (spreading, affinity, ports, devices, sampling).
Copies of one pod are created in batches, which the queue pops in their order; a test compares this with one by one. Sets are created one
at a time.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scheduler_core.analysis.fixes.effects import key_of
from scheduler_core.apimachinery.objects.manifest import Manifest, MutableManifest
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

MOST = 10_000
BATCH = 64
STEPS_EACH = 1_000  # transitions for each copy, at most
_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "managedFields")
_DECIDED = ("nodeName", "schedulingGates")


@dataclass(frozen=True, slots=True)
class Room:
    """The number of sets of `size` pods that fit. `nodes`: how many of their pods each node runs, the most first.

    `why`: kube's message of the failed attempt. `enough`: as many fit as were requested, and more may.
    """

    count: int
    nodes: tuple[tuple[str, int], ...]
    why: str = ""
    enough: bool = False
    size: int = 1


def room_for(sim: Simulation, pods: Sequence[Manifest], most: int = MOST, batch: int = BATCH) -> Room:
    """Return how many more sets of such pods fit, up to `most`, without evicting any pod. `sim` does not change.

    The world should be at rest: waiting pods are scheduled as usual. Raise Refused if a copy cannot be created.
    """
    world = sim.fork()
    placed: list[str] = []
    size = len(pods)
    while (count := len(placed) // size) < most:
        sets = range(count, count + min(batch if size == 1 else 1, most - count))
        copies = [copy_of(pod, f"{_prefix(pod, size > 1 and i)}-{n}") for n in sets for i, pod in enumerate(pods)]
        claims = [claim for each in copies for claim in _make_claims(each)]
        if claims:
            world.apply(ApplyObjects(tuple(claims), create_only=True))
            _rest(world, len(claims))
        world.apply(ApplyObjects(tuple(copies), create_only=True))
        keys = [key_of(each) for each in copies]
        for attempt in _attempts(world, keys):
            if attempt is None or attempt.outcome != "scheduled":
                whole = len(placed) // size
                return Room(
                    whole, _rank_by_count(placed[: whole * size]), attempt.message if attempt else "", size=size
                )
            placed.append(attempt.node)
    return Room(most, _rank_by_count(placed), enough=True, size=size)


def pods_of(manifest: Manifest) -> list[Manifest]:
    """Return an object's pods: the pod itself, or as many pods of its template as it has replicas; none for other objects.

    A StatefulSet's claim becomes an own claim of each copy.
    """
    if manifest.get("kind") == "Pod":
        return [manifest]
    spec, meta = manifest.get("spec") or {}, manifest.get("metadata") or {}
    template = spec.get("template")
    if not template:
        return []
    of_template = {
        **(template.get("metadata") or {}),
        "name": meta.get("name"),
        "namespace": meta.get("namespace") or "default",
    }
    inner = dict(template.get("spec") or {})
    own = [
        {"name": claim["metadata"]["name"], "ephemeral": {"volumeClaimTemplate": {"spec": claim.get("spec") or {}}}}
        for claim in spec.get("volumeClaimTemplates") or ()
    ]
    names = {each["name"] for each in own}
    if own:
        inner["volumes"] = [*own, *(each for each in inner.get("volumes") or () if each["name"] not in names)]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": of_template, "spec": inner}
    replicas = spec.get("replicas", spec.get("parallelism"))
    return [pod] * (1 if replicas is None else int(replicas))


def copy_of(manifest: Manifest, name: str) -> MutableManifest:
    """Return a copy of a pod without the fields that decisions about the pod have set."""
    made: MutableManifest = copy.deepcopy(dict(manifest))
    made.pop("status", None)
    metadata, spec = made["metadata"], made["spec"]
    for field in (*_OWN, "generateName"):
        metadata.pop(field, None)
    for field in _DECIDED:
        spec.pop(field, None)
    metadata["name"] = name
    return made


def _make_claims(pod: MutableManifest) -> Iterator[MutableManifest]:
    """Yield claims for a copy's ephemeral volumes, and make its volumes use them: only the copy's first attempt counts."""
    for volume in pod["spec"].get("volumes") or ():
        ephemeral = volume.pop("ephemeral", None)
        if ephemeral is not None:
            metadata = {
                "name": f"{pod['metadata']['name']}-{volume['name']}",
                "namespace": pod["metadata"].get("namespace") or "default",
            }
            volume["persistentVolumeClaim"] = {"claimName": metadata["name"]}
            spec = ephemeral["volumeClaimTemplate"].get("spec") or {}
            yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _rest(world: Simulation, objects: int) -> None:
    for _ in range(STEPS_EACH * objects):
        if world.idle or not world.advance():
            return


def _prefix(manifest: Manifest, number: int | bool) -> str:
    """Return the start of a copy's name. `number`: the copy's number in its set, or False without a set."""
    metadata = manifest["metadata"]
    name = (metadata.get("name") or metadata.get("generateName") or "pod")[:230].rstrip("-.")
    return f"{name}-more" if number is False else f"{name}-more-{number}"


def _attempts(world: Simulation, keys: list[str]) -> list[Attempt | None]:
    """Return each pod's first attempt in the order of the keys, or None. Stop at the first failed one."""
    waiting = dict.fromkeys(keys)
    ended: list[Attempt | None] = []
    seen = len(world.journal.attempts)
    for _ in range(STEPS_EACH * len(keys)):
        if not waiting or not world.advance():
            break
        for attempt in world.journal.attempts[seen:]:
            if attempt.pod in waiting:
                waiting.pop(attempt.pod)
                ended.append(attempt)
                if attempt.outcome != "scheduled":
                    return ended
        seen = len(world.journal.attempts)
    return [*ended, *[None for _ in waiting]]


def _rank_by_count(nodes: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(nodes).items(), key=lambda item: (-item[1], item[0])))
