"""Data about kube's own API: its resources and their Go types.

api.json.xz was made once from kube's discovery, its printers, and the Go types of k8s.io/api: names, verbs, columns, and the fields of
each type, with protobuf number, type, Go type, and merge rule of server-side apply.

kube: k8s.io/api, pkg/printers/internalversion @ v1.34.1
"""

import json
import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Fields = Mapping[str, list[Any]]


@cache
def read_api() -> Mapping[str, Any]:
    """Return the data about kube's own API."""
    path = Path(__file__).with_name("api.json.xz")
    data: Mapping[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return data


@cache
def fields_of(type_: str) -> Fields:
    """Return the fields of a type, including those of embedded types, which have no name in JSON."""
    found: dict[str, list[Any]] = {}
    for name, each in read_api()["types"].get(type_, {}).items():
        if name.startswith("~"):
            found |= fields_of(each[1].lstrip("*"))
        else:
            found[name] = each
    return found
