"""JSON at its edges: numbers beyond 64 bits, escapes, equal keys, depth."""

from __future__ import annotations

import pytest

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.texts import json_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        ('{"a": "\\u0022\\""}', {"a": '""'}),
        ('{"a": 18446744073709551615}', {"a": 2**64 - 1}),
        ('{"a":[-18446744073709551616]}', {"a": [-float(2**64)]}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890.0}),
    ],
)
def test_values_are_what_kubectl_reads(text: str, value: object) -> None:
    (read,) = json_text.read(text, 64, 0)
    assert (read, repr(read)) == (value, repr(value))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": "\\u0022", "b": ""}}',
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        '{"a": NaN}',
        '{"a": 1',
        '{"a":' * 70 + "1" + "}" * 70,
    ],
)
def test_what_no_manifest_may_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidObject):
        json_text.read(text, 64, 0)
