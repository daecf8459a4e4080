"""The four scenes of kube-scheduler's sequences, drawn from what a run recorded: who takes part, and the main messages in order."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import to_builtins

from playground.features.sequence import worker as sequences
from playground.features.sequence.presenter import present
from playground.features.sequence.query import Sequence
from playground.presenters.words import Message, in_english
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.testing.builders import make_node, make_pod
from scheduler_core.world.commands import ApplyObjects, CreateObject, FailCall, SetSettings, StartScheduler
from scheduler_core.world.simulation import Grain
from tests.playground.sessions.worker.test_engine import finish

VIP = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "vip"}, "value": 1000}
NODE = make_node("n1").capacity(cpu="2", memory="8Gi", pods="10").manifest()


def made(*commands: Any) -> Engine:
    """A session after these commands."""
    engine = Engine(0, TimeSlice())
    for command in (ApplyObjects((NODE,)), *commands):
        do(engine, command)
    return engine


def do(engine: Engine, command: Any) -> None:
    engine.apply_data(orjson.dumps({"command": to_builtins(command)}), 1000)


def walk(engine: Engine, steps: int) -> Engine:
    finish(engine.step(Grain.CALL, steps))
    return engine


def create(name: str, **spec: Any) -> CreateObject:
    manifest = make_pod(name).requests(cpu="2").manifest()
    plain = {key: value for key, value in manifest["spec"].items() if key != "priority"}
    return CreateObject({**manifest, "spec": {**plain, **spec}})


def plain(words: Message) -> str:
    return in_english(words)


def found(engine: Engine, pod: str = "", scheduler: str = "", at: int | None = None, first: int = 0) -> Any:
    upto = engine.world.position if at is None else at
    query = Sequence(at=upto, pod=pod and f"default/{pod}", scheduler=scheduler, first=first, seconds=9)
    return finish(sequences.sequence(engine, query))


def said(answer: Any) -> list[str]:
    """Each arrow as `from > to: words`, those of plugins folded."""
    rows = present(answer, False, plain)["table"]
    return [f"{row['source']} > {row['target']}: {plain(row['words'])}" for row in rows]


def in_order(lines: list[str], *wanted: str) -> None:
    rest = iter(lines)
    for text in wanted:
        assert any(line == text for line in rest), f"{text} is missing or out of order in {lines}"


def preemption() -> Engine:
    engine = walk(made(CreateObject(VIP), create("low")), 60)
    do(engine, create("high", priorityClassName="vip"))
    return walk(engine, 100)


def test_scene_1_a_pod_from_its_creation_until_it_runs() -> None:
    lines = said(found(walk(made(create("web")), 60), "web"))
    in_order(
        lines,
        "user > api: POST: create an object",
        "api > handlers: ADDED Pod web",
        "handlers > queue: Add: active",
        "queue > cycle: Pop: web",
        "cycle > cache: UpdateSnapshot: nodes: 1",
        "cycle > plugins: RunPreFilterPlugins",
        "plugins > plugins: NodeAffinity and 9 more: no objection",
        "cycle > plugins: RunFilterPlugins",
        "cycle > cycle: selectHost: n1",
        "cycle > cache: AssumePod on n1",
        "cycle > plugins: RunReservePluginsReserve",
        "cycle > binding: go: the binding cycle",
        "binding > plugins: RunPreBindPlugins",
        "binding > plugins: RunBindPlugins",
        "binding > api: POST binding: web → n1",
        "api > binding: 201 Created",
        "api > handlers: MODIFIED Pod web",
        "binding > cache: FinishBinding: bound to n1",
        "kubelet > api: started: c",
    )


def test_scene_2_a_preemption_with_its_victim_until_the_preemptor_runs() -> None:
    answer = found(preemption(), "high")
    in_order(
        said(answer),
        "plugins > cycle: NodeResourcesFit refuses 1 of 1 nodes",
        "cycle > plugins: RunPostFilterPlugins",
        "plugins > plugins: DefaultPreemption: Success",
        "cycle > queue: AddUnschedulableIfNotPresent: unschedulable",
        "plugins > binding: prepareCandidate on n1: low",
        "binding > api: PATCH status of high: nominatedNodeName, conditions",
        "binding > api: DELETE low",
        "kubelet > api: ended: c (143); removed the pod, whose containers have stopped",
        "handlers > queue: AssignedPodDelete: backoff",
        "api > handlers: DELETED Pod low",
        "queue > cycle: Pop: high",
        "binding > cache: FinishBinding: bound to n1",
    )
    assert [part["outcome"] for part in answer["parts"]] == ["unschedulable", "scheduled"]


def test_the_victim_has_a_sequence_of_its_own_without_the_preemptor() -> None:
    lines = said(found(preemption(), "low"))
    in_order(lines, "queue > cycle: Pop: low", "binding > api: DELETE low")
    assert "queue > cycle: Pop: high" not in lines


def test_scene_3_a_failed_binding_is_rolled_back_and_backs_off() -> None:
    engine = walk(made(create("web"), FailCall(call="bind", pod="default/web", code=409)), 80)
    lines = said(found(engine, "web"))
    in_order(
        lines,
        "binding > api: POST binding: web → n1",
        next(line for line in lines if line.startswith("api > binding: Operation cannot be fulfilled")),
        "plugins > binding: DefaultBinder: Error",
        "binding > plugins: RunReservePluginsUnreserve",
        "binding > cache: ForgetPod: the requests of the pod no longer count as used",
        "binding > queue: AddUnschedulableIfNotPresent: backoff",
        "binding > api: Event FailedScheduling",
        "queue > queue: backoff over: active",
        "queue > cycle: Pop: web",
        "api > binding: 201 Created",
    )


def test_scene_4_a_scheduler_starts_syncs_is_elected_and_begins_its_loop() -> None:
    engine = walk(made(StartScheduler("a")), 20)
    do(engine, create("web"))
    lines = said(found(walk(engine, 60), scheduler="a"))
    in_order(
        lines,
        "user > process: start",
        "process > process: New: profiles default-scheduler",
        "process > handlers: start: list and watch every kind",
        "handlers > process: WaitForCacheSync: all have synced",
        "process > elector: LeaderElector.Run: tries every retryPeriod",
        "elector > api: acquires the Lease",
        "api > api: ADDED Lease kube-scheduler",
        "elector > process: OnStartedLeading",
        "process > queue: Run: the scheduling loop begins",
        "queue > cycle: Pop: web",
    )


def test_a_gated_pod_is_held_back_when_it_is_added() -> None:
    engine = walk(made(create("web", schedulingGates=[{"name": "wait"}])), 20)
    in_order(
        said(found(engine, "web")),
        "api > handlers: ADDED Pod web",
        "plugins > queue: SchedulingGates: UnschedulableAndUnresolvable",
        "handlers > queue: Add: gated",
    )


def test_where_informers_lag_the_creation_comes_first_and_is_heard_of_later() -> None:
    engine = made(SetSettings({"informer_lag": 50_000_000}), create("web"))
    lines = said(found(walk(engine, 60), "web"))
    assert lines[:2] == ["user > api: POST: create an object", "api > handlers: ADDED Pod web"]
    in_order(lines, "handlers > handlers: ADDED Pod web", "handlers > queue: Add: active")


def test_a_scheduler_that_was_always_there_has_no_start() -> None:
    answer = found(made(), scheduler="kube-scheduler")
    assert answer["known"]
    assert answer["rows"] == []
    assert not found(made(), scheduler="nobody")["known"]


def test_nothing_is_told_of_what_comes_later_than_the_step() -> None:
    engine = walk(made(create("web")), 60)
    popped = next(row["at"] for row in found(engine, "web")["rows"] if row["kind"] == "attempt_started")
    assert {row["at"] for row in found(engine, "web", at=popped)["rows"]} == {2, popped}


def test_pages_follow_each_other_without_a_gap(monkeypatch: Any) -> None:
    engine = preemption()
    whole = found(engine, "high")["rows"]
    monkeypatch.setattr(sequences, "MOST", 20)
    rows, first = [], 0
    for _ in range(20):
        page = found(engine, "high", first=first)
        rows += page["rows"]
        if page["next"] is None:
            break
        first = page["next"]
    assert [(row["at"], row["source"], row["target"]) for row in rows] == [
        (row["at"], row["source"], row["target"]) for row in whole
    ]


def test_a_stretch_in_which_only_others_act_is_left_out_and_said_so(monkeypatch: Any) -> None:
    engine = walk(made(create("web"), FailCall(call="bind", pod="default/web", code=409)), 40)
    for name in ("a", "b", "c"):
        do(engine, create(name, nodeSelector={"no": "node"}))
    monkeypatch.setattr(sequences, "QUIET", 5)
    rows = found(walk(engine, 150), "web")["rows"]
    assert any("steps about other pods" in plain(row["gap"]) for row in rows if "gap" in row)
    assert "bound" in [plain(row["words"])[15:20] for row in rows if row["kind"] == "binding_ended"]


def test_only_lifelines_in_use_are_drawn_and_words_stay_inside() -> None:
    page = present(found(preemption(), "high"), False, plain)["diagram"]
    assert [head["title"] for head in page["heads"]][:2] == ["User", "API server"]
    assert "Controllers" not in [head["title"] for head in page["heads"]]
    words = [row for row in page["rows"] if row["kind"] == "message"]
    assert all(0 < int(row["text_x"]) < int(page["width"]) for row in words)
