"""The state of the volume controllers: which pods use which claims, which volumes are attached, and the last Events."""

from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.apiserver.store import Store
from scheduler_core.base.state import Copied, Derived, State


def claims_of(pod: Pod) -> list[str]:
    """Return the keys of the claims that a pod names, including those of its ephemeral volumes."""
    return [f"{pod.namespace}/{use.name(pod)}" for use in volumes_of(pod.spec).claims]


@dataclass(slots=True)
class ClaimUsers(State):
    """An index of pods by their claims, built from the store at the first use and updated afterwards."""

    by_claim: Derived[dict[str, dict[str, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def claims_of(self, pod: Pod) -> list[str]:
        """Return the keys of a pod's claims that this index covers."""
        return claims_of(pod) if pod.spec.volumes else []

    def forget(self) -> None:
        """Drop the index, so that it is built again."""
        self.by_claim, self.made = {}, 0

    def of(self, store: Store, claim: str) -> list[Pod]:
        """Return the pods that name a claim, by name."""
        if not self.made:
            self.made = 1
            for pod in store.pods():
                self.follow(None, pod)
        pods = [store.pod_at(key) for key in sorted(self.by_claim.get(claim, ()))]
        return [pod for pod in pods if pod is not None]

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Update the index after a change of a pod. A repeated event has no effect."""
        if not self.made:
            return
        after = [] if new is None else self.claims_of(new)
        if old is not None:
            for claim in self.claims_of(old):
                if claim not in after:
                    self._drop(claim, old)
        if new is not None:
            for claim in after:
                self.by_claim.setdefault(claim, {})[new.key] = None

    def _drop(self, claim: str, pod: Pod) -> None:
        users = self.by_claim.get(claim, {})
        users.pop(pod.key, None)
        if not users:
            self.by_claim.pop(claim, None)


@dataclass(slots=True)
class Volumes(State):
    """The state of the volume controllers. `said`: the last Event about an object, so that it is not repeated.

    Of the attach/detach controller: names of VolumeAttachments by volume, those whose success has no Event yet, and since when those
    without users are to be detached (ns); by "volume/node" the reported Multi-Attach errors, and when the last pod left (ns).
    """

    users: Copied[ClaimUsers] = field(default_factory=ClaimUsers)
    said: Copied[dict[str, str]] = field(default_factory=dict)
    attachments: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)
    attaching: Copied[dict[str, bool]] = field(default_factory=dict)
    detaching: Copied[dict[str, int]] = field(default_factory=dict)
    refused: Copied[dict[str, bool]] = field(default_factory=dict)
    left: Copied[dict[str, int]] = field(default_factory=dict)

    def follow(self, volume: str, attachment: str, is_there: bool) -> None:
        """Update the index after a change of a VolumeAttachment."""
        others = [name for name in self.attachments.get(volume, ()) if name != attachment]
        names = (*others, attachment) if is_there else tuple(others)
        self.attachments[volume] = names
        if not names:
            del self.attachments[volume]
        if not is_there:
            self.attaching.pop(attachment, None)
            self.detaching.pop(attachment, None)
