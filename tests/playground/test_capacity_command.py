"""`manage.py capacity`: which nodes would help and which can go, as text and as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.playground.test_whatif_commands import run, written
from tests.scheduler_core.analysis.whatif.test_outcome import deployment
from tests.scheduler_core.worlds import node, pod

TYPES = {
    "nodeTypes": [{"name": "big", "capacity": {"cpu": 8, "memory": "8Gi"}, "price": 0.4}, {"name": "a", "price": 0.2}]
}


@pytest.fixture
def types(tmp_path: Path) -> str:
    return written(tmp_path, TYPES, name="types.yaml")


def test_the_cheapest_set_is_printed_with_its_bound_and_what_no_type_takes(tmp_path: Path, types: str) -> None:
    file = written(tmp_path, node("a", "2"), deployment(10), pod("p", nodeSelector={"disk": "ssd"}))
    status, text = run("capacity", file, "--types", types, "--only", "help")
    assert status == 1
    assert text.splitlines()[0] == "1 of big would give 8 of 9 pods a place: 0.4 an hour."
    assert "Not below 0.4 an hour by the sums of requests; no cheaper set does." in text
    assert "default/p: no set was found.\n  a: node(s) didn't match Pod's node affinity/selector" in text


def test_json_has_both_parts_and_a_named_workload_is_asked_about_alone(tmp_path: Path, types: str) -> None:
    file = written(tmp_path, *(node(name, "2") for name in "abc"), deployment(3), pod("p", "64"))
    status, text = run("capacity", file, "deploy/web", "--types", types, "-o", "json")
    data = json.loads(text)
    assert (status, data["help"]["pods"], data["go"]["order"], data["go"]["saved"]) == (0, [], ["a"], None)
    assert [each["node"] for each in data["go"]["nodes"] if each["goes"]] == ["a", "b", "c"]


def test_names_may_stand_before_and_after_options(tmp_path: Path, types: str) -> None:
    file = written(tmp_path, node("a", "2"), deployment(10), pod("p", "64"))
    between = run("capacity", file, "--types", types, "--only", "help", "deploy/web", "-n", "default", "-o", "json")
    assert between == run(
        "capacity", file, "deploy/web", "--types", types, "--only", "help", "-n", "default", "-o", "json"
    )


def test_types_without_a_price_are_named_where_others_have_one(tmp_path: Path) -> None:
    file = written(tmp_path, node("a", "2"), deployment(10))
    types = written(tmp_path, {"nodeTypes": TYPES["nodeTypes"][:1]}, name="big.yaml")
    out, err = io.StringIO(), io.StringIO()
    call_command("capacity", file, "--types", types, "--only", "help", stdout=out, stderr=err)
    assert ": 1 node." in out.getvalue()
    assert "Prices do not count, because some types have none: a" in err.getvalue()


@pytest.mark.parametrize(
    ("document", "said"), [({"nodeTypes": [{"name": "x"}]}, "x has no capacity"), ({"kind": "X"}, "received no")]
)
def test_a_file_of_types_that_says_too_little_is_refused_with_its_name(
    tmp_path: Path, document: dict[str, object], said: str
) -> None:
    file = written(tmp_path, node("a"))
    with pytest.raises(CommandError, match=rf"bad\.yaml: .*{said}"):
        run("capacity", file, "--types", written(tmp_path, document, name="bad.yaml"))
