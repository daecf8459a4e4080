"""What controllers of volumes remember: which pods use which claims, which volumes are attached, and what they said last."""

from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.apiserver.store import Store
from scheduler_core.base.state import Copied, Derived, State


def claims_of(pod: Pod) -> list[str]:
    """Keys of the claims that a pod names, those of its ephemeral volumes too."""
    return [f"{pod.namespace}/{use.name(pod)}" for use in volumes_of(pod.spec).claims]


@dataclass(slots=True)
class ClaimUsers(State):
    """Pods by the claims that they name. It is made of the store when it is first asked for, and kept up with then."""

    by_claim: Derived[dict[str, dict[str, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def claims_of(self, pod: Pod) -> list[str]:
        """Keys of the claims that count here."""
        return claims_of(pod) if pod.spec.volumes else []

    def forget(self) -> None:
        """Has it made anew."""
        self.by_claim, self.made = {}, 0

    def of(self, store: Store, claim: str) -> list[Pod]:
        """The pods that name a claim, by name."""
        if not self.made:
            self.made = 1
            for pod in store.pods():
                self.follow(None, pod)
        pods = [store.pod_at(key) for key in sorted(self.by_claim.get(claim, ()))]
        return [pod for pod in pods if pod is not None]

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Keeps up with a change of a pod; hearing of it twice changes nothing."""
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
    """All of it. `said`: the last Event about an object, so that it is said once.

    Of the attach/detach controller: names of VolumeAttachments by volume, those whose success is not told yet, and since when those that
    nobody wants are to go (ns); by "volume/node" the Multi-Attach errors that were told, and when the last pod left (ns).
    """

    users: Copied[ClaimUsers] = field(default_factory=ClaimUsers)
    said: Copied[dict[str, str]] = field(default_factory=dict)
    attachments: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)
    attaching: Copied[dict[str, bool]] = field(default_factory=dict)
    detaching: Copied[dict[str, int]] = field(default_factory=dict)
    refused: Copied[dict[str, bool]] = field(default_factory=dict)
    left: Copied[dict[str, int]] = field(default_factory=dict)

    def follow(self, volume: str, attachment: str, is_there: bool) -> None:
        """Keep up with a VolumeAttachment."""
        others = [name for name in self.attachments.get(volume, ()) if name != attachment]
        names = (*others, attachment) if is_there else tuple(others)
        self.attachments[volume] = names
        if not names:
            del self.attachments[volume]
        if not is_there:
            self.attaching.pop(attachment, None)
            self.detaching.pop(attachment, None)
