"""Each row of the table in short; HYPOTHESIS_PROFILE=thorough tries every value at every place."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.hostile.ground import Ground, ground
from tests.hostile.rows import ROWS, run

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("hostile"), THOROUGH) as begun:
        yield begun


@pytest.mark.timeout(7200 if THOROUGH else 1200)
@pytest.mark.parametrize("name", ROWS)
def test_nothing_that_a_stranger_sends_breaks_the_server(here: Ground, name: str) -> None:
    tally = run(name, here)
    assert tally.tried > 20
    assert tally.faults == []
