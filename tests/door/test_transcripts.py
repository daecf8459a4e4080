"""A real kubectl against live sessions: recorded conversations with the unmodified kube-apiserver, and charts of many clusters."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from playground.management.door import Door
from tests.browser.server import PlaygroundServer
from tests.door.transcripts import Difference, find_kubectl, new_session, play

RECORDED = Path(__file__).parent / "recorded"
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long plays all of them
# A third: those that take the least time and do not depend on when controllers act.
SHORT = (
    *("api-resources", "apply-prune", "config", "describe-node", "diff", "edit", "explain", "get-empty"),
    *("get-tables-nodes-pods", "invalid-immutable", "kustomize", "patch", "replace", "version"),
)
DOC = Path(__file__).parents[2] / "docs" / "api-door.md"
KUBECTL = find_kubectl()
pytestmark = pytest.mark.skipif(not KUBECTL, reason="there is no kubectl on this machine; KUBECTL may name one")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """One server for all transcripts."""
    server = PlaygroundServer(tmp_path_factory.mktemp("door"), ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.start()
    yield server
    server.stop()


def commands_that_differ() -> set[str]:
    """The commands that docs/api-door.md lists as answered differently."""
    section = DOC.read_text().partition("## Different on purpose")[2].partition("\n## ")[0]
    return set(re.findall(r"`(kubectl [^`]+)`", section))


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")) if LONG else SHORT)
def test_a_transcript_comes_to_what_kube_answered(server: PlaygroundServer, name: str) -> None:
    known = commands_that_differ()
    differ: set[str] | None = None
    for _ in range(2):  # controllers act by the clock on the wall, which a busy machine delays
        _, found = play(server.url, RECORDED / f"{name}.json", KUBECTL)
        now = {each.command for each in found} - known
        differ = now if differ is None else differ & now
        if not differ:
            return
    assert not differ, found


def test_the_comparison_finds_a_difference(server: PlaygroundServer, tmp_path: Path) -> None:
    text = (RECORDED / "get-empty.json").read_text().replace("No resources found", "Nothing found")
    changed = tmp_path / "get-empty.json"
    changed.write_text(text)
    _, found = play(server.url, changed, KUBECTL)
    assert found and all(isinstance(each, Difference) for each in found)


# Charts that many clusters have, rebuilt with our own names: applied, and run until they are at rest.

CHARTS = Path(__file__).parent / "charts"
NODES = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{i}", "labels": {"kubernetes.io/hostname": f"n{i}", "kubernetes.io/os": "linux"}},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20", "ephemeral-storage": "40Gi"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    for i in range(3)
]
SEAL = """---
{apiVersion: trust.example.com/v1, kind: Seal, metadata: {name: shop, namespace: trust},
 spec: {secretName: shop-tls, dnsNames: [%s], issuerRef: {name: own}, keystores: {any: {thing: 1}}}}
"""
SCRAPE = """---
{apiVersion: watch.example.com/v1, kind: Scrape, metadata: {name: agents, namespace: watchers},
 spec: {endpoints: [{port: metrics, interval: 30s}, {targetPort: 9101}], selector: {matchLabels: {a: b}}}}
"""
# What a second apply patches, to no effect, on a kube-apiserver v1.34.2 too: lists that are replaced, and have defaults.
PATCHED = {
    "certs": {"mutatingwebhookconfiguration"},
    "gateway": {"deployment", "poddisruptionbudget", "validatingwebhookconfiguration"},
    "monitor": {"statefulset", "poddisruptionbudget", "networkpolicy"},
}
Kubectl = Callable[..., tuple[str, str]]


@pytest.fixture
def kubectl(server: PlaygroundServer, tmp_path: Path) -> Iterator[Kubectl]:
    """Run kubectl against a new live session with three nodes; what it prints, and its errors."""
    door = Door(f"{server.url}/s/{new_session(server.url, live='1', kubelet='runs')}/")
    (tmp_path / "config").write_text(door.start())

    def run(*words: str, stdin: str = "") -> tuple[str, str]:
        environment = {**os.environ, "KUBECONFIG": str(tmp_path / "config"), "HOME": str(tmp_path)}
        done = subprocess.run(
            [KUBECTL, *words], input=stdin, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        return done.stdout, done.stderr

    try:
        assert (
            "n2 created"
            in run("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": NODES}))[0]
        )
        yield run
    finally:
        door.stop()


def apply(kubectl: Kubectl, name: str) -> None:
    """Apply a chart twice."""
    chart = str(CHARTS / f"{name}.yaml")
    first, wrong = kubectl("apply", "-f", chart)
    count = (CHARTS / f"{name}.yaml").read_text().count("\nkind: ")
    assert (first.count(" created"), wrong) == (count, "")
    again, wrong = kubectl("apply", "-f", chart)
    assert {
        line.partition("/")[0].partition(".")[0] for line in again.splitlines() if "unchanged" not in line
    } == PATCHED[name]
    assert (len(again.splitlines()), wrong) == (count, "")


def test_a_manager_of_certificates_with_its_kinds_and_webhooks(kubectl: Kubectl) -> None:
    apply(kubectl, "certs")
    assert "successfully rolled out" in kubectl("rollout", "status", "deploy/trust-webhook", "-n", "trust")[0]
    assert "condition met" in kubectl("wait", "--for=condition=complete", "job/trust-check", "-n", "trust")[0]
    assert "created" in kubectl("apply", "-f", "-", stdin=SEAL % "shop.example.com")[0]
    assert kubectl("get", "sl", "-n", "trust", "-o", "jsonpath={.items[*].spec}")[0].count("revisionHistoryLimit") == 1
    assert "dnsNames must not be empty" in kubectl("apply", "-f", "-", stdin=SEAL % "")[1]
    hooks = "-o=jsonpath={.webhooks[*].timeoutSeconds} {.webhooks[*].clientConfig.service.port}"
    assert kubectl("get", "mutatingwebhookconfigurations", "trust-webhook", hooks)[0] == "30 443"


@pytest.mark.skipif(not LONG, reason="make test-long")
def test_an_ingress_controller(kubectl: Kubectl) -> None:
    apply(kubectl, "gateway")
    # The pods mount a Secret that the chart's Job would make; kubelets here look into no volume.
    assert "successfully rolled out" in kubectl("rollout", "status", "deploy/gateway", "-n", "edge")[0]
    assert "condition met" in kubectl("wait", "--for=condition=complete", "job/gateway-certs", "-n", "edge")[0]
    nodes = kubectl("get", "po", "-n", "edge", "-l", "app.kubernetes.io/component=proxy", "-o=jsonpath={..nodeName}")[0]
    assert len(set(nodes.split())) == 2
    assert kubectl("get", "pdb", "gateway", "-n", "edge", "-o=jsonpath={.status.disruptionsAllowed}")[0] == "1"


@pytest.mark.skipif(not LONG, reason="make test-long")
def test_a_monitoring_stack_with_a_store(kubectl: Kubectl) -> None:
    apply(kubectl, "monitor")
    assert "successfully rolled out" in kubectl("rollout", "status", "ds/node-agent", "-n", "watchers")[0]
    assert "rolling update complete" in kubectl("rollout", "status", "sts/store", "-n", "watchers")[0]
    claims = kubectl("get", "pvc", "-n", "watchers", "-o=jsonpath={..status.phase}")[0]
    assert claims == "Bound Bound"
    assert "created" in kubectl("apply", "-f", "-", stdin=SCRAPE)[0]
    assert kubectl("get", "scr", "-n", "watchers", "-o", "name")[0] == "scrape.watch.example.com/agents\n"
