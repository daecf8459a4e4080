"""Fixes in words: every kind of change has a sentence, and every kind of effect."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from playground.features.fixes.presenter import (
    _LISTS,
    _VALUES,
    describe_findings,
    effect_sentence,
    effects_in_words,
    read_texts,
    sentence,
)
from playground.presenters.words import in_english
from scheduler_core.analysis.fixes import Findings, Fix, find_fixes
from scheduler_core.analysis.fixes.effects import KINDS as EFFECTS
from scheduler_core.analysis.fixes.effects import Effect
from scheduler_core.scheduler.framework.drafts import HARMS, KINDS, Change
from tests.playground.presenters.worlds import world
from tests.scheduler_core.worlds import node, pod, settle


def test_every_kind_of_change_has_a_sentence() -> None:
    assert [kind for kind in KINDS if kind not in read_texts()["changes"]] == ["outside"]
    assert _LISTS.keys() | _VALUES.keys() <= read_texts()["changes"].keys()


def test_what_takes_something_away_says_what_it_defeats() -> None:
    harmful = [kind for kind in HARMS["displaces"] + HARMS["defeats"] if kind != "soften"]
    assert [kind for kind in harmful if kind not in read_texts()["defeats"]] == []


@pytest.mark.parametrize("kind", EFFECTS)
def test_every_effect_has_a_sentence(kind: str) -> None:
    said = effect_sentence(Effect(kind, "default/q", "a", "b", "default/r").to_json())
    assert "q" in said["text"] % said["values"]


def test_of_many_effects_the_first_are_told_and_the_others_counted() -> None:
    effects = [Effect("evicted", f"default/q{i}", "a").to_json() for i in range(9)]
    lines = effects_in_words(effects)
    assert len(lines) == 7
    assert lines[-1]["values"] == {"n": 3}


def test_a_fix_is_worded_whole() -> None:
    sim = world(node("a", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    settle(sim)
    found = Findings("default/p", "searched", tuple(find_fixes(sim, "default/p"))).to_json()
    free = next(fix for fix in describe_findings(found)["fixes"] if fix["kind"] == "free")
    assert [line["text"] % line["values"] for line in free["lines"]] == ["Free 500m cpu on a: delete q"]
    assert [line["text"] % line["values"] for line in free["effects"]] == ["q is removed from a and not recreated"]
    assert free["kubectl"] == "kubectl delete pod q -n default"
    assert len(free["defeats"]) == 1


@pytest.mark.parametrize(
    ("resource", "before", "after", "said"),
    [
        ("cpu", "1500m", "1", "from 1.5 to 1"),
        ("cpu", "300m", "100m", "from 300m to 100m"),
        ("memory", "559Gi", "572026Mi", "from 559Gi to 558.619Gi"),
        ("nvidia.com/gpu", "4", "2", "from 4 to 2"),
    ],
)
def test_amounts_before_and_after_a_change_have_one_unit(resource: str, before: str, after: str, said: str) -> None:
    values = {"pod": "default/x", "resource": resource, "from": before, "to": after}
    assert in_english(sentence({"kind": "resize", "values": values})).endswith(said)


def test_a_step_that_was_not_proven_says_so_and_has_no_button() -> None:
    change = Change("outside", {"meaning": "DiskIsFull", "node": "a"})
    fix = Fix((change,), (), "", 0, recreated=False, kubectl="kubectl describe node a", proven=False, pod="default/p")
    found = describe_findings(Findings("default/p", "searched", (fix,)).to_json())
    context = {"base": "playground/bare.html", "findings": found, "key": "k", "client": {"may_edit": True}}
    page = render_to_string(
        "fixes/page.html", {**context, "fragment": True, "session": {"name": "s"}, "studio": "/s/k"}
    )
    assert "Free space on the disk" in page and "kubectl describe node a" in page and "Not proven" in page
    assert "<button" not in page and "<b>0</b>" in page
