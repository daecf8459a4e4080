"""Requests to the API server, routed by path.

kube: apiserver/pkg/endpoints/{request/requestinfo.go,installer.go}, apiserver/pkg/server/routes @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from scheduler_core.apimachinery.objects.errors import quote
from scheduler_core.apiserver.door import answers, discovery, reading
from scheduler_core.apiserver.door.access import require
from scheduler_core.apiserver.door.bodies.decoding import read_json, read_protobuf, read_yaml
from scheduler_core.apiserver.door.context import Context, escape
from scheduler_core.apiserver.door.openapi.v2 import PROTOBUF as OPENAPI_V2
from scheduler_core.apiserver.door.openapi.v2 import describe_all
from scheduler_core.apiserver.door.openapi.v3 import openapi_document, openapi_index
from scheduler_core.apiserver.door.patching import PATCHES
from scheduler_core.apiserver.door.reading import Form
from scheduler_core.apiserver.door.resources import EVENTS, Resource, Target, find_resource, list_own, parse_path
from scheduler_core.apiserver.door.scales import get_scale
from scheduler_core.apiserver.door.streams import STREAMS, answer_stream
from scheduler_core.apiserver.door.subresources import REVIEWS, deprecations
from scheduler_core.apiserver.door.writing import check_delete_options, write
from scheduler_core.apiserver.schema.go_values import go_map
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store

NOT_FOUND = answers.Reply(404, b"404 page not found\n", answers.TEXT)
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class ServedWorld(Protocol):
    """The part of a world that its API server shows."""

    @property
    def store(self) -> Store: ...

    @property
    def now(self) -> int: ...


class Call(msgspec.Struct, frozen=True):
    """A request without its body: the path below the API server's own, and the requested form of the answer."""

    method: str
    path: str
    query: dict[str, str] = {}
    form: Form = "object"
    aggregated: bool = False  # aggregated discovery
    as_yaml: bool = False
    protobuf: bool = False  # OpenAPI v2
    prefix: str = ""  # the path of the API server
    address: str = ""
    release: str = "1.34.1"
    oldest: int = 0
    now: int = 0  # ns since 1970 in a world with real time; 0: the world's own time


def answer_read(world: ServedWorld, call: Call) -> answers.Reply:
    """Answer a request that changes nothing."""
    try:
        return _read(world, call)
    except answers.Failure as failure:
        return failure.reply


def _read(world: ServedWorld, call: Call) -> answers.Reply:
    target = parse_path(call.path)
    require(world.store, call.query, "GET", call.path, target)
    if target is None:
        return _read_page(world.store, call)
    resource = find_resource(world.store, target.group, target.version, target.plural)
    if resource is None:
        is_custom = target.group not in {each.group for each in list_own()}
        if is_custom or discovery.resource_list(world.store, target.group, target.version) is None:
            return NOT_FOUND
        raise answers.no_resource()
    now = call.now or world.store.epoch + world.now
    warnings = [("Warning", f'299 - "{each}"') for each in deprecations(resource)]
    try:
        reply = _read_resource(world.store, resource, target, call, now)
    except Refused as refused:
        failure = refused if isinstance(refused, answers.Failure) else refusal(refused, resource, target.name)
        failure.headers = [*failure.headers, *warnings]
        raise failure from None
    return reply._replace(headers=[*reply.headers, *warnings])


def refusal(refused: Refused, resource: Resource, name: str) -> answers.Failure:
    """Return the Status of a refusal about an object of a resource."""
    reason = refused.answer.reason  # Events of both groups are kept as one
    group = "" if resource.key == EVENTS and reason in ("AlreadyExists", "Invalid") else resource.group
    return answers.failure_of(refused, resource.kind, resource.plural, group, name)


def _read_resource(store: Store, resource: Resource, target: Target, call: Call, now: int) -> answers.Reply:
    if resource.namespaced and target.name and not target.namespace:
        raise answers.no_resource()
    if target.subresource:
        if target.subresource not in resource.sub or (target.rest and target.subresource != "proxy"):
            raise answers.no_resource()
        if target.subresource == "proxy":  # nothing is proxied
            raise answers.bad_request("address not allowed")
        if target.subresource == "scale":
            scale = get_scale(store, resource, target)
            include = call.query.get("includeObject", "")
            return answers.Reply(200, reading.show(resource, scale, call.form, now, include, kind="Scale"))
        if target.subresource in STREAMS or "get" not in resource.sub[target.subresource][3]:
            return answer_stream(store, resource, target, call.query)
    if "get" not in resource.verbs:
        raise answers.not_allowed()
    if target.name:
        return reading.get_object(store, resource, target, call.form, call.query, now)
    return reading.list_objects(store, resource, target, call.form, call.query, now, call.oldest)


def _read_page(store: Store, call: Call) -> answers.Reply:
    """Answer a path that names no object."""
    parts = [part for part in call.path.split("/") if part]
    match parts:
        case []:
            return _pretty(discovery.list_paths(store))
        case ["version"]:
            return _pretty(discovery.version_of(call.release))
        case ["healthz" | "livez" | "readyz" as name, *rest]:
            return answers.Reply(200, _health(name, bool(rest), call.query), answers.TEXT)
        case ["api" | "apis" as root]:
            if call.aggregated:
                return answers.Reply(200, discovery.list_aggregated(store, root == "api"), DISCOVERY)
            found: Mapping[str, Any] | None = discovery.group_list(store)
            if root == "api":
                found = discovery.core_versions(call.address)
        case ["api", version]:
            found = discovery.resource_list(store, "", version)
        case ["apis", group]:
            found = discovery.group_of(store, group)
        case ["apis", group, version]:
            found = discovery.resource_list(store, group, version)
        case ["openapi", "v2"]:
            return answers.Reply(200, describe_all(store, call.protobuf), OPENAPI_V2 if call.protobuf else answers.JSON)
        case ["openapi", "v3"]:
            found = openapi_index(store, call.prefix)
        case ["openapi", "v3", *place]:
            document = openapi_document(store, "/".join(place))
            return NOT_FOUND if document is None else answers.Reply(200, document)
        case _:
            return NOT_FOUND
    if found is not None:
        return answers.Reply(200, found)
    if parts[0] == "apis" and len(parts) == 3 and discovery.group_of(store, parts[1]) is not None:
        raise answers.no_resource()
    return NOT_FOUND


def _pretty(data: Mapping[str, Any]) -> answers.Reply:
    return answers.Reply(200, msgspec.json.format(msgspec.json.encode(data), indent=2))


def _health(name: str, single: bool, query: Mapping[str, str]) -> bytes:
    if single or "verbose" not in query:
        return b"ok"
    return f"[+]ping ok\n[+]log ok\n{name} check passed\n".encode()


# Requests that change something


def read_body(
    world: ServedWorld, call: Call, body: bytes, content_type: str, warnings: list[tuple[str, str]] | None = None
) -> Any:
    """Return the data of a body. `warnings`: headers about repeated fields. Raise Failure (400, 404, 415, 422, 500)."""
    target, resource = _find(world.store, call)
    require(world.store, call.query, call.method, call.path, target)
    verbs = resource.sub.get(target.subresource, ((),))[-1] if target.subresource else resource.verbs
    named = bool(target.name) and not target.subresource
    if (
        _VERBS[call.method] not in verbs
        or (call.method == "POST" and named)
        or (call.method in ("PUT", "PATCH") and not target.name)
    ):
        return None  # the body of a forbidden request is not read
    if call.method == "PATCH" and content_type not in PATCHES:
        raise answers.Failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if call.method != "PATCH" and content_type not in ("", answers.JSON, "application/yaml", PROTOBUF):
        if body or call.method != "DELETE":
            raise answers.Failure(415, "UnsupportedMediaType", _UNKNOWN)
    if target.subresource in STREAMS:
        return None
    if not body and call.method in ("DELETE", "PATCH"):
        return None if call.method == "DELETE" else {}
    repeated: list[str] = []
    try:
        if content_type == PROTOBUF:
            data = read_protobuf(body)
        elif content_type in ("application/yaml", "application/apply-patch+yaml"):
            data = read_yaml(body, repeated)
        else:
            data = read_json(body, repeated)
        if call.method != "PATCH" and not isinstance(data, Mapping | None):
            raise ValueError(
                f"json: cannot unmarshal {_WORDS.get(type(data), 'number')} into Go value of type {_TYPE_META}"
            )
    except ValueError as wrong:
        raise _unreadable(resource, call, body, content_type, str(wrong)) from None
    if call.method == "DELETE":
        return check_delete_options(data)
    validation = call.query.get("fieldValidation") or "Warn"
    if repeated and validation == "Strict":
        raise _repeats(resource, call, data, content_type, repeated)
    if warnings is not None and validation == "Warn":
        warnings += [("Warning", f'299 - "{escape(each)}"') for each in repeated]
    return {} if data is None else data


_WORDS = {str: "string", bool: "bool", list: "array"}
_TYPE_META = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'  # in Go
)


def _repeats(resource: Resource, call: Call, data: Any, content_type: str, repeated: list[str]) -> answers.Failure:
    """Return the error for a body with a repeated field."""
    of_yaml = f"yaml: unmarshal errors:\n  {repeated[0]}"
    if content_type == "application/apply-patch+yaml":
        return answers.bad_request(f"error strict decoding YAML: error converting YAML to JSON: {of_yaml}")
    why = f"strict decoding error: {of_yaml if content_type == 'application/yaml' else ', '.join(repeated)}"
    if call.method == "PATCH":
        shown = f"Invalid value: {quote(go_map(data))}: {why}"
        causes = [{"reason": "FieldValueInvalid", "message": shown, "field": "patch"}]
        return answers.Failure(422, "Invalid", f' "" is invalid: patch: {shown}', {"causes": causes})
    kind = resource.kind
    return answers.bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {kind}: {why}')


def _find(store: Store, call: Call) -> tuple[Target, Resource]:
    """Return the target and the resource of a path for writing. Raise Failure (404)."""
    target = parse_path(call.path)
    resource = None if target is None else find_resource(store, target.group, target.version, target.plural)
    if target is None or resource is None or (target.rest and target.subresource != "proxy"):
        raise answers.no_resource()
    return target, resource


_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
PROTOBUF = "application/vnd.kubernetes.protobuf"
_UNKNOWN = (
    "the body of the request was in an unknown format - accepted media types include: "
    f"{answers.JSON}, application/yaml, {PROTOBUF}"
)


_SHOWN = 30  # bytes


def _unreadable(resource: Resource, call: Call, body: bytes, content_type: str, why: str) -> answers.Failure:
    if call.method == "PATCH":
        of_yaml = content_type.endswith("+yaml")
        said = f"YAML: error converting YAML to JSON: {why}" if of_yaml else f"patch: {why}"
        return answers.bad_request(f"error decoding {said}")
    if not why.startswith(("yaml: ", "provided data", "the protobuf", "no kind")):
        why = f"couldn't get version/kind; json parse error: {why}"
    if call.method == "DELETE":
        return answers.bad_request(why)
    start, more = body[:_SHOWN], " ..." if len(body) > _SHOWN else ""
    shown = (start.decode(errors="replace") if body[:1] == b"{" else start.hex()) + more if body else "<empty>"
    return answers.bad_request(
        f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({shown})"
    )


def changes_nothing(call: Call, body: Any = None) -> bool:
    """Return whether a request never stores anything: a dry run, or a review."""
    target, options = parse_path(call.path), body if isinstance(body, Mapping) else {}
    if call.method == "DELETE" and options.get("dryRun"):
        return True
    if isinstance(options.get("deleteOptions"), Mapping) and options["deleteOptions"].get("dryRun"):
        return True
    kinds = [f"{kind.lower()}s" for kind in REVIEWS]
    return bool(call.query.get("dryRun")) or (target is not None and target.plural in kinds)


def answer_write(api: APIServer, call: Call, body: Any, content_type: str, agent: str) -> answers.Reply:
    """Answer a request that may change objects. Raise Failure, with nothing changed."""
    target, resource = _find(api.store, call)
    if resource.namespaced and not target.namespace and call.method != "DELETE":
        raise answers.not_allowed()
    context = Context(api, resource, target, call.query, call.method, call.form, agent)
    try:
        return write(context, body, content_type)
    except Refused as refused:
        failure = (
            refused
            if isinstance(refused, answers.Failure)
            else refusal(refused, resource, target.name or _name_of(body))
        )
        failure.headers = context.headers
        raise failure from None
    except _UNREADABLE as wrong:  # a malformed value that no earlier check has found
        raise answers.bad_request(
            f"the body of the request cannot be used: {type(wrong).__name__}: {str(wrong)[:200]}"
        ) from wrong


_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)


def _name_of(body: Any) -> str:
    meta = body.get("metadata") if isinstance(body, Mapping) else None
    return str(meta.get("name") or "") if isinstance(meta, Mapping) else ""
