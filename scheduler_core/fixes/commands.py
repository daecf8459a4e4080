"""Drafts as commands."""

from __future__ import annotations

from scheduler_core.api.requests.updates import fits_in_place
from scheduler_core.commands import ApplyObjects, Command, DeleteObjects, Ref
from scheduler_core.framework.drafts import Draft, Manifest


def command_of(draft: Draft) -> Command:
    """The one command that makes all changes of a draft."""
    if draft.deleted:
        return DeleteObjects(tuple(Ref("Pod", namespace, name) for namespace, name in draft.deleted))
    edited = [manifest for _, manifest in draft.nodes]
    return ApplyObjects((*((_bare(draft.pod),) if draft.pod is not None else ()), *edited))


def _bare(pod: Manifest) -> Manifest:
    """A pod without its status, which is the cluster's to write."""
    return {name: value for name, value in pod.items() if name != "status"}


def recreates(draft: Draft) -> bool:
    """Whether the pod can't be changed in place and is made anew."""
    return draft.pod is not None and not fits_in_place(draft.original, draft.pod)
