"""Requests drawn at random, the answers of a kube-apiserver to them, and where a world of ours answers otherwise.

`python -m tests.oracle.door draw FILE --seeds 1 41` draws a sequence of 17 requests for each seed (`--watches`: with watches).
`record FILE --server URL --token TOKEN` adds a kube-apiserver's answers; `compare FILE` prints each that differs here. `keep FILE` adds
the sequences without a difference to those that tests/door/test_requests.py plays.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import http.client
import json
import lzma
import random
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.door.test_requests import Player, normalize, read_sequences, select

Data = dict[str, Any]
LENGTH = 17
_POOL = Path(__file__).with_name("door.yaml")  # valid objects of each kind, without their names
_PATCHES = {
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
    "application/json-patch+json": "json",
}
_ACCEPT = {
    "object": "application/json",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "metadata": "application/json;as={};v=v1;g=meta.k8s.io",
}
_ODD: list[Any] = [
    *("", "x", "a/b", "A_", "100m", "1Gi", "-1", "200%", "a" * 70, "a b", "*", "2026-01-01T00:00:00Z", "é"),
    *(0, -1, 1, 5, 70000, 10**12, 1.5, True, False, None, [], {}, ["x"], {"x": "y"}, [{}], [None]),
]
_QUERIES = [
    *(("dryRun", each) for each in ("All", "All", "x")),
    *(("fieldManager", each) for each in ("m1", "m2", "kubectl-edit", "m3")),
    *(("fieldValidation", each) for each in ("Ignore", "Strict", "Strict", "Warn", "bad")),
]
_READS = [
    *(("labelSelector", each) for each in ("l=1", "l!=1", "!l", "l in (1,2)", "l>0", "=x", "x,,", "l notin (1)")),
    *(
        ("fieldSelector", each)
        for each in ("metadata.name=a", "metadata.name!=a", "metadata.name", "status.phase=Pending")
    ),
    *(
        ("fieldSelector", each)
        for each in ("metadata.namespace=x", "type=Opaque", "spec.nodeName=n1", "spec.unschedulable=true")
    ),
    *(("limit", each) for each in ("1", "2", "0", "-1", "x")),
    *(("continue", each) for each in ("bad", "{continue:}")),
    *(("resourceVersion", each) for each in ("0", "1", "x")),
    *(("resourceVersionMatch", each) for each in ("Exact", "NotOlderThan", "Bogus")),
    *(("sendInitialEvents", "true"), ("includeObject", "None"), ("includeObject", "Object"), ("includeObject", "x")),
]
_DELETES = [
    *(("propagationPolicy", each) for each in ("Background", "Foreground", "Orphan", "Bad")),
    *(("gracePeriodSeconds", each) for each in ("0", "30", "-1")),
    ("orphanDependents", "true"),
]

_WATCHES = [
    *({}, {"resourceVersion": "0"}, {"resourceVersion": "{rv0:PLACE}"}, {"resourceVersion": "{rv:PLACE}"}),
    *({"resourceVersion": "x"}, {"resourceVersion": "{rv:PLACE}", "resourceVersionMatch": "NotOlderThan"}),
    *({"sendInitialEvents": each, "resourceVersionMatch": "NotOlderThan"} for each in ("true", "true", "false", "x")),
    *({"sendInitialEvents": "true", "resourceVersionMatch": each} for each in ("", "Exact", "Bogus")),
    *({"sendInitialEvents": "false"}, {"sendInitialEvents": "false", "resourceVersion": "0"}),
    {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "resourceVersion": "{rv:PLACE}"},
]
_SELECTIONS = [
    *(
        {},
        {},
        {},
        {"labelSelector": "l=1"},
        {"labelSelector": "l=1"},
        {"labelSelector": "l"},
        {"labelSelector": "l!=1"},
    ),
    *(
        {"labelSelector": "l in (2,3)"},
        {"fieldSelector": "metadata.name=NAME"},
        {"fieldSelector": "metadata.name!=NAME"},
    ),
    *({"fieldSelector": each} for each in ("status.phase=Pending", "type=Opaque", "spec.nodeName=n1", "x=y")),
    {"fieldSelector": "metadata.name=NAME", "labelSelector": "l=1"},
]


@cache
def read_pool() -> list[Data]:
    """The resources to ask for: group/version, plural, kind, and valid objects."""
    return list(yaml.safe_load(_POOL.read_text()))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (parent, key) below a value."""
    for key, each in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(each, dict | list):
            yield from _places(each)


def _spoil(draw: random.Random, data: Data, count: int) -> Data:
    """The data with some values made wrong, dropped, doubled, or added."""
    data = copy.deepcopy(data)
    for _ in range(count):
        places = list(_places(data))
        if not places:
            break
        parent, key = draw.choice(places)
        match draw.randrange(6):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, dict):
                parent["x"] = "y"
            case 2 if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
            case _:
                parent[key] = copy.deepcopy(draw.choice(_ODD))
    return data


class Sequence:
    """One sequence of requests about the objects of two kinds."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.space = f"n{seed}"
        self.kinds = self.draw.sample(read_pool(), 2)

    def steps(self) -> list[Data]:
        """All requests."""
        first = self._step("POST", "/api/v1/namespaces", body={"metadata": {"name": self.space}})
        return [first, *(self._any() for _ in range(LENGTH - 1))]

    def _step(self, method: str, path: str, query: Data | None = None, body: Any = None, **more: str) -> Data:
        step = {"method": method, "path": path, "query": query or {}, "body": body, "ctype": "application/json"}
        return {**step, "form": "object", **more}

    def _any(self) -> Data:
        kind = self.draw.choice(self.kinds)
        collection, name, place = self._where(kind)
        match self.draw.choices(("create", "get", "list", "put", "patch", "delete", "odd"), (35, 6, 12, 14, 26, 5, 2))[
            0
        ]:
            case "create":
                return self._step(
                    "POST", collection, self._queries(_QUERIES), self._body(kind, name), form=self._form(0.06)
                )
            case "get":
                return self._step("GET", self._sub(kind, place), form=self._form(0.4))
            case "list":
                return self._step("GET", collection, self._queries(_READS, 0.7), form=self._form(0.4))
            case "put":
                body = self._body(kind, name)
                body["metadata"] |= self.draw.choice(
                    [
                        {},
                        {"resourceVersion": f"{{rv:{place}}}"},
                        {"uid": f"{{uid:{place}}}"},
                        {"resourceVersion": f"{{rv0:{place}}}"},
                    ]
                )
                return self._step("PUT", self._sub(kind, place), self._queries(_QUERIES), body)
            case "patch":
                return self._patch(kind, place, name)
            case "delete":
                options = {
                    "preconditions": self.draw.choice(
                        [{"uid": f"{{uid:{place}}}"}, {"uid": "u"}, {"resourceVersion": "1"}]
                    )
                }
                body = self.draw.choice([None, None, {"kind": "DeleteOptions", "apiVersion": "v1", **options}])
                return self._step("DELETE", place, self._queries([*_DELETES, *_QUERIES[:3]]), body)
        method = self.draw.choice(["POST", "PUT", "DELETE", "PATCH", "GET"])
        text = self.draw.choice(["", "{", "[]", "1", '"a"', "a: b", '{"kind":"X"}', '{"apiVersion":"v1","kind":"Foo"}'])
        path = self.draw.choice(
            [place, collection, f"{place}/bogus", f"{collection}x", f"{place}/status/x", f"{place}/scale"]
        )
        return self._step(
            method,
            path,
            {},
            text,
            ctype=self.draw.choice([*_PATCHES, "application/json", "application/yaml", "text/plain"]),
        )

    def _where(self, kind: Data) -> tuple[str, str, str]:
        """A collection, a name, and the path of the object with that name."""
        root = f"/apis/{kind['version']}" if "/" in kind["version"] else f"/api/{kind['version']}"
        collection = (
            f"{root}/namespaces/{self.space}/{kind['plural']}" if kind["namespaced"] else f"{root}/{kind['plural']}"
        )
        name = self.draw.choice("aaabbc") if kind["namespaced"] else f"{self.space}-{self.draw.choice('aaabbc')}"
        name = kind.get("suffix", name).format(name=name, space=self.space)
        return collection, name, f"{collection}/{name}"

    def _form(self, part: float) -> str:
        return self.draw.choice(("table", "metadata")) if self.draw.random() < part else "object"

    def _queries(self, of: list[tuple[str, str]], part: float = 0.35) -> Data:
        return dict(self.draw.sample(of, self.draw.choice((1, 1, 2)))) if self.draw.random() < part else {}

    def _sub(self, kind: Data, place: str) -> str:
        subs = kind.get("sub") or ()
        return f"{place}/{self.draw.choice(subs)}" if subs and self.draw.random() < 0.25 else place

    def _body(self, kind: Data, name: str) -> Data:
        made = copy.deepcopy(self.draw.choice(kind["objects"]))
        made = json.loads(json.dumps(made).replace("NAMESPACE", self.space))
        if self.draw.random() < 0.4:
            made = _spoil(self.draw, made, self.draw.choice((1, 1, 2)))
        meta: Data = {"name": name}
        more: list[Data] = [
            {"labels": {"l": "1"}}, {"labels": {"l": "2"}}, {"annotations": {"an": "x"}}, {"finalizers": ["x.y/z"]}, {"labels": {}},
            {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "q", "uid": "u"}]}, {"generateName": "gen-"},
        ]  # fmt: skip
        for _ in range(self.draw.choice((0, 1, 1, 2))):
            meta |= self.draw.choice(more)
        if self.draw.random() < 0.05:
            meta = _spoil(self.draw, meta, 1)
        return {"apiVersion": kind["version"], "kind": kind["kind"], "metadata": meta, **made}

    def _patch(self, kind: Data, place: str, name: str) -> Data:
        type_ = self.draw.choice(list(_PATCHES))
        query = self._queries(_QUERIES)
        if type_.endswith("apply-patch+yaml"):
            if self.draw.random() < 0.9:
                query.setdefault("fieldManager", self.draw.choice(("m1", "m2", "m3")))
            if self.draw.random() < 0.3:
                query["force"] = self.draw.choice(("true", "true", "false"))
            body: Any = self._body(kind, name)
        elif type_.endswith("json-patch+json"):
            body = [self._operation(kind) for _ in range(self.draw.choice((1, 1, 2, 3)))]
        else:
            body = self._part(kind)
            if self.draw.random() < 0.15:
                body.setdefault("metadata", {})
                if isinstance(body["metadata"], dict):
                    body["metadata"]["resourceVersion"] = f"{{{self.draw.choice(('rv', 'rv0'))}:{place}}}"
        return self._step("PATCH", self._sub(kind, place), query, body, ctype=type_)

    def _part(self, kind: Data) -> Data:
        """One value of an object, maybe made wrong, at its place."""
        whole = {
            **copy.deepcopy(self.draw.choice(kind["objects"])),
            "metadata": {"labels": {"l": "3", "new": "n"}, "annotations": {"k": "v"}},
        }
        whole = json.loads(json.dumps(whole).replace("NAMESPACE", self.space))
        made: Data = {}
        place, from_ = made, whole
        while True:
            key = self.draw.choice(list(from_))
            value = from_[key]
            if isinstance(value, dict) and value and self.draw.random() < 0.75:
                place[key] = {}
                place, from_ = place[key], value
                continue
            place[key] = copy.deepcopy(self.draw.choice(_ODD)) if self.draw.random() < 0.35 else value
            if isinstance(place[key], list | dict) and self.draw.random() < 0.3:
                place[key] = _spoil(self.draw, {"v": place[key]}, 1).get("v")
            return made

    def _operation(self, kind: Data) -> Data:
        whole = {**copy.deepcopy(self.draw.choice(kind["objects"])), "metadata": {"labels": {"l": "1"}, "name": "a"}}
        at, place, path = whole, whole, ""
        while isinstance(place, dict | list) and place and self.draw.random() < 0.8:
            at = place
            key = self.draw.choice(list(at)) if isinstance(at, dict) else self.draw.randrange(len(at))
            place, path = at[key], f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
        path = self.draw.choice([path] * 6 + [f"{path}/-", f"{path}/9", "/metadata/labels/none", "/nope/x", "x", ""])
        made: Data = {
            "op": self.draw.choice(
                ["replace", "replace", "add", "add", "remove", "remove", "test", "copy", "move", "bogus"]
            )
        }
        made["path"] = path
        if made["op"] in ("copy", "move"):
            made["from"] = self.draw.choice(["/metadata/labels/l", "/metadata/labels", "/nope", "/spec"])
        elif made["op"] != "remove":
            made["value"] = copy.deepcopy(self.draw.choice([place, place, *_ODD]))
        return made


class WatchSequence(Sequence):
    """A sequence with watches; what they see comes at its end."""

    def steps(self) -> list[Data]:
        """All requests, and what each watch saw."""
        first = self._step("POST", "/api/v1/namespaces", body={"metadata": {"name": self.space}})
        made = [first, *(self._watch() if self.draw.random() < 0.28 else self._any() for _ in range(LENGTH + 4))]
        asked = [step for step in made if step["method"] == "WATCH"]
        return [*made, *(self._read_watch(step, number) for number, step in enumerate(asked))]

    def _read_watch(self, step: Data, number: int) -> Data:
        initial = {"initial": "true"} if "sendInitialEvents" in step["query"] else {}
        return self._step("SEEN", step["path"], {"space": self.space, **initial}, number)

    def _watch(self) -> Data:
        kind = self.draw.choice(self.kinds)
        collection, name, place = self._where(kind)
        if kind["namespaced"] and self.draw.random() < 0.3:
            collection = collection.replace(f"/namespaces/{self.space}", "")
        query = self.draw.choice(_WATCHES) | self.draw.choice(_SELECTIONS)
        query |= self.draw.choice([{}, {"allowWatchBookmarks": "true"}])
        query = json.loads(json.dumps(query).replace("PLACE", place).replace("NAME", name))
        return self._step("WATCH", collection, query, form=self._form(0.3))


def _drop_own_managers(meta: Data) -> None:
    """Drop what the server itself manages: here it has no entry."""
    if fields := meta.pop("managedFields", None):
        kept = [each for each in fields if not each["manager"].startswith("kube-apiserver")]
        meta |= {"managedFields": kept} if kept else {}


def _gather(stream: Any, lines: list[bytes]) -> None:
    """Add the lines of a stream, until it ends or says nothing for long."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        lines.extend(stream)


class Recorder(Player):
    """Sends requests to a kube-apiserver."""

    def __init__(self, server: str, token: str) -> None:
        super().__init__()
        self._server, self._authorize = server, token
        self._context = ssl._create_unverified_context()
        self._lines: list[list[bytes]] = []

    def ask_server(self, step: Data) -> list[Any]:
        """Status, data, and warnings."""
        if step["method"] == "SEEN":
            time.sleep(0.0 if step["body"] else 0.7)
            return [200, select(step, [json.loads(line) for line in self._lines[step["body"]]]), []]
        query = urllib.parse.urlencode({name: self._fill(text) for name, text in step["query"].items()})
        body = step["body"] if isinstance(step["body"], str) or step["body"] is None else json.dumps(step["body"])
        named = (
            "PartialObjectMetadata"
            if step["method"] != "GET" or self._is_one(step["path"])
            else "PartialObjectMetadataList"
        )
        headers = {"Authorization": f"Bearer {self._authorize}", "Content-Type": step["ctype"], "User-Agent": "rc"}
        headers["Accept"] = _ACCEPT[step["form"]].format(named)
        sent = None if step["method"] == "GET" or body is None else self._fill(body).encode()
        url = f"{self._server}{urllib.parse.quote(step['path'])}?{query}"
        watches = step["method"] == "WATCH"
        if watches:
            time.sleep(0.3)  # until the caches of the server know what was written
            url += "&watch=1"
        asked = urllib.request.Request(url, sent, headers, method="GET" if watches else step["method"])
        try:
            answer = urllib.request.urlopen(asked, context=self._context, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        if watches:
            self._lines.append([])
            if answer.status == 200:
                threading.Thread(target=_gather, args=(answer, self._lines[-1]), daemon=True).start()
                return [200, None, []]
        text = answer.read().decode()
        try:
            data = json.loads(text)
        except ValueError:
            data = text
        meta = data.get("metadata") if isinstance(data, dict) else None
        if isinstance(meta, dict):
            self._note(step["path"], meta)
            if answer.status == 201 and data["kind"] == "CustomResourceDefinition":
                time.sleep(2)  # until it is established
                data = self.ask_server(
                    {**step, "method": "GET", "path": f"{step['path']}/{meta['name']}", "query": {}}
                )[1]
            for each in [
                data,
                *(data.get("items") or ()),
                *((row.get("object") or {}) for row in data.get("rows") or ()),
            ]:
                _drop_own_managers(each.get("metadata") or {})
        return [answer.status, normalize(data), normalize(sorted(answer.headers.get_all("Warning") or []))]

    def clean(self) -> None:
        """Delete what is in no namespace."""
        for place in [place for place in self._seen if "/namespaces" not in place]:
            patch = {"query": {}, "form": "object", "body": {"metadata": {"finalizers": None}}}
            self.ask_server({**patch, "method": "PATCH", "path": place, "ctype": "application/merge-patch+json"})
            self.ask_server({**patch, "method": "DELETE", "path": place, "ctype": "application/json", "body": None})

    @staticmethod
    def _is_one(path: str) -> bool:
        parts = path.strip("/").split("/")[2 if path.startswith("/api/") else 3 :]
        return len(parts[2:] if parts[0] == "namespaces" and len(parts) > 2 else parts) > 1


def draw(seeds: range, watches: bool) -> list[list[Data]]:
    """A sequence for each seed."""
    return [(WatchSequence if watches else Sequence)(seed).steps() for seed in seeds]


def record(sequences: list[list[Data]], server: str, token: str) -> None:
    """Add the answers of a server, on which nothing of a sequence stays."""
    for sequence in sequences:
        recorder = Recorder(server, token)
        for step in sequence:
            step["answer"] = recorder.ask_server(step)
        recorder.clean()


def compare(sequences: list[list[Data]]) -> list[tuple[Data, list[Any]]]:
    """The steps that are answered otherwise here, with the answer here."""
    found = []
    for sequence in sequences:
        player = Player()
        for step in sequence:
            code, data, warnings = player.ask(step)
            if [code, data, sorted(warnings)] != normalize(step["answer"]):
                found.append((step, [code, data, sorted(warnings)]))
    return found


def describe(kube: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Yield the places where two answers differ."""
    if isinstance(kube, dict) and isinstance(ours, dict):
        for key in [*kube, *(key for key in ours if key not in kube)]:
            if kube.get(key) != ours.get(key) or (key in kube) != (key in ours):
                yield from describe(kube.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(kube, list) and isinstance(ours, list) and len(kube) == len(ours):
        for i, (one, other) in enumerate(zip(kube, ours, strict=True)):
            if one != other:
                yield from describe(one, other, f"{path}[{i}]")
    else:
        yield f"  {path}\n    kube: {json.dumps(kube)[:1500]}\n    ours: {json.dumps(ours)[:1500]}"


def main() -> None:
    """Draw, record, compare, or keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("draw", "record", "compare", "keep"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(1, 41))
    parser.add_argument("--watches", action="store_true")
    parser.add_argument("--server", default="https://127.0.0.1:6443")
    parser.add_argument("--token", default="")
    given = parser.parse_args()
    if given.do == "draw":
        given.file.write_text(json.dumps(draw(range(*given.seeds), given.watches)))
        return
    sequences = json.loads(given.file.read_text())
    if given.do == "record":
        record(sequences, given.server, given.token)
        given.file.write_text(json.dumps(sequences))
    elif given.do == "keep":
        from tests.door.test_requests import RECORDED

        equal = [each for each in sequences if not compare([each])]
        RECORDED.write_bytes(lzma.compress(json.dumps([*read_sequences(), *equal]).encode(), preset=9))
    else:
        found = compare(sequences)
        for step, ours in found:
            print(f"## {step['method']} {step['path']} {step['query'] or ''} {step['form']} {step['ctype']}")
            print(f"  {json.dumps(step['body'])[:1200]}")
            kube = normalize(step["answer"])
            if kube[0] != ours[0]:
                kube, ours = (
                    [each[0], each[1].get("message", each[1]) if isinstance(each[1], dict) else each[1], each[2]]
                    for each in (kube, ours)
                )
            print("\n".join(list(describe(kube, ours))[:4]))
        print(f"{len(found)} of {sum(map(len, sequences))} differ")


if __name__ == "__main__":
    main()
