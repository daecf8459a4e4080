"""A large import inside a worker: its turns and stages, what it hands on, and when that may be applied."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import orjson
import pytest

from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.moving import ImportPlan, ImportProgress, PackedPlan
from playground.sessions.worker import imports, time_sharing
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.imports import LargeImport
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.readonly import LoadLimits
from tests.playground.sessions.worlds import JSON, node, pod

MOST = 1 << 20


class Short(TimeSlice):
    """Slices that end after so many questions whether they have, whatever the clock says."""

    asked = 0

    def over(self) -> bool:
        self.asked += 1
        return self.asked % 7 == 0


@pytest.fixture
def engine() -> Engine:
    return Engine(0, Short())


def written(folder: Path, *objects: JSON) -> Path:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def looked_at(going: LargeImport, seconds: float = 60.0) -> ImportProgress:
    """One piece of it, as a worker gives it its turns."""
    work = going.work(seconds)
    while True:
        try:
            next(work)
        except StopIteration as end:
            progress: ImportProgress = end.value
            return progress


def made(engine: Engine, file: Path, *, rename: bool = False, most: int = MOST) -> tuple[LargeImport, PackedPlan]:
    going = LargeImport(engine, file, rename, LoadLimits(max_bytes=most))
    packed = looked_at(going).made
    assert packed is not None
    return going, packed


def plan_of(packed: PackedPlan) -> ImportPlan:
    return msgspec.msgpack.decode(zlib.decompress(packed.plan), type=ImportPlan)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by one second whenever somebody looks at it."""
    monkeypatch.setattr(time_sharing, "time", SimpleNamespace(perf_counter=count().__next__))


def pieces(going: LargeImport) -> Iterator[ImportProgress]:
    """How far it is after each turn, by a clock that ticks."""
    while True:
        progress = looked_at(going, 1.5)
        yield progress
        if progress.made is not None:
            return


@pytest.mark.usefixtures("ticking")
def test_it_goes_through_its_stages_and_never_back(engine: Engine, tmp_path: Path) -> None:
    objects = [node("n"), *(pod(f"p{i}") for i in range(40))]
    going = LargeImport(engine, written(tmp_path, *objects), False, LoadLimits(max_bytes=MOST))
    seen = list(pieces(going))
    stages = list(dict.fromkeys(each.stage for each in seen))
    assert stages == ["read", "clean", "try", "keep"]
    for stage in stages[1:]:
        done = [(each.done, each.total) for each in seen if each.stage == stage]
        assert done == sorted(done)
        assert all(0 <= each <= total for each, total in done)
    assert {each.total for each in seen if each.stage == "try"} == {41}


@pytest.mark.usefixtures("ticking")
def test_others_have_turns_between_its_objects(engine: Engine, tmp_path: Path) -> None:
    going = LargeImport(
        engine, written(tmp_path, *map(pod, [f"p{i}" for i in range(300)])), False, LoadLimits(max_bytes=MOST)
    )
    turns: dict[str, int] = {}
    for progress in pieces(going):
        turns[progress.stage] = turns.get(progress.stage, 0) + 1
    assert min(turns[stage] for stage in ("try", "keep")) > 10, turns


def test_the_command_that_it_hands_on_is_what_the_log_keeps(engine: Engine, tmp_path: Path) -> None:
    going, packed = made(engine, written(tmp_path, node("n"), pod("p"), pod("q")))
    data = orjson.loads(zlib.decompress(packed.command))
    assert [each["metadata"]["name"] for each in data["command"]["objects"]] == ["n", "p", "q"]
    assert (packed.accepted, packed.size) == (3, len(zlib.decompress(packed.command)))
    assert going.prepared is not None
    assert command_from_json(data["command"]) == going.prepared.command
    assert going.prepared.payload == packed.command


def test_nothing_of_the_world_changes_before_it_is_applied(engine: Engine, tmp_path: Path) -> None:
    going, _ = made(engine, written(tmp_path, node("n"), pod("p")))
    world = engine.world
    assert (world.position, world.store.pods()) == (0, [])
    assert going.prepared is not None
    assert going.prepared.holds(world)
    world.apply(command_from_json({"kind": "ApplyObjects", "objects": [node("other")]}))
    assert not going.prepared.holds(world)


def test_what_is_refused_is_left_out_and_keeps_its_row(engine: Engine, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wrong"}, "spec": {}}
    going, packed = made(engine, written(tmp_path, pod("p"), wrong, node("n")))
    plan = plan_of(packed)
    assert [(item.name, item.action) for item in plan.items] == [
        ("p", "created"),
        ("wrong", "refused"),
        ("n", "created"),
    ]
    assert plan.large
    assert packed.accepted == 2
    assert going.prepared is not None
    assert len(orjson.loads(zlib.decompress(packed.command))["command"]["objects"]) == 2


def test_where_nothing_is_taken_there_is_no_command(engine: Engine, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wrong"}, "spec": {}}
    going, packed = made(engine, written(tmp_path, wrong))
    assert (packed.command, packed.accepted, going.prepared) == (b"", 0, None)


def test_the_namespaces_of_a_snapshot_are_made_first(engine: Engine, tmp_path: Path) -> None:
    there = pod("p")
    there["metadata"] = {"name": "p", "namespace": "shop", "uid": "u", "creationTimestamp": "2026-03-01T10:00:00Z"}
    going, packed = made(engine, written(tmp_path, there, node("n")))
    assert [(item.kind, item.action) for item in plan_of(packed).items] == [
        ("Pod", "created"),
        ("Node", "created"),
        ("Namespace", "created"),
    ]
    assert going.prepared is not None
    engine.world.apply(going.prepared.command)
    assert [each.key for each in engine.world.store.pods()] == ["shop/p"]


def test_credentials_are_in_nothing_that_it_hands_on(engine: Engine, tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hunter2hunter2"}}
    _, packed = made(engine, written(tmp_path, node("n"), secret))
    for part in (packed.plan, packed.command, packed.text):
        assert b"hunter2" not in zlib.decompress(part)
    assert b"hunter2" in written(tmp_path, secret).read_bytes()


def test_under_other_names_only_the_answer_knows_the_old_ones(engine: Engine, tmp_path: Path) -> None:
    _, packed = made(engine, written(tmp_path, node("payments-db"), pod("payments-api")), rename=True)
    assert {"payments-db", "payments-api"} <= {old for old, _ in packed.names}
    for part in (packed.plan, packed.command, packed.text):
        assert b"payments" not in zlib.decompress(part)


def test_what_is_too_large_or_no_text_is_refused(engine: Engine, tmp_path: Path) -> None:
    file = written(tmp_path, node("n"))
    with pytest.raises(SessionError):
        made(engine, file, most=10)
    file.write_bytes(b"\xff\x00" * 50)
    with pytest.raises(SessionError):
        made(engine, file)


def test_one_that_takes_too_much_memory_is_stopped(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "ALONE", -1.0)
    with pytest.raises(SessionError, match="more memory than the limit"):
        made(engine, written(tmp_path, node("n"), pod("p")))
