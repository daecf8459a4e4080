"""ConfigMaps and Secrets.

kube: pkg/apis/core/validation/validation.go (ValidateConfigMap, ValidateSecret), encoding/base64 @ v1.34.1
"""

from __future__ import annotations

import base64
import json

from scheduler_core.apimachinery.objects.errors import (
    build_required_error,
    format_key_path,
    invalid,
    too_long,
)
from scheduler_core.apimachinery.objects.names import config_key_errors
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.rules import Object

_MOST = 1024 * 1024  # bytes
_ACCOUNT = "kubernetes.io/service-account.name"
_REDACTED = "<secret contents redacted>"
# keys that a Secret of a type has to have
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def decode_base64(text: str) -> bytes:
    """Decode base64. Raise binascii.Error if the text is not base64."""
    return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)


def _keys(data: Object, path: str, errors: Errors) -> None:
    for key in data:
        errors += [invalid(format_key_path(path, key), key, problem) for problem in config_key_errors(key)]


def config_map(manifest: Object, errors: Errors) -> None:
    data, binary = manifest.get("data") or {}, manifest.get("binaryData") or {}
    for key in data:
        _keys({key: None}, "data", errors)
        if key in binary:
            detail = "duplicate of key present in binaryData"
            errors.append(invalid(format_key_path("data", key), key, detail))
    _keys(binary, "binaryData", errors)
    size = sum(len(text.encode()) for text in data.values())
    if size + sum(len(decode_base64(text)) for text in binary.values()) > _MOST:
        errors.append(too_long("[]", _MOST))


def secret(manifest: Object, errors: Errors) -> None:
    texts = {key: text.encode() for key, text in (manifest.get("stringData") or {}).items()}
    data = {**{key: decode_base64(text) for key, text in (manifest.get("data") or {}).items()}, **texts}
    kind = manifest.get("type") or "Opaque"
    _keys(data, "data", errors)
    if sum(map(len, data.values())) > _MOST:
        errors.append(too_long("data", _MOST))
    if "data" not in manifest and "stringData" not in manifest:  # an import leaves both at the door
        return
    if kind == "kubernetes.io/service-account-token":
        if not (manifest["metadata"].get("annotations") or {}).get(_ACCOUNT):
            errors.append(build_required_error(f"metadata.annotations[{_ACCOUNT}]"))
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors += [build_required_error("data[username]"), build_required_error("data[password]")]
    for key in _NEEDED.get(kind, ()):
        if key not in data or (kind == "kubernetes.io/ssh-auth" and not data[key]):
            errors.append(build_required_error(format_key_path("data", key)))
        elif key.startswith(".docker") and (problem := _json_problem(data[key])):
            errors.append(invalid(format_key_path("data", key), _REDACTED, problem))


def _json_problem(text: bytes) -> str:
    """The first thing that keeps Go from reading an object; "" where it is one."""
    try:
        found = json.loads(text)
    except ValueError:
        return "unexpected end of JSON input" if not text.strip() else "invalid character"
    if found is None or isinstance(found, dict):
        return ""
    names = {str: "string", bool: "bool", list: "array"}
    kind = names.get(type(found), "number")
    return f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
