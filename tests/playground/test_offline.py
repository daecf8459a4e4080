"""What is kept of a session that is to be replayed from one file."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

from playground.features.exports.offline import LOOK, PANELS, Film, Recording, policy
from playground.presenters import Look, aim_look, present
from playground.workbench.builder.clusters import CLUSTERS
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation


def shown(film: dict[str, Any], name: str, step: int) -> str:
    """The HTML of a panel, put together as the player does it."""
    panel = film["panels"][name]
    return "".join(film["pieces"][piece] for piece in panel["pictures"][panel["shown"][step]])


def made() -> Film:
    film = Film()
    film.add(4, {"stage": "<p>one</p><b>same</b>", "map": "<i>m</i>"})
    film.add(5, {"stage": "<p>two</p><b>same</b>", "map": "<i>m</i>"})
    return film


def test_each_step_is_put_together_by_itself() -> None:
    film = json.loads(gzip.decompress(base64.b64decode(made().packed())))
    assert film["positions"] == [4, 5]
    assert [shown(film, "stage", step) for step in (1, 0)] == ["<p>two</p><b>same</b>", "<p>one</p><b>same</b>"]
    assert [film["pieces"].count("<b>same</b>"), len(film["panels"]["map"]["pictures"])] == [1, 1]


def test_the_same_steps_are_the_same_bytes() -> None:
    assert made().packed() == made().packed()


def test_a_thousand_steps_of_fifty_nodes_are_far_below_five_megabytes() -> None:
    recording = Recording("Fifty nodes", 200)
    sim = Simulation()
    sim.apply(ApplyObjects(tuple(CLUSTERS["fifty"].make())))
    sim.run(steps=50)
    sizes = []
    for steps in (1, 100):
        for _ in range(steps):
            sim.run(steps=1)
            look = aim_look(sim, LOOK)
            recording.add(sim.position, {name: present(name, sim, look) for name in PANELS})
        sizes.append(len(recording.page()))
    first, hundred = sizes
    assert first + (hundred - first) * 10 < 5_000_000


def test_the_policy_allows_nothing_but_what_is_in_the_file() -> None:
    assert policy("a{}", "b()").startswith("default-src 'none'; style-src 'sha256-")


def test_the_file_names_no_address_and_holds_styles_and_player() -> None:
    recording = Recording("A <replay>", 0)
    sim = Simulation()
    recording.add(0, {name: present(name, sim, Look()) for name in PANELS})
    page = recording.page()
    assert "A &lt;replay&gt;" in page and "DecompressionStream" in page and "body.studio.offline" in page
    assert re.findall(r'(?:src|<link[^>]*href)="[^"]*"', page) == []
