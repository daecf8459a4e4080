"""What holds namespaces and claims that are being deleted, and the fixes that let it go."""

from collections.abc import Generator
from dataclasses import replace
from functools import reduce

from scheduler_core.analysis.fixes.fix import Budget, Findings, Fix, rank_fixes
from scheduler_core.analysis.fixes.placed import Proposals, prove_each, without
from scheduler_core.analysis.fixes.proof import Prover
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import delete_pod
from scheduler_core.scheduler.plugins.volumebinding.fixes import PROTECTION
from scheduler_core.world.simulation import Simulation

OBJECTS = ("Namespace", CLAIM)
MOST = 3
_FREED = '{"metadata": {"finalizers": null}}'


def find_object(sim: Simulation, key: str) -> Manifest | None:
    """Return the namespace Namespace/NAME or the claim PersistentVolumeClaim/NS/NAME; None of any other key."""
    kind, _, rest = key.partition("/")
    namespace, _, name = rest.rpartition("/")
    return sim.store.get(kind, namespace, name) if kind in OBJECTS else None


def list_held(sim: Simulation, found: Manifest) -> list[tuple[Manifest, list[str]]]:
    """Return a claim, or the objects of a namespace, with the finalizers that somebody else has to remove."""
    near = [found]
    if found["kind"] != CLAIM:
        every = (each for kind in sim.store.kinds() for each in sim.store.list(kind))
        near += [each for each in every if each["metadata"].get("namespace") == found["metadata"]["name"]]
    kept = ([each for each in it["metadata"].get("finalizers") or () if each != PROTECTION] for it in near)
    return [(it, names) for it, names in zip(near, kept, strict=True) if names]


def list_users(sim: Simulation, claim: Manifest) -> list[Pod]:
    """Return the pods that use a claim."""
    key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
    return [pod for pod in sim.store.pods() if pod.spec.volumes and key in claims_of(pod)]


def search_object(sim: Simulation, key: str, found: Manifest, budget: Budget) -> Generator[None, None, Findings]:
    """Prove what lets a namespace or a claim end; what concerns kinds on which nothing here acts is not proven."""
    if not found["metadata"].get("deletionTimestamp"):
        return Findings(key, "fits")
    findings = yield from prove_each(sim, key, Prover(sim, key, budget), _propose(sim, found), "searched")
    freed = [_free(*held) for held in list_held(sim, found) if held[0]["kind"] not in KINDS]
    steps = [Fix((change,), (), "", 0, recreated=False, kubectl=call, proven=False) for change, call in freed[:MOST]]
    return replace(findings, fixes=rank_fixes((*findings.fixes, *steps)))


def _propose(sim: Simulation, found: Manifest) -> Proposals:
    meta = found["metadata"]
    draft = Draft({"metadata": {"name": meta["name"], "namespace": meta.get("namespace")}, "spec": {}})
    if found["kind"] == CLAIM and (users := list_users(sim, found)):
        yield reduce(delete_pod, users, draft), without(found)
    for each, names in list_held(sim, found)[:MOST]:
        if each["kind"] in KINDS:
            change, call = _free(each, names)
            yield draft.typing(change, call), without(each)


def _free(found: Manifest, names: list[str]) -> tuple[Change, str]:
    kind, meta, group = found["kind"], found["metadata"], str(found["apiVersion"]).rpartition("/")[0].split("/")[0]
    word = kind.lower() if kind in KINDS else ".".join(filter(None, (kind.lower(), group)))
    where = f" -n {meta['namespace']}" if meta.get("namespace") else ""
    values = {"pod": f"{kind} {meta['name']}", "finalizers": names}
    return Change("finalizer", values), f"kubectl patch {word} {meta['name']}{where} --type=merge -p '{_FREED}'"
