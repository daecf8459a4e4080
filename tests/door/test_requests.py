"""Recorded requests and the answers of a kube-apiserver v1.34.2 to them, played against a world.

The requests were drawn at random: verbs, kinds, options, patches, and wrong objects. uids, times, versions, and allocated numbers are
left out of the comparison. A step WATCH opens a watch, a step SEEN has what the watch with its number saw until then.
"""

from __future__ import annotations

import json
import lzma
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from playground.sessions.worker.watching import Watches
from scheduler_core.apiserver.door import Call, Failure, Reply, answer_read, answer_write, changes_nothing, read_body
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
    (r"(too old resource version: )\d+ \(\d+\)", r"\1<rv>"),
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


def select(step: dict[str, Any], events: list[Any]) -> Any:
    """The events of a watch about the objects of its sequence, without the bookmarks that come when their time has come."""

    def concerns(event: Any) -> bool:
        shown = (event["object"].get("rows") or [event])[0].get("object") or {}
        meta, space = shown.get("metadata") or {}, step["query"]["space"]
        if event["type"] == "BOOKMARK":
            return "initial" in step["query"] and "k8s.io/initial-events-end" in (meta.get("annotations") or {})
        about = (meta.get("namespace"), meta.get("name", "").partition("-")[0])
        return event["type"] == "ERROR" or space in about

    return normalize([event for event in events if concerns(event)])


class Player:
    """Sends recorded requests to a world of its own."""

    def __init__(self) -> None:
        self.world = Simulation()
        self.world.apply(BeginLife("2026-11-26T12:00:00Z", True))
        self._seen: dict[str, dict[str, str]] = {}
        self._token = ""
        self._watches, self._streams = Watches(), list[tuple[int, list[bytes]]]()

    def ask(self, step: dict[str, Any]) -> tuple[int, Any, list[str]]:
        """The answer to a step, and its warnings."""
        if step["method"] == "SEEN":
            return (
                200,
                select(step, [json.loads(line) for line in b"".join(self._streams[step["body"]][1]).splitlines()]),
                [],
            )
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
        self._watches.follow(self.world)
        reply = self._change_or_read(call, body, content_type)
        self._watches.follow(self.world)
        for numbers, part in self._watches.next(self.world)[0]:
            for number, lines in self._streams:
                lines += [part] * (number in numbers)
        return reply

    def _change_or_read(self, call: Call, body: bytes, content_type: str) -> Any:
        if call.method == "WATCH":
            return self._watch(msgspec.structs.replace(call, method="GET"))
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

    def _watch(self, call: Call) -> Any:
        try:
            number, _, first = self._watches.begin(self.world, call)
        except Failure as failure:
            self._streams.append((0, []))
            return failure.reply
        self._streams.append((number, list(first)))
        return Reply(200, b"null")

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
