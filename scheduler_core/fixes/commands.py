"""Drafts as commands."""

from __future__ import annotations

from scheduler_core.api.kinds import KINDS
from scheduler_core.api.requests.updates import fits_in_place
from scheduler_core.api.validation.cluster import validate_update
from scheduler_core.commands import ApplyObjects, Command, DeleteObjects, Ref
from scheduler_core.framework.drafts import Draft, Manifest


def command_of(draft: Draft, modelled: bool) -> Command:
    """The one command that makes all changes of a draft. A world whose cluster is `modelled` makes nothing anew that it is not told to."""
    if draft.deleted:
        return DeleteObjects(tuple(Ref("Pod", namespace, name) for namespace, name in draft.deleted))
    edited = [*(manifest for _, manifest in draft.nodes), *map(_bare, draft.others)]
    objects = (*((_bare(draft.pod),) if draft.pod is not None else ()), *edited)
    return (
        ApplyObjects(objects, force=True)
        if modelled and (draft.others or recreates(draft, modelled))
        else ApplyObjects(objects)
    )


def _bare(manifest: Manifest) -> Manifest:
    """An object without its status, which is the cluster's to write."""
    return {name: value for name, value in manifest.items() if name != "status"}


def recreates(draft: Draft, modelled: bool) -> bool:
    """Whether the pod can't be changed in place and is made anew."""
    if draft.pod is None:
        return False
    if modelled:
        return bool(validate_update(draft.original, draft.pod, KINDS["Pod"], ""))
    return not fits_in_place(draft.original, draft.pod)
