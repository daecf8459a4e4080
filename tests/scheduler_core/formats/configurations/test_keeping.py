"""A changed manifest keeps the lines of what did not change."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.formats.configurations.writing import rewrite_text

TEXT = """\
# what it is for
apiVersion: old  # v1beta2
kind: "Quoted"
# elections
election:
  lock: leases   # the only one
  name: 'x'

profiles:
# the first
- name: one
  # scoring
  score: {a: 1}
  sets:
    - name: A  # stays
    - name: B
    - name: C
- name: two
# the end
"""


def dump(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False)


def kept(new: Any, text: str = TEXT) -> str | None:
    return rewrite_text(text, yaml.safe_load(text), new, dump)


def changed(**fields: Any) -> dict[str, Any]:
    return {**yaml.safe_load(TEXT), **fields}


def test_nothing_changed_is_the_same_text() -> None:
    assert kept(yaml.safe_load(TEXT)) == TEXT


def test_a_value_is_written_anew_and_the_rest_stays() -> None:
    assert kept(changed(apiVersion="new")) == TEXT.replace("old  # v1beta2", "new")


def test_a_field_goes_with_its_line() -> None:
    assert kept(changed(election={"lock": "leases"})) == TEXT.replace("  name: 'x'\n\n", "")


def test_an_entry_of_a_list_goes_and_the_others_stay() -> None:
    profiles = yaml.safe_load(TEXT)["profiles"]
    del profiles[0]["sets"][1]
    assert kept(changed(profiles=profiles)) == TEXT.replace("    - name: B\n", "")


def test_a_new_field_stands_before_the_comments_that_follow() -> None:
    text = kept(changed(election={"lock": "leases", "name": "x", "more": 1}))
    assert text == TEXT.replace("name: 'x'\n", "name: 'x'\n  more: 1\n")
    profiles = yaml.safe_load(TEXT)["profiles"]
    profiles[1]["score"] = 2
    assert kept(changed(profiles=profiles)) == TEXT.replace("- name: two\n", "- name: two\n  score: 2\n")


@pytest.mark.parametrize(
    "text", ["{a: 1}", "- a: 1\n", "a: 1\n---\nb: 1\n", "a: &x 1\nb: *x\n", "a: [", "", "a: 1\nA: {{ x }}\n"]
)
def test_other_texts_are_left_to_others(text: str) -> None:
    assert rewrite_text(text, {"a": 1}, {"a": 2}, dump) is None


SCALARS = st.one_of(st.integers(0, 9), st.sampled_from(["x", "y: z", "#", "", "on", "- a", "a\nb", "'"]), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abcde"), inner, max_size=4)),
    max_leaves=12,
)
MAPPINGS = st.dictionaries(st.sampled_from("abcdef"), VALUES, min_size=1, max_size=5)


@given(MAPPINGS, MAPPINGS)
def test_what_is_written_is_what_was_wanted(old: Any, new: Any) -> None:
    written = rewrite_text(dump(old), old, new, dump)
    assert written is None or yaml.safe_load(written) == new


@given(MAPPINGS, st.data())
def test_one_field_more_or_less_can_be_written(old: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(old)))
    new = {key: value for key, value in old.items() if key != name} or {"z": 1}
    assert rewrite_text(dump(old), old, new, dump) is not None or "{}" in dump(old) or "[]" in dump(old)
