"""What a write does to a resource claim, for the record of the call."""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND
from scheduler_core.apimachinery.objects.manifest import Manifest

PROTECTED, UNPROTECTED = "protected", "unprotected"
ALLOCATED, DEALLOCATED = "allocated", "deallocated"
RESERVED, RELEASED = "reserved", "released"


class Effects(NamedTuple):
    """`devices`: driver/pool/device of what is allocated or deallocated."""

    effects: list[str] | None = None
    devices: list[str] | None = None


NONE = Effects()


def effects_of(before: Manifest | None, after: Manifest | None) -> Effects:
    """Return the effects of replacing one claim version with another; NONE for objects of other kinds."""
    if before is None or after is None or after.get("kind") != KIND:
        return NONE
    had, has = _status(before), _status(after)
    effects = _protection(before, after)
    given, devices = has.get("allocation"), None
    if given is not None and had.get("allocation") is None:
        effects.append(ALLOCATED)
        devices = _devices(given)
    elif given is None and had.get("allocation") is not None:
        effects.append(DEALLOCATED)
        devices = _devices(had["allocation"])
    users, now = _users(had), _users(has)
    if now - users:
        effects.append(RESERVED)
    if users - now and DEALLOCATED not in effects:
        effects.append(RELEASED)
    return Effects(effects or None, devices or None)


def _status(claim: Manifest) -> Manifest:
    return claim.get("status") or {}


def _protection(before: Manifest, after: Manifest) -> list[str]:
    had = FINALIZER in (before["metadata"].get("finalizers") or ())
    has = FINALIZER in (after["metadata"].get("finalizers") or ())
    return [PROTECTED if has else UNPROTECTED] if had != has else []


def _users(status: Manifest) -> frozenset[str]:
    return frozenset(str(each.get("uid")) for each in status.get("reservedFor") or ())


def _devices(allocation: Manifest) -> list[str]:
    results = (allocation.get("devices") or {}).get("results") or ()
    return ["/".join(str(each.get(part) or "") for part in ("driver", "pool", "device")) for each in results]
