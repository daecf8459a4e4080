"""Dumps with damaged parts: whatever is missing or of another type, `explain` answers or says what is wrong with them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
SITUATIONS = sorted(Path(__file__).parent.glob("situations/*/objects.yaml"))
VALUES: list[Any] = [
    None,
    "",
    "x",
    0,
    -1,
    True,
    [],
    {},
    [None],
    ["x"],
    {"a": 1},
    "10%",
    "1e3",
    10**12,
    "0001-01-01T00:00:00Z",
]
MOST = len(SITUATIONS) * 20 if THOROUGH else 60


def list_places(value: Any) -> list[tuple[Any, Any]]:
    """Every container within a value, with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((value, key), *list_places(inner))]


def damage(objects: list[Any], draw: random.Random) -> None:
    """Remove one to four values, or put something else in their place."""
    for _ in range(draw.randint(1, 4)):
        container, key = draw.choice(list_places(objects))
        if draw.random() < 0.4:
            del container[key]
        else:
            container[key] = draw.choice(VALUES)


@pytest.mark.parametrize("seed", range(MOST))
def test_a_damaged_dump_is_explained_or_refused_in_words(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    try:
        objects = [each for each in yaml.safe_load_all(draw.choice(SITUATIONS).read_text()) if each]
    except yaml.YAMLError:
        return  # a text with anything around its objects
    damage(objects, draw)
    file = tmp_path / "damaged.json"
    file.write_text("\n---\n".join(map(json.dumps, objects)))
    with contextlib.suppress(CommandError, SystemExit):
        call_command("explain", str(file), output="json", stdout=io.StringIO(), stderr=io.StringIO())
