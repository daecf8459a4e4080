"""The page that says why a pod is not on a node."""

from __future__ import annotations

from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default}
spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: %s}}}]}
"""


def test_a_node_that_a_plugin_refuses_says_so_in_kubes_words(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("yaml", text=POD % ("huge", "900"), create="")
    shown = page_text(begun.get("why", pod="default/huge", node="node-1"))
    assert "Why is huge not on node-1 ?" in shown
    assert "NodeResourcesFit refuses the node: Insufficient cpu" in shown
    assert "passes" in shown and "Bind manually…" in shown


def test_a_feasible_node_shows_its_points(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("yaml", text=POD % ("small", "1"), create="")
    head = begun.head()
    assert "How the node would score" in page_text(begun.get("why", pod="default/small"))
    assert begun.head() == head


def test_what_is_not_there_is_said(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    assert begun.get("why", pod="default/nobody").status_code == 404
    begun.post("yaml", text=POD % ("small", "1"), create="")
    assert "There is no such node" in page_text(begun.get("why", pod="default/small", node="x"))
