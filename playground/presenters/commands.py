"""A logged command as one sentence, built from its JSON. commands.yaml has the texts by kind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from playground.common.catalogs import read_yaml
from playground.presenters.words import Message, choose_message, gettext_noop, message

NAMED = 3  # objects of a kind named before "…"
TEXT = 120
SHORT = 40

Data = Mapping[str, Any]

WORDS = read_yaml(Path(__file__).with_suffix(".yaml"))
SOURCES: dict[str, str] = WORDS["sources"]


def sentence(command: Data) -> Message:
    """Return a sentence that describes a command. Any field may be missing, because an imported trace may be the source."""
    kind = str(command.get("kind", ""))
    texts = WORDS["sentences"].get(kind)
    if texts is None:
        return message("%(kind)s: %(what)s", kind=command.get("kind", "?"), what=_fields(command))
    return choose_message(texts, defaultdict(str, {**command, **(_VALUES[kind](command) if kind in _VALUES else {})}))


def describe_omission(command: Data) -> Message:
    """Return a short phrase for a history without this command, for the name of a branch."""
    kind, ref = str(command.get("kind", "")), _map(command.get("ref"))
    if kind == "ApplyObjects":
        what = _format_by_kind((_get_kind_and_name(manifest) for manifest in _list(command.get("objects"))), SHORT, 1)
        return message("%(what)s", what=what or "?")
    if kind == "DeleteObjects":
        return message("deleting %(what)s", what=_format_by_kind(_refs(command), SHORT, 1))
    if kind == "PatchObject":
        what = _cut(f"{ref.get('kind', '?')} {ref.get('name', '?')}", SHORT)
        return message("changing %(what)s", what=what)
    return message(WORDS["omitted"].get(kind, gettext_noop("a command")))


def _get_kind_and_name(manifest: object) -> tuple[str, str]:
    data = _map(manifest)
    return str(data.get("kind", "?")), str(_map(data.get("metadata")).get("name") or "?")


def _refs(command: Data) -> list[tuple[str, str]]:
    return [(str(ref.get("kind", "?")), str(ref.get("name", "?"))) for ref in _list_maps(command.get("refs"))]


def _patch(command: Data) -> Data:
    """Return the values of a patch. `sets` and `leaf` name the field if the patch sets only one: kubectl may have a verb for it."""
    ref = _map(command.get("ref"))
    kind, leaves = ref.get("kind", "?"), list(_leaves(command.get("patch")))
    leaf = leaves[0] if len(leaves) == 1 else ""
    if leaf.startswith("spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt="):
        leaf = "restart"
    return {
        "kind": kind,
        "name": ref.get("name", "?"),
        "what": _cut(", ".join(leaves)),
        "leaf": leaf,
        "sets": f"{kind} {leaf}",
    }


def _leaves(patch: object, path: str = "") -> list[str]:
    """Return the fields that a merge patch sets, as path=value."""
    if not isinstance(patch, Mapping):
        return [f"{path}={patch}"]
    return [leaf for key, value in patch.items() for leaf in _leaves(value, f"{path}.{key}" if path else str(key))]


def _programs(command: Data) -> Data:
    """Return the values of the first rule, where a form inserts its own."""
    for rule in _list_maps(command.get("rules")):
        said = _fields({name: value for name, value in rule.items() if name not in ("pods", "container")})
        return {"pods": rule.get("pods") or "*", "what": said or "-"}
    return {"pods": None}


def _usage(command: Data) -> Data:
    """Return the values of the last entry, where a form appends its own."""
    for entry in reversed(_list_maps(command.get("entries"))):
        name = entry.get("pod") or entry.get("node") or entry.get("podLabel") or "?"
        about = ("at", "pod", "node", "podLabel")
        said = _fields({name: value for name, value in entry.items() if name not in about})
        return {"name": name, "what": said or "-"}
    return {"name": None}


def _answer(command: Data) -> Data:
    answer = _map(command.get("answer"))
    return {"what": _cut(str(answer.get("error") or f"{answer.get('status', '?')} {answer.get('body', '')}"))}


def _request(command: Data) -> Data:
    """Return the API server's client and its request, such as `kubectl apply creates pods web-0`."""
    path = str(command.get("path", "")).strip("/").split("/")
    meta = _map(_map(command.get("body")).get("metadata"))
    parts = path[2:] if path[:1] == ["api"] else path[3:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    name = str(meta.get("name") or "") if len(parts) == 1 else ""
    what = _cut(" ".join(filter(None, [*parts, name])))
    return {"agent": _cut(str(command.get("agent") or "kubectl"), SHORT), "what": what}


# The values of a kind's sentence that are not fields of the command.
_VALUES: dict[str, Callable[[Data], Data]] = {
    "ApplyObjects": lambda command: {"what": _format_by_kind(map(_get_kind_and_name, _list(command.get("objects"))))},
    "DeleteObjects": lambda command: {"what": _format_by_kind(_refs(command))},
    "PatchObject": _patch,
    "SetConfiguration": lambda command: {"plugin": command.get("scheduler", "")},
    "SetSettings": lambda command: {"what": _fields(_map(command.get("settings")))},
    "FailCall": lambda command: {"times": command.get("times", 1), "fails": bool(command.get("code"))},
    "CreateObject": lambda command: {"what": _format_by_kind([_get_kind_and_name(command.get("manifest"))])},
    "ScaleObject": lambda command: {
        **{field: _map(command.get("ref")).get(field, "?") for field in ("kind", "name")},
        "replicas": command.get("replicas", "?"),
    },
    "SetPrograms": _programs,
    "SetUsage": _usage,
    "SetExtender": lambda command: {
        "answers": _map(command.get("behaviour")).get("type"),
        "url": _cut(str(command.get("url_prefix", "?"))),
    },
    "AnswerExtender": _answer,
    "CallAPI": _request,
}


def _format_by_kind(named: Iterable[tuple[str, str]], most: int = 3 * TEXT, first: int = NAMED) -> str:
    """Format the first names of each kind: Node small, medium, Pod web-1, web-2, web-3 … (12)."""
    kinds: dict[str, list[str]] = {}
    for kind, name in named:
        kinds.setdefault(kind, []).append(name)
    parts = []
    for kind, names in kinds.items():
        more = f" … ({len(names):,})" if len(names) > first else ""
        parts.append(f"{kind} {', '.join(names[:first])}{more}")
    return _cut("; ".join(parts), most)


def _fields(data: Data) -> str:
    return _cut(
        ", ".join(f"{name}={value}" for name, value in data.items() if name != "kind" and value not in (None, ""))
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _list_maps(value: object) -> list[Data]:
    return [each for each in _list(value) if isinstance(each, Mapping)]


def _map(value: object) -> Data:
    return value if isinstance(value, Mapping) else {}


def _cut(text: str, most: int = TEXT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
