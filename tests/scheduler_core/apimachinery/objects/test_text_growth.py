"""Texts that grow: each is read, or refused, in time that grows with its length.

No time is taken: what took the square of its length would need hours here, and the tests' limit would end it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits, load_manifests

MANY = 100_000
GROWING: dict[str, Callable[[int], str]] = {
    "blanks": lambda n: " " * n + "a: 1",
    "empty lines": lambda n: "\n" * n + "a: 1",
    "carriage returns": lambda n: "\r" * n + "a: 1",
    "tabs": lambda n: "\t" * n + "a: 1",
    "blanks of all kinds before what looks like JSON": lambda n: " \t\r\n" * n + "{a",
    "comments": lambda n: "# nothing\n" * n + "a: 1",
    "separators": lambda n: "---\n" * n + "a: 1",
    "separators with comments after JSON": lambda n: '{"a": 1}\n' + "--- # nothing\n" * n + "}",
    "separators with blanks after JSON": lambda n: '{"a": 1}\n' + "--- \n" * n + "a:",
    "tiny documents": lambda n: "---\na: 1\n" * (n // 2),
    "tiny documents of JSON": lambda n: '{"a": 1}\n' * (n // 2),
    "tiny documents of both": lambda n: '{"a": 1}\n---\nb: 1\n---\n' * n,
    "JSON, lines, then documents of YAML": lambda n: '{"a": 1}\n' + "\n" * n + "---\nb: 1\n" * 900,
    "JSON of many lines, then YAML": lambda n: '{\n"a": [\n' + "1,\n" * n + "2]}\n---\nb: 1\n",
    "names of files": lambda n: '--- # file: "a.yaml"\na: 1\n' * (n // 2),
    "names of files that do not end": lambda n: '--- # file: "' + '"' * n,
    "directives": lambda n: "".join(f"%TAG !a{i}! tag:x\n" for i in range(n)) + "---\na: 1",
    "opened lists": lambda n: "[" * n,
    "opened objects": lambda n: '{"a":' * n,
    "opened mappings": lambda n: "{a: " * n,
    "dashes in a line": lambda n: "- " * n,
    "commas": lambda n: "[" + "," * n,
    "keys": lambda n: "".join(f"k{i}: 1\n" for i in range(n)),
    "anchors": lambda n: "x: [" + ",".join(f"&a{i} 1" for i in range(n)) + "]",
    "aliases": lambda n: "x: &a 1\ny: [" + "*a," * n + "]",
    "a long line": lambda n: "a: " + "b" * n,
    "a long number": lambda n: "a: " + "1" * n,
    "a long number of JSON": lambda n: '{"a": ' + "1" * n + "}",
    "lines of plain text": lambda n: "a: b\n" + "  c\n" * n,
    "empty lines of a literal": lambda n: "a: |\n" + "\n" * n + "b",
    "a quote that does not end": lambda n: 'a: "' + "b" * n,
    "escapes": lambda n: 'a: "' + "\\u0041" * n + '"',
    "byte order marks": lambda n: "\ufeff" * n + '{"a": 1}',
}


def ends(text: str) -> bool:
    """Whether the text is read whole or refused with an error, and what was read can be asked for its place."""
    try:
        loaded = load_manifests(text)
    except InvalidObject as refused:
        return bool(refused.errors)
    return all(each.locate("spec.x") for each in loaded[-1:])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", GROWING)
def test_a_text_is_read_or_refused_in_time_that_grows_with_its_length(kind: str) -> None:
    assert ends(GROWING[kind](MANY))


@pytest.mark.timeout(60)
@given(
    before=st.text(" \t\n\r-#\ufeff", max_size=6),
    again=st.integers(0, 3_000),
    after=st.sampled_from(["", "a: 1", "{", '{"a": 1}', "{a: 1}", "[", "-", "---"]),
)
def test_what_stands_before_a_manifest_takes_no_time(before: str, again: int, after: str) -> None:
    assert ends(before * again + after)


def test_documents_of_both_languages_keep_the_numbers_of_their_lines() -> None:
    text = "{\n" + '"a": [\n' + "1,\n" * 33 + "2]}\n---\nb:\n  c: 1\n"
    assert [each.manifest.keys() for each in load_manifests(text)] == [{"a"}, {"b"}]
    assert load_manifests(text)[1].locate("b.c") == (39, 6)


def test_too_many_lines_between_documents_of_both_languages_are_refused() -> None:
    text = '{"a": 1}\n' + "\n" * 500 + "---\nb: 1\n" * 10
    with pytest.raises(InvalidObject, match="too many lines between them"):
        load_manifests(text, LoadLimits(max_bytes=2_000))


def test_more_directives_than_anybody_needs_are_refused_with_their_line() -> None:
    with pytest.raises(InvalidObject, match="more than 100 lines begin with %") as refused:
        load_manifests("%TAG !a! tag:x\n" * 101)
    assert refused.value.errors[0].line == 101
