"""Other weights in a configuration, as the score stage's sliders imagine them."""

from __future__ import annotations

from typing import Any

from playground.views.workbench.plugins import with_weights
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.framework.plugin import Point


def weights_of(manifest: dict[str, Any]) -> dict[str, int]:
    (profile,) = load_configuration(manifest).profiles
    return dict(profile.plugins[Point.SCORE])


def changed(weights: dict[str, int], **plugins: Any) -> dict[str, int]:
    manifest = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
    }
    return weights_of(with_weights(manifest, "default-scheduler", weights))


def test_weights_of_kubes_default_plugins_are_changed_where_they_stand() -> None:
    before = changed({})
    assert changed({"InterPodAffinity": 7}) == before | {"InterPodAffinity": 7}
    assert list(changed({"InterPodAffinity": 7})) == list(before)


def test_a_weight_that_is_set_at_score_is_changed_there() -> None:
    score = {"enabled": [{"name": "NodeResourcesFit", "weight": 4}]}
    assert changed({"NodeResourcesFit": 9}, score=score)["NodeResourcesFit"] == 9


def test_a_weight_of_0_disables_the_plugin_at_score_alone() -> None:
    assert "TaintToleration" not in changed({"TaintToleration": 0})


def test_another_profile_stays_as_it_is() -> None:
    manifest = {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}]}
    assert with_weights(manifest, "a", {"NodeAffinity": 3})["profiles"][1] == {"schedulerName": "b"}
