"""The page /conformance shows a run of the command, not figures that somebody typed in."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.test import Client

from playground.views.site import RELEASES_RUN, RUN, present_run
from scheduler_core import KUBE_VERSION
from scheduler_core.testing.conformance.corpus import read_corpus

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
CORPUS = Path(__file__).resolve().parents[1] / "corpus"


def kept() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(RUN.read_text())
    return data


def test_the_run_that_is_kept_comes_out_the_same_today() -> None:
    """All of it in `make test-long`; here some families, as tests/conformance/test_corpus.py runs them all, and how many there are."""
    out, files, where = (
        io.StringIO(),
        sorted((CORPUS / "cycle").glob("*.json.xz"))[::4],
        (CORPUS / "cycle", CORPUS / "large"),
    )
    call_command("conformance", *map(str, where if LONG else files), "--json", stdout=out)
    found, families = json.loads(out.getvalue()), {each["family"]: each for each in kept()["families"]}
    assert [families[each["family"]] for each in found["families"]] == found["families"], "run `make conformance`"
    assert not LONG or found == kept(), "run `make conformance` and look at what changed"
    recorded = Counter(scenario.family for folder in where for scenario in read_corpus(folder))
    assert {name: (each["scenarios"], each["pass"]) for name, each in families.items()} == {
        name: (count, count) for name, count in recorded.items()
    }


def test_the_run_was_made_with_this_version_of_kube() -> None:
    assert kept()["kube"] == KUBE_VERSION


def test_a_plugin_that_no_scenario_of_a_family_shows_counts_nothing_there() -> None:
    family = {"family": "a_b", "scenarios": 2, "pass": 1, "plugins": {"NodeName": 1}}
    table = present_run({"families": [family], "pass": 1, "scenarios": 2})
    assert (table["plugins"], table["rows"][0]["cells"], table["whole"]) == (["NodeName"], [1], False)


def test_the_run_under_newer_releases_has_every_recording_of_them() -> None:
    found = json.loads(RELEASES_RUN.read_text())
    for release, families in found.items():
        recorded = Counter(each.family for each in read_corpus(CORPUS / "releases" / f"v{release}"))
        assert {family: [count, count] for family, count in recorded.items()} == families
    page = Client().get("/conformance").content.decode()
    assert all(f'<th scope="col">{release}</th>' in page for release in found)


class Cells(HTMLParser):
    """The texts of the table's body, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data.strip()


def test_the_page_shows_every_family_with_what_it_passed() -> None:
    response = Client().get("/conformance")
    assert response.status_code == 200
    table = Cells()
    table.feed(response.content.decode())
    rows = {row[0]: row[1] for row in reversed(table.rows)}  # the first table's rows count
    for family in kept()["families"]:
        name = family["family"].replace("_", " ")
        assert rows[name] == f"{family['pass']} / {family['scenarios']}"
    assert rows["all"] == f"{kept()['pass']} / {kept()['scenarios']}"
