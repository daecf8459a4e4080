"""Watches of a session's API server."""

from __future__ import annotations

from typing import Any

import msgspec

from playground.sessions.worker import watching
from playground.sessions.worker.watching import Watches
from scheduler_core.apiserver.door import JSON, Call, Watcher, answer_write
from scheduler_core.world.simulation import Simulation


def write(sim: Simulation, namespace: str, name: str, **labels: str) -> None:
    body = {"metadata": {"name": name, "labels": labels}}
    answer_write(sim.api, Call("POST", f"/api/v1/namespaces/{namespace}/configmaps"), body, JSON, "me")


def test_watches_see_their_own_namespace_and_those_that_ask_the_same_share_the_work(monkeypatch: Any) -> None:
    sim, watches = Simulation(), Watches()
    for name in ("a", "b"):
        answer_write(sim.api, Call("POST", "/api/v1/namespaces"), {"metadata": {"name": name}}, JSON, "me")
    watches.follow(sim)

    def begin(path: str, **query: str) -> int:
        return watches.begin(sim, Call("GET", f"/api/v1{path}/configmaps", {**query, "resourceVersion": "0"}))[0]

    twins = [begin("/namespaces/a") for _ in range(2)]
    other, every, picky = begin("/namespaces/b"), begin(""), begin("", labelSelector="x=1")
    shows: list[str] = []
    show = Watcher.show

    def counted(self: Watcher, *args: Any) -> bytes:
        shows.append(self.target.namespace)
        return show(self, *args)

    monkeypatch.setattr(Watcher, "show", counted)
    write(sim, "a", "one")
    write(sim, "b", "two", x="1")
    parts, alive = watches.next(sim)
    seen = {
        number: [msgspec.json.decode(line)["object"]["metadata"]["name"] for line in part.splitlines()]
        for numbers, part in parts
        for number in numbers
    }
    assert seen == {twins[0]: ["one"], twins[1]: ["one"], other: ["two"], every: ["one", "two"], picky: ["two"]}
    assert alive == [*twins, other, every, picky]
    assert sorted(shows) == ["", "", "", "", "a", "b"]  # one look for the twins, none at another namespace
    assert watches.next(sim)[0] == []


def test_a_watch_from_before_the_changes_that_are_kept_says_so_and_is_over(monkeypatch: Any) -> None:
    monkeypatch.setattr(watching, "MOST", 3)
    sim, watches = Simulation(), Watches()
    watches.follow(sim)
    for name in "abcde":
        write(sim, "default", name)
    number, _, first = watches.begin(sim, Call("GET", "/api/v1/configmaps", {"resourceVersion": "1"}))
    (line,) = (msgspec.json.decode(each) for each in first)
    assert (number, line["type"], line["object"]["code"], line["object"]["reason"]) == (0, "ERROR", 410, "Expired")
    assert watches.next(sim)[1] == []
