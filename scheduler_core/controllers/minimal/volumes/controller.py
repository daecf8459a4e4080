"""A minimal controller of volumes: binds claims to volumes, has volumes made for claims, and lets them go.

A claim is bound to the smallest volume that suits it, or gets a new one from its class' provisioner; where its class waits for a
consumer, it is bound only to a volume that is meant for it, as the scheduler chooses the others. Claims of generic ephemeral volumes come
and go with their pods.

DEVIATION: new volumes never fail to be made and use up no CSIStorageCapacity; a claim without a class gets the default class a moment after
it was created; volumes in use are not protected against deletion.

kube: pkg/controller/volume/persistentvolume/pv_controller.go, pkg/controller/volume/ephemeral/controller.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.api.store import Store
from scheduler_core.api.watch import ADDED, DELETED, WatchEvent
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.contract import Timer
from scheduler_core.controllers.minimal.volumes import claims
from scheduler_core.controllers.minimal.volumes.actions import (
    CollectClaim,
    CreateClaims,
    OfferVolume,
    ReleaseVolume,
    SettleClaim,
    uid_of,
)
from scheduler_core.objects.ownership import owned_by
from scheduler_core.objects.storage.volumes import (
    CLAIM,
    VOLUME,
    Manifest,
    claim_ref,
    class_of,
    fully_bound,
    is_for,
    key_of,
    name_of,
    volume_name,
    volumes_of,
)
from scheduler_core.objects.times import SECOND

BIND_LATENCY = SECOND // 10
PROVISION_LATENCY = 2 * SECOND


class VolumeController:
    """Claims, volumes and classes, and the claims of pods' ephemeral volumes."""

    name = claims.REPORTER
    settings = ()
    actions = (SettleClaim, CreateClaims, CollectClaim, ReleaseVolume, OfferVolume)
    event_reasons = (claims.CLAIM_LOST, claims.PROVISIONED, claims.NOT_PROVISIONED)

    def on_watch(self, store: Store, event: WatchEvent, now: int, settings: WorldSettings) -> list[Timer]:
        if event.kind == CLAIM:
            return _on_claim(store, event, now)
        if event.kind == VOLUME:
            return _on_volume(store, event, now)
        if event.kind == "StorageClass" and event.new is not None:
            waiting = [c for c in store.list(CLAIM) if class_of(c) in ("", event.name) and not fully_bound(c)]
            return _for_claims(store, waiting, now)
        if event.kind == "Pod":
            return _on_pod(store, event, now)
        return []


def _on_claim(store: Store, event: WatchEvent, now: int) -> list[Timer]:
    if event.type != DELETED:
        return [] if event.new is None else _for_claims(store, [event.new], now)
    assert event.old is not None
    volume = store.get(VOLUME, "", volume_name(event.old))
    if volume is None or not is_for(volume, event.old):
        return []
    return [Timer(now, ReleaseVolume(name_of(volume), uid_of(volume)))]


def _on_volume(store: Store, event: WatchEvent, now: int) -> list[Timer]:
    """For the claim that a volume is meant for; one that is nobody's is offered to those that suit it."""
    volume = event.old if event.new is None else event.new
    assert volume is not None
    ref = claim_ref(volume)
    if ref is not None:
        claim = store.get(CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
        return [] if claim is None else _for_claims(store, [claim], now)
    asking = [c for c in store.list(CLAIM) if volume_name(c) == name_of(volume)]
    timers = _for_claims(store, asking, now)
    if event.new is not None and claims.taker(store, volume) is not None:
        timers.append(Timer(now + BIND_LATENCY, OfferVolume(name_of(volume), uid_of(volume))))
    return timers


def _for_claims(store: Store, manifests: Iterable[Manifest], now: int) -> list[Timer]:
    timers = []
    for claim in manifests:
        work = claims.wanted(store, claim)
        if work:
            timers.append(Timer(now + _LATENCY.get(work, 0), SettleClaim(key_of(claim), uid_of(claim), work)))
    return timers


_LATENCY = {claims.BIND: BIND_LATENCY, claims.PROVISION: PROVISION_LATENCY}


def _on_pod(store: Store, event: WatchEvent, now: int) -> list[Timer]:
    pod = event.old_pod if event.new_pod is None else event.new_pod
    if pod is None or not any(use.ephemeral for use in volumes_of(pod.spec).claims):
        return []
    if event.type == DELETED:
        gone = (store.get(CLAIM, pod.namespace, use.name(pod)) for use in volumes_of(pod.spec).claims)
        mine = [claim for claim in gone if claim is not None and owned_by(claim, pod)]
        return [Timer(now, CollectClaim(key_of(claim), uid_of(claim))) for claim in mine]
    return [Timer(now, CreateClaims(pod.key, pod.uid))] if event.type == ADDED else []
