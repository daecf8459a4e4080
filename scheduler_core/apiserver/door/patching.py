"""Patches: JSON patch (RFC 6902), merge patch, and strategic merge patch, with kube's messages for patches that cannot be applied.

kube: apiserver/pkg/endpoints/handlers/patch.go @ v1.34.1, github.com/evanphx/json-patch
"""

import copy
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.answers import Failure, bad_request
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.rewriting import merge_patch
from scheduler_core.apiserver.schema.merging import NO_STRATEGIC, BadPatch, apply_strategic_patch
from scheduler_core.apiserver.schema.table import type_of

JSON_PATCH, MERGE, STRATEGIC = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
PATCHES = (JSON_PATCH, MERGE, STRATEGIC, "application/apply-patch+yaml")
_REJECTED = "the server rejected our request due to an error in our request"
_MOST = 10_000
_PLAIN = "ConfigMap"  # for types whose lists have no merge keys, except in their metadata


def change(old: Manifest, body: Any, content_type: str, type_: str | None, kind: str = "") -> Any:
    """Return an object with a patch applied. `type_`: None if strategic patches are not accepted. Raise Failure (400, 415, 422)."""
    if content_type == JSON_PATCH:
        return _json_patch(old, body)
    if body is None and content_type == STRATEGIC:
        body = {}
    if not isinstance(body, Mapping):
        word = {list: "array", str: "string", bool: "bool", type(None): "null"}.get(type(body), "number")
        before = "" if content_type == STRATEGIC else "error decoding patch: "
        raise bad_request(f"{before}json: cannot unmarshal {word} into Go value of type map[string]interface {{}}")
    if content_type == MERGE:
        return merge_patch(old, body)
    own = type_of(KINDS[kind], str(old.get("apiVersion"))) if type_ and kind in KINDS else ""
    if type_ is None:
        raise Failure(415, "UnsupportedMediaType", NO_STRATEGIC)
    try:
        return apply_strategic_patch(old, body, own or _PLAIN)
    except BadPatch as wrong:
        raise bad_request(str(wrong)) from None
    except (TypeError, ValueError, AttributeError, KeyError) as wrong:
        raise bad_request(f"the patch does not fit the object: {wrong}") from None


def _json_patch(old: Manifest, body: Any) -> Any:
    if not isinstance(body, list):
        word = "object" if isinstance(body, Mapping) else "string"
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {word} into Go value of type []handlers.jsonPatchOp"
        )
    for each in body:
        if each is not None and not isinstance(each, Mapping):
            word = {list: "array", str: "string", bool: "bool"}.get(type(each), "number")
            said = f"error decoding patch: json: cannot unmarshal {word} into Go value of type handlers.jsonPatchOp"
            raise bad_request(said)
    if len(body) > _MOST:
        said = f"The allowed maximum operations in a JSON patch is {_MOST}, got {len(body)}"
        raise Failure(413, "RequestEntityTooLarge", said)
    new = copy.deepcopy(dict(old))
    try:
        for each in body:
            new = _operate(new, each)
        if not isinstance(new, dict):
            raise ValueError
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise Failure(422, "Invalid", _REJECTED, {}) from None
    return new


def _operate(value: Any, operation: Mapping[str, Any]) -> Any:
    op, path = operation["op"], _parts(operation["path"])
    if op in ("move", "copy"):
        source = _parts(operation["from"])
        owner = _find(value, source[:-1])
        is_missing = op == "copy" and source and isinstance(owner, Mapping) and source[-1] not in owner
        moved = None if is_missing else copy.deepcopy(_find(value, source))
        if op == "move":
            value = _remove(value, source)
        return _put(value, path, moved, insert=True)
    if op == "test":
        owner, wanted = _find(value, path[:-1]), operation.get("value")
        is_missing = bool(path) and isinstance(owner, Mapping) and path[-1] not in owner
        if (None if is_missing else _find(value, path)) != wanted:
            raise ValueError
        return value
    if op == "remove":
        return _remove(value, path)
    if op == "replace" and isinstance(_find(value, path[:-1]), list):
        _find(value, path)
    elif op not in ("add", "replace"):
        raise ValueError
    return _put(value, path, operation.get("value"), insert=op == "add")


def _parts(path: str) -> list[str]:
    if path and "/" not in path:
        raise ValueError
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _find(value: Any, parts: list[str]) -> Any:
    for part in parts:
        value = value[_index(value, part)] if isinstance(value, list) else value[part]
    return value


def _index(value: list[Any], part: str, end: int = 0) -> int:
    number = len(value) if part == "-" else int(part)
    number += len(value) + end if number < 0 else 0  # -1 is the last
    if not 0 <= number < len(value) + end:
        raise IndexError
    return number


def _put(value: Any, parts: list[str], new: Any, insert: bool) -> Any:
    if not parts:
        return new
    owner = _find(value, parts[:-1])
    if isinstance(owner, list):
        number = _index(owner, parts[-1], int(insert))
        owner[number : number if insert else number + 1] = [new]
    else:
        owner[parts[-1]] = new
    return value


def _remove(value: Any, parts: list[str]) -> Any:
    owner = _find(value, parts[:-1])
    del owner[_index(owner, parts[-1]) if isinstance(owner, list) else parts[-1]]
    return value
