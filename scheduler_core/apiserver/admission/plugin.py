"""What an admission plugin is, and the request that it sees.

kube: apiserver/pkg/admission/interfaces.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind, reference
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.status import Refused, forbidden
from scheduler_core.apiserver.store import Store

Operation = Literal["CREATE", "UPDATE", "DELETE"]
ADMIN = ""


@dataclass(slots=True)  # an import makes one for each object, and frozen ones take three times as long to make
class Request:
    """One write; nobody changes it. `old` is None on CREATE. `user` "" is the cluster's administrator, "system:node:NAME" a kubelet.

    `dry_run` must leave nothing behind. `imported`: the object is said to be there, with whatever its cluster made of it, and is not new.
    `restored`: it comes with a uid even: it was admitted where it comes from, and need not fit again.
    """

    store: Store
    options: APIServerOptions
    now: int
    operation: Operation
    kind: Kind
    namespace: str
    name: str
    old: Manifest | None = None
    subresource: str = ""
    user: str = ADMIN
    dry_run: bool = False
    imported: bool = False
    restored: bool = False

    @property
    def what(self) -> str:
        """The object as errors name it."""
        return reference(self.kind.key, self.namespace, self.name)

    def refuse(self, why: str, causes: tuple[str, ...] = ()) -> Refused:
        """403 with kube's words."""
        answer = forbidden(self.kind.resource, self.name, why)
        return Refused.because(replace(answer, causes=causes), self.what)

    def in_namespace(self, kind: str) -> list[Manifest]:
        """The objects of a kind in the request's namespace, by name."""
        if not self.store.count(kind):
            return []
        return [each for each in self.store.list(kind) if each["metadata"].get("namespace") == self.namespace]


class AdmissionPlugin:
    """One plugin; what it has no say in it leaves alone. Nothing is kept between requests."""

    name: ClassVar[str]
    on_by_default: ClassVar[bool] = True
    of_restored: ClassVar[bool] = False  # is asked about restored objects too
    # what it says of a new pod follows from namespace, spec and other kinds' objects
    pods_by_spec: ClassVar[bool] = False

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        """The object as the plugin would have it (nothing is changed in place). Refused."""
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        """A look at the object as it would be stored; on DELETE at what would go. Refused."""

    def commit(self, request: Request, manifest: Manifest) -> None:
        """Writes what goes along with the object, once nothing can refuse it any more."""
