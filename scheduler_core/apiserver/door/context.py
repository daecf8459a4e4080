"""The context of a request that changes objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.answers import Reply
from scheduler_core.apiserver.door.events import convert
from scheduler_core.apiserver.door.reading import Form, show
from scheduler_core.apiserver.door.resources import EVENTS, Resource, Target
from scheduler_core.apiserver.door.warnings import list_warnings
from scheduler_core.apiserver.server import APIServer


@dataclass
class Context:
    """The context of a request: its target, and the warnings for its answer."""

    api: APIServer
    resource: Resource
    target: Target
    query: Mapping[str, str]
    method: str = "POST"
    form: Form = "object"
    agent: str = ""
    warnings: list[str] = field(default_factory=list)
    version: str = ""  # the resourceVersion before an update

    @property
    def now(self) -> int:
        """The present time (ns since 1970)."""
        return self.api.store.epoch + self.api.now

    @property
    def manager(self) -> str:
        """The field manager of the request."""
        return self.query.get("fieldManager") or self.agent or "unknown"

    @property
    def is_custom(self) -> bool:
        return self.resource.definition is not None

    @property
    def place(self) -> tuple[str, str, str]:
        return (self.resource.key, self.target.namespace, self.target.name)

    def warn(self, old: Manifest | None, new: Manifest) -> None:
        """Add the warnings about a stored object."""
        if not self.is_custom and not self.target.subresource:
            self.warnings += list_warnings(self.resource.kind, old, new)

    def answer(self, status: int, manifest: Manifest) -> Reply:
        """Return the answer with an object."""
        if self.resource.key == EVENTS and self.resource.group:
            manifest = convert(manifest)
        if self.query.get("dryRun"):
            meta = {**manifest["metadata"], "resourceVersion": self.version}
            manifest = {**manifest, "metadata": meta}
        body = show(self.resource, manifest, self.form, self.now, self.query.get("includeObject", ""))
        return Reply(status, body, headers=self.headers)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers with the warnings so far."""
        return [("Warning", f'299 - "{escape(each)}"') for each in self.warnings]


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
