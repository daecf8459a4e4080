"""The scheduler's configuration and the world's settings."""

import pytest

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
SETTINGS = {"cycle_cost": "1ms", "bind_cost": "5ms", "pod_start_latency": "2s", "max_in_unschedulable": "5m"}


@pytest.fixture
def begun(visitor):
    return visitor("cluster:small")


def profiles(begun) -> list[str]:
    found = begun.ask(lambda client: client.configuration())
    return [each["schedulerName"] for each in found["schedulers"][0]["manifest"]["profiles"]]


def test_a_configuration_restarts_the_scheduler_with_its_profiles(begun):
    assert begun.post("configuration", text=TWO, apply="").status_code == 302
    assert profiles(begun) == ["default-scheduler", "packing"]


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
        (
            TWO.replace("- schedulerName: packing", "- schedulerName: default-scheduler"),
            "5",
            "Duplicate value",
        ),
        (TWO.replace("profiles:", "profile:"), None, "profile"),
        ("a: [", "2", "not readable as YAML"),
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
    begun.post("settings", **{**SETTINGS, "cycle_cost": "1.5s", "demonstration": "on"})
    settings = begun.ask(lambda client: client.configuration())["settings"]
    assert settings["cycle_cost"] == 1_500_000_000
    assert (settings["demonstration"], settings["pop_from_backoff"]) == (True, False)


@pytest.mark.parametrize(("value", "said"), [("5", "is not a duration"), ("-1s", "is not a duration"), ("", "required"),
                                             ("99999999999h", "at most 1h")])  # fmt: skip
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
    assert f"{begun.url}export.jsonl" in shown
