"""The builder's pages."""

import pytest

from tests.playground.workbench.conftest import page_text

NODES = {"count": 2, "name": "node-{i}", "first": 1, "cpu": "4", "memory": "16Gi", "pods": 110}
PODS = {"replicas": 2, "name": "web-{i}", "first": 1, "namespace": "default", "cpu": "1"}


@pytest.fixture
def begun(visitor):
    return visitor("empty")


def test_the_form_for_nodes_creates_them_all(begun):
    answer = begun.post("build/nodes", **NODES)
    assert answer.status_code == 302
    assert "2 nodes created" in page_text(begun.get("build/nodes"))
    assert begun.objects("Node") == ["node-1", "node-2"]


def test_the_form_for_pods_creates_them_all(begun):
    begun.post("build/pods", **PODS)
    assert begun.objects("Pod") == ["web-1", "web-2"]
    assert begun.manifest("Pod", "web-1")["spec"]["schedulerName"] == "default-scheduler"


def test_the_next_form_starts_to_count_behind_the_names_that_are_taken(begun):
    begun.post("build/nodes", **NODES)
    assert 'name="first" value="3"' in begun.get("build/nodes").content.decode()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("cpu", "10x", "“10x” is not a quantity"),
        ("taints", "infra", "“infra” is not a taint"),
        ("labels", "-bad=x", "metadata.labels"),
        ("resources", "example.com/gpu=-1", "must be greater than or equal to 0"),
        ("name", "Node", "“Node”"),
    ],
)
def test_a_wrong_value_is_told_and_nothing_is_created(begun, field, value, said):
    answer = begun.post("build/nodes", **{**NODES, "count": 1, field: value})
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert value in answer.content.decode()
    assert begun.objects("Node") == []
    assert begun.head() == 0


def test_a_name_that_is_taken_refuses_the_whole_form(begun):
    begun.post("build/nodes", **NODES)
    before = begun.head()
    answer = begun.post("build/nodes", **{**NODES, "first": 2})
    assert answer.status_code == 422
    assert 'nodes "node-2" already exists' in page_text(answer)
    assert begun.objects("Node") == ["node-1", "node-2"]
    assert begun.head() == before


def test_the_preview_shows_the_yaml_and_creates_nothing(begun):
    answer = begun.browser.post(f"{begun.url}build/nodes/preview", NODES, headers={"HX-Request": "true"})
    assert "name: node-2" in page_text(answer)
    assert "<html" not in answer.content.decode()
    assert begun.head() == 0


def test_the_preview_without_javascript_is_a_whole_page(begun):
    answer = begun.post("build/nodes/preview", **NODES)
    assert "name: node-2" in page_text(answer)
    assert "<html" in answer.content.decode()


def test_in_a_drawer_the_page_comes_without_its_frame(begun):
    answer = begun.browser.get(f"{begun.url}build/nodes", headers={"X-Drawer": "1"})
    assert "<html" not in answer.content.decode()
    assert 'hx-target="#workbench"' in answer.content.decode()


def test_what_is_built_at_an_earlier_step_makes_a_fork(begun):
    begun.post("build/nodes", **NODES)
    answer = begun.post("build/nodes", **{**NODES, "name": "late-{i}", "at": 0, "past": "fork"})
    assert answer.status_code == 302
    assert begun.session.edit_key not in answer["Location"]
    assert begun.objects("Node") == ["node-1", "node-2"]


def test_undo_takes_the_nodes_away_and_redo_brings_them_back(begun):
    begun.post("build/nodes", **NODES)
    begun.post("undo")
    assert begun.objects("Node") == []
    begun.post("redo")
    assert begun.objects("Node") == ["node-1", "node-2"]


@pytest.mark.parametrize(
    "path", ["build/nodes", "build/pods", "yaml", "import", "import/apply", "objects/delete", "configuration",
             "settings", "undo", "redo", "rename", "delete", "story/1"],
)  # fmt: skip
def test_a_view_link_cannot_edit(begun, path):
    answer = begun.browser.post(begun.view_url + path, {**NODES, "text": "kind: Pod", "name": "x"})
    assert answer.status_code == 403
    assert "only shows the session" in page_text(answer)
    assert begun.head() == 0


@pytest.mark.parametrize("path", ["build/nodes", "build/pods", "objects", "yaml", "configuration", "import", "session"])
def test_a_view_link_is_told_that_it_is_one(begun, path):
    answer = begun.browser.get(begun.view_url + path)
    assert answer.status_code == 200
    assert "This is a view link" in page_text(answer)
    assert begun.session.edit_key not in answer.content.decode()
