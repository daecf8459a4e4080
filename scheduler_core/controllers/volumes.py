"""A minimal controller of volumes: binds claims to volumes, has volumes made for claims, and lets them go.

Like the kubelet it keeps nothing: watch events are answered with timers, and a fired timer looks at the store anew. A claim is
bound to the smallest volume that suits it, or gets a new one from its class' provisioner; where its class waits for a consumer, it
is bound only to a volume that is meant for it, as the scheduler chooses the others. Claims of generic ephemeral volumes come and go
with their pods.

DEVIATION: new volumes never fail to be made and use up no CSIStorageCapacity; a claim without a class gets the default class a moment after
it was created; volumes in use are not protected against deletion.

kube: pkg/controller/volume/persistentvolume/pv_controller.go, pkg/controller/volume/ephemeral/controller.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.api.store import Store
from scheduler_core.api.watch import ADDED, DELETED, WatchEvent
from scheduler_core.controllers import volume_work as work
from scheduler_core.controllers.kubelet import Action, Timer
from scheduler_core.objects.pod import Pod
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
    owned_by,
    volume_name,
    volumes_of,
)
from scheduler_core.objects.times import SECOND

BIND_LATENCY = SECOND // 10
PROVISION_LATENCY = 2 * SECOND

EPHEMERAL, COLLECT, RELEASE, OFFER = "ephemeral", "collect", "release", "offer"


def on_watch(store: Store, event: WatchEvent, now: int) -> list[Timer]:
    """Timers that a change asks for."""
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
    return [Timer(now, (RELEASE, name_of(volume), _uid(volume)))]


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
    if event.new is not None and work.taker(store, volume) is not None:
        timers.append(Timer(now + BIND_LATENCY, (OFFER, name_of(volume), _uid(volume))))
    return timers


def _for_claims(store: Store, claims: Iterable[Manifest], now: int) -> list[Timer]:
    timers = []
    for claim in claims:
        what = work.wanted(store, claim)
        if what:
            timers.append(Timer(now + _LATENCY.get(what, 0), (what, key_of(claim), _uid(claim))))
    return timers


_LATENCY = {work.BIND: BIND_LATENCY, work.PROVISION: PROVISION_LATENCY}


def _on_pod(store: Store, event: WatchEvent, now: int) -> list[Timer]:
    pod = event.old_pod if event.new_pod is None else event.new_pod
    if pod is None or not any(use.ephemeral for use in volumes_of(pod.spec).claims):
        return []
    if event.type == DELETED:
        gone = (store.get(CLAIM, pod.namespace, use.name(pod)) for use in volumes_of(pod.spec).claims)
        mine = [claim for claim in gone if claim is not None and owned_by(claim, pod)]
        return [Timer(now, (COLLECT, key_of(claim), _uid(claim))) for claim in mine]
    return [Timer(now, (EPHEMERAL, pod.key, pod.uid))] if event.type == ADDED else []


def stands(store: Store, action: Action) -> bool:
    """Whether a timer still has something to do."""
    what, key, uid = str(action[0]), str(action[1]), str(action[2])
    if what == EPHEMERAL:
        pod = _pod(store, key, uid)
        return pod is not None and not pod.terminal and bool(work.missing_claims(store, pod))
    if what in (RELEASE, OFFER):
        volume = store.get(VOLUME, "", key)
        if volume is None or not _same(volume, uid):
            return False
        return what == RELEASE or work.taker(store, volume) is not None
    claim = _claim(store, key)
    if claim is None or not _same(claim, uid):
        return False
    return what == COLLECT or work.wanted(store, claim) == what


def fire(store: Store, action: Action, now: int) -> None:
    """Carries out a timer; nothing happens where it no longer stands."""
    if not stands(store, action):
        return
    what, key, uid = str(action[0]), str(action[1]), str(action[2])
    if what == EPHEMERAL:
        pod = _pod(store, key, uid)
        assert pod is not None
        work.create_claims(store, pod, now)
        return
    if what == RELEASE:
        work.release(store, key)
        return
    if what == OFFER:
        work.offer(store, key, now)
        return
    claim = _claim(store, key)
    assert claim is not None
    if what == COLLECT:
        store.remove(CLAIM, *key.split("/", 1))
    else:
        work.do(store, what, claim, now)


def _pod(store: Store, key: str, uid: str) -> Pod | None:
    pod = store.pod_at(key)
    return pod if pod is not None and pod.uid == uid else None


def _claim(store: Store, key: str) -> Manifest | None:
    namespace, _, name = key.partition("/")
    return store.get(CLAIM, namespace, name)


def _same(manifest: Manifest | None, uid: str) -> bool:
    return manifest is not None and _uid(manifest) == uid


def _uid(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("uid") or "")
