"""Imports of existing objects, all or none, after a trial on a copy of the store.

The trial reports the outcome for each object, and contains the writes of the import.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, duplicate
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import ADMIN
from scheduler_core.apiserver.imports.items import CHANGED, CREATED, IGNORED, REFUSED, UNCHANGED
from scheduler_core.apiserver.kinds import describe, find_kind, is_own_group, key_of, kind_of
from scheduler_core.apiserver.pod_memo import PodMemo
from scheduler_core.apiserver.registry.strategies import apply_default_namespace
from scheduler_core.apiserver.rewriting import SERVER_OWNED, difference, without_owned
from scheduler_core.apiserver.schema.merging import BadPatch, apply_strategic_patch
from scheduler_core.apiserver.schema.table import type_of
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.steps import finish

MAX_ERRORS = 100  # of one object
PASSED_OVER = {"Event": "Events describe the past. This cluster creates its own Events"}
_FIRST = ("Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "RuntimeClass", "Node")
_RANK = {kind: rank for rank, kind in enumerate(_FIRST)} | {"Pod": len(_FIRST) + 1}


@dataclass(slots=True)
class Outcome:
    """The outcome of importing one object; `index` is its position in the input."""

    index: int
    submitted: Any
    action: str = REFUSED
    kind: str = ""
    namespace: str = ""
    name: str = ""
    changed: tuple[str, ...] = ()
    errors: tuple[FieldError, ...] = ()
    answer: Answer | None = None
    written: bool = False


@dataclass(slots=True)
class Trial:
    """The outcomes in the order of the input, the writes in their order, and the copy, made of a store at version `of`."""

    store: Store
    of: int
    outcomes: list[Outcome] = field(default_factory=list)
    events: Iterable[WatchEvent] = ()

    @property
    def is_whole(self) -> bool:
        """True if no refused object left a trace; the second of two objects of the same name leaves one."""
        return not any(each.written and each.errors for each in self.outcomes)


def apply(api: APIServer, manifests: Sequence[Manifest], user: str = ADMIN, create_only: bool = False) -> None:
    """Create new objects and update existing ones, referenced ones first. Raise Refused with all errors, with nothing changed.

    `create_only` refuses existing names.
    """
    if len(manifests) == 1:  # a single object needs no trial: if it is refused, nothing is written
        _demand([import_object(api, manifests[0], user, create_only)])
        return
    trial = run_trial(api, manifests, user, create_only)
    _demand(trial.outcomes)
    api.store.adopt(trial.events, trial.store)


def _demand(outcomes: Sequence[Outcome]) -> None:
    refused = [outcome for outcome in outcomes if outcome.errors]
    if refused:
        raise Refused([error for outcome in refused for error in outcome.errors], refused[0].answer)


def run_trial(api: APIServer, manifests: Sequence[Any], user: str = ADMIN, create_only: bool = False) -> Trial:
    """Import objects into a copy, referenced ones first. Skip refused objects. `create_only` refuses existing names."""
    return finish(try_out(api, manifests, user, create_only))


def try_out(
    api: APIServer, manifests: Sequence[Any], user: str = ADMIN, create_only: bool = False, epoch: int | None = None
) -> Generator[int, None, Trial]:
    """Import objects into a copy one by one, as run_trial does, yielding the number done. `epoch`: that of the copy, if another."""
    events: list[WatchEvent] = []
    trial = Trial(api.store.replica(), api.store.resource_version, events=events)
    trial.store.epoch = api.store.epoch if epoch is None else epoch
    trial.store.subscribe(events.append)
    copy = replace(api, store=trial.store, memo=PodMemo(), typed=False)
    outcomes = [_outcome(index, manifest) for index, manifest in enumerate(manifests)]
    seen: dict[tuple[str, str, str], None] = {}
    for number, outcome in enumerate(sorted(outcomes, key=_rank)):
        if outcome.action != IGNORED:
            _take(copy, outcome, seen, user, create_only)
        yield number
    trial.outcomes = outcomes
    return trial


def import_object(api: APIServer, manifest: Any, user: str = ADMIN, create_only: bool = False) -> Outcome:
    """Import one object. If it is refused, nothing is written."""
    outcome = _outcome(0, manifest)
    if outcome.action != IGNORED:
        _take(replace(api, typed=False), outcome, {}, user, create_only)
    return outcome


def _outcome(index: int, manifest: Any) -> Outcome:
    outcome = Outcome(index, manifest)
    if not isinstance(manifest, Mapping):
        return outcome
    outcome.kind = str(manifest.get("kind") or "")
    if isinstance(manifest.get("metadata"), Mapping):
        outcome.namespace, outcome.name = key_of(manifest)
        if outcome.kind in PASSED_OVER and is_own_group(str(manifest.get("apiVersion") or "")):
            outcome.action = IGNORED
    return outcome


def _rank(outcome: Outcome) -> int:
    own = isinstance(outcome.submitted, Mapping) and is_own_group(str(outcome.submitted.get("apiVersion")))
    return _RANK.get(outcome.kind if own else "", len(_FIRST))


def _take(
    api: APIServer, outcome: Outcome, seen: dict[tuple[str, str, str], None], user: str, create_only: bool
) -> None:
    try:
        stored, before = _create_or_update(api, outcome.submitted, user, create_only)
    except Refused as refused:
        errors = [error.of(describe(outcome.submitted)) for error in refused.errors]
        outcome.errors, outcome.answer = _first(errors), refused.answer
        return
    outcome.written = True
    kind = kind_of(stored)
    outcome.kind = kind.key if kind is not None else outcome.kind
    outcome.namespace, outcome.name = key_of(stored)
    key = (outcome.kind, outcome.namespace, outcome.name)
    if key in seen:
        twice = duplicate("metadata.name", outcome.name)
        outcome.errors = (twice.of(describe(outcome.submitted)),)
        outcome.answer = Answer("Invalid", str(twice), (str(twice),))
        return
    seen[key] = None
    outcome.changed = () if before is None else tuple(difference(before, stored))
    outcome.action = CREATED if before is None else CHANGED if outcome.changed else UNCHANGED


def _first(errors: list[FieldError]) -> tuple[FieldError, ...]:
    """Return the errors of one object, cut to the first MAX_ERRORS and a count of the rest."""
    if len(errors) <= MAX_ERRORS:
        return tuple(errors)
    more = FieldError("", f"{len(errors) - MAX_ERRORS} more errors", "are not shown", errors[0].object)
    return (*errors[:MAX_ERRORS], more)


def _create_or_update(api: APIServer, manifest: Any, user: str, create_only: bool) -> tuple[Manifest, Manifest | None]:
    """Return the stored object and the previous one, or None."""
    old = None if create_only else _present(api.store, manifest)
    if old is None:
        return api.create(manifest, user, imported=True), None
    manifest = api.read(manifest, True, old)[1]
    if manifest["metadata"].get("uid") == old["metadata"]["uid"]:
        return api.update(without_owned(manifest), user=user), old
    return api.update(_merge_submitted(old, manifest), user=user, imported=True), old


def _present(store: Store, manifest: Any) -> Manifest | None:
    if not isinstance(manifest, Mapping) or not isinstance(manifest.get("metadata"), Mapping):
        return None
    kind = find_kind(str(manifest.get("apiVersion")), str(manifest.get("kind")))
    return None if kind is None else store.get(kind.key, *key_of(apply_default_namespace(manifest, kind)))


def _merge_submitted(old: Manifest, submitted: Manifest) -> Manifest:
    """Return the result of submitting an object again: the submitted fields over the existing ones.

    A pod's status counts only if the submitted pod has a node. DEVIATION: the earlier submission is not stored, so an omitted field
    stays; to remove a field, write null.
    """
    kind = kind_of(submitted)
    assert kind is not None
    meta = {name: value for name, value in submitted["metadata"].items() if name not in SERVER_OWNED}
    given = {**submitted, "metadata": meta}
    if kind.key == "Pod" and not (submitted.get("spec") or {}).get("nodeName"):
        given.pop("status", None)
    type_ = type_of(kind, str(submitted["apiVersion"]))
    if type_:
        try:
            return apply_strategic_patch(old, given, type_)
        except BadPatch as bad:
            raise Refused.because(Answer("BadRequest", str(bad)), describe(submitted)) from bad
    kept = {name: old["metadata"][name] for name in SERVER_OWNED if name in old["metadata"]}
    return {**given, "metadata": {**meta, **kept}}
