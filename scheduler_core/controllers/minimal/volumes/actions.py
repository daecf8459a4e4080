"""What the controller of volumes has on the agenda."""

from __future__ import annotations

from scheduler_core.api.store import Store
from scheduler_core.controllers.minimal.contract import ControllerAction
from scheduler_core.controllers.minimal.volumes import claims
from scheduler_core.controllers.storage import missing_claims
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.storage.volumes import CLAIM, VOLUME, Manifest


class SettleClaim(ControllerAction, frozen=True):
    """Does what a claim wants: gives it a class, binds it, has a volume made for it, or takes it for lost."""

    claim: str
    uid: str
    work: str

    def stands(self, store: Store) -> bool:
        """the claim wants this still"""
        claim = _claim(store, self.claim, self.uid)
        return claim is not None and claims.wanted(store, claim) == self.work

    def run(self, store: Store, now: int) -> None:
        claim = _claim(store, self.claim, self.uid)
        if claim is not None and self.stands(store):
            claims.do(store, self.work, claim, now)


class CreateClaims(ControllerAction, frozen=True):
    """Creates the claims of a pod's ephemeral volumes."""

    pod: str
    uid: str

    def stands(self, store: Store) -> bool:
        """the pod lacks one"""
        pod = self._pod(store)
        return pod is not None and not pod.terminal and bool(missing_claims(store, pod))

    def run(self, store: Store, now: int) -> None:
        pod = self._pod(store)
        if pod is not None and self.stands(store):
            claims.create_claims(store, pod, now)

    def _pod(self, store: Store) -> Pod | None:
        pod = store.pod_at(self.pod)
        return pod if pod is not None and pod.uid == self.uid else None


class CollectClaim(ControllerAction, frozen=True):
    """Removes a claim whose pod has gone."""

    claim: str
    uid: str

    def stands(self, store: Store) -> bool:
        """the claim is there"""
        return _claim(store, self.claim, self.uid) is not None

    def run(self, store: Store, now: int) -> None:
        if self.stands(store):
            store.remove(CLAIM, *self.claim.split("/", 1))


class ReleaseVolume(ControllerAction, frozen=True):
    """Deletes a volume whose claim has gone, or keeps it aside, as its reclaim policy says."""

    volume: str
    uid: str

    def stands(self, store: Store) -> bool:
        """the volume is there"""
        return _volume(store, self.volume, self.uid) is not None

    def run(self, store: Store, now: int) -> None:
        if self.stands(store):
            claims.release(store, self.volume)


class OfferVolume(ControllerAction, frozen=True):
    """Binds claims that a volume suits."""

    volume: str
    uid: str

    def stands(self, store: Store) -> bool:
        """a claim would take the volume"""
        volume = _volume(store, self.volume, self.uid)
        return volume is not None and claims.taker(store, volume) is not None

    def run(self, store: Store, now: int) -> None:
        if self.stands(store):
            claims.offer(store, self.volume, now)


def uid_of(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("uid") or "")


def _claim(store: Store, key: str, uid: str) -> Manifest | None:
    claim = store.get(CLAIM, *key.split("/", 1))
    return claim if claim is not None and uid_of(claim) == uid else None


def _volume(store: Store, name: str, uid: str) -> Manifest | None:
    volume = store.get(VOLUME, "", name)
    return volume if volume is not None and uid_of(volume) == uid else None
