"""A real kube-scheduler at a session's API: what one sent, recorded, and one of KUBE_SCHEDULER at work."""

from __future__ import annotations

import base64
import json
import lzma
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from scheduler_core import Session
from scheduler_core.analysis.second_opinion import Row, compare
from scheduler_core.analysis.whatif import finish
from scheduler_core.apiserver.door import Call, Failure, answer_read, read_body
from scheduler_core.world.commands import (
    DEFAULT_SCHEDULER_NAME,
    ApplyObjects,
    CallAPI,
    FailCall,
    SetSettings,
    StopScheduler,
)
from scheduler_core.world.simulation import Simulation
from tests.browser.server import ROOT
from tests.scheduler_core.worlds import node, pod
from tests.support.schemas import require_schema

RECORDED = Path(__file__).parent / "second-opinion.json.xz"
BINARY = os.environ.get("KUBE_SCHEDULER", "")
MOST = 10_000  # transitions


@cache
def recorded() -> dict[str, Any]:
    """The trace of a fork, and what kube-scheduler v1.34.2 sent then, with its default media types."""
    data: dict[str, Any] = json.loads(lzma.decompress(RECORDED.read_bytes()))
    return data


def begin() -> Simulation:
    return Session(recorded()["trace"]).end.fork().world


def send(world: Simulation, request: dict[str, Any]) -> int:
    """Carry out a request as it was sent, and let what follows happen; the answer's status."""
    parts = urlsplit(request["path"])
    method, query = request["method"], dict(parse_qsl(parts.query))
    type_, body = request["content_type"], base64.b64decode(request["body"])
    try:
        data = read_body(world, Call(method, parts.path, query), body, type_)
        agent = request["agent"].partition("/")[0]
        world.apply(CallAPI(method, parts.path, query, data, type_, agent, agent, world.now))
    except Failure as failure:
        return failure.code
    assert world.answered is not None
    status = world.answered.status
    for _ in range(MOST):
        if world.idle:
            break
        world.advance()
    return status


def play(requests: list[dict[str, Any]]) -> list[Row]:
    """Compare our decisions with the result of these requests."""
    theirs = begin()
    for request in requests:
        status = send(theirs, request)
        assert status in (200, 201), (request["method"], request["path"], status)
    return finish(compare(begin(), theirs, {DEFAULT_SCHEDULER_NAME: None}))[0]


def test_what_kube_scheduler_sent_is_taken_and_is_what_ours_does() -> None:
    rows = {row.pod: row for row in play(recorded()["requests"])}
    assert {pod: row.different for pod, row in rows.items() if row.different} == {}
    assert len(rows) == 9
    assert any(row.tied for row in rows.values())
    assert rows["default/urgent"].theirs.node == "n3"
    assert rows["default/old"].theirs.gone
    assert [each.reason for each in rows["default/large"].theirs.events] == ["FailedScheduling"]


def test_another_node_is_a_difference_unless_it_ties() -> None:
    requests = []
    for request in recorded()["requests"]:
        if "/pods/urgent/binding" in request["path"]:
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "urgent"}, "target": {"name": "n0"}}
            text = base64.b64encode(json.dumps(body).encode()).decode()
            request = {**request, "body": text, "content_type": "application/json"}
        requests.append(request)
    first = next(row for row in play(requests) if row.different)
    assert (first.pod, first.different[0]) == ("default/urgent", "node")
    assert (first.ours.node, first.theirs.node) == ("n3", "n0")


def test_a_cycle_begins_between_the_ends_of_two_victims_as_over_http() -> None:
    world = Simulation()
    world.apply(SetSettings({"release": "1.34.2", "cluster": {"run_kubelets": True}}))
    world.apply(StopScheduler(DEFAULT_SCHEDULER_NAME, "SIGKILL"))
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    running = [pod(name, "1", nodeName="a") for name in ("v1", "v2")]
    waiting = [pod(name, cpu, priorityClassName="high") for name, cpu in (("p", "1500m"), ("q", "500m"))]
    world.apply(ApplyObjects((urgent, node("a", "2"), *running, *waiting)))
    for _ in range(MOST):
        if world.idle:
            break
        world.advance()
    rows = finish(compare(world, world.fork(), {DEFAULT_SCHEDULER_NAME: None}))[0]
    for row in rows:
        assert any("due to a terminating pod" in each.message for each in row.ours.events) == (row.pod[-1] in "pq")


def test_a_call_that_is_to_fail_fails_once_for_a_client_too() -> None:
    world = begin()
    world.apply(FailCall("bind", "default/p4", 409))
    binding = next(each for each in recorded()["requests"] if each["path"].endswith("/p4/binding"))
    assert send(world, binding) == 409
    assert world.answered is not None and world.answered.body["message"].startswith(
        'Operation cannot be fulfilled on pods/binding "p4"'
    )
    assert send(world, binding) == 201


@pytest.mark.parametrize("path", ["resource.k8s.io/v1alpha3/devicetaintrules", "scheduling.k8s.io/v1beta1/podgroups"])
def test_what_newer_schedulers_list_is_served(path: str) -> None:
    answer = answer_read(begin(), Call("GET", f"/apis/{path}"))
    assert (answer.status, msgspec.json.decode(answer.data)["items"]) == (200, [])


@pytest.mark.skipif(not BINARY, reason="KUBE_SCHEDULER names no kube-scheduler")
@pytest.mark.parametrize("type_", ["", "application/json"])
def test_a_real_kube_scheduler_does_what_ours_does(tmp_path: Path, type_: str) -> None:
    trace = tmp_path / "session.jsonl"
    trace.write_text("\n".join(map(json.dumps, recorded()["trace"])))
    command = [sys.executable, "-c", "from playground.management.program import main; main()", "second-opinion"]
    command += [str(trace), "--kube-scheduler", BINARY, "--content-type", type_, "-o", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    data = json.loads(done.stdout)
    require_schema(data, "second-opinion/v1")
    assert data["bound"] == 6 and not data["different"]
