"""Recorded requests and the answers of a kube-apiserver v1.34.2 to them, played against a world.

The requests were drawn at random: verbs, kinds, options, patches, and wrong objects. uids, times, versions, and allocated numbers are
left out of the comparison.
"""

from __future__ import annotations

import json
import lzma
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.apiserver.door import Call, Failure, answer_read, answer_write, changes_nothing, read_body
from scheduler_core.world.commands import BeginLife
from scheduler_core.world.simulation import Simulation

RECORDED = Path(__file__).with_name("requests.json.xz")
WORDS = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<t>"),
    (r"\b10\.96\.\d+\.\d+", "<ip>"),
    (r"\b3[0-2]\d\d\d(?=/|$)", "<np>"),
    (r"\bgen-[a-z0-9]{5}\b", "gen-<x>"),
    (r"(ResourceVersion in the precondition \()[^)]*|(ResourceVersion in record \()[^)]*", r"\1\2<rv>"),
    (r"Precondition failed: UID in precondition: [^,]*, UID in object meta: .*", "Precondition"),
    (r"ResourceVersion: \d+", "ResourceVersion: <rv>"),
    (r"(Too large resource version: \d+, current: )\d+", r"\1<rv>"),
    (r'(resourceVersion\\*":\\*")\d+', r"\1<rv>"),
)
VOLATILE = {"resourceVersion": "<rv>", "continue": "<c>", "nodePort": "<np>", "healthCheckNodePort": "<np>"}


def normalize(value: Any, key: str = "") -> Any:
    """A part of an answer without what is different each time."""
    if isinstance(value, dict):
        return {
            name: VOLATILE[name] if name in VOLATILE and each else normalize(each, name) for name, each in value.items()
        }
    if isinstance(value, list):
        found = [normalize(each, key) for each in value]
        if key == "managedFields":
            found.sort(key=lambda each: json.dumps(each, sort_keys=True))
        if key == "causes":
            found = [each for i, each in enumerate(found) if each not in found[:i]]
        if key == "cells":
            age = re.compile(r"\d+[smhd](\d+[smh])?|<invalid>")
            found = ["<age>" if isinstance(each, str) and age.fullmatch(each) else each for each in found]
        return found
    if isinstance(value, str):
        for pattern, word in WORDS:
            value = re.sub(pattern, word, value)
    return value


class Player:
    """Sends recorded requests to a world of its own."""

    def __init__(self) -> None:
        self.world = Simulation()
        self.world.apply(BeginLife("2026-11-26T12:00:00Z", True))
        self._seen: dict[str, dict[str, str]] = {}
        self._token = ""

    def ask(self, step: dict[str, Any]) -> tuple[int, Any, list[str]]:
        """The answer to a step, and its warnings."""
        query = {name: self._fill(text) for name, text in step["query"].items()}
        call = Call(step["method"], step["path"], query, form=step["form"], release="1.34.2")
        body = step["body"] if isinstance(step["body"], str) or step["body"] is None else json.dumps(step["body"])
        reply = self._answer(call, self._fill(body or "").encode(), step["ctype"])
        try:
            data = json.loads(reply.data)
        except ValueError:
            data = reply.data.decode()
        meta = data.get("metadata") if isinstance(data, dict) else None
        if isinstance(meta, dict):
            self._note(step["path"], meta)
        return reply.status, normalize(data), [normalize(value) for name, value in reply.headers if name == "Warning"]

    def _answer(self, call: Call, body: bytes, content_type: str) -> Any:
        if call.method == "GET":
            return answer_read(self.world, call)
        before = self.world.fork()
        try:
            warnings: list[tuple[str, str]] = []
            data = read_body(self.world, call, body, content_type, warnings)
            reply = answer_write(replace(self.world.api, typed=False), call, data, content_type, "rc")
        except Failure as failure:
            self.world = before
            return failure.reply
        if changes_nothing(call, data):
            self.world = before
        return reply._replace(headers=[*reply.headers, *warnings])

    def _note(self, path: str, meta: dict[str, Any]) -> None:
        self._token = meta.get("continue") or self._token
        if meta.get("uid"):
            name = str(meta.get("name"))
            place = path if path.rsplit("/", 1)[-1] == name else f"{path}/{name}"
            known = self._seen.setdefault(place, {"rv0": str(meta.get("resourceVersion"))})
            known |= {"rv": str(meta.get("resourceVersion")), "uid": str(meta["uid"])}

    def _fill(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            return self._token if match[1] == "continue" else self._seen.get(match[2], {}).get(match[1], "")

        return re.sub(r"\{(rv0|rv|uid|continue):?([^}\"]*)\}", value, text)


@cache
def read_sequences() -> list[list[dict[str, Any]]]:
    return list(json.loads(lzma.decompress(RECORDED.read_bytes())))


@pytest.mark.parametrize("number", range(len(read_sequences())))
def test_requests_are_answered_as_by_a_kube_apiserver(number: int) -> None:
    player, different = Player(), []
    for step in read_sequences()[number]:
        code, data, warnings = player.ask(step)
        if [code, data, sorted(warnings)] != normalize(step["answer"]):
            different.append((step, code, data, warnings))
    assert different == []
