"""The effect of DELETE: removes an object, or marks it if a grace period or a finalizer delays the removal.

kube: apiserver/pkg/registry/generic/registry/store.go (Delete), apiserver/pkg/registry/rest/delete.go (BeforeDelete),
pkg/registry/core/pod/strategy.go (CheckGracefulDelete), pkg/registry/core/namespace/storage/storage.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Manifest, parse_time
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.store import Store

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_POLICIES = {"Orphan": ORPHAN, "Foreground": FOREGROUND, "Background": ""}
_ORPHANED_BY_DEFAULT = ("Job", "ReplicationController")  # for compatibility with old clients
_DEFAULT_GRACE = 30


def delete(store: Store, kind: Kind, old: Manifest, now: int, grace: int | None, propagation: str) -> None:
    """Remove the object, or mark it. `grace`: seconds, for pods only; `propagation`: Background, Foreground, Orphan, or ""."""
    meta = old["metadata"]
    if kind.key == "Namespace" and (meta.get("deletionTimestamp") is None or _has_spec_finalizers(old)):
        _end_namespace(store, old, now, propagation)
        return
    marks = _marks(store, old, now, grace) if kind.key == "Pod" else {}
    if marks is None:
        return
    finalizers = _finalizers(kind, old, propagation)
    if not finalizers and not marks.get("deletionGracePeriodSeconds"):
        store.remove(kind.key, meta.get("namespace") or "", meta["name"])
        return
    if not marks:
        marks = _build_immediate_marks(store, old, now)
    if finalizers != list(meta.get("finalizers") or ()):
        marks["finalizers"] = finalizers
    if any(meta.get(name) != value for name, value in marks.items()):
        store.overwrite(with_section(old, "metadata", marks), kind.key)


def collect(store: Store, kind: Kind, stored: Manifest) -> None:
    """Remove an object after an update if it is marked as deleted and nothing delays its removal any more."""
    meta = stored["metadata"]
    if meta.get("deletionTimestamp") is None or meta.get("finalizers"):
        return
    # A pod that still has a grace period waits for the kubelet, whose DELETE with a period of 0 ends it.
    if meta.get("deletionGracePeriodSeconds") or (kind.key == "Namespace" and _has_spec_finalizers(stored)):
        return
    store.remove(kind.key, meta.get("namespace") or "", meta["name"])


def _marks(store: Store, old: Manifest, now: int, grace: int | None) -> dict[str, Any] | None:
    """Return the deletion marks of a pod: empty if its time is over, None if the marks do not change."""
    meta = old["metadata"]
    if meta.get("deletionTimestamp") is None:
        period = _grace(old, grace)
        return {
            "deletionTimestamp": store.timestamp(now + period * SECOND),
            "deletionGracePeriodSeconds": period,
            "generation": int(meta.get("generation") or 0) + 1,
        }
    pending = int(meta.get("deletionGracePeriodSeconds") or 0)
    if not pending:
        return {}
    if grace is None or (grace := 1 if grace < 0 else grace) >= pending:
        return None
    # kube counts a shortened period from the first DELETE, not from this one, but moves no timestamp into the past.
    end = parse_time(meta["deletionTimestamp"]) - store.epoch + (grace - pending) * SECOND
    if end < now:
        end, grace = now, min(grace, 1)
    return {"deletionTimestamp": store.timestamp(end), "deletionGracePeriodSeconds": grace}


def _grace(pod: Manifest, wanted: int | None) -> int:
    """Return a pod's grace period in seconds: 0 if the pod is unbound or has ended."""
    spec = pod.get("spec") or {}
    # No container is left to stop, so there is nothing to wait for (kube: CheckGracefulDelete).
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return 0
    if wanted is None:
        own = spec.get("terminationGracePeriodSeconds")
        wanted = _DEFAULT_GRACE if own is None else int(own)
    # Only a period of 0 skips the kubelet; a negative one, which old clients sent, has the effect of 1.
    return 1 if wanted < 0 else wanted


def _finalizers(kind: Kind, old: Manifest, propagation: str) -> list[str]:
    """Return the finalizers of an object that is being deleted: that of the policy replaces those of other policies."""
    given = list(old["metadata"].get("finalizers") or ())
    if propagation in _POLICIES:
        wanted = _POLICIES[propagation]
    elif ORPHAN in given or FOREGROUND in given:
        wanted = next(f for f in given if f in (ORPHAN, FOREGROUND))
    else:
        wanted = ORPHAN if kind.key in _ORPHANED_BY_DEFAULT else ""
    if wanted in given and not {ORPHAN, FOREGROUND} - {wanted} & set(given):
        return given
    kept = [f for f in given if f not in (ORPHAN, FOREGROUND)]
    return [*kept, wanted] if wanted else kept


def _build_immediate_marks(store: Store, old: Manifest, now: int) -> dict[str, Any]:
    """Return the deletion marks of an object whose removal only finalizers delay."""
    meta = old["metadata"]
    marks: dict[str, Any] = {"deletionGracePeriodSeconds": 0}
    if meta.get("deletionTimestamp") is None:
        marks["generation"] = int(meta.get("generation") or 0) + 1
        marks["deletionTimestamp"] = store.timestamp(now)
    elif parse_time(meta["deletionTimestamp"]) > store.epoch + now:
        marks["deletionTimestamp"] = store.timestamp(now)
    return marks


def _has_spec_finalizers(namespace: Manifest) -> bool:
    """Return whether a namespace has spec finalizers, which the controller removes once the namespace is empty."""
    return bool((namespace.get("spec") or {}).get("finalizers"))


def _end_namespace(store: Store, old: Manifest, now: int, propagation: str) -> None:
    """Mark a namespace as terminating, at the first request only."""
    if old["metadata"].get("deletionTimestamp") is not None:
        return
    wanted = _POLICIES.get(propagation)
    marks: dict[str, Any] = {"deletionTimestamp": store.timestamp(now)}
    if wanted is not None:
        kept = [f for f in old["metadata"].get("finalizers") or () if f not in (ORPHAN, FOREGROUND)]
        marks["finalizers"] = [*kept, wanted] if wanted else kept
    ending = with_section(with_section(old, "metadata", marks), "status", {"phase": "Terminating"})
    store.overwrite(ending, "Namespace")
