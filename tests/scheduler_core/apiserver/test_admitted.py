"""Objects and updates of them as the API servers of four releases judged them: refused for what, or stored with which fields.

admitted.jsonl.xz and updated.jsonl.xz hold what `python -m tests.oracle.admissions` and `tests.oracle.updates` recorded with kube's own
strategies: an object, the old one, gates, and kube's answer.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import updates
from tests.oracle.admissions import answer, difference


def _read(name: str) -> list[dict[str, Any]]:
    text = lzma.decompress(Path(__file__).with_name(name).read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


RECORDED, UPDATED = _read("admitted.jsonl.xz"), _read("updated.jsonl.xz")


@pytest.mark.parametrize("release", ["1.34.1", "1.35.4", "1.36.3", "1.37.2"])
def test_new_objects_are_judged_as_the_api_server_of_the_release_judges_them(release: str) -> None:
    cases = [case for case in RECORDED if case["release"] == release]
    assert len(cases) > 100
    found = [(case["object"], difference(case["expect"], answer(case, release))) for case in cases]
    assert [each for each in found if each[1]] == []


@pytest.mark.parametrize("release", ["1.34.2", "1.35.4", "1.36.3", "1.37.2"])
def test_updates_are_judged_as_the_api_server_of_the_release_judges_them(release: str) -> None:
    cases = [case for case in UPDATED if case["release"] == release]
    assert len(cases) > 300
    received = [updates.answer(case, release) for case in cases]
    found = [
        (case["old"], case["object"], difference(case["expect"], got, case["subresource"] == "status"))
        for case, got in zip(cases, received, strict=True)
    ]
    assert [each for each in found if each[2]] == []
