"""What changed between two views: per panel a digest of its own data, of its cards' order, and of each card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


class PanelDigest(NamedTuple):
    """`whole` covers the context and which cards there are in which order."""

    whole: bytes
    cards: dict[str, bytes]


Digests = Mapping[str, PanelDigest]


def digests(panels: Iterable[dict[str, Any]]) -> Digests:
    """Digests by panel name."""
    return {
        panel["name"]: PanelDigest(
            _digest([panel["context"], list(panel["cards"])]),
            {id_: _digest(card) for id_, card in panel["cards"].items()},
        )
        for panel in panels
    }


def compare(panels: Iterable[dict[str, Any]], new: Digests, old: Digests) -> Iterable[dict[str, Any]]:
    """What to send: whole panels {"name", "context", "cards"}, or single cards {"name", "id", "card"}."""
    for panel in panels:
        name = panel["name"]
        before = old.get(name)
        if before is None or before.whole != new[name].whole:
            yield panel
            continue
        for id_, digest in new[name].cards.items():
            if before.cards.get(id_) != digest:
                yield {"name": name, "id": id_, "card": panel["cards"][id_]}


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(value, option=OPTIONS), digest_size=12).digest()
