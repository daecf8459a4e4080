"""The OpenAPI v2 document, made of the v3 documents: as JSON, and as the protobuf that kubectl requests.

kube: kube-openapi/pkg/{handler,schemaconv,openapiconv} @ v1.34.1; gnostic-models/openapiv2/OpenAPIv2.proto @ v0.7.0
"""

import json
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apiserver.door.openapi.v3 import INFO, list_documents
from scheduler_core.apiserver.door.resources import Objects, read_schemas

Data = dict[str, Any]
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_KEPT = ("description", "type", "format", "enum", "required", "minimum", "maximum", "pattern")


def describe_all(store: Objects, protobuf: bool) -> Data | bytes:
    """Return the document of all served resources."""
    own, customs = _own(), list_documents(store)
    paths, definitions = _list_paths(customs), _define(each["components"]["schemas"] for each in customs)
    if protobuf:  # in protobuf, concatenated messages merge
        return own[1] + _write({"paths": paths, "definitions": definitions}, "Document")
    document: Data = own[0]
    paths, definitions = document["paths"] | paths, document["definitions"] | definitions
    return {**document, "paths": paths, "definitions": definitions}


@cache
def _own() -> tuple[Data, bytes]:
    paths, definitions = _list_paths(list_documents(None)), _define([read_schemas()])
    document = {"swagger": "2.0", "info": INFO, "paths": paths, "definitions": definitions}
    return document, _write(document, "Document")


def _define(schemas: Iterable[Mapping[str, Any]]) -> Data:
    return {name: _definition(schema) for each in schemas for name, schema in each.items()}


def _list_paths(documents: list[Data]) -> Data:
    """Return the paths of v3 documents."""
    paths: Data = {}
    for each in documents:
        for path, item in each["paths"].items():
            paths[path] = {
                name: [_parameter(one) for one in value] if name == "parameters" else _operation(value)
                for name, value in item.items()
            }
    return paths


def _definition(schema: Mapping[str, Any]) -> Data:
    found: Data = {name: schema[name] for name in schema if name in _KEPT or name.startswith("x-")}
    of: Data = (schema.get("allOf") or ({},))[0]
    if reference := schema.get("$ref") or of.get("$ref"):
        return {**found, "$ref": str(reference).replace("#/components/schemas/", "#/definitions/")}
    if "oneOf" in schema and "type" not in schema:
        found["type"] = "string"
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return found  # kube omits the rest, so that clients of v2 accept any field
    if "properties" in schema:
        found["properties"] = {name: _definition(each) for name, each in schema["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            found[name] = _definition(schema[name])
    return found


def _parameter(parameter: Data) -> Data:
    return {**{name: value for name, value in parameter.items() if name != "schema"}, **parameter["schema"]}


def _operation(operation: Data) -> Data:
    found = {name: value for name, value in operation.items() if name not in ("parameters", "requestBody", "responses")}
    body = operation.get("requestBody") or {}
    taken: Data = body.get("content") or {}
    parameters = [_parameter(each) for each in operation.get("parameters") or ()]
    if each := next(iter(taken.values()), None):
        parameters.append({"name": "body", "in": "body", "required": True, "schema": _definition(each["schema"])})
    found |= {"consumes": list(taken) or ["*/*"], "produces": ["application/json"], "parameters": parameters}
    found["responses"] = {}
    for code, answer in operation["responses"].items():
        found["responses"][code] = {"description": answer["description"]}
        for each in (answer.get("content") or {}).values():
            found["responses"][code]["schema"] = _definition(each["schema"])
    return found


# Protobuf. Of each message: the number of its extensions, then each field with its number and its content: after /, the number of
# the one field of a message that has the value; after @, that of the pairs of name and value of a map.
_MESSAGES: Mapping[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text())["messages"]
_FIELDS = {
    message: dict(field.split("=") for field in text.split()[1:]) | {"x-": text.split()[0]}
    for message, text in _MESSAGES.items()
}
_IN = {"body": "body/1/1", "query": "query/3/2/1", "path": "path/4/2/1"}


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)


def _field(number: str | int, data: bytes) -> bytes:
    return _varint(int(number) << 3 | 2) + _varint(len(data)) + data


def _pair(name: str, data: bytes) -> bytes:
    return _field(1, name.encode()) + _field(2, data)


def _encode(holds: str, value: Any) -> bytes:
    """Encode a value by its field's type."""
    holds, at, pairs = holds.partition("@")
    if at:
        return b"".join(_field(pairs, _pair(name, _encode(holds, each))) for name, each in value.items())
    kind, *numbers = _IN[value["in"]].split("/") if holds == "in" else holds.split("/")
    if kind == "text":
        data: bytes = value.encode()
    else:
        data = _field(2, json.dumps(value).encode()) if kind == "any" else _write(value, kind)
    for number in numbers:
        data = _field(number, data)
    return data


def _write(value: Mapping[str, Any], message: str) -> bytes:
    fields, found = _FIELDS[message], []
    for name, each in value.items():
        if name.startswith("x-"):
            found.append(_field(fields["x-"], _pair(name, _encode("any", each))))
            continue
        number, _, holds = fields[name].partition(":")
        for one in each if isinstance(each, list) else [each]:
            if holds == "flag":
                found.append(_varint(int(number) << 3) + _varint(one))
            elif holds == "double":
                found.append(_varint(int(number) << 3 | 1) + struct.pack("<d", one))
            else:
                found.append(_field(number, _encode(holds, one)))
    return b"".join(found)
