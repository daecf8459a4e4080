"""POST of subresources and reviews, which store no object of their own: bindings, evictions, and access reviews.

kube: pkg/registry/core/pod/storage, pkg/registry/authorization, pkg/registry/authentication, pkg/api/pod/warnings.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.access import review, user_of
from scheduler_core.apiserver.door.answers import Failure, Reply, bad_request
from scheduler_core.apiserver.door.context import Context
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.door.streams import STREAMS, answer_stream
from scheduler_core.apiserver.eviction import evict
from scheduler_core.apiserver.server import APIServer, Preconditions
from scheduler_core.apiserver.status import Refused, not_found

REVIEWS = (
    *("SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview"),
    *("SelfSubjectRulesReview", "SelfSubjectReview"),
)
_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def answer(context: Context, body: Any) -> Reply | None:
    """Answer a subresource or a review; return None if an object must be created."""
    kind, subresource = context.resource.kind, context.target.subresource
    if kind in REVIEWS:
        spec = body.get("spec") if isinstance(body, Mapping) else None
        spec = spec if isinstance(spec, Mapping) else {}
        shown, status = review(context.api.store, kind, spec, context.target.namespace, user_of(context.query))
        head = {"kind": kind, "apiVersion": context.resource.api_version, "metadata": {}}
        if kind == "SelfSubjectReview":
            head["metadata"] = {"creationTimestamp": context.api.store.timestamp(context.api.now)}
        return Reply(201, {**head, **({} if shown is None else {"spec": shown}), "status": status})
    if kind == "Binding" and not subresource:
        meta = body.get("metadata") if isinstance(body, Mapping) else None
        return _bind(context, str((meta or {}).get("name") or ""), body)
    if subresource == "binding":
        return _bind(context, context.target.name, body)
    if subresource == "eviction":
        return _evict(context, body)
    if subresource in STREAMS:
        return answer_stream(context.api.store, context.resource, context.target, context.query)
    if subresource == "token":
        raise Failure(
            403, "Forbidden", "no tokens are issued here", {"name": context.target.name, "kind": "serviceaccounts"}
        )
    return None


def _bind(context: Context, name: str, body: Any) -> Reply:
    body = body if isinstance(body, Mapping) else {}
    target, meta = body.get("target") or {}, body.get("metadata") or {}
    if (meta.get("name") or "") != name:
        raise bad_request("name in URL does not match name in Binding object")
    if target.get("kind", "Node") not in ("", "Node") or not target.get("name"):
        raise Failure(500, "", "target.name: Required value")
    if context.api.store.pod(context.target.namespace, name) is None:
        raise Refused.because(not_found("pods", name))
    uid = str(meta.get("uid") or "")
    done = context.api.answer_binding(f"{context.target.namespace}/{name}", uid, str(target["name"]))
    if not done.ok:
        details = {"name": name, "kind": "pods/binding"}
        raise Failure(done.code, done.reason, done.message, details)
    return Reply(201, _SUCCESS)


def _evict(context: Context, body: Any) -> Reply:
    body = body if isinstance(body, Mapping) else {}
    if ((body.get("metadata") or {}).get("name") or "") != context.target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    if (kind := body.get("kind") or "Eviction") != "Eviction":
        said = f"converting (v1.{kind}) to (policy.Eviction): unknown conversion"
        raise bad_request(f'{kind} in version "v1" cannot be handled as a Eviction: {said}')
    options = body.get("deleteOptions") or {}
    wanted = options.get("preconditions") or {}
    grace, dry_run = options.get("gracePeriodSeconds"), options.get("dryRun") or context.query.get("dryRun")
    preconditions = Preconditions(str(wanted.get("uid") or ""), str(wanted.get("resourceVersion") or ""))
    key = f"{context.target.namespace}/{context.target.name}"
    evict(context.api, key, grace if isinstance(grace, int) else None, bool(dry_run), preconditions)
    return Reply(201, _SUCCESS)


def as_deleted(pod: Manifest, api: APIServer, grace: Any) -> Manifest:
    """Return a pod as the answer to its DELETE shows it after its removal."""
    meta = pod["metadata"]
    if pod["kind"] != "Pod":
        return pod
    if meta.get("deletionTimestamp"):
        return {**pod, "metadata": {**meta, "deletionGracePeriodSeconds": 0}} if str(grace) == "0" else pod
    marks = {"deletionTimestamp": api.store.timestamp(api.now), "deletionGracePeriodSeconds": 0}
    marks["generation"] = int(meta.get("generation") or 0) + 1
    return {**pod, "metadata": {**meta, **marks}}


def deprecations(resource: Resource) -> list[str]:
    """Return the warnings for each answer about a resource."""
    if resource.kind == "Endpoints":
        return ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]
    return []
