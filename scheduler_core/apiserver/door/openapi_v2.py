"""The OpenAPI v2 document, as JSON and as the protobuf that kubectl asks for: the v3 documents in one, written differently.

kube: kube-openapi/pkg/{handler,schemaconv,openapiconv} @ v1.34.1; gnostic-models/openapiv2/OpenAPIv2.proto @ v0.7.0
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from scheduler_core.apiserver.door.openapi import INFO, list_documents
from scheduler_core.apiserver.door.resources import Objects, read_schemas

Data = dict[str, Any]
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_KEPT = ("description", "type", "format", "enum", "required", "minimum", "maximum", "pattern")


def describe_all(store: Objects, protobuf: bool) -> Data | bytes:
    """The document of all that is served."""
    own, paths, definitions = _own(), *_convert(list_documents(store))
    if protobuf:  # messages of one field after another are one message
        return own[1] + _write({"paths": paths, "definitions": definitions}, "Document")
    document: Data = own[0]
    paths, definitions = document["paths"] | paths, document["definitions"] | definitions
    return {**document, "paths": paths, "definitions": definitions}


@cache
def _own() -> tuple[Data, bytes]:
    paths, definitions = _convert(list_documents(None))
    definitions |= {name: _definition(schema) for name, schema in read_schemas().items()}
    document = {"swagger": "2.0", "info": INFO, "paths": paths, "definitions": definitions}
    return document, _write(document, "Document")


def _convert(documents: list[Data]) -> tuple[Data, Data]:
    """Paths and definitions of v3 documents."""
    paths, definitions = {}, {}
    for each in documents:
        definitions |= {name: _definition(schema) for name, schema in each["components"]["schemas"].items()}
        for path, item in each["paths"].items():
            paths[path] = {
                name: [_parameter(one) for one in value] if name == "parameters" else _operation(value)
                for name, value in item.items()
            }
    return paths, definitions


def _definition(schema: Mapping[str, Any]) -> Data:
    found: Data = {name: schema[name] for name in schema if name in _KEPT or name.startswith("x-")}
    of = schema.get("allOf") or ({},)
    if reference := schema.get("$ref") or of[0].get("$ref"):
        return {**found, "$ref": str(reference).replace("#/components/schemas/", "#/definitions/")}
    if "oneOf" in schema and "type" not in schema:
        found["type"] = "string"
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return found  # kube leaves out the rest, so that clients of v2 take any field
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


# Protobuf: the number of each field of a message, and how its value is written.

Writer = Callable[[Any], bytes]


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def _any(value: Any) -> bytes:
    return _field(2, json.dumps(value).encode())


def _nested(message: str, *numbers: int) -> Writer:
    """A message within messages of one field each, of these numbers."""

    def write(value: Any) -> bytes:
        data = _write(value, message)
        for number in reversed(numbers):
            data = _field(number, data)
        return data

    return write


def _named(number: int, inner: Writer) -> Writer:
    """A map, as a message whose repeated field has pairs of name and value."""
    return lambda value: b"".join(
        _field(number, _field(1, name.encode()) + _field(2, inner(each))) for name, each in value.items()
    )


def _write_parameter(value: Any) -> bytes:
    if value["in"] == "body":
        return _field(1, _field(1, _write(value, "BodyParameter")))
    number = {"query": 3, "path": 4}[value["in"]]
    return _field(1, _field(2, _field(number, _write(value, f"{value['in']}Parameter"))))


def _write(value: Mapping[str, Any], message: str) -> bytes:
    fields, extensions = _MESSAGES[message]
    found = []
    for name, each in value.items():
        if name.startswith("x-"):
            found.append(_field(extensions, _field(1, name.encode()) + _field(2, _any(each))))
            continue
        number, writer = fields[name]
        for one in each if isinstance(each, list) else [each]:
            if isinstance(one, bool):
                found.append(_varint(number << 3) + _varint(one))
            elif writer is _DOUBLE:
                found.append(_varint(number << 3 | 1) + struct.pack("<d", one))
            else:
                found.append(_field(number, writer(one)))
    return b"".join(found)


_TEXT: Writer = str.encode
_DOUBLE: Writer = bytes
_SCHEMA, _OPERATION = _nested("Schema"), _nested("Operation")
_MESSAGES: Mapping[str, tuple[Mapping[str, tuple[int, Writer]], int]] = {
    "Document": (
        {
            "swagger": (1, _TEXT),
            "info": (2, _nested("Info")),
            "paths": (8, _named(2, _nested("PathItem"))),
            "definitions": (9, _named(1, _SCHEMA)),
        },
        16,
    ),
    "Info": ({"title": (1, _TEXT), "version": (2, _TEXT)}, 7),
    "PathItem": (
        {
            **{name: (2 + i, _OPERATION) for i, name in enumerate(("get", "put", "post", "delete"))},
            "patch": (8, _OPERATION),
            "parameters": (9, _write_parameter),
        },
        10,
    ),
    "Operation": (
        {
            "operationId": (5, _TEXT),
            "produces": (6, _TEXT),
            "consumes": (7, _TEXT),
            "parameters": (8, _write_parameter),
            "responses": (9, _named(1, _nested("Response", 1))),
        },
        13,
    ),
    "Response": ({"description": (1, _TEXT), "schema": (2, _nested("Schema", 1))}, 5),
    "BodyParameter": ({"name": (2, _TEXT), "in": (3, _TEXT), "required": (4, bytes), "schema": (5, _SCHEMA)}, 6),
    "queryParameter": ({"in": (2, _TEXT), "name": (4, _TEXT), "type": (6, _TEXT)}, 23),
    "pathParameter": ({"required": (1, bytes), "in": (2, _TEXT), "name": (4, _TEXT), "type": (5, _TEXT)}, 22),
    "Schema": (
        {
            **{name: (number, _TEXT) for name, number in (("$ref", 1), ("format", 2), ("description", 4))},
            "maximum": (7, _DOUBLE),
            "minimum": (9, _DOUBLE),
            "pattern": (13, _TEXT),
            "required": (19, _TEXT),
            "enum": (20, _any),
            "additionalProperties": (21, _nested("Schema", 1)),
            "type": (22, lambda value: _field(1, value.encode())),
            "items": (23, _nested("Schema", 1)),
            "properties": (25, _named(1, _SCHEMA)),
        },
        31,
    ),
}
