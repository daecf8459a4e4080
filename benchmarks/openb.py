"""The real cluster of examples/openb: 1,523 nodes and 8,152 pods."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "examples/openb"


def openb_objects() -> list[dict[str, Any]]:
    """Nodes, then pods, none of them bound."""
    files = [FOLDER / "openb-nodes.json.xz", FOLDER / "openb-pods.json.xz"]
    return [item for file in files for item in json.loads(lzma.decompress(file.read_bytes()))["items"]]
