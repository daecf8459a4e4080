"""docs/coverage.md keeps up with the code: what has no effect is the list that the product reads."""

from __future__ import annotations

from pathlib import Path

from tests.coverage_tables import without_effect

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "coverage.md").read_text()


def test_what_has_no_effect_is_the_list_that_the_product_reads() -> None:
    assert without_effect() in TEXT, "python -m tests.coverage_tables prints the table"
