"""The published JSON Schemas of what commands print (docs/schemas), read strictly: a field that they do not name is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.browser.server import ROOT

FOLDER = ROOT / "docs/schemas"


@cache
def read_schema(name: str) -> dict[str, Any]:
    """The schema `explain/v1` ..., as published."""
    return json.loads((FOLDER / f"{name.replace('/', '.')}.json").read_text())


@cache
def _validator(name: str) -> Draft202012Validator:
    Draft202012Validator.check_schema(read_schema(name))
    return Draft202012Validator(_close(read_schema(name)))


def _close(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _close(each) for key, each in schema.items()}
    return {"additionalProperties": False, **closed} if isinstance(schema.get("properties"), dict) else closed


def require_schema(data: dict[str, Any], name: str) -> None:
    """Fail where data is not what the schema of this name promises, or has more fields than it names."""
    errors = [f"{error.json_path}: {error.message[:300]}" for error in _validator(name).iter_errors(data)]
    assert not errors, errors


def require_printed(arguments: Sequence[str], text: str) -> None:
    """The same of what a command printed, where it was asked for JSON and printed any."""
    if "json" in arguments and text:
        require_schema(json.loads(text), f"{arguments[0]}/v1")
