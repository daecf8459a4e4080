"""docs/schemas: what programs may rely on. The tests of the commands hold each output against them (tests/support/schemas.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core.analysis.explain import State
from tests.support.schemas import FOLDER, read_schema, require_schema

NAMES = sorted(path.name.removesuffix(".json").replace(".", "/") for path in FOLDER.glob("*.json"))
NOTHING = {"schema": "simulate/v1", "placements": [], "scheduled": 0, "pending": 0, "failed": 0, "missing": []}


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_names_itself_and_describes_each_field(name: str) -> None:
    schema = read_schema(name)
    assert schema["$id"] == "urn:scheduler-playground:" + name.replace("/", ":")
    assert schema["properties"]["schema"]["const"] == name
    parts = [schema, *schema["$defs"].values()]
    for part in parts:
        for field, said in part.get("properties", {}).items():
            assert said.keys() & {"description", "$ref"}, f"{name}: {field}"


def test_states_are_those_of_the_engine() -> None:
    assert read_schema("explain/v1")["$defs"]["state"]["enum"] == [state.value for state in State]


def test_a_field_that_no_schema_names_and_one_of_another_type_are_refused() -> None:
    data = {**NOTHING, "gone": [], "stuck": [], "atRest": True, "seconds": 0.0}
    require_schema(data, "simulate/v1")
    for change in ({"new": 1}, {"seconds": "0"}, {"gone": [{"pod": "a/b"}]}):
        with pytest.raises(AssertionError):
            require_schema({**data, **change}, "simulate/v1")


def test_the_documents_name_each_schema() -> None:
    told = Path(FOLDER.parent / "commands.md").read_text()
    assert [name for name in NAMES if f"schemas/{name.replace('/', '.')}.json" not in told] == []
