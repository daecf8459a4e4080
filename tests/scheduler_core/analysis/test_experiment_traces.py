"""Worlds of experiments that come from traces: CSV, a session's trace, SimKube's; their arrivals and durations."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from scheduler_core.analysis.experiments import Experiment, find_parting, list_runs, make_run, record_run
from scheduler_core.analysis.experiments.plan import Spread
from scheduler_core.analysis.experiments.timed import TimedPod, read_source
from scheduler_core.base.clock.agenda import SECOND, Stream
from scheduler_core.formats.export import export_lines
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetSettings, command_from_json
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.analysis.test_experiments import DATA
from tests.scheduler_core.worlds import node, pod

RECORDED = {"arrivals": "recorded", "durations": "recorded"}


def times(found: list[TimedPod]) -> list[tuple[str, int | None, int | None]]:
    """Name, arrival, and stay of each pod, in seconds."""

    def seconds(time: int | None) -> int | None:
        return None if time is None else time // SECOND

    return [(each.pod["metadata"]["name"], seconds(each.arrival), seconds(each.stay)) for each in found]


def play(folder: Path, file: str, **more: Any) -> dict[str, Any]:
    world = {"name": "w", "files": [file], "nodes": {"m": 1}, **RECORDED, **more}
    (run, *_) = list_runs(msgspec.convert({**DATA, "worlds": [world], "seeds": 1}, Experiment), str(folder))
    return make_run(run)


def test_a_table_of_openb_and_one_in_seconds_are_read(tmp_path: Path) -> None:
    openb = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    openb += "b,2000,1024,0,0,,LS,Running,50,90,60\na,3000,512,1,1000,V100,BE,Failed,10,40,10\n"
    found = read_source("pods.csv.xz", lzma.compress(openb.encode())).pods
    assert times(found) == [("a", 0, 30), ("b", 40, 40)]
    requests = [each.pod["spec"]["containers"][0]["resources"]["requests"] for each in found]
    assert requests == [
        {"cpu": "3000m", "memory": "512Mi", "nvidia.com/gpu": "1"},
        {"cpu": "2000m", "memory": "1024Mi"},
    ]
    (tmp_path / "pods.csv").write_text(
        "name,namespace,cpu,arrival_s,duration_s,priority\na,x,3,0,100,5\nb,y,3,10,50,\n"
    )
    row = play(tmp_path, "pods.csv")
    assert (row["placed"], row["wait_p99_s"] > 89, row["virtual_s"] < 111) == (2, True, True)
    assert play(tmp_path, "pods.csv", speed=10)["wait_p99_s"] < 12


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,cpus\na,1\n", "pods.csv: received the column cpus; expected some of arrival_s, cpu"),
        ("name,cpu,arrival_s\na,1,soon\n", "pods.csv: line 2: could not convert string to float: 'soon'"),
    ],
)
def test_a_mistake_in_a_table_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_source("pods.csv", text.encode())


def test_pods_without_a_recorded_arrival_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "pods.csv").write_text("name,cpu\na,3\n")
    with pytest.raises(ValueError, match="no arrival is recorded for default/a"):
        play(tmp_path, "pods.csv")


def test_a_trace_of_simkube_gives_pods_by_replicas_and_by_lives() -> None:
    spec = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}

    def web(replicas: int) -> dict[str, Any]:
        return {
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "n"},
            "spec": {"replicas": replicas, "template": template},
        }

    job = {"kind": "CronJob", "metadata": {"name": "job"}, "spec": {"jobTemplate": {"spec": {"template": template}}}}
    bare = {"kind": "Pod", "metadata": {"name": "bare", "namespace": "n"}, "spec": spec}
    events = [
        {"ts": 1000, "applied_objs": [web(1), bare], "deleted_objs": []},
        {"ts": 1010, "applied_objs": [web(3), job], "deleted_objs": []},
        {"ts": 1030, "applied_objs": [web(2)], "deleted_objs": []},
        {"ts": 1050, "applied_objs": [], "deleted_objs": [web(2)]},
    ]
    lives = {
        ("batch/v1.CronJob", "default/job"): {7: [{"Finished": [1020, 1025]}, {"Running": 1040}]},
        ("v1.Pod", "n/bare"): {9: [{"Finished": [1001, 1009]}]},
    }
    trace = {"version": 2, "config": {}, "events": events, "index": {}, "pod_lifecycles": lives}
    found = read_source("t.sktrace", msgspec.msgpack.encode(trace)).pods
    assert times(found) == [
        ("web-0", 0, 50), ("bare", 0, 8), ("web-1", 10, 40), ("web-2", 10, 20), ("job-0", 20, 5), ("job-1", 40, None)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="received version 1 of SimKube's traces; expected 2"):
        read_source("t.sktrace", msgspec.msgpack.encode({**trace, "version": 1}))


def test_a_session_s_trace_gives_its_nodes_and_when_its_pods_came_and_went(tmp_path: Path) -> None:
    sim, log = Simulation(3), {}
    commands = [
        SetSettings({"cluster": {"controllers": []}}),
        ApplyObjects((node("n", "4"), pod("a", "3"))),
        ApplyObjects((pod("b", "3"),), time=20 * SECOND),
        DeleteObjects((Ref("Pod", "default", "a"),), grace_period_seconds=0, time=60 * SECOND),
    ]
    for command, until in zip(commands, (0, 10, 30, 100), strict=True):
        log[sim.position] = msgspec.to_builtins(command)
        sim.apply(command)
        while sim.due(until * SECOND):
            sim.advance()
    lines = b"\n".join(map(orjson.dumps, export_lines(3, log, sim.position, range(0), "")))
    (tmp_path / "s.jsonl").write_bytes(lines)
    source = read_source("s.jsonl", lines)
    assert times(source.pods) == [("a", 0, 59), ("b", 20, None)]
    assert [each["metadata"]["name"] for each in source.others if each["kind"] == "Node"] == ["n"]
    row = play(tmp_path, "s.jsonl", nodes={})
    assert (row["placed"], row["wait_p99_s"] > 39) == (2, True)


def test_generated_pods_have_priorities_and_other_resources(tmp_path: Path) -> None:
    urgent = {"count": 2, "cpu": ["3"], "priority": -5, "namespace": "low"}, {"count": 2, "cpu": ["3"], "priority": 9}
    world = {"name": "w", "nodes": {"m": 2}, "pods": list(urgent), "arrivals": {"mean": "9s", "distribution": "fixed"}}
    runs = list_runs(msgspec.convert({**DATA, "worlds": [world], "seeds": 1}, Experiment), "")
    row = make_run(runs[0])
    assert (row["preemptions"], row["evictions"], row["placed"]) == (2, 2, 4)


def test_a_run_is_made_again_from_its_recording_and_variants_part_where_they_decide_otherwise() -> None:
    runs = list_runs(msgspec.convert(DATA, Experiment), "")
    spread, packed = (
        record_run(run) for run in runs if run.world.name == "timed" and run.variant.name != "more" and run.seed == 1
    )
    sim, log = Simulation(packed.seed), dict(packed.commands)
    while sim.position < packed.head:
        if sim.position in log:
            sim.apply(command_from_json(log[sim.position]))
        else:
            sim.advance()
    assert [(each.last_position, each.node) for each in sim.journal.attempts] == [
        (at, said[2]) for at, said in packed.attempts
    ]
    first = find_parting(spread, packed)
    assert first is not None
    assert spread.attempts[first][1] != packed.attempts[first][1]
    assert [said for _, said in spread.attempts[:first]] == [said for _, said in packed.attempts[:first]]
    assert find_parting(spread, spread) is None


@pytest.mark.parametrize("distribution", ["exponential", "fixed", "uniform", "lognormal"])
def test_a_distribution_has_its_mean(distribution: str) -> None:
    dice, spread = Stream(1), msgspec.convert({"mean": "10s", "distribution": distribution}, Spread)
    assert sum(spread.draw(dice) for _ in range(2000)) / 2000 / SECOND == pytest.approx(10, rel=0.1)


def test_a_sweep_adds_a_variant_for_each_weight() -> None:
    found = msgspec.convert({**DATA, "sweep": {"NodeResourcesFit": [2, 5]}}, Experiment)
    assert [each.name for each in found.all_variants][3:] == ["NodeResourcesFit=2", "NodeResourcesFit=5"]
    with pytest.raises(msgspec.ValidationError, match="two variants named spread"):
        msgspec.convert({**DATA, "variants": [{"name": "spread"}, {"name": "spread"}]}, Experiment)
