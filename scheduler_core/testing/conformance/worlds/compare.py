"""Comparison of a world with the expectations of a scenario: single values, and conditions over time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from scheduler_core.apimachinery.objects import SECOND, BadQuantity, LabelSelector, nanos, parse_time
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.store import EPOCH
from scheduler_core.testing.conformance.worlds.paths import MISSING, is_absent, look_up
from scheduler_core.testing.differences import Difference, describe, first_place
from scheduler_core.world.simulation import Simulation

Item = Mapping[str, Any]
_OPERATORS = ("is", "isNot", "isQuantity", "contains", "containsNot", "absent", "isTime", "timeBetween")
_TEMPORAL = ("becomes", "always", "never", "order")


def differ(step: int, at: str, expected: str, received: str, item: int | None = None) -> Difference:
    """Return the Difference of a step (-1: of the objects), or of one expected `item` of the step."""
    place = "objects" if step < 0 else f"steps[{step}]"
    path = place if item is None else f"{place}.expect[{item}]"
    text = f"{path} (at {at}): expected {expected}, received {received}"
    return Difference(expected, received, text, {"step": step, "path": path})


class ObservedWorld(Protocol):
    """A world, as expectations see it."""

    @property
    def sim(self) -> Simulation: ...

    def oom_score_adj(self, pod: str, container: str) -> int | None: ...

    def scheduler_runs(self, name: str) -> bool: ...


@dataclass(slots=True)
class History:
    """The times (ns) at which an item's truth changed."""

    changes: list[tuple[int, bool]] = field(default_factory=list)

    def note(self, t: int, holds: bool) -> None:
        if not self.changes or self.changes[-1][1] != holds:
            self.changes.append((t, holds))

    def before(self, t: int) -> bool:
        """Return whether the item held just before a time."""
        return next((holds for at, holds in reversed(self.changes) if at < t), False)

    def ever(self, first: int, last: int, wanted: bool) -> bool:
        """Return whether the item had the wanted truth at some moment from first to last."""
        within = any(first <= at <= last and holds is wanted for at, holds in self.changes)
        return within or next((h for at, h in reversed(self.changes) if at <= first), False) is wanted

    @property
    def first(self) -> int | None:
        return next((at for at, holds in self.changes if holds), None)


def seconds(text: str) -> int:
    """A time of the corpus ("12.5s") in ns."""
    return round(float(text.removesuffix("s")) * SECOND)


def temporal_items(items: list[Item]) -> list[Item]:
    """Return the plain items whose history these items need."""
    found: list[Item] = []
    for item in items:
        found += [item[word] for word in ("becomes", "always", "never") if word in item]
        found += item.get("order") or []
    return found


def judge(world: ObservedWorld, item: Item, history: Mapping[int, History]) -> str:
    """Return "" if an item holds, else the found value. `history` is by id of plain items."""
    if "order" in item:
        return _order(item["order"], history)
    word = next((word for word in _TEMPORAL if word in item), "")
    if not word:
        return find_difference(world, item)
    first, last = (seconds(text) for text in item["between"])
    kept = history[id(item[word])]
    if word == "becomes":
        fine = not kept.before(first) and kept.ever(first, last, True)
    elif word == "always":
        fine = not kept.ever(first, last, False)
    else:
        fine = not kept.ever(first, last, True)
    if fine:
        return ""
    times = ", ".join(f"{at / SECOND:g}s {'yes' if holds else 'no'}" for at, holds in kept.changes)
    return f"{times}; now: {find_difference(world, item[word]) or 'as expected'}"


def _order(items: list[Item], history: Mapping[int, History]) -> str:
    firsts = [history[id(item)].first for item in items]
    if None not in firsts and firsts == sorted(firsts, key=lambda at: at or 0):
        return ""
    return ", ".join("never" if at is None else f"{at / SECOND:g}s" for at in firsts)


def find_difference(world: ObservedWorld, item: Item) -> str:
    """Return "" if a plain item holds, else the found value."""
    if "count" in item:
        number = count(world.sim, item["count"])
        fine = (
            item.get("is", number) == number
            and number >= item.get("atLeast", number)
            and number <= item.get("atMost", number)
        )
        return "" if fine else str(number)
    if "event" in item:
        exists = _event(world.sim, item["event"])
        return "" if exists is item.get("exists", True) else f"event {'exists' if exists else 'does not exist'}"
    if "oomScoreAdj" in item:
        value: Any = world.oom_score_adj(item["oomScoreAdj"]["pod"], item["oomScoreAdj"]["container"])
        return compare(MISSING if value is None else value, item)
    if "scheduler" in item:
        return compare(world.scheduler_runs(item["scheduler"]), item)
    manifest = get(world.sim, item["object"])
    if "exists" in item:
        return "" if (manifest is not None) is item["exists"] else ("it exists" if manifest else "it does not exist")
    return compare(MISSING if manifest is None else look_up(manifest, item["path"]), item)


def target(text: str) -> tuple[str, str, str]:
    """Kind, namespace and name of "Kind/ns/name" or "Kind/name"."""
    kind, _, rest = text.partition("/")
    namespace, _, name = rest.rpartition("/")
    return kind, namespace, name


def key_of(sim: Simulation, kind: str) -> str:
    """Return the store's name for a kind; a custom kind is written without its group."""
    if kind in KINDS:
        return kind
    return next((key for key in sim.store.kinds() if key.partition(".")[0] == kind), kind)


def get(sim: Simulation, text: str) -> Mapping[str, Any] | None:
    kind, namespace, name = target(text)
    return sim.store.get(key_of(sim, kind), namespace, name)


def count(sim: Simulation, wanted: Item) -> int:
    """Count the objects that match an item."""
    selector = LabelSelector.of(_selector(wanted.get("labelSelector")))
    return sum(
        wanted.get("namespace") in (None, manifest["metadata"].get("namespace"))
        and ("labelSelector" not in wanted or selector.matches(manifest["metadata"].get("labels") or {}))
        and all(holds(look_up(manifest, path), value) for path, value in (wanted.get("where") or {}).items())
        for manifest in sim.store.list(key_of(sim, wanted["kind"]))
    )


def _selector(given: Any) -> Any:
    """A selector of the corpus: "a=b,c=d", or an object."""
    if isinstance(given, str):
        return {"matchLabels": dict(part.split("=", 1) for part in given.split(","))}
    if isinstance(given, Mapping) and not {"matchLabels", "matchExpressions"} & set(given):
        return {"matchLabels": given}
    return given


selector_of = _selector


def holds(value: Any, wanted: Any) -> bool:
    """A condition of `where`: a value, one operator, or one of several values."""
    if isinstance(wanted, Mapping):
        if "in" in wanted:
            return value in wanted["in"]
        if set(wanted) & set(_OPERATORS):
            return compare(value, wanted) == ""
    return bool(value == wanted)


def _event(sim: Simulation, wanted: Item) -> bool:
    texts = wanted.get("messageContains") or ()
    texts = [texts] if isinstance(texts, str) else texts
    about = target(wanted["object"]) if "object" in wanted else None
    return any(
        event.reason == wanted["reason"]
        and wanted.get("type") in (None, event.type)
        and about in (None, (event.kind, event.namespace, event.name))
        and all(text in event.message for text in texts)
        for event in sim.store.events
    )


def compare(value: Any, item: Item) -> str:
    """Return "" if a value satisfies the item's operator, else the value."""
    operator = next(name for name in _OPERATORS if name in item)
    if _fits(value, operator, item[operator]):
        return ""
    if value is MISSING:
        return "nothing"
    place = first_place(item["is"], _plain(value)) if operator == "is" else None
    return repr(value) if place is None or not place[0] else describe(f"a difference at {place[0]}", place[1], place[2])


def _fits(value: Any, operator: str, wanted: Any) -> bool:
    if operator == "absent":
        return is_absent(value) is wanted
    if operator == "is":
        return value is not MISSING and _plain(value) == wanted
    if operator == "isNot":
        return value is MISSING or _plain(value) != wanted
    if operator == "isQuantity":
        return value is not MISSING and _same_quantity(value, wanted)
    if operator == "contains":
        return value is not MISSING and _contains(value, wanted)
    if operator == "containsNot":
        return value is MISSING or not _contains(value, wanted)
    time = _time(value)
    if operator == "isTime":
        if isinstance(wanted, str):
            return time is not None and abs(time - seconds(wanted)) <= SECOND
        return (time is not None) is wanted
    first, last = (seconds(text) for text in wanted)
    return time is not None and first - SECOND <= time <= last + SECOND


def _plain(value: Any) -> Any:
    """Convert tuples and read-only mappings to JSON types."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _same_quantity(value: Any, wanted: Any) -> bool:
    try:
        return nanos(value) == nanos(wanted)
    except (BadQuantity, TypeError):
        return False


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return str(wanted) in value
    if isinstance(value, list | tuple):
        return any(_has(element, wanted) for element in value)
    return _has(value, wanted)


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return all(key in value and _plain(value[key]) == inner for key, inner in wanted.items())
    return bool(_plain(value) == wanted)


def _time(value: Any) -> int | None:
    try:
        return parse_time(value) - EPOCH
    except (TypeError, ValueError, AttributeError):
        return None
