"""The scheduler's configuration and the world's settings."""

import re

import pytest

from playground.sessions.protocol.looking import Configuration, ConfiguredWorld
from playground.workbench.forms.world import SettingsForm
from scheduler_core.scheduler.config import GATE_SETTINGS
from scheduler_core.scheduler.config.settings import WorldSettings
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_objects import lines_of

TWO = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
  - schedulerName: packing
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy: {type: MostAllocated}
"""
SETTINGS = {
    "cycle_cost": "1ms",
    "bind_cost": "5ms",
    "patch_cost": "1ms",
    "evict_cost": "1ms",
    "pod_start_latency": "2s",
    "device_cost": "0s",
    "informer_lag": "0s",
    "client_qps": "0",
    "client_burst": "100",
    "controllers": "on",
    "max_in_unschedulable": "5m",
    "pop_from_backoff": "on",
    "async_preemption": "on",
    "async_api_calls": "on",
    "observed_generation": "on",
    "pod_level_resources": "on",
    "in_place_scaling": "on",
    "spread_label_keys": "on",
    "volume_attributes_class": "on",
    "dynamic_resources": "on",
    "dra_admin_access": "on",
    "dra_prioritized_list": "on",
    "dra_device_status": "on",
    "dra_filter_timeout": "on",
    "devices": "on",
    "extenders": "on",
    "queue_mode": "v1.34",
    "assumed_pod_ttl": "0",
}


@pytest.fixture
def begun(visitor):
    return visitor("cluster:small")


def configured(begun) -> ConfiguredWorld:
    return begun.ask(lambda client: client.ask(Configuration()))


def profiles(begun) -> list[str]:
    return [each["schedulerName"] for each in configured(begun).schedulers[0].manifest["profiles"]]


def test_a_configuration_restarts_the_scheduler_with_its_profiles(begun):
    assert begun.post("configuration", text=TWO, apply="").status_code == 302
    assert profiles(begun) == ["default-scheduler", "packing"]


def test_what_of_a_configuration_has_no_effect_is_told(begun):
    text = TWO + "enableProfiling: false\n"
    answer = begun.browser.post(f"{begun.url}configuration", {"text": text, "apply": ""}, follow=True)
    assert "enableProfiling has no effect here: there is no process to profile" in page_text(answer)


def test_what_the_page_shows_can_be_applied_as_it_is(begun):
    begun.post("configuration", text=TWO, apply="")
    text = begun.get("configuration").context["text"]
    assert begun.post("configuration", text=text, apply="").status_code == 302
    assert profiles(begun) == ["default-scheduler", "packing"]


def test_the_default_comes_back(begun):
    begun.post("configuration", text=TWO, apply="")
    begun.post("configuration", text="whatever", default="")
    assert profiles(begun) == ["default-scheduler"]


def test_undo_brings_the_configuration_before_back(begun):
    begun.post("configuration", text=TWO, apply="")
    begun.post("undo")
    assert profiles(begun) == ["default-scheduler"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TWO.replace("MostAllocated", "Most"), "9", "Most"),
        (
            TWO.replace("pluginConfig:", "plugins: {filter: {enabled: [{name: NoSuch}]}}\n    pluginConfig:"),
            None,
            "NoSuch",
        ),
        (TWO.replace("- schedulerName: packing", "- schedulerName: default-scheduler"), "5", "Duplicate value"),
        (TWO.replace("profiles:", "profile:"), None, "profile"),
        ("a: [", "2", "not readable as YAML (did not find"),
        ("kind: Pod\napiVersion: v1", None, "KubeSchedulerConfiguration"),
        (TWO + "---\n" + TWO, "1", "one KubeSchedulerConfiguration"),
        ("# " + "x" * 200_000, None, "bytes"),
    ],
)
def test_a_wrong_configuration_is_refused_at_its_line(begun, text, line, said):
    before = begun.head()
    answer = begun.post("configuration", text=text, apply="")
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert line is None or line in lines_of(answer)
    assert begun.head() == before


def test_settings_are_changed_in_words(begun):
    begun.post("settings", **{**SETTINGS, "cycle_cost": "1.5s", "demonstration": "on", "pop_from_backoff": ""})
    settings = configured(begun).settings
    assert settings["cycle_cost"] == 1_500_000_000
    assert (settings["demonstration"], settings["pop_from_backoff"]) == (True, False)


def test_gates_are_taken_as_kube_schedulers_flag(begun):
    begun.post("settings", **{**SETTINGS, "in_place_scaling": ""})
    flag = "--feature-gates=PodLevelResources=false,StorageCapacityScoring=true"
    answer = begun.browser.post(f"{begun.url}gates", {"gates": flag}, follow=True)
    assert "The schedulers restarted" in page_text(answer)
    settings = configured(begun).settings
    changed = {name: settings[name] for name in ("pod_level_resources", "storage_capacity_scoring", "in_place_scaling")}
    assert changed == {"pod_level_resources": False, "storage_capacity_scoring": True, "in_place_scaling": True}
    assert answer.context["gates_form"]["gates"].value() == flag.removeprefix("--feature-gates=")


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("SidecarContainers=false", "cannot set feature gate SidecarContainers to false, feature is locked to true"),
        ("PodLevelResources", "missing bool value for PodLevelResources"),
    ],
)
def test_gates_that_can_not_be_so_are_refused_in_kubes_words(begun, gates, said):
    before = begun.head()
    answer = begun.post("gates", gates=gates)
    assert (answer.status_code, begun.head()) == (422, before)
    assert said in page_text(answer)


def test_gates_that_change_nothing_here_are_told(begun):
    answer = begun.browser.post(f"{begun.url}gates", {"gates": "ImageVolume=true"}, follow=True)
    assert "These feature gates have no effect here: ImageVolume." in page_text(answer)


def test_a_gate_that_the_configuration_needs_is_not_turned_off(begun):
    begun.post("gates", gates="StorageCapacityScoring=true")
    shape = "[{name: VolumeBinding, args: {shape: [{utilization: 0, score: 5}]}}]"
    begun.post("configuration", text=TWO.split("profiles:")[0] + f"profiles: [{{pluginConfig: {shape}}}]", apply="")
    answer = begun.post("gates", gates="")
    assert answer.status_code == 422
    assert "turn on the feature gate StorageCapacityScoring" in page_text(answer)


def test_a_view_key_changes_no_gate(begun):
    before = begun.head()
    assert begun.browser.post(f"{begun.view_url}gates", {"gates": "AllAlpha=true"}).status_code == 403
    assert begun.head() == before


def test_locked_gates_can_be_seen_and_not_set(begun):
    shown = begun.get("configuration").content.decode()
    assert '<input type="checkbox" id="id_SidecarContainers" disabled checked>' in shown
    assert 'id="id_dra_device_taints"' in shown


def test_locked_gates_of_a_newer_release_stay_as_they_are(begun):
    begun.post("settings", **{**SETTINGS, "release": "1.35.4"})
    shown = begun.get("configuration").content.decode()
    assert 'id="id_toleration_operators"' in shown
    assert 'id="id_DynamicResourceAllocation" disabled checked' in shown
    locked = {"observed_generation", "in_place_scaling", "dynamic_resources"}
    posted = {name: value for name, value in SETTINGS.items() if name not in locked}
    answer = begun.post("settings", **{**posted, "release": "1.35.4", "informer_lag": "500ms"})
    assert answer.status_code == 302
    settings = begun.ask(lambda client: client.ask(Configuration())).settings
    assert settings["informer_lag"] == 500_000_000
    assert all(settings[name] for name in locked)


def test_every_setting_that_somebody_may_change_is_on_the_page(begun):
    elsewhere = {"manual", "cluster", "plugins", "switched_off", "scheduler_releases"}
    known = {*SettingsForm.base_fields, *GATE_SETTINGS}
    assert known == set(WorldSettings.__struct_fields__) - elsewhere
    grouped = [name for group in SettingsForm.groups for name in group.names]
    assert sorted(grouped) == sorted(known)


def test_the_page_says_whether_the_schedulers_restarted(begun):
    answer = begun.browser.post(f"{begun.url}settings", {**SETTINGS, "informer_lag": "500ms"}, follow=True)
    assert "No restart needed" in page_text(answer)
    answer = begun.browser.post(f"{begun.url}settings", {**SETTINGS, "queue_mode": "historical"}, follow=True)
    assert "The schedulers restarted" in page_text(answer)


def test_settings_that_differ_in_nothing_are_no_command(begun):
    before = begun.head()
    answer = begun.browser.post(f"{begun.url}settings", SETTINGS, follow=True)
    assert "No changes." in page_text(answer)
    assert begun.head() == before


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("client_qps", "-1", "greater than or equal to 0"),
        ("client_burst", "0", "greater than or equal to 1"),
        ("queue_mode", "2019", "not one of the available choices"),
        ("informer_lag", "2h", "The limit is 1h"),
    ],
)
def test_a_wrong_setting_is_told_at_its_field(begun, field, value, said):
    answer = begun.post("settings", **{**SETTINGS, field: value})
    assert answer.status_code == 422
    assert said in page_text(answer)


SECOND = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: batch}]"
)


def schedulers(begun) -> list[str]:
    return [each.name for each in configured(begun).schedulers]


def test_a_further_scheduler_is_started_and_taken_away(begun):
    begun.post("configuration", new="batch", scheduler="batch", text=SECOND, apply="")
    assert schedulers(begun) == ["kube-scheduler", "batch"]
    assert "schedulerName: batch" in begun.get("configuration", scheduler="batch").context["text"]
    begun.post("configuration", scheduler="batch", remove="")
    assert schedulers(begun) == ["kube-scheduler"]


def test_one_of_several_schedulers_gets_a_release_of_its_own(begun):
    assert "release_of_" not in begun.get("configuration").content.decode()
    begun.post("configuration", new="batch", scheduler="batch", text=SECOND, apply="")
    for wanted, own in (("1.37.2", {"batch": "1.37.2"}), ("1.34.1", {})):
        posted = {**SETTINGS, "release": "1.34.1", "release_of_kube-scheduler": "1.34.1"}
        assert begun.post("settings", **posted, release_of_batch=wanted).status_code == 302
        settings = begun.ask(lambda client: client.ask(Configuration())).settings
        assert (settings["release"], settings["scheduler_releases"]) == ("1.34.1", own)
        assert ("kube 1.34.1, batch 1.37.2" in page_text(begun.get(""))) == bool(own)
        shown = begun.get("configuration").content.decode()
        assert "Whole cluster" in shown and "Scheduler batch" in shown
        assert re.search(rf'id="id_release_of_batch".*?<option value="{wanted}" selected', shown, re.DOTALL)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("kube-scheduler", SECOND, "already"),
        ("Not a name", SECOND, "lower case"),
        ("other", SECOND.replace("batch", "default-scheduler"), "a name that kube-scheduler does not have"),
    ],
)
def test_a_further_scheduler_that_cannot_be_is_refused(begun, name, text, said):
    answer = begun.post("configuration", new="batch", scheduler=name, text=text, apply="")
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert schedulers(begun) == ["kube-scheduler"]


def test_pods_that_nobody_schedules_are_told_with_what_to_do(begun):
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: batch, containers: [{name: c, image: i}]}}"
    begun.post("yaml", text=pod, create="")
    assert "1 pod requests schedulerName batch , which no profile has" in page_text(begun.get("configuration"))
    studio = page_text(begun.browser.get(f"{begun.url}?pod=default/p&tab=pod"))
    assert "No such scheduler" in studio
    assert "No running scheduler has a profile named batch" in studio
    assert "Start a scheduler for this pod" in studio
    begun.post("configuration", new="batch", scheduler="batch", text=SECOND, apply="")
    assert "which no profile has" not in page_text(begun.get("configuration"))


@pytest.mark.parametrize(("value", "said"), [("5", "is not a duration"), ("-1s", "is not a duration"), ("", "required"),
                                             ("99999999999h", "The limit is 1h")])  # fmt: skip
def test_a_wrong_duration_is_told_at_its_field(begun, value, said):
    before = begun.head()
    answer = begun.post("settings", **{**SETTINGS, "bind_cost": value})
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert begun.head() == before


def test_the_session_page_gives_links_and_ways_out(begun):
    shown = begun.get("session").content.decode()
    assert f"http://testserver{begun.url}" in shown
    assert f"http://testserver{begun.view_url}" in shown
    assert f"{begun.url}exports" in shown
