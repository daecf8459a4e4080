"""Claims for devices: the requests, state, and allocation of each, and the history of one claim."""

from typing import Any, TypedDict

from playground.presenters.scene import PodRef, pod_ref, short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.status import ResourceClaim, pods_of
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.readonly import WorldView

# Which rows of a long list are shown.

PAGE = 50


class Pager(TypedDict):
    """A page of a list, counted from 0."""

    first: int
    last: int
    total: int
    previous: int | None
    following: int | None


def window(total: int, page: int) -> tuple[slice, Pager]:
    """Return the rows of the requested page, or of the last one."""
    page = min(page, max(total - 1, 0) // PAGE)
    start, end = page * PAGE, min((page + 1) * PAGE, total)
    return slice(start, end), {
        "first": start + 1 if total else 0,
        "last": end,
        "total": total,
        "previous": page - 1 if page else None,
        "following": page + 1 if end < total else None,
    }


KIND = "ResourceClaim"
STATES = {
    "pending": gettext_noop("pending"),
    "allocated": gettext_noop("allocated"),
    "reserved": gettext_noop("in use"),
    "deleting": gettext_noop("being deleted"),
}


class StateCount(TypedDict):
    state: str
    word: str
    count: int


class ClaimsPage(TypedDict):
    rows: "list[ClaimRow]"
    page: Pager
    claims: int
    counts: list[StateCount]
    state: str


def claims(sim: WorldView, q: str, page: int, state: str = "") -> ClaimsPage:
    """Return a page of the claims that match (`rows`), and the number of claims in each state (`counts`)."""
    every = [ResourceClaim.of(manifest) for manifest in sim.store.list(KIND)]
    counts = dict.fromkeys(STATES, 0)
    for each in every:
        counts[state_of(each)] += 1
    chosen = [each for each in every if state in ("", state_of(each)) and _matches(each, q)]
    shown, pager = window(len(chosen), page)
    return {
        "rows": [row(each) for each in chosen[shown]],
        "page": pager,
        "claims": len(every),
        "counts": [{"state": name, "word": STATES[name], "count": n} for name, n in counts.items()],
        "state": state,
    }


def claim(sim: WorldView, key: str) -> "ClaimRow | None":
    """Return the claim namespace/name, or None."""
    namespace, _, name = key.partition("/")
    manifest = sim.store.get(KIND, namespace, name)
    return None if manifest is None else row(ResourceClaim.of(manifest))


class PodClaim(TypedDict):
    entry: str
    template: str
    key: str
    short: str
    row: "ClaimRow | None"


def claims_of(sim: WorldView, pod: str) -> list[PodClaim]:
    """Return a pod's claims in the order of its spec. A claim that does not exist yet has no `row`."""
    found = sim.store.pod_at(pod)
    if found is None or not found.spec.resource_claims:
        return []
    statuses = {
        each.get("name"): each.get("resourceClaimName")
        for each in (found.manifest.get("status") or {}).get("resourceClaimStatuses") or ()
    }
    out: list[PodClaim] = []
    for entry in found.spec.resource_claims:
        template = entry.get("resourceClaimTemplateName") or ""
        name = entry.get("resourceClaimName") or statuses.get(entry.get("name")) or ""
        out.append(
            {
                "entry": entry.get("name") or "",
                "template": template,
                "key": f"{found.namespace}/{name}" if name else "",
                "short": short(f"{found.namespace}/{name}"),
                "row": claim(sim, f"{found.namespace}/{name}") if name else None,
            }
        )
    return out


def state_of(each: ResourceClaim) -> str:
    if each.manifest["metadata"].get("deletionTimestamp"):
        return "deleting"
    if not each.is_allocated:
        return "pending"
    return "reserved" if each.reserved_for else "allocated"


class ClaimDevice(TypedDict):
    request: str
    device: str
    pool: str
    admin: bool
    consumed: str


class ClaimRow(TypedDict):
    key: str
    name: str
    namespace: str
    short: str
    state: str
    word: str
    owner: PodRef | None
    asks: list[str]
    node: str
    devices: list[ClaimDevice]
    pods: list[PodRef]


def row(each: ResourceClaim) -> ClaimRow:
    state = state_of(each)
    return {
        "key": each.key,
        "name": each.name,
        "namespace": each.namespace,
        "short": short(each.key),
        "state": state,
        "word": STATES[state],
        "owner": owner_of(each),
        "asks": [ask for request in each.requests for ask in _asks(request)],
        "node": node_of(each.allocation),
        "devices": [
            {
                "request": result.request,
                "device": result.device.device,
                "pool": f"{result.device.driver}/{result.device.pool}",
                "admin": result.admin,
                "consumed": ", ".join(f"{n} {a.text()}" for n, a in (result.consumed or {}).items()),
            }
            for result in each.results
        ],
        "pods": [pod_ref(pod) for pod in pods_of(each)],
    }


def owner_of(each: ResourceClaim) -> PodRef | None:
    """Return the pod for which a claim was created from a template, or None."""
    for owner in each.manifest["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") == "Pod":
            return pod_ref(f"{each.namespace}/{owner.get('name')}")
    return None


def node_of(allocation: Manifest | None) -> str:
    """Return the only node that can use an allocation, or "" if there are several or no allocation."""
    selector = (allocation or {}).get("nodeSelector") or {}
    for term in selector.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            values = list(field.get("values") or ())
            if field.get("key") == "metadata.name" and len(values) == 1:
                return str(values[0])
    return ""


def _asks(request: Any) -> list[str]:
    if request.exactly is not None:
        return [f"{request.name}: {_ask(request.exactly)}"]
    return [f"{request.name}/{ask.name}: {_ask(ask)}" for ask in request.alternatives]


def _ask(ask: Any) -> str:
    return f"{'all' if ask.all_devices else ask.count} × {ask.class_name}"


def _matches(each: ResourceClaim, q: str) -> bool:
    return (
        q in each.key
        or any(q in pod for pod in pods_of(each))
        or any(q in str(result.device) for result in each.results)
    )


# The history of a claim


class ClaimEvent(TypedDict):
    at: int
    t: str
    said: list[Message]


class ClaimPage(TypedDict):
    """One claim, if it exists now, and its events since a position."""

    claim: ClaimRow | None
    key: str
    events: list[ClaimEvent]
    since: int


_CREATED = gettext_noop("Created. No device is allocated yet.")
_MADE = gettext_noop("Created.")
_CREATED_FOR = gettext_noop("The resource claim controller created the claim from a template for pod %(pod)s.")
_PROTECTED = gettext_noop("The scheduler added its finalizer, so that the claim is not deleted while in use.")
_ALLOCATED = gettext_noop("%(devices)s on %(node)s allocated.")
_ALLOCATED_ANYWHERE = gettext_noop("%(devices)s allocated.")
_RESERVED = gettext_noop("Reserved for %(pod)s, which can use the devices from now on.")
_DEALLOCATED = gettext_noop("Deallocated. The devices are free again.")
_ENDING = gettext_noop("Deletion requested. The claim is removed once its finalizers are removed.")
_FINALIZER = "resource.kubernetes.io/delete-protection"


def describe_changes(before: Manifest | None, after: Manifest | None) -> list[Message]:
    """Return sentences that explain a change of a claim; empty if nothing relevant changed."""
    if after is None:
        return [message("Deleted.")] if before is not None else []
    now = ResourceClaim.of(after)
    if before is None:
        owner = owner_of(now)
        made = (
            message(_CREATED_FOR, pod=owner["name"])
            if owner
            else message(_CREATED if state_of(now) == "pending" else _MADE)
        )
        return [made, *_steps(None, now)]
    return _steps(ResourceClaim.of(before), now)


def _steps(was: ResourceClaim | None, now: ResourceClaim) -> list[Message]:
    return [*_protection(was, now), *_allocation(was, now), *_reservations(was, now), *_deletion(was, now)]


def _protection(was: ResourceClaim | None, now: ResourceClaim) -> list[Message]:
    had = was is not None and _FINALIZER in (was.manifest["metadata"].get("finalizers") or ())
    has = _FINALIZER in (now.manifest["metadata"].get("finalizers") or ())
    return [message(_PROTECTED)] if has and not had else []


def _allocation(was: ResourceClaim | None, now: ResourceClaim) -> list[Message]:
    if now.is_allocated and (was is None or not was.is_allocated):
        devices = ", ".join(result.device.device for result in now.results) or "–"
        node = node_of(now.allocation)
        return [
            message(_ALLOCATED, devices=devices, node=node) if node else message(_ALLOCATED_ANYWHERE, devices=devices)
        ]
    return [message(_DEALLOCATED)] if was is not None and was.is_allocated and not now.is_allocated else []


def _reservations(was: ResourceClaim | None, now: ResourceClaim) -> list[Message]:
    had, has = pods_of(was) if was is not None else (), pods_of(now)
    came = [message(_RESERVED, pod=short(pod)) for pod in has if pod not in had]
    return [*(message("No longer reserved for %(pod)s.", pod=short(pod)) for pod in had if pod not in has), *came]


def _deletion(was: ResourceClaim | None, now: ResourceClaim) -> list[Message]:
    had = was is not None and bool(was.manifest["metadata"].get("deletionTimestamp"))
    return [message(_ENDING)] if now.manifest["metadata"].get("deletionTimestamp") and not had else []
