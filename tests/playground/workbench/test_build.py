"""The builder's pages."""

import pytest
from django.urls import reverse

from playground.templatetags.places import PLACES
from playground.views.workbench.build import FORMS, first_values
from playground.workbench.forms.build import PRESETS, NodesForm, find_preset, list_instances
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


def test_a_preset_fills_in_the_form_and_shows_which_it_is(begun):
    page = begun.get("build/nodes?preset=gpu&count=7").content.decode()
    assert 'name="taints" value="nvidia.com/gpu=present:NoSchedule"' in page
    assert 'name="count" value="7"' in page
    assert "Create 7 nodes" in page_text(begun.get("build/nodes?preset=gpu&count=7"))


@pytest.mark.parametrize("what", ["nodes", "pods"])
def test_each_preset_makes_objects_that_the_api_server_accepts(begun, what):
    form = FORMS[what]
    types = [preset for cloud in list_instances().values() for preset in cloud.values()] if what == "nodes" else []
    for number, preset in enumerate((*PRESETS[form], *types)):
        fields = {**first_values(form), **preset.fields, "first": 100 * number, "count": 1, "replicas": 1}
        assert begun.post(f"build/{what}", **fields).status_code == 302, preset.name
    assert len(begun.objects("Node" if what == "nodes" else "Pod")) == len((*PRESETS[form], *types))


def test_what_a_cloud_leaves_for_pods_is_less_than_the_machine_has():
    m5 = find_preset(NodesForm, "m5.large")
    assert (m5.fields["cpu"], m5.fields["pods"]) == ("1930m", 29)
    assert find_preset(NodesForm, "e2-standard-4").fields["memory"] == "13621Mi"  # 13.3 GiB of 16


def test_after_the_last_one_the_drawer_closes_and_a_page_leads_to_the_studio(begun):
    done = begun.browser.post(f"{begun.url}build/nodes", NODES, headers={"HX-Request": "true", "X-Drawer": "1"})
    assert (done.status_code, done.headers["X-Done"]) == (204, "2%20nodes%20created")
    assert begun.post("build/nodes", **{**NODES, "first": 3})["Location"] == begun.url
    again = begun.post("build/nodes", **{**NODES, "first": 5, "another": "1"})
    assert again["Location"] == f"{begun.url}build/nodes"


def test_the_rooms_of_a_place_are_its_tabs_and_all_of_them_are_in_the_menu(begun):
    tabs = begun.browser.get(f"{begun.url}build/nodes", headers={"X-Drawer": "1"}).content.decode()
    menu = begun.get("").content.decode()
    assert "records" not in tabs
    for place in PLACES:
        for room in place.rooms:
            assert begun.get(f"{reverse(room.url, args=['k']).split('/k/')[1]}").status_code == 200, room.url
            assert reverse(room.url, args=[begun.url.split("/")[2]]) in menu
