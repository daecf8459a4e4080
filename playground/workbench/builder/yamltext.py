"""Manifests as YAML that a person would have written: fields in their order, no anchors."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """No aliases: a part that two objects share is written out twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def to_yaml(manifests: Iterable[Mapping[str, Any]], most: int | None = None) -> str:
    """The manifests as documents with `---` between them; at most `most` of them where it is given."""
    documents = list(manifests)
    return "---\n".join(fragment(dict(each)) for each in documents[:most])


def fragment(value: Any) -> str:
    """A part of a manifest, in the same style."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text
