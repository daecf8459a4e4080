"""What an admission plugin is, and the request that it sees.

kube: apiserver/pkg/admission/interfaces.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from scheduler_core.api.kinds import Kind
from scheduler_core.api.options import APIServerOptions
from scheduler_core.api.status import Refused, forbidden
from scheduler_core.api.store import Store

Manifest = Mapping[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE"]
ADMIN = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One write. `old` is None on CREATE. `user` "" is the cluster's administrator, "system:node:NAME" a kubelet.

    `dry_run` must leave nothing behind.
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

    def refuse(self, why: str) -> Refused:
        """403 with kube's words."""
        return Refused.because(forbidden(self.kind.resource, self.name, why), f"{self.kind.key} {self.name}")


class AdmissionPlugin:
    """One plugin; what it has no say in it leaves alone. Nothing is kept between requests."""

    name: ClassVar[str]
    on_by_default: ClassVar[bool] = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        """The object as the plugin would have it (nothing is changed in place). Refused."""
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        """A look at the object as it would be stored; on DELETE at what would go. Refused."""
