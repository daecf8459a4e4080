"""Drafts of fixes: edited copies of manifests that might let a pod fit on a node that rejected it. This module does not verify them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from shlex import quote
from typing import TYPE_CHECKING, Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.spec import canonical

if TYPE_CHECKING:
    from scheduler_core.apimachinery.objects.node import Node
    from scheduler_core.apimachinery.objects.pod import Pod
    from scheduler_core.scheduler.cache.table import NodeTable
    from scheduler_core.scheduler.framework.cycle_state import CycleState
    from scheduler_core.scheduler.framework.status import Status

Edit = Callable[[dict[str, Any]], None]  # changes a copy of a manifest in place


def edit_at(*path: str | int, **fields: Any) -> Edit:
    """Return an edit that sets the fields at the path, and removes the fields that are None."""

    def edit(manifest: dict[str, Any]) -> None:
        place: Any = reduce(getitem, path, manifest)  # type: ignore[arg-type]
        for name, value in fields.items():
            if value is None:
                place.pop(name, None)
            else:
                place[name] = value

    return edit


def cut(*path: str | int) -> Edit:
    """Return an edit that removes the value at the path."""

    def edit(manifest: dict[str, Any]) -> None:
        place: Any = reduce(getitem, path[:-1], manifest)  # type: ignore[arg-type]
        del place[path[-1]]

    return edit


# Kinds of changes by their harm to others, the least first; within it, the less invasive ones first. Removing a protection that an
# owner configured comes last, because it defeats the protection's purpose.
_KINDS = {
    "mends": """
        scheduler profile node-name claim-name volume-name unit os topology-key driver-name slices selected-node
        claim class default-class driver-class claim-class namespaces ready capacity storage-capacity
        taint-left recreate old-revision order own-claim pool node-selector priority-class runtime-class-name
        runtime-class-made name service-account claim-template security-context limits job-anew failure-rule
        left-to-admission retry sidecar pod-label policy-field other-labels claim-volume config-key config-object platform user host-path
        pull-policy pull-secret setting detach
    """,
    "allows": """
        wait gates uncordon toleration-effect toleration policy match-label-keys release volume-labels volume-modes
        selector-value resource-name term-value label namespace-label device-toleration topologies enable
        daemon-selector driver-nodes
        quota limit-range limit-range-bound rollout runtime-class quota-scope unready-eviction one-budget replicas
        field priority-class-left parallel resume recreate-strategy partition next-revision update-strategy undo namespace-selector
        failure-policy members allowed-tolerations outside
    """,
    "adds": """
        volume node nodes attach-limit
    """,
    "lessens": """
        fewer-replicas harden devices device-class device-selector device-constraint port request overhead claim-size
        claim-mode without-claims
    """,
    "displaces": """
        force-delete delete drain free-quota free-claim delete-job delete-daemons out-of-service no-execute budget move resize
        free partner-priority priority remove-node
    """,
    "defeats": """
        finalizer security-level skew min-domains unlabel volume-label taint selector topology runtime-class-left
        policy-binding soften claim-anew claim-beside configuration extender disable
    """,
}
HARMS: Mapping[str, tuple[str, ...]] = {harm: tuple(kinds.split()) for harm, kinds in _KINDS.items()}
KINDS = tuple(kind for kinds in HARMS.values() for kind in kinds)
_HARM = {kind: rank for rank, kinds in enumerate(HARMS.values()) for kind in kinds}


@dataclass(frozen=True, slots=True)
class Change:
    """One change. `kind` is one of KINDS, `values` its JSON-safe details, `amount` its size (0..1)."""

    kind: str
    values: Mapping[str, Any]
    amount: float = 0.0

    @property
    def cost(self) -> tuple[int, float]:
        return KINDS.index(self.kind), self.amount

    @property
    def harm(self) -> int:
        """The rank of the kind's harm; 0: no harm."""
        return _HARM[self.kind]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": dict(self.values)}


@dataclass(frozen=True, slots=True)
class Draft:
    """The changes so far. `pod`, `nodes`, `objects` and `others` are edited manifests; `target` is the intended node ("": any).

    `objects` are created or changed in place, `others` cannot be changed and are recreated. `deleted` are pods (namespace, name) to
    delete. `patched`: strategic patches, each with kind, namespace, name and subresource. `configuration`: a scheduler's, by its name.
    `typed`: kubectl commands whose effect only running them shows.
    """

    original: Manifest  # of the pod
    changes: tuple[Change, ...] = ()
    pod: Manifest | None = None
    nodes: tuple[tuple[str, Manifest], ...] = ()
    deleted: tuple[tuple[str, str], ...] = ()
    target: str = ""
    others: tuple[Manifest, ...] = ()
    objects: tuple[Manifest, ...] = ()
    patched: tuple[tuple[tuple[str, str, str, str], Manifest], ...] = ()
    configuration: tuple[str, Manifest] | None = None
    typed: tuple[str, ...] = ()
    patient: bool = False  # it takes virtual time: only a run shows whether it helps

    @property
    def cost(self) -> tuple[int, int, float]:
        """Fewer changes first, then the less invasive ones, then the smaller ones."""
        costs = [change.cost for change in self.changes]
        return len(costs), sum(rank for rank, _ in costs), sum(amount for _, amount in costs)

    @property
    def harm(self) -> int:
        """The harm of the most harmful change."""
        return max((change.harm for change in self.changes), default=0)

    @property
    def fingerprint(self) -> str:
        """A key that is equal for drafts with the same changes."""
        return canonical([change.to_json() for change in self.changes])

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(change.kind for change in self.changes)

    @property
    def is_of_pod_alone(self) -> bool:
        """Return True if nothing but the pod's own manifest is changed."""
        rest = self.nodes or self.deleted or self.others or self.objects or self.patched or self.typed
        return not rest and self.configuration is None

    def aimed_at(self, node: str) -> Draft:
        return replace(self, target=node)

    def with_pod(self, change: Change, edit: Edit) -> Draft:
        """Add a change of the pod's manifest."""
        manifest = copy.deepcopy(dict(self.pod or self.original))
        edit(manifest)
        return replace(self, changes=(*self.changes, change), pod=manifest)

    def with_node(self, change: Change, node: Manifest, edit: Edit) -> Draft:
        """Add a change of a node's manifest, or a new node."""
        manifest = copy.deepcopy(dict(node))
        name = str(manifest["metadata"]["name"])
        known = dict(self.nodes)
        if name in known:
            manifest = copy.deepcopy(dict(known[name]))
        edit(manifest)
        known[str(manifest["metadata"]["name"])] = manifest
        return replace(self, changes=(*self.changes, change), nodes=tuple(known.items()))

    def with_object(self, change: Change, manifest: Manifest) -> Draft:
        """Add a change: recreate an object."""
        return replace(self, changes=(*self.changes, change), others=_with(self.others, manifest))

    def taking_time(self) -> Draft:
        return replace(self, patient=True)

    def with_applied(self, change: Change, *manifests: Manifest) -> Draft:
        """Add a change: create objects, or change them in place."""
        objects = self.objects
        for manifest in manifests:
            objects = _with(objects, manifest)
        return replace(self, changes=(*self.changes, change), objects=objects)

    def beside_anew(self, manifest: Manifest) -> Draft:
        """Recreate another object with the same change."""
        return replace(self, others=_with(self.others, manifest))

    def beside(self, manifest: Manifest) -> Draft:
        """Create or change another object with the same change."""
        return replace(self, objects=_with(self.objects, manifest))

    def with_patch(self, change: Change, target: tuple[str, str, str, str], patch: Manifest) -> Draft:
        patched = (*self.patched, (target, patch))
        return replace(self, changes=(*self.changes, change), patched=patched, patient=True)

    def patching(self, change: Change, target: str, patch: Any, *more: str) -> Draft:
        """Add a change: a JSON merge patch of the object that kubectl calls `target`, and further kubectl commands."""
        return self.typing(change, f"kubectl patch {target} --type=merge -p {quote(json.dumps(patch))}", *more)

    def typing(self, change: Change, *calls: str) -> Draft:
        """Add a change: kubectl commands as printed."""
        return replace(self, changes=(*self.changes, change), typed=(*self.typed, *calls), patient=True)

    def with_configuration(self, change: Change, scheduler: str, configuration: Manifest) -> Draft:
        return replace(self, changes=(*self.changes, change), configuration=(scheduler, configuration))

    def without_pods(self, change: Change, pods: tuple[tuple[str, str], ...]) -> Draft:
        """Add a change: delete pods after all other changes."""
        return replace(self, changes=(*self.changes, change), deleted=pods, patient=True)


def _with(manifests: tuple[Manifest, ...], new: Manifest) -> tuple[Manifest, ...]:
    return (*(each for each in manifests if _names(each) != _names(new)), new)


def _names(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace"), metadata["name"]


@dataclass(frozen=True, slots=True)
class RefusalSource:
    """The source of a refusal: a scheduler's profile and the scheduler's configuration (None: kube's default)."""

    scheduler: str = ""
    profile: str = ""
    configuration: Manifest | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row of the snapshot that refuses the pod, with the state that the filters left."""

    pod: Pod
    nodes: NodeTable
    state: CycleState
    row: int
    status: Status
    asked: RefusalSource = RefusalSource()

    @property
    def node(self) -> Node:
        return self.nodes.nodes[self.row]
