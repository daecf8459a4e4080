"""New objects as the API servers of four releases judged them: refused for what, or stored with which fields.

admitted.jsonl.xz holds what `python -m tests.oracle.admissions` recorded with kube's own strategies: an object, gates, and kube's answer.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from tests.oracle.admissions import answer, difference

RECORDED = [
    json.loads(line)
    for line in lzma.decompress(Path(__file__).with_name("admitted.jsonl.xz").read_bytes()).decode().splitlines()
]


@pytest.mark.parametrize("release", ["1.34.1", "1.35.4", "1.36.3", "1.37.2"])
def test_new_objects_are_judged_as_the_api_server_of_the_release_judges_them(release: str) -> None:
    cases = [case for case in RECORDED if case["release"] == release]
    assert len(cases) > 100
    found = [(case["object"], difference(case["expect"], answer(case, release))) for case in cases]
    assert [each for each in found if each[1]] == []
