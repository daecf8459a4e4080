"""The page on which extenders are added and written, and what the studio shows of them."""

import pytest

from playground.sessions.protocol.looking import Configuration
from tests.playground.workbench.conftest import page_text

URL = "http://extender.example/scheduler"
NEW = {"add": "1", "url_prefix": URL, "verbs": ["filter", "prioritize"], "weight": "2", "node_cache_capable": "on"}
NODES = """
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}
"""
WRITTEN = {"of": URL, "kind": "cel", "latency": "5ms"}


@pytest.fixture
def begun(visitor):
    visitor = visitor("empty")
    assert visitor.post("extenders", **NEW).status_code == 302
    return visitor


def configured(begun):
    return begun.ask(lambda client: client.ask(Configuration()))


def test_an_extender_is_added_to_the_configuration_and_keeps_every_node(begun):
    found = configured(begun)
    (entry,) = found.schedulers[0].manifest["extenders"]
    assert entry == {
        "urlPrefix": URL,
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 2,
        "nodeCacheCapable": True,
    }
    assert found.behaviours[URL]["type"] == "cel"


def test_it_is_written_in_cel_and_vetoes_a_node(begun):
    veto = "node.metadata.name == 'a' ? 'no licence' : ''"
    begun.post("extenders", **WRITTEN, filter=veto)
    begun.post("yaml", text=NODES, create="")
    begun.ask(lambda client: client.walk(60))
    assert begun.manifest("Pod", "web")["spec"]["nodeName"] == "b"
    studio = page_text(begun.get("", stage="filter"))
    assert "no licence" in studio
    assert "Calls to extenders" in studio
    assert "keeps 1 of 2 nodes" in studio
    assert '"FailedNodes": { "a": "no licence" }' in studio


def test_what_does_not_compile_is_told_at_its_character_and_changes_nothing(begun):
    before = begun.head()
    answer = begun.post("extenders", **WRITTEN, filter="node.metadata.name == nod")
    assert answer.status_code == 422
    text = page_text(answer)
    assert "Line 1, column 23: undeclared reference to 'nod'" in text
    assert "<mark>n</mark>" in answer.content.decode()
    assert begun.head() == before


def test_rules_that_are_no_list_are_refused(begun):
    answer = begun.post("extenders", of=URL, kind="recorded", latency="5ms", rules="{")
    assert answer.status_code == 422
    answer = begun.post("extenders", of=URL, kind="recorded", latency="5ms", rules='{"verb": "filter"}')
    assert "expected a list of objects" in page_text(answer)


@pytest.mark.parametrize("kind", ["nobody", "http"])
def test_another_kind_is_chosen(begun, kind):
    assert begun.post("extenders", of=URL, kind=kind, latency="5ms").status_code == 302
    assert configured(begun).behaviours[URL]["type"] == kind


def test_it_is_removed(begun):
    begun.post("extenders", of=URL, scheduler="kube-scheduler", remove="1")
    assert not configured(begun).schedulers[0].manifest.get("extenders")


def test_a_view_link_sees_the_page_and_changes_nothing(begun):
    page = page_text(begun.browser.get(f"{begun.view_url}extenders"))
    assert URL in page
    assert "Add an extender" not in page
    assert begun.browser.post(f"{begun.view_url}extenders", NEW).status_code == 403


def test_the_pipeline_has_stations_for_extenders(begun):
    studio = begun.get("").content.decode()
    assert 'id="point-ExtenderFilter"' in studio
    assert 'id="point-ExtenderPrioritize"' in studio
    assert 'id="point-ExtenderBind"' not in studio


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{"verb": "filter", "n": %s}' % ("9" * 40), "a whole number of at most 64 bits"),
        ('{"verb": "\\ud800"}', "a text without half of a surrogate pair"),
        ('{"\\udfff": 1}', "a text without half of a surrogate pair"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_with_its_place(begun, rule: str, said: str) -> None:
    answer = begun.post("extenders", **{**WRITTEN, "kind": "recorded", "rules": f"[{rule}]"})
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert "behaviour.rules[0]" in page_text(answer)
