"""Keys that stand twice in one object.

kubectl's parser takes the last and says nothing, in YAML and in JSON; readers that are strict (those of a component's configuration) refuse
the text.

kube: sigs.k8s.io/yaml v1.6.0, Unmarshal and UnmarshalStrict
"""

from __future__ import annotations

from typing import NamedTuple


class RepeatedKey(NamedTuple):
    """A key that stood in the object before. `line` (from 1) is that of the later one, where it is known."""

    key: str
    line: int | None


def twice(key: str) -> str:
    """Return the problem with a repeated key, for a strict reader."""
    return f'the key "{key}" stands twice in one object'
