"""The benchmark command: what it runs, what it tells, what it refuses. How fast it is, no test says."""

from __future__ import annotations

import io
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

KEYS = {
    *("name", "size", "pct", "trace", "pods", "wall_s", "cpu_s", "pods_per_s"),
    *("p50_ms", "p95_ms", "p99_ms", "rss_mib"),
}


def pod(name: str, namespace: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def workload(name: str, kind: str, cpu: str, **spec: Any) -> dict[str, Any]:
    """Six nodes with one pod each, and four pods to schedule."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    template = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-{i}", "labels": {"topology.kubernetes.io/zone": "{zone}"}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    there = pod("init-{i}", "before", "2", nodeName="{node}")
    return {
        "name": name,
        "size": 100,
        "kind": kind,
        "namespaces": ["before", "measured"],
        "nodes": {"count": 6, "zones": ["a", "b"], "template": template},
        "initPods": [{"count": 6, "stride": 1, "modulus": 6, "template": there}],
        "measuredPods": {"count": 4, "templates": [pod("pod-{i}", "measured", cpu, **spec)]},
    }


@pytest.fixture
def workloads(tmp_path: Path) -> Path:
    """A file with one workload of each kind."""
    path = tmp_path / "workloads.json"
    kinds = [
        workload("Basic", "schedule", "1"),
        workload("Unschedulable", "unschedulable", "9"),
        workload("Preemption", "preemption", "3", priority=10),
    ]
    path.write_text(json.dumps(kinds))
    return path


def results(*arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("benchmark", *arguments, "--json", stdout=out)
    return list(json.loads(out.getvalue())["results"])


def test_every_workload_is_run_in_each_of_its_ways(workloads: Path) -> None:
    measured = results("--workloads", str(workloads))
    names = ["Basic", "Unschedulable", "Unschedulable +PostFilter", "Preemption"]
    assert sorted((one["name"], one["pct"]) for one in measured) == sorted((n, p) for n in names for p in (0, 100))


def test_a_result_has_the_documented_fields_and_says_what_was_measured(workloads: Path) -> None:
    (measured,) = results("--workloads", str(workloads), "--name", "Basic", "--size", "100", "--pct", "0")
    assert set(measured) == KEYS
    assert (measured["pods"], measured["trace"], measured["size"]) == (4, "off", 100)
    assert 0 < measured["p50_ms"] <= measured["p95_ms"] <= measured["p99_ms"]
    assert measured["pods_per_s"] == pytest.approx(4 / measured["wall_s"], rel=0.01)


def test_traced_runs_come_to_the_same_ends(workloads: Path) -> None:
    measured = results("--workloads", str(workloads), "--trace", "on", "--pct", "0")
    assert [one["trace"] for one in measured] == ["on"] * 4


def test_without_json_it_prints_a_table_with_the_real_figures_and_the_machine(workloads: Path) -> None:
    renamed = workloads.read_text().replace('"Basic"', '"SchedulingBasic"')
    packed = workloads.with_suffix(".json.xz")
    packed.write_bytes(lzma.compress(renamed.encode()))
    out = io.StringIO()
    call_command("benchmark", "--workloads", str(packed), "--name", "SchedulingBasic", "--pct", "0", stdout=out)
    machine, header, row = out.getvalue().splitlines()
    assert machine.startswith("This machine: plain Python")
    assert {"real", "ratio", "goal"} <= set(header.split())
    assert row.split()[:3] == ["SchedulingBasic", "100", "def"]
    assert "3456" in row.split()


def test_a_workload_that_does_not_do_what_it_is_about_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps([workload("Basic", "schedule", "9")]))
    with pytest.raises(CommandError, match="Basic: measured/pod-0 came to another end"):
        results("--workloads", str(path), "--pct", "0")


def test_a_file_that_holds_no_workloads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(CommandError, match="is not a file of workloads"):
        results("--workloads", str(path))


def test_a_name_that_is_not_in_the_file_is_refused(workloads: Path) -> None:
    with pytest.raises(CommandError, match="No workload of this name"):
        results("--workloads", str(workloads), "--name", "Other")
