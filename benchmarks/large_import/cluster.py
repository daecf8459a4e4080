"""A cluster as large as Kubernetes goes, as the API server writes it: the forms beside this module, filled in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
PODS_OF_AN_APP = 100


def text(nodes: int, pods: int) -> str:
    """Nodes, then pods, as one List; nine of ten pods run."""
    return f'{{"apiVersion":"v1","kind":"List","items":[{",".join(_items(nodes, pods))}]}}'


def _items(nodes: int, pods: int) -> Iterator[str]:
    forms = {each: _form(each) for each in ("node", "running", "pending")}
    for number in range(nodes):
        yield forms["node"].substitute(_of_node(number))
    for number in range(pods):
        yield forms["running" if number % 10 else "pending"].substitute(_of_pod(number, nodes))


def _form(name: str) -> Template:
    form = json.loads((FOLDER / f"{name}.json").read_text())
    return Template(json.dumps(form, separators=(",", ":")))


def _of_node(number: int) -> dict[str, str]:
    address = f"10.{number // 250}.{number % 250}.7"
    name = f"ip-{address.replace('.', '-')}.eu-west-1.compute.internal"
    return {
        **_common(name, number),
        "address": address,
        "beat": _time(86_000 + number % 300),
        "group": str(number % 7),
        "name": name,
        "team": f"team-{number % 20}",
        "zone": f"eu-west-1{'abc'[number % 3]}",
    }


def _of_pod(number: int, nodes: int) -> dict[str, str]:
    app = number // PODS_OF_AN_APP
    revision = _digest(f"app-{app}")[:10]
    host = _of_node(number % nodes)
    name = f"app-{app}-{revision}-{number:05x}"
    return {
        **_common(name, 10_000 + number),
        "address": host["address"],
        "app": f"app-{app}",
        "group": str(number % 250),
        "image": f"registry.example.com/team-{app % 20}/app-{app}:v1.{app % 9}",
        "name": name,
        "node": host["name"],
        "owner": _uid(f"app-{app}"),
        "revision": revision,
        "team": f"team-{app % 20}",
    }


def _common(name: str, number: int) -> dict[str, str]:
    digest = _digest(name)
    return {
        "created": _time(number),
        "digest": digest,
        "digest16": digest[:16],
        "digest5": digest[:5],
        "uid": _uid(name),
        "version": str(9_000_000 + number),
    }


def _digest(of: str) -> str:
    return hashlib.sha256(of.encode()).hexdigest()


def _uid(of: str) -> str:
    digest = _digest(of)
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


def _time(second: int) -> str:
    return f"2026-03-01T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"
