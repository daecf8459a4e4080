"""Clusters for people who write Python: what they can be asked for, and what they show."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scheduler_core import Answer, Attempt, Cluster, Comparison, Session, compare, load, make_node, make_pod
from scheduler_core.formats.export import TraceError
from scheduler_core.world.commands import Refused

EVIL = "<script>alert(1)</script>"
PACKED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
    plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
"""
YAML = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: app}]}
"""


def small() -> Cluster:
    return Cluster(
        make_node("a").capacity(cpu="4"),
        make_node("b").capacity(cpu="2"),
        make_node("c").taint("dedicated", "NoSchedule"),
        make_pod("web").requests(cpu="500m"),
        make_pod("huge").requests(cpu="9"),
    )


def preempting() -> Cluster:
    low = [make_pod(f"low-{i}").requests(cpu="1").on("one") for i in range(2)]
    return Cluster(make_node("one").capacity(cpu="2"), *low, make_pod("high").requests(cpu="2").priority(9))


class Elements(HTMLParser):
    """The elements of a text, with what is open at the end, and the words in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.attributes: list[str] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)
        self.attributes += [name for name, _value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += "" if self.open and self.open[-1] == "style" else data


def shown(thing: object) -> Elements:
    """What a notebook shows of it: whole elements, no script, no address."""
    html = thing._repr_html_()  # type: ignore[attr-defined]
    found = Elements(html)
    assert found.open == []
    assert not {"script", "img", "link", "iframe"} & {*found.names}
    assert {*found.attributes} <= {"class", "style", "title", "scope"}
    assert "url(" not in html and "http" not in html
    return found


def test_one_pod_is_scheduled_and_its_attempt_given() -> None:
    attempt = small().schedule("web")
    assert isinstance(attempt, Attempt)
    assert (attempt.outcome, attempt.node, attempt.bound) == ("scheduled", "a", "bound")
    assert attempt.feasible == ("a", "b")
    assert attempt.refused == {"c": ("TaintToleration", "node(s) had untolerated taint(s)")}


def test_an_attempt_goes_through_the_extension_points_in_kubes_order() -> None:
    points = list(dict.fromkeys(answer.point for answer in small().schedule("web").answers))
    assert points == ["PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "Reserve", "Bind"]


def test_the_filter_that_refuses_counts_the_nodes_it_was_asked_about() -> None:
    taints = [a for a in small().schedule("web").at("Filter") if a.plugin == "TaintToleration"]
    assert [(a.evaluated, a.refused, a.ok) for a in taints] == [(3, 1, False)]


def test_a_table_of_scores_adds_up() -> None:
    attempt = small().schedule("web")
    scores = attempt.scores
    assert scores is not None and scores.nodes == ("a", "b")
    for node in scores.nodes:
        assert scores.total[node] == sum(scores.weighted[plugin][node] for plugin in scores.plugins)
    assert {row["weighted"] for row in scores.rows()} >= {
        row["normalized"] for row in scores.rows() if row["weight"] == 1
    }
    assert attempt.node in scores.best


def test_all_pods_are_scheduled_and_what_is_left_over_waits() -> None:
    cluster = small()
    attempts = cluster.schedule_all()
    assert {attempt.pod: attempt.node for attempt in attempts} == {"default/web": "a", "default/huge": ""}
    assert cluster.pending == ("default/huge",)
    assert cluster.place("huge") == "unschedulable"
    assert "Insufficient cpu" in cluster.attempt("huge").message


def test_preemption_names_the_node_and_the_victims() -> None:
    cluster = preempting()
    attempt = cluster.schedule("high")
    assert (attempt.node, attempt.nominated) == ("", "one")
    assert attempt.victims == ("default/low-0", "default/low-1")
    assert cluster.schedule_all()[-1].node == "one"
    assert "low-1" in shown(attempt).words


def test_steps_have_grains() -> None:
    cluster, other = small(), small()
    records = cluster.step("pod")
    assert [r.kind for r in records].count("attempt_ended") == 1
    assert len(cluster.attempts) == 1
    before = other.position
    other.step("call")
    assert other.position == before + 1


def test_a_fork_goes_its_own_way() -> None:
    cluster = small()
    fork = cluster.fork().add(make_pod("late"))
    assert fork.schedule("late").node and "default/late" not in cluster.pods
    assert cluster.attempts == ()


def test_a_fork_in_the_midst_of_a_binding_sees_its_end() -> None:
    cluster = small()
    cluster.step("pod")
    assert cluster.fork().schedule_all()[-1] and cluster.attempt("web").bound == ""
    fork = cluster.fork()
    fork.schedule_all()
    assert fork.attempt("web").bound == "bound"


def test_a_pod_that_nobody_tries_is_said_to_be_so() -> None:
    cluster = small().add(make_pod("gated").gates("wait"))
    with pytest.raises(LookupError, match="gated"):
        cluster.schedule("gated")
    with pytest.raises(LookupError, match="is already on one"):
        preempting().schedule("low-0")
    with pytest.raises(KeyError, match="no pod default/nobody"):
        cluster.schedule("nobody")
    with pytest.raises(LookupError, match="has not been attempted"):
        cluster.attempt("gated")


def test_what_the_engine_refuses_changes_nothing() -> None:
    cluster = small()
    position = cluster.position
    with pytest.raises(Refused):
        cluster.delete("Pod", "nobody")
    assert cluster.position == position


def test_objects_are_deleted() -> None:
    assert small().delete("Node", "a").nodes == ("b", "c")
    assert list(small().delete("Pod", "web").pods) == ["default/huge"]


def test_yaml_and_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(YAML)
    (tmp_path / "b.json").write_text(json.dumps(make_pod("api").manifest()))
    cluster = load(tmp_path / "a.yaml", tmp_path / "b.json")
    assert sorted(cluster.pods) == ["default/api", "default/web"]
    assert Cluster.from_yaml(YAML).schedule("web").node == "a"


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="no object"):
        Cluster.from_yaml("---\n")
    with pytest.raises(ValueError, match="line 2, column 1"):
        Cluster.from_yaml("{a: [")
    with pytest.raises(ValueError, match="expected one KubeSchedulerConfiguration"):
        Cluster(configuration="---\n---\n")
    with pytest.raises(ValueError, match="at least one file"):
        load()


def test_what_the_api_server_would_refuse_is_left_out_and_named() -> None:
    bad = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: c, resources: {requests: {cpu: 10x}}}]}\n"
    cluster = Cluster.from_yaml(YAML + bad)
    assert list(cluster.pods) == ["default/web"]
    assert any("10x" in line for line in cluster.left_out)


def test_what_has_no_effect_is_named() -> None:
    widget = "---\napiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: {name: s}\n"
    cluster = Cluster.from_yaml(YAML + widget)
    assert [line.partition(" has")[0] for line in cluster.without_effect] == ["VolumeSnapshot s:"]
    cluster.add(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {"hostIPC": True, "containers": [{"name": "c", "image": "i"}]},
        }
    )
    assert cluster.without_effect[1].startswith("Pod p: spec.hostIPC has no effect here: ")
    assert cluster.fork().without_effect == cluster.without_effect


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: other}\nstatus: {allocatable: {cpu: '4', pods: '110'}}\n"


def test_what_several_files_lack_is_named_for_all_of_them(tmp_path: Path) -> None:
    bad = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: c, resources: {requests: {cpu: 10x}}}]}\n"
    for name, text in (("a.yaml", f"{YAML}---\n{bad}"), ("b.yaml", NODE)):
        (tmp_path / name).write_text(text)
    assert any("10x" in line for line in load(tmp_path / "a.yaml", tmp_path / "b.yaml").left_out)


def test_two_configurations_are_compared(tmp_path: Path) -> None:
    nodes = [make_node(f"n{i}") for i in range(4)]
    cluster = Cluster(*nodes, *(make_pod(f"p{i}").requests(cpu="1") for i in range(4)))
    (tmp_path / "packed.yaml").write_text(PACKED)
    comparison = compare(cluster, {"default": None, "text": PACKED, "file": tmp_path / "packed.yaml"})
    used = {name: len({*each.pods.values()}) for name, each in comparison.clusters.items()}
    assert used == {"default": 4, "text": 1, "file": 1}
    assert len(comparison.differences) == 3
    assert cluster.pending == tuple(cluster.pods)
    assert "3 of 4 pods have different nodes" in shown(comparison).words


def test_a_saved_history_is_a_trace_that_is_read_again(tmp_path: Path) -> None:
    cluster = small()
    cluster.schedule_all()
    session = Session.from_trace(cluster.save(tmp_path / "trace.jsonl"))
    assert session.check() and session.steps == cluster.position
    assert session.end.pods == cluster.pods
    assert [repr(a) for a in session.attempts] == [repr(a) for a in cluster.attempts]
    assert session.at(1).attempts == ()
    assert session.at(session.steps).position == session.steps
    with pytest.raises(ValueError, match="expected one from 0 to"):
        session.at(session.steps + 1)
    assert "2 attempts" in shown(session).words


def test_a_trace_that_was_changed_is_found_out(tmp_path: Path) -> None:
    cluster = small()
    cluster.schedule_all()
    path = cluster.save(tmp_path / "trace.jsonl")
    path.write_text(path.read_text().replace('"node":"a"', '"node":"b"'))
    assert not Session.from_trace(path).check()
    path.write_text(path.read_text() + "no json\n")
    with pytest.raises(TraceError, match="not JSON"):
        Session.from_trace(path)


def test_what_is_shown_is_whole_and_says_what_there_is() -> None:
    cluster = small()
    cluster.schedule_all()
    words = shown(cluster).words
    assert "3 nodes · 2 pods · 1 pending" in words and "0.5 of 4" in words and "Insufficient cpu" in words
    attempt = cluster.attempt("web")
    assert "TaintToleration ✗ 1 of 3 nodes" in shown(attempt).words
    assert attempt.scores is not None and "a ✓ chosen" in shown(attempt.scores).words
    assert "no node" in shown(Cluster()).words


def test_values_are_escaped() -> None:
    cluster = small()
    attempt = replace(cluster.schedule("web"), message=EVIL, node="", outcome=EVIL)
    assert attempt.scores is not None
    things = (
        attempt,
        replace(attempt.scores, pod=EVIL),
        Comparison({EVIL: cluster}),
        replace(attempt, answers=(Answer("Filter", "Own", "Error", '"><script>'),)),
    )
    for thing in things:
        assert "<script" not in thing._repr_html_()
    assert EVIL in shown(attempt).words


def test_large_clusters_are_cut_and_say_so() -> None:
    nodes = [make_node(f"n{i:03}") for i in range(60)]
    cluster = Cluster(*nodes, *(make_pod(f"p{i:02}") for i in range(40)))
    assert "20 more nodes not shown" in shown(cluster).words
    assert "20 more pods waiting" in shown(cluster).words
    scores = cluster.schedule("p00").scores
    assert scores is not None and "48 more nodes are not shown" in shown(scores).words
    assert "48 more nodes" in repr(scores)


def test_plain_texts_stand_beside_the_pictures() -> None:
    cluster = small()
    assert repr(cluster) == "<Cluster of 3 nodes, 2 pods, 2 pending, kube 1.37.2>"
    attempt = cluster.schedule("web")
    assert repr(attempt) == "<Attempt 1: default/web → a (bound)>"
    assert repr(attempt.scores).startswith("<ScoreTable default/web: a ")


def test_the_rooms_below_are_read_without_it() -> None:
    code = "import sys, scheduler_core.world.simulation; print('scheduler_core.notebook' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_is_not_there_is_no_attribute() -> None:
    import scheduler_core

    assert "Cluster" in dir(scheduler_core)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        scheduler_core.nothing_of_the_kind  # noqa: B018


def test_a_cluster_says_which_nodes_would_help_and_which_can_go() -> None:
    cluster = Cluster(
        make_node("a").capacity(cpu="2"), make_node("b").capacity(cpu="2"), make_pod("p").requests(cpu="4")
    )
    before = cluster.position
    types = "nodeTypes: [{name: big, capacity: {cpu: 4, memory: 1Gi}}]"
    assert cluster.nodes_that_help("p", types=types).nodes == {"big": 1}
    assert cluster.nodes_that_help("Deployment/default/none", types=types).pods == ()
    assert cluster.nodes_that_can_go().order == ("a", "b")
    assert cluster.position == before


def test_a_cluster_has_the_newest_release_or_the_one_that_its_text_indicates() -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {nodeInfo: {kubeletVersion: v1.36.1}}\n"
    assert (Cluster().release, Cluster(release="1.35").release) == ("1.37.2", "1.35.4")
    assert Cluster.from_yaml(node).release_why == "kube 1.36.3: indicated by kubeletVersion v1.36.1"
    assumed = Cluster.from_yaml(node.partition("status")[0])
    assert (assumed.release, "is assumed" in assumed.release_why) == ("1.37.2", True)
