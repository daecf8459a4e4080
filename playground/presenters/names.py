"""Short names: common parts of the names of nodes and pods are removed, and all short names differ.

A name is cut only at `-` and `.`, for two widths: `NARROW` characters in the rail and in the pipeline, `WIDE` elsewhere. Kubernetes
generates two parts of a name: the template's hash in the names of a Deployment's pods (k8s.io/apimachinery, rand.SafeEncodeString, of a
number's digits), and five random characters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from weakref import WeakKeyDictionary

from scheduler_core.world.readonly import StoreView, WorldView

WIDE, NARROW = 24, 16
MORE = "…"
_MOST_FAMILIES, _MOST_KNOWN = 8, 65536
_OF_A_DEPLOYMENT = re.compile(r"(?P<workload>.+)-[4-9bcdf]{6,10}-(?P<end>[a-z0-9]{5})$")
_SEGMENTS = re.compile(r"[^./-]+[./-]*")
_HIDDEN_NAMESPACES = re.compile(
    "kube-.*"
)  # system namespaces: their pods alone don't make namespaces necessary in names


@dataclass(frozen=True, slots=True)
class Family:
    """The common prefix and suffix of the nodes of one domain."""

    prefix: str
    suffix: str

    def __contains__(self, name: str) -> bool:
        shared = len(self.prefix) + len(self.suffix)
        return len(name) > shared > 0 and name.startswith(self.prefix) and name.endswith(self.suffix)


@dataclass(frozen=True, slots=True)
class Names:
    """The short names of a cluster. `others` has the names that the rules don't make unique, each with its form for both widths."""

    families: tuple[Family, ...] = ()
    namespaces: bool = False
    others: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def fit(self, name: str, most: int = WIDE) -> str:
        """Return the short form of a node's name, a pod's name, or a pod's key."""
        name = name.removeprefix("default/")
        return (self.others.get(name) or _Rules.of(self.families, self.namespaces)[name])[most < WIDE]

    def spell(self, name: str) -> tuple[str, str, str]:
        """Return a node's name in three parts: removed prefix, short name, and removed suffix. Other names stay whole, in the second
        part.
        """
        kept = self.fit(name)
        before, found, after = name.partition(kept)
        return (before, kept, after) if found else ("", name, "")


def names_of(sim: WorldView) -> Names:
    """Return the short names of a world, computed again if nodes or pods were created or deleted."""
    store = sim.store
    keys = store.keys("Node"), store.keys("Pod")
    known = _NAMES.get(store)
    if known is None or known[0] != keys:
        # Stepping back shows a copy of the world at each step, and most steps create and delete nothing.
        known = next((each for each in _NAMES.values() if each[0] == keys), None)
    if known is None:
        pods = [name if namespace == "default" else f"{namespace}/{name}" for namespace, name in keys[1]]
        known = keys, shorten([name for _, name in keys[0]], pods)
    _NAMES[store] = known
    return known[1]


_NAMES: WeakKeyDictionary[StoreView, tuple[tuple[Sequence[tuple[str, str]], ...], Names]] = WeakKeyDictionary()


def shorten(nodes: Sequence[str], pods: Sequence[str]) -> Names:
    """Shorten the names of nodes and the keys of pods (without the namespace `default`), so that all look different."""
    families = _find_families(nodes)
    spaces = {pod.rpartition("/")[0] for pod in pods}
    namespaces = len([each for each in spaces if not _HIDDEN_NAMESPACES.fullmatch(each)]) > 1
    rules = _Rules.of(families, namespaces)
    forms = {name: rules[name] for name in (*nodes, *pods)}
    wide, narrow = (
        _differentiate({name: pair[at] for name, pair in forms.items()}, most) for at, most in enumerate((WIDE, NARROW))
    )
    others = {name: (wide.get(name, forms[name][0]), narrow.get(name, forms[name][1])) for name in wide | narrow}
    return Names(families, namespaces, others)


def fit(name: str, most: int = WIDE) -> str:
    """Replace the middle of a name longer than `most`. Keep its last segments whole if they fit into half the width."""
    if len(name) <= most:
        return name
    tail = ""
    for segment in reversed(_SEGMENTS.findall(name)):
        if len(segment) + len(tail) > most // 2:
            break
        tail = segment + tail
    tail = tail or name[-(most // 2) :]
    return name[: most - len(tail) - 1].rstrip(".-") + MORE + tail


def _find_families(nodes: Iterable[str]) -> tuple[Family, ...]:
    """Return a family for each domain of nodes. Short names are not cut."""
    domains = defaultdict(list)
    for name in nodes:
        host, dot, domain = name.partition(".")
        domains[dot + domain].append(host)
    families = []
    for domain, hosts in sorted(domains.items(), key=lambda each: -len(each[1]))[:_MOST_FAMILIES]:
        if max(map(len, hosts)) + len(domain) > NARROW:
            prefix = _common(hosts)
            # A number alone is no readable name: "22 has only 2".
            if any(host[len(prefix) :].isdecimal() for host in hosts):
                prefix = prefix[: prefix.rfind("-", 0, -1) + 1]
            family = Family(prefix, _common([host[::-1] for host in hosts])[::-1] + domain)
            families += [family] if all(host + domain in family for host in hosts) else [Family("", domain)]
    return tuple(family for family in families if family.prefix or family.suffix)


def _common(names: Sequence[str]) -> str:
    """Return the common prefix of several names, up to a `-`."""
    return names[0][: names[0].rfind("-", 0, _count_common(names)) + 1] if len(names) > 1 else ""


def _count_common(names: Sequence[str]) -> int:
    """Return the length of the common prefix of all names. The first and last name in sort order determine it."""
    first, last = min(names), max(names)
    return next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


class _Rules(dict[str, tuple[str, str]]):
    """The forms of names by the rules alone, for both widths. They may not be unique."""

    of = lru_cache(maxsize=8)(lambda families, namespaces: _Rules(families, namespaces))

    def __init__(self, families: tuple[Family, ...], namespaces: bool) -> None:
        self._families, self._namespaces = families, namespaces

    def __missing__(self, name: str) -> tuple[str, str]:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[name] = forms = (self._apply(name, WIDE), self._apply(name, NARROW))
        return forms

    def _apply(self, name: str, most: int) -> str:
        namespace, slash, own = name.rpartition("/")
        for family in self._families if not slash else ():
            if own in family:
                return fit(own[len(family.prefix) : len(own) - len(family.suffix)], most)
        for family in self._families:  # a static pod's name ends with its node's
            own = own.removesuffix("".join(family.suffix.partition(".")[1:]))
        found = _OF_A_DEPLOYMENT.fullmatch(own)
        before = f"{namespace}/" if slash and self._namespaces and most >= WIDE else ""
        if found is None:
            return fit(before + own, most)
        end = MORE + found["end"]
        return (before + found["workload"])[: most - len(end)].rstrip(".-") + end


def _differentiate(shown: Mapping[str, str], most: int) -> dict[str, str]:
    """Return other forms for the names whose forms are equal."""
    groups = defaultdict(list)
    for name, form in shown.items():
        groups[form].append(name)
    taken = {form for form, group in groups.items() if len(group) == 1}
    out: dict[str, str] = {}
    for _, group in sorted(each for each in groups.items() if len(each[1]) > 1):
        group.sort()
        forms = next(forms for forms in _grow(group, most) if not taken & set(forms) and len(set(forms)) == len(forms))
        taken |= set(forms)
        out |= zip(group, forms, strict=True)
    return out


def _grow(group: Sequence[str], most: int) -> Iterator[list[str]]:
    """Yield forms for names that look equal: first with more segments, then with other parts of the names, at last with numbers."""
    if not any("/" in name or _OF_A_DEPLOYMENT.fullmatch(name) for name in group):
        segments = [_SEGMENTS.findall(name.partition(".")[0]) for name in group]
        for count in range(2, max(map(len, segments))):
            yield [fit("".join(parts[-count:]), most) for parts in segments]
    yield [fit(name, most) for name in group]
    for tail in range(most - 2, 0, -1):
        yield [name if len(name) <= most else name[: most - 1 - tail] + MORE + name[-tail:] for name in group]
    start, side = _count_common(group), most // 4
    middle = most - 2 * side - 2
    yield [
        name if len(name) <= most else name[:side] + MORE + name[start : start + middle] + MORE + name[-side:]
        for name in group
    ]
    number = 1
    while True:
        yield [f"{fit(name, most - 1 - len(str(at)))}~{at}" for at, name in enumerate(group, number)]
        number += len(group)
