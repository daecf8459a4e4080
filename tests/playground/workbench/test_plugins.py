"""The page on which plugins of one's own are written in CEL, tried and put into a profile."""

import pytest

from playground.sessions.protocol.looking import Configuration
from tests.playground.workbench.conftest import page_text

FIELDS = {"plugin": "Mine", "normalize": "none", "weight": "3"}
SCORE = {**FIELDS, "score": "allocatable.cpu / 1000", "description": "large nodes first"}


@pytest.fixture
def begun(visitor):
    visitor = visitor("cluster:small")
    visitor.post(
        "yaml",
        text="{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}",
        create="",
    )
    return visitor


def configured(begun):
    return begun.ask(lambda client: client.ask(Configuration()))


def keep(begun, **fields):
    return begun.browser.post(f"{begun.url}plugins", {**fields, "keep": ""}, follow=True)


def test_a_plugin_is_kept_and_listed(begun):
    page = page_text(keep(begun, **SCORE))
    assert "Plugin Mine saved in this session." in page
    assert "large nodes first" in page
    assert configured(begun).settings["plugins"] == {
        "Mine": {"description": "large nodes first", "score": "allocatable.cpu / 1000", "weight": 3}
    }


def test_it_is_shown_again_as_it_was_written(begun):
    keep(begun, **SCORE)
    form = begun.get("plugins", plugin="Mine").context["form"]
    assert form["score"].value() == "allocatable.cpu / 1000"
    assert form["weight"].value() == 3


def test_an_expression_that_does_not_compile_is_shown_with_its_character(begun):
    answer = begun.post("plugins", **{**FIELDS, "filter": "true &&\n nod.name == ''"}, keep="")
    assert answer.status_code == 422
    assert "line 2, column 2: undeclared reference to 'nod'" in page_text(answer)
    attrs = answer.context["form"].fields["filter"].widget.attrs
    assert (attrs["data-wrong-line"], attrs["data-wrong-column"]) == ("2", "2")
    assert configured(begun).settings["plugins"] == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"plugin": "9"}, "A name starts with a letter"),
        ({"plugin": "NodeName"}, "expected a name that no other plugin has"),
        ({"score": ""}, "an expression for at least one extension point"),
        ({"weight": "0"}, "greater than or equal to 1"),
        ({"score": "1" * 5_000}, "at most 4096 characters"),
    ],
)
def test_what_cannot_be_kept_is_said(begun, changes, said):
    assert said in page_text(keep(begun, **{**SCORE, **changes}))
    assert configured(begun).settings["plugins"] == {}


def test_a_trial_says_what_it_would_say_on_each_node_and_changes_nothing(begun):
    before = begun.head()
    fields = {**SCORE, "filter": "node.metadata.name != 'node-1' ? '' : 'not this one'", "normalize": "min-max"}
    answer = begun.post("plugins", **fields, **{"try": "", "pod": "default/web"})
    tried = answer.context["tried"]
    assert {row["node"]: row["filter"]["refuses"] for row in tried["nodes"]}["node-1"] is True
    assert "not this one" in page_text(answer)
    assert ["allocatable.cpu", "4000"] in [list(pair) for pair in tried["nodes"][0]["score"]["values"]]
    assert begun.head() == before


def test_a_trial_shows_nodes_for_which_there_is_no_answer(begun):
    answer = begun.post("plugins", **{**FIELDS, "filter": "node.metadata.labels.gpu == 'x'"}, **{"try": ""})
    assert answer.status_code == 200
    assert "no answer: no such key: gpu" in page_text(answer)


def test_a_trial_of_what_does_not_compile_shows_where(begun):
    answer = begun.post("plugins", **{**FIELDS, "permit": "waiting."}, **{"try": ""})
    assert answer.status_code == 422
    assert "line 1, column " in page_text(answer)


def test_a_trial_without_a_pod_keeps_what_was_written(begun):
    answer = begun.post("plugins", **SCORE, **{"try": "", "pod": "default/gone"})
    assert answer.status_code == 422
    assert "received default/gone; expected a pod that exists at this step" in page_text(answer)
    assert answer.context["form"]["score"].value() == SCORE["score"]


def test_a_plugin_that_has_gone_is_put_into_no_profile(begun):
    answer = begun.browser.post(
        f"{begun.url}plugins", {"use": "Mine", "profile": "kube-scheduler/default-scheduler"}, follow=True
    )
    assert "This plugin no longer exists." in page_text(answer)
    assert "Mine" not in str(profile(begun))


def profile(begun) -> dict:
    return configured(begun).schedulers[0].manifest["profiles"][0]["plugins"]


def test_one_click_puts_it_into_the_profile_with_its_weight(begun):
    keep(begun, **SCORE)
    answer = begun.browser.post(
        f"{begun.url}plugins", {"use": "Mine", "profile": "kube-scheduler/default-scheduler"}, follow=True
    )
    assert "Mine added to the profile default-scheduler" in page_text(answer)
    assert profile(begun)["multiPoint"]["enabled"][-1] == {"name": "Mine", "weight": 3}


def test_a_preemption_of_ones_own_stands_in_place_of_kubes(begun):
    keep(begun, **{**FIELDS, "post_filter": "true"})
    begun.post("plugins", use="Mine", profile="kube-scheduler/default-scheduler")
    assert profile(begun)["postFilter"] == {"disabled": [{"name": "DefaultPreemption"}]}


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("Coscheduling", "multiPoint", {"name": "Coscheduling"}),
        ("CoschedulingSort", "queueSort", {"name": "CoschedulingSort"}),
    ],
)
def test_what_is_ready_made_is_switched_on_alike(begun, name, field, expected):
    page = page_text(begun.get("plugins"))
    assert "Built-in plugins of the playground" in page
    begun.post("plugins", use=name, profile="kube-scheduler/default-scheduler")
    assert profile(begun)[field]["enabled"][-1] == expected


def test_a_plugin_that_a_profile_names_is_not_taken_away(begun):
    keep(begun, **SCORE)
    begun.post("plugins", use="Mine", profile="kube-scheduler/default-scheduler")
    answer = begun.post("plugins", remove="Mine")
    assert "a plugin that no profile uses" in page_text(answer)
    begun.post("configuration", default="", text="")
    begun.post("plugins", remove="Mine")
    assert configured(begun).settings["plugins"] == {}


def test_it_is_undone_and_told_among_the_commands(begun):
    keep(begun, **SCORE)
    assert "defines the plugin Mine in CEL" in page_text(begun.get("commands"))
    begun.post("undo")
    assert configured(begun).settings["plugins"] == {}


def test_a_view_link_shows_but_keeps_nothing(begun):
    assert begun.browser.get(f"{begun.view_url}plugins").status_code == 200
    assert begun.browser.post(f"{begun.view_url}plugins", {**SCORE, "keep": ""}).status_code == 403


def test_the_configuration_page_knows_it(begun):
    keep(begun, **SCORE)
    begun.post("plugins", use="Mine", profile="kube-scheduler/default-scheduler")
    page = begun.get("configuration")
    assert page.status_code == 200
    text = page.context["text"]
    assert begun.post("configuration", text=text, apply="").status_code == 302


def test_a_plugin_that_a_configuration_lacks_is_written_in_its_place(begun):
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "  - plugins: {multiPoint: {enabled: [{name: TheirPlugin}]}}\n"
    )
    refused = begun.post("configuration", text=text, apply="")
    assert "?plugin=TheirPlugin" in refused.content.decode()
    assert begun.get("plugins", plugin="TheirPlugin").context["form"]["plugin"].value() == "TheirPlugin"
    keep(begun, **{**SCORE, "plugin": "TheirPlugin"})
    assert begun.post("configuration", text=text, apply="").status_code == 302
    assert profile(begun)["multiPoint"]["enabled"][-1] == {"name": "TheirPlugin"}
