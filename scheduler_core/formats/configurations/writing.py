"""The plugins of a v1 profile that make kube-scheduler run what an older version ran, in as few words as its defaults allow."""

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import yaml

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits, load_manifests
from scheduler_core.formats.configurations.effective import SCORE, Change, Profile, ProfilePlugin, Version
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import FIELDS, MULTI_POINT

# Writing a changed manifest so that what did not change keeps its lines: comments, quotes and the order of fields stay as they were.
#
# For YAML in block style; whatever else comes is written anew by the caller.

Dump = Callable[[Any], str]
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_COMPARED = 100_000  # entries of two lists, times each other
_LIMITS = LoadLimits(max_bytes=128 << 10, max_objects=1)


def rewrite_text(text: str, old: Any, new: Any, dump: Dump) -> str | None:
    """Return the text of a document with the changes, or None if that is impossible. `dump` writes a value as block YAML."""
    if not _same(text, old):
        return None
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return None
    if node is None or not _block(node) or _shares(text):
        return None
    lines = text.split("\n")
    writer = _Writer(lines, dump)
    end = len(lines)
    out = "\n".join([*lines[: node.start_mark.line], *writer.mapping(node, old, new, end)])
    return out if _same(out, new) else None


def _block(node: Any) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _shares(text: str) -> bool:
    """Return True if the text has anchors or aliases, whose content exists in one place only."""
    return any(getattr(event, "anchor", None) for event in yaml.parse(text, Loader=_Loader))


def _same(text: str, wanted: Any) -> bool:
    try:
        loaded = load_manifests(text, _LIMITS)
    except InvalidObject:
        return False
    return len(loaded) == 1 and bool(loaded[0].manifest == wanted)


class _Writer:
    """Lines of nodes. A node's lines go to where the next one begins, with the comments between."""

    def __init__(self, lines: Sequence[str], dump: Dump) -> None:
        self._lines = lines
        self._dump = dump

    def mapping(self, node: Any, old: Mapping[str, Any], new: Mapping[str, Any], end: int) -> list[str]:
        """The fields that stay, in their order, and new ones behind the field that they follow in `new`."""
        starts = [key.start_mark.line for key, _ in node.value] + [end]
        there = {key.value: number for number, (key, _) in enumerate(node.value)}
        column = node.start_mark.column
        fields: list[tuple[str, list[str]]] = []
        for name, number in there.items():
            if name in new:
                key, value = node.value[number]
                part = (starts[number], starts[number + 1])
                fields.append((name, self._field(key, value, old.get(name), new[name], part)))
        before = ""
        for name in new:
            if name not in there:
                at = next((i for i, (other, _) in enumerate(fields) if other == before), len(fields) - 1)
                self._add(fields, at, name, self._indent({name: new[name]}, column))
            before = name
        return [line for _, lines in fields for line in lines]

    @staticmethod
    def _add(fields: list[tuple[str, list[str]]], at: int, name: str, lines: list[str]) -> None:
        """Behind a field, and before the comments that belong to the next one."""
        tail: list[str] = []
        if fields:
            before = fields[at][1]
            while before and _says_nothing(before[-1]):
                tail.insert(0, before.pop())
        fields.insert(at + 1, (name, lines + tail))

    def _field(self, key: Any, value: Any, old: Any, new: Any, part: tuple[int, int]) -> list[str]:
        start, end = part
        if old == new:
            return list(self._lines[start:end])
        below = value.start_mark.line > key.start_mark.line
        head = list(self._lines[start : value.start_mark.line])
        if below and _block(value) and isinstance(new, Mapping):
            return head + self.mapping(value, old, new, end)
        if below and isinstance(value, yaml.SequenceNode) and not value.flow_style and isinstance(new, list):
            return head + self._sequence(value, old, new, end)
        return self._indent({key.value: new}, key.start_mark.column) + self._tail(value, end)

    def _sequence(self, node: Any, old: list[Any], new: list[Any], end: int) -> list[str]:
        """Write a list. Unchanged entries keep their lines; if as many entries are replaced, each is changed in place."""
        starts = [each.start_mark.line for each in node.value] + [end]
        column = node.start_mark.column
        if len(old) * len(new) > _MOST_COMPARED:
            return [line for each in new for line in self._indent([each], column)]
        matcher = SequenceMatcher(None, [_key(each) for each in old], [_key(each) for each in new], False)
        out: list[str] = []
        for tag, first, last, start, stop in matcher.get_opcodes():
            if tag == "equal":
                out += self._lines[starts[first] : starts[last]]
            elif tag == "replace" and last - first == stop - start:
                for i, j in zip(range(first, last), range(start, stop), strict=True):
                    out += self._entry(node.value[i], old[i], new[j], column, starts[i + 1])
            else:
                out += [line for each in new[start:stop] for line in self._indent([each], column)]
        return out

    def _entry(self, node: Any, old: Any, new: Any, column: int, end: int) -> list[str]:
        if not _block(node) or not isinstance(new, Mapping) or not isinstance(old, Mapping):
            return self._indent([new], column) + self._tail(node, end)
        out = self.mapping(node, old, new, end)
        if not out or not out[0].strip():
            return self._indent([new], column)
        return [" " * column + "- " + out[0].lstrip(" -"), *out[1:]]

    def _tail(self, node: Any, end: int) -> list[str]:
        """Return the comments and blank lines after a value that is rewritten."""
        first = end
        while first > node.start_mark.line + 1 and _says_nothing(self._lines[first - 1]):
            first -= 1
        return list(self._lines[first:end])

    def _indent(self, value: Any, column: int) -> list[str]:
        return [" " * column + line if line else line for line in self._dump(value).rstrip("\n").split("\n")]


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


_FOLLOWS = {"preFilter": "filter"}  # a plugin that is off there has to be off here: it may refuse


@cache
def defaults() -> Mapping[str, tuple[tuple[str, int], ...]]:
    """v1's default plugins with their weights, by point."""
    [profile] = load_configuration(None).profiles
    return {field: profile.plugins[point] for field, point in FIELDS.items()}


def write_plugins(profile: Profile, version: Version) -> tuple[dict[str, Any], list[Change]]:
    """Return `plugins` of a v1 profile (empty if the defaults of v1 equal the plugins that ran), and the changes for plugins that are now
    disabled at all points.
    """
    wanted = {point: _list_expected(profile, version, point) for point in FIELDS}
    off = _off_everywhere(profile, version, wanted)
    out: dict[str, Any] = {}
    if off:
        out[MULTI_POINT] = {"disabled": [{"name": name} for name in off]}
    for point in FIELDS:
        usual = [(name, weight) for name, weight in defaults()[point] if name not in off]
        if plugin_set := _point(point, wanted[point], usual, point in profile.starred):
            names = sorted(plugin_set, reverse=(point in profile.enabled_first))
            out[point] = {name: plugin_set[name] for name in names}
    return out, _describe_multi_point(profile, off)


def _describe_multi_point(profile: Profile, off: list[str]) -> list[Change]:
    changes = []
    for name in off:
        at = [(point, named[name]) for point, named in profile.disabled.items() if named.get(name)]
        if at:
            points = " and ".join(point for point, _ in at)
            text = f"{name}, disabled at {points}, is disabled at multiPoint: it had no other extension points, and has more in v1"
            changes.append(Change("moved", at[0][1], text))
    return changes


def weights_kept(profile: Profile, version: Version) -> list[Change]:
    """Return changes for weights that are written out because their defaults have changed."""
    then, now = dict(version.defaults.get(SCORE, ())), dict(defaults()[SCORE])
    kept = [
        f"{each.name} {each.weight} (now {now[each.name]})"
        for each in profile.ran[SCORE]
        if not each.path and each.name in then and now.get(each.name, each.weight) != each.weight
    ]
    if not kept:
        return []
    text = f"default weights of {version.name} are written out, because v1 has other defaults: {', '.join(kept)}"
    return [Change("kept", "", text)]


def _list_expected(profile: Profile, version: Version, point: str) -> list[ProfilePlugin]:
    """Return the plugins that ran at a point, and the new defaults there of plugins that ran."""
    ran = profile.ran.get(point, [])
    names = {each.name for each in ran}
    if point in profile.starred:
        return ran
    return ran + [
        ProfilePlugin(name, weight)
        for name, weight in defaults()[point]
        if name not in names and _new_there(profile, version, name, point)
    ]


def _new_there(profile: Profile, version: Version, name: str, point: str) -> bool:
    """Return True if a default of v1 is new at a point since the older version, and must be enabled there."""
    then = [at for at, plugins in version.defaults.items() if name in dict(plugins)]
    if point in then or (point == SCORE and name == "NodeResourcesFit"):
        return False
    leader = _FOLLOWS.get(point)
    if leader in then:
        return name in profile.names(str(leader))
    return not then or profile.anywhere(name) or not any(name in profile.disabled[at] for at in then)


def _off_everywhere(profile: Profile, version: Version, wanted: Mapping[str, list[ProfilePlugin]]) -> list[str]:
    """Return the defaults of v1 that must not run at any point and that no list of the user's excludes."""
    there: dict[str, list[str]] = {}
    for point, plugins in defaults().items():
        for name, _ in plugins:
            there.setdefault(name, []).append(point)
    return [
        name
        for name, points in there.items()
        if not any(each.name == name for point in points for each in wanted[point])
        and not all(point in profile.starred for point in points)
    ]


def _point(point: str, wanted: list[ProfilePlugin], usual: list[tuple[str, int]], starred: bool) -> dict[str, Any]:
    """Return the set of a point: the full list if the user listed all, else the differences from the usual plugins. Added plugins run
    after these.
    """
    if starred:
        return _set(wanted, ["*"], point)
    names, before = [each.name for each in wanted], dict(usual)
    enabled = [
        each for each in wanted if each.name not in before or (point == SCORE and before[each.name] != each.weight)
    ]
    removed = [name for name in before if name not in names]
    return _set(enabled, ["*"] if removed and len(removed) == len(before) else removed, point)


def _set(enabled: list[ProfilePlugin], disabled: list[str], point: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if disabled:
        out["disabled"] = [{"name": name} for name in disabled]
    if enabled:
        out["enabled"] = [_entry(each, point) for each in enabled]
    return out


def _entry(ran: ProfilePlugin, point: str) -> dict[str, Any]:
    return {"name": ran.name, "weight": ran.weight} if point == SCORE else {"name": ran.name}
