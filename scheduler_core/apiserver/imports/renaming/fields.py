"""The treatment of each field when a cluster is renamed.

Texts without influence on decisions are dropped, names that Kubernetes defines stay, and all others are renamed. fields.yaml lists the
fields.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import yaml

_WORDS = {
    name: frozenset(words.split())
    for name, words in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
KINDS, DROPPED, KEPT, DRIVERS = (_WORDS[name] for name in ("kinds", "dropped", "kept", "drivers"))
LABELS, MAYBE_LABELS, LABEL_KEYS = (_WORDS[name] for name in ("labels", "maybeLabels", "labelKeys"))
QUANTITIES, AMOUNTS = _WORDS["quantities"], _WORDS["amounts"]
VALUES_KEPT, NODE_ROLES, KEPT_NAMES = (_WORDS[name] for name in ("valuesKept", "nodeRoles", "keptNames"))
HOSTNAMES = ("kubernetes.io/hostname", "beta.kubernetes.io/hostname")
_PLAIN_KEYS = _WORDS["plainKeys"]
_PUBLIC = re.compile(
    r"(?:.*\.)?(?:kubernetes\.io|k8s\.io|playground\.dev|nvidia\.com|amd\.com|intel\.com|habana\.ai|google\.com|gke\.io"
    r"|amazonaws\.com|azure\.com|karpenter\.sh)"
)
_FREE_DOMAINS = ("node-restriction.kubernetes.io", "node-role.kubernetes.io")
_TEXTS = re.compile(r".*(?:last-applied-configuration|change-cause|description|limit-ranger)")
_OURS = re.compile(r"(?:.*\.)?(?:kubernetes\.io|k8s\.io|playground\.dev)")
_VOCABULARY = re.compile(r"[A-Z][A-Za-z]*")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_ADDRESS = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")
_STORAGE_CLASS = ".storageclass.storage.k8s.io/"


def is_vocabulary(text: str) -> bool:
    """Return whether a text is a word of Kubernetes, such as `NoSchedule`, or a time. Names never begin with a capital."""
    return bool(_VOCABULARY.fullmatch(text) or _TIME.fullmatch(text))


def is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text))


def is_address(text: str) -> bool:
    return bool(_ADDRESS.fullmatch(text))


def is_public(key: str) -> bool:
    """Return whether a label key, or another string of that form, is publicly known."""
    if key in _PLAIN_KEYS:
        return True
    domain, slash, name = key.rpartition("/")
    if not slash:
        return False
    if domain in _FREE_DOMAINS:
        return name in NODE_ROLES
    return bool(_PUBLIC.fullmatch(domain)) and _STORAGE_CLASS not in key


def is_own_annotation(key: str) -> bool:
    """Return whether Kubernetes reads an annotation here."""
    domain = key.partition("/")[0]
    return "/" in key and bool(_OURS.fullmatch(domain)) and not _TEXTS.fullmatch(key)


def is_demonstration(key: str) -> bool:
    """Return whether an annotation is for the playground's own plugin. Its values are words of the plugin."""
    return key.startswith("playground.dev/")


def resource_parts(key: str) -> tuple[str, str, str]:
    """Split a resource name into the part before the name, the name, and the part after the name."""
    if _STORAGE_CLASS in key:
        name, _, asked = key.partition(_STORAGE_CLASS)
        return "", name, _STORAGE_CLASS + asked
    if "/" not in key or key.startswith("count/"):
        return key, "", ""
    return ("requests.", key.removeprefix("requests."), "") if key.startswith("requests.") else ("", key, "")


# New names for old ones.
#
# Each word of a name becomes a number in the order of the alphabet, so that names keep their order, the text between their words, and
# their common parts: `payments-api-7` becomes `n012-b003-7` everywhere, and `payments-db` begins with the same word.

_WORD = re.compile(r"[A-Za-z0-9]+")
_SMALL = re.compile(r"[0-9]{1,4}")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEPT = ("default", "kube", "system")
_LETTERS = ("b", "g", "n", "t")  # for words before, between, and after the words that are kept


class Names:
    """The map from old to new names. All names must be seen before the first lookup."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._nodes: set[str] = set()
        self._suffixes: set[str] = set()
        self._kept: set[str] = set(KEPT_NAMES)
        self._numbers: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        self._map: dict[str, str] = {}

    def see(self, name: str) -> str:
        """Note a name to rename, and return it unchanged."""
        self._seen.add(name)
        return name

    def keep(self, name: str) -> None:
        """Note a name that stays because it reveals nothing, such as the name of a driver."""
        self._kept.add(name)

    def see_node(self, name: str) -> None:
        """Note a node's name. It is replaced as a whole, because its numbers may be an address."""
        self._nodes.add(name)

    def see_suffix(self, word: str) -> None:
        """Keep a controller's random suffix, because later suffixes must be compatible with it."""
        self._suffixes.add(word)

    def number(self) -> None:
        """Assign the new names."""
        nodes = sorted(self._nodes - self._kept)
        width = len(str(len(nodes)))
        self._whole = {name: f"node-{number:0{width}}" for number, name in enumerate(nodes, start=1)}
        words = sorted({word for name in self._seen for word in _WORD.findall(name) if not self._stays(word)})
        width = len(str(len(words)))
        self._numbers = {word: _number(word, rank, width) for word, rank in zip(words, count(1), strict=False)}

    def new(self, name: str) -> str:
        """Return the new name of a name that was seen."""
        found = self._map.get(name)
        if found is None:
            found = self._map[name] = self._new(name)
        return found

    def changes(self) -> list[tuple[str, str]]:
        """Return old and new names, sorted by the old ones, without unchanged names."""
        return sorted((old, new) for old, new in self._map.items() if old != new)

    def _new(self, name: str) -> str:
        if name in self._kept or _UID.fullmatch(name):
            return name
        if name in self._whole:
            return self._whole[name]
        for at in _ends(name):  # a mirror pod's name ends with that of its node
            if name[at:] in self._whole:
                return self._words(name[:at]) + self._whole[name[at:]]
        return self._words(name)

    def _words(self, text: str) -> str:
        return _WORD.sub(lambda match: self._numbers.get(match[0], match[0]), text)

    def _stays(self, word: str) -> bool:
        return word in _KEPT or word in self._suffixes or bool(_SMALL.fullmatch(word))


def _number(word: str, rank: int, width: int) -> str:
    """Return the new form of a word. Words that begin with a digit still precede all others."""
    letter = _LETTERS[bisect_left(_KEPT, word)]
    return f"{word[0]}x{rank:0{width}}" if word[0].isdigit() else f"{letter}{rank:0{width}}"


def _ends(name: str) -> Iterator[int]:
    """Return the positions after each dash."""
    return (at + 1 for at, letter in enumerate(name) if letter == "-")


def find_random_suffix(name: str, owners: Iterable[str]) -> str:
    """Return the random suffix that a controller added to an owner's name; "" if there is none."""
    for owner in owners:
        if name.startswith(owner + "-") and _DRAWN.fullmatch(name, len(owner) + 1):
            return name[len(owner) + 1 :]
    return ""


_DRAWN = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}")
