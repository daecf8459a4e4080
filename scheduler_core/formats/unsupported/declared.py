"""The declaration for every field of kube's API: what the engine reads, and what has no effect, by the type that has the field.

declared.json has it, and the reasons by name. tests/scheduler_core/formats/unsupported/test_declared.py fails on a field that is not
declared, on a field declared as read that the engine's sources do not name, and on a field declared as without effect that they name.
test_measured.py runs pods with such fields and without.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())
_REASONS: Mapping[str, str] = _DATA["reasons"]
ONE_SERVER, NO_PROCESS, NO_CONTROLLER = (_REASONS[name] for name in ("ONE_SERVER", "NO_PROCESS", "NO_CONTROLLER"))


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a type, as names with blanks between them.

    `silent`: a cluster acts on them and this one does not, by the reason. `idle`: no cluster acts on them, or a cluster alone writes them.
    """

    read: str = ""
    silent: Mapping[str, str] = field(default_factory=dict)
    idle: str = ""


def _read_fields(entry: Mapping[str, Any]) -> Fields:
    silent = {_REASONS.get(why, why): names for why, names in entry.get("silent", {}).items()}
    return Fields(entry.get("read", ""), silent, entry.get("idle", ""))


WHOLE_KINDS = {kind: _REASONS.get(why, why) for kind, why in _DATA["kinds"].items()}
# Groups of kube's own, and of its components, whose kinds are kept as custom resources are.
WHOLE_GROUPS = {group: _REASONS.get(why, why) for group, why in _DATA["groups"].items()}
# Labels and annotations with a meaning, by kind.
MEANT = {
    ("Namespace", "labels", f"pod-security.kubernetes.io/{mode}"): (_REASONS["POD_SECURITY"], ("privileged",))
    for mode in ("audit", "warn")
}
# Types of which the engine reads every field.
WHOLLY_READ = frozenset(name for line in _DATA["whollyRead"] for name in line.split())
FIELDS: Mapping[str, Fields] = {name: _read_fields(entry) for name, entry in _DATA["fields"].items()}
