"""What is wrong with a cluster, row by row; the best fix of a row; and where an applied fix lands."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from scheduler_core.world.commands import DrainNode
from tests.playground.workbench.conftest import Visitor, page_text
from tests.playground.workbench.test_build import NODES
from tests.playground.workbench.test_why_not import POD

GUARDED = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: none, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}
"""


def rows(begun: Visitor, **query: object) -> list[str]:
    """The text of each row."""
    page = begun.get("problems", **query).content.decode()
    found = re.findall(r'(?s)<li class="(?:pod|workload|node)">.*?</li>', page)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in found]


def test_pods_that_fit_are_no_problem_and_those_that_do_not_say_why(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("yaml", text="---\n".join((POD % ("small", "1"), POD % ("huge-1", "900"), POD % ("huge-2", "900"))))
    (row,) = rows(begun)
    assert "2 alike" in row and "huge-1" in row and "900 cpu" in row
    assert "1 pod fits and waits in the active queue" in page_text(begun.get("problems"))


def test_a_cluster_without_problems_says_so(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    assert rows(begun) == []
    assert "No problem was found" in page_text(begun.get("problems"))


def test_a_node_that_cannot_be_drained_is_a_row_that_leads_to_it(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=GUARDED, create="")
    begun.ask(lambda client: client.walk(400))
    begun.ask(lambda client: client.apply(DrainNode("node-1", ignore_daemon_sets=True)))
    begun.ask(lambda client: client.walk(60))
    assert any("Budget none" in row for row in rows(begun))
    assert "node=node-1" in begun.get("problems").content.decode()


def test_more_rows_than_fit_are_shown_on_request(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    names = "abcdefghij"
    begun.post("yaml", text="---\n".join(POD % (name, 900 + i) for i, name in enumerate(names)), create="")
    assert (len(rows(begun)), len(rows(begun, longer=1))) == (8, 10)
    assert "2 more problems" in page_text(begun.get("problems"))


def test_the_page_of_problems_is_the_stages_with_a_heading_and_its_sheet(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=POD % ("big", "5"), create="")
    whole = begun.get("problems").content.decode()
    part = begun.browser.get(begun.url + "problems", headers={"HX-Request": "true"}).content.decode()
    assert "css/stage-cluster.css" in whole and "<h1" in whole and "<h1" not in part
    of_page, of_stage = (re.findall(r"hx-\w+=", page[page.index("<ul>") :]) for page in (whole, part))
    assert of_page == of_stage and len(of_page) == 6


def test_the_best_fix_of_a_row_says_where_the_pod_lands(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=POD % ("big", "5"), create="")
    said = page_text(begun.get("fixes", pod="default/big", best=1))
    assert re.match(r"✓ .* tried on a fork: lands on \S+$", said)
    assert begun.head() == 2


def test_the_other_fixes_replace_the_first_one_wherever_it_is_shown(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=POD % ("big", "5"), create="")
    part = begun.browser.get(begun.url + "fixes?pod=default/big", headers={"HX-Request": "true"}).content.decode()
    assert "Looking for other fixes" in part
    assert set(re.findall('hx-target="([^"]*)"', part)) == {"closest [data-fixes]"}


def test_an_applied_fix_is_followed_to_the_node_where_the_pod_lands(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=POD % ("big", "5"), create="")
    page = begun.get("fixes", pod="default/big").content.decode()
    form = page[page.index('<ol class="fixes">') :]
    fields = {
        name: unescape(value)
        for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form[: form.index("</form>")])
    }
    answer = begun.post("fixes/apply", **{**fields, "how": "apply"})
    assert "pod=default%2Fbig" in answer["Location"] and f"node={fields['node']}" in answer["Location"]
    assert fields["node"] in page_text(begun.browser.get(answer["Location"]))
    assert begun.head() > 3  # it went on to the pod's attempt by itself


def test_the_commands_of_a_fix_are_undone_and_redone_together(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    for names in ("abc", "de"):
        classes = [
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
            for name in names
        ]
        command = json.dumps([{"kind": "CreateObject", "manifest": each} for each in classes])
        begun.post("fixes/apply", command=command, how="apply", steps="0")

    def there() -> str:
        return "".join(sorted(set(begun.objects("PriorityClass")) & set("abcde")))

    assert there() == "abcde"
    for deed, left in [*zip(["undo"] * 2 + ["redo"] * 2, ["abc", "", "abc", "abcde"], strict=True), ("undo", "abc")]:
        begun.post(deed)
        assert there() == left
    assert len(begun.objects("Node")) == 1
    begun.post("undo")
    begun.post("undo")
    assert len(begun.objects("Node")) == 0


@pytest.mark.parametrize("asked", [{}, {"at": 1, "past": "head"}])
def test_neither_another_command_nor_a_question_splits_a_fix(visitor, asked):
    begun = visitor("empty")
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
        for name in "ab"
    ]
    command = json.dumps([{"kind": "CreateObject", "manifest": each} for each in classes])
    begun.post("fixes/apply", command=command, how="apply", steps="0")
    begun.post("live", live="0")  # is no edit
    begun.post("undo", **asked)
    assert not {"a", "b"} & set(begun.objects("PriorityClass"))


CLAIM = """\
apiVersion: v1
kind: Namespace
metadata: {name: team, deletionTimestamp: "2025-12-31T23:00:00Z", finalizers: [acme.io/cleanup]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeName: pv}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv, deletionTimestamp: "2025-12-31T23:00:00Z", finalizers: [kubernetes.io/pv-protection]}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  csi: {driver: d, volumeHandle: v}
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data}
status: {phase: Bound}
"""


def test_an_object_that_does_not_end_is_a_row_that_leads_to_it(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=CLAIM, create="")
    page = begun.get("problems").content.decode()
    assert "controller=Namespace/team" in page and "controller=PersistentVolume/pv" in page
    shown = page_text(begun.get("", controller="Namespace/team"))
    assert "Namespace team stays until its finalizers are removed" in shown


def test_the_best_fix_of_a_row_that_is_made_outside_is_not_said_to_be_tried(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **{**NODES, "count": "1"})
    begun.post("yaml", text=CLAIM, create="")
    said = page_text(begun.get("fixes", pod="PersistentVolume/pv", best=1))
    assert said.startswith("Copy the data") and "Not proven" in said
