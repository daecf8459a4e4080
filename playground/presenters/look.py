"""Look: the selection of one viewer, read from a URL's query or a socket's message. All input is untrusted.

Each field is declared once, here, with its valid values and its effects on other fields. The declaration serves to read queries, to make
links and form fields in templates (templatetags/look.py), and as data for scripts (static/playground/js/studio/look.js).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec

from playground.presenters.words import gettext_noop

# The stages in the order of a pod's way. Each has a module of its name in stage/ and the template
# panels/stage/<name>.html. A look without a stage follows the present extension point (stage/aim.py).
CLUSTER = "cluster"  # of the whole cluster, while no cycle runs
STAGES = (
    CLUSTER,
    "queue",
    "prefilter",
    "filter",
    "prescore",
    "score",
    "group",
    "pending",
    "preemption",
    "binding",
    "placed",
    "controller",
)
AIM = "aim"  # the stage of the chosen subject, at its last or present attempt; a step returns to the present point
WITH_NODES = (CLUSTER, "filter", "score", "preemption", "binding")  # stages that show a chosen node themselves
# The kinds of objects that the viewer may select; each sets the look's field of its name.
SUBJECTS = ("pod", "node", "claim", "controller")
# The inspector's tabs in their order, with titles. Each has a module of its name in inspector/ and the template
# panels/inspector_<name>.html.
TABS = {
    "summary": gettext_noop("Summary"),
    "yaml": gettext_noop("YAML"),
    "journey": gettext_noop("Journey"),
    "fix": gettext_noop("Fix"),
}
RENAMED = {"events": "journey", "internals": "journey"}  # tabs in older links
MOVED = {  # former tabs, with the fields that replace them
    "why": {"stage": "filter"},
    "scores": {"stage": "score"},
    "preemption": {"stage": "preemption"},
    "pod": {"about": "pod"},
    "node": {"about": "node"},
}
GROUPINGS = ("reason", "owner", "priority")  # of the queue's unschedulable pods
MODES = ("filter", "score", "utilisation")  # and any resource, and "score:" with a plugin's name (cluster_map/heat.py)
AXES = ("steps", "time")
ROWS = (6, 12, 24)  # lanes of the timeline
MAX_NAME = 253  # longest Kubernetes name
MAX_KEY = 2 * MAX_NAME + 1  # namespace/name
MAX_WORD = 20
MAX_NUMBER = 2**53
MAX_WEIGHTS, MAX_WEIGHT = 50, 10_000
MAX_FIELD = 4 * MAX_NAME


# The types of fields. `type` is `number` or `text`, for the page. `read` validates untrusted input, and returns None if it is
# invalid.


@dataclass(frozen=True)
class Number:
    """An integer from 0. Larger values than `most` are reduced to `most`."""

    most: int = MAX_NUMBER
    type = "number"

    def read(self, value: Any) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int | str):
            return None
        try:
            number = int(value)
        except ValueError:
            return None
        return min(number, self.most) if 0 <= number <= MAX_NUMBER else None


@dataclass(frozen=True)
class OneOfNumbers:
    numbers: tuple[int, ...]
    type = "number"

    def read(self, value: Any) -> int | None:
        number = Number().read(value)
        return number if number in self.numbers else None


@dataclass(frozen=True)
class Text:
    """A text, cut after `most` characters."""

    most: int
    stripped: bool = False
    type = "text"

    def read(self, value: Any) -> str | None:
        text = value[: self.most] if isinstance(value, str) else None
        return text.strip() if text and self.stripped else text


@dataclass(frozen=True)
class Numbers:
    """Integers up to `largest`, as one text separated by dots. A form sends them one by one."""

    count: int
    largest: int
    type = "text"

    def read(self, value: Any) -> str | None:
        parts = value.split(".") if isinstance(value, str) and value else []
        numbers = [Number(self.largest).read(part) for part in parts[: self.count]]
        return None if None in numbers else ".".join(map(str, numbers))


class OneOf:
    """One of some words. `renamed` maps words of older links to the present ones."""

    type = "text"

    def __init__(self, words: tuple[str, ...], renamed: Mapping[str, str] | None = None) -> None:
        self.words = words
        self.renamed = renamed or {}

    def read(self, value: Any) -> str | None:
        word = self.renamed.get(value, value) if isinstance(value, str) else None
        return word if word in self.words else None


Kind = Number | OneOfNumbers | Text | Numbers | OneOf


@dataclass(frozen=True)
class Resets:
    """A field that is reset to its default when this field is set."""

    name: str


@dataclass(frozen=True)
class Sets:
    """A field that gets a value when this field is set, unless the same link sets it, or the page shows one of `keeps`."""

    name: str
    value: str
    keeps: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        declared = {"name": self.name, "value": self.value}
        return {**declared, "keeps": list(self.keeps)} if self.keeps else declared


@dataclass(frozen=True)
class RenamedFields:
    """Words of older links, each with the fields that it sets now, unless the link sets them itself."""

    words: Mapping[str, Mapping[str, str]]


class Look(msgspec.Struct, frozen=True):
    """The selection. `at` None follows the head; `pod` "" is the pod of the present cycle; `group` is a label key.

    `dry` is a cursor over the records of one preemption (0: all records). The timeline shows `span` steps or microseconds of virtual time
    (by `axis`; 0: a suitable span) from `start` (None: it follows the viewer), in `rows` lanes, for the pods whose key contains `lane`.

    `stage` "" is the stage of the present extension point, "aim" the stage of the selected object; `form` "" is the stage's first.
    `about` tells which of `pod`, `node`, `claim`, and `controller` was selected last: the inspector's subject. `plugin` is the plugin
    whose score is explained. `weights` are hypothetical weights for the Score stage, one for each of its plugins. `field` is the path of
    the field marked in the YAML tab. `by` groups the queue's unschedulable pods. `sort` is the column that sorts a stage's table; a
    leading - reverses the order.

    `controller` is a controller's name, or a workload: Kind/namespace/name.
    """

    at: Annotated[int | None, Number()] = None
    stage: Annotated[str, OneOf(("", AIM, *STAGES)), Resets("form")] = ""
    form: Annotated[str, Text(MAX_WORD)] = ""
    about: Annotated[str, OneOf(SUBJECTS)] = SUBJECTS[0]
    tab: Annotated[str, OneOf(tuple(TABS), RENAMED), RenamedFields(MOVED), Resets("field")] = "summary"
    field: Annotated[str, Text(MAX_FIELD)] = ""
    pod: Annotated[str, Text(MAX_KEY), Resets("dry"), Sets("about", "pod"), Sets("stage", AIM)] = ""
    node: Annotated[str, Text(MAX_NAME), Sets("about", "node"), Sets("stage", AIM, WITH_NODES)] = ""
    claim: Annotated[str, Text(MAX_KEY), Sets("about", "claim"), Sets("stage", AIM)] = ""
    controller: Annotated[str, Text(2 * MAX_KEY), Sets("about", "controller"), Sets("stage", AIM)] = ""
    plugin: Annotated[str, Text(MAX_NAME)] = ""
    weights: Annotated[str, Numbers(MAX_WEIGHTS, MAX_WEIGHT)] = ""
    group: Annotated[str, Text(2 * MAX_NAME), Resets("page")] = ""
    mode: Annotated[str, Text(MAX_NAME)] = MODES[0]
    by: Annotated[str, OneOf(GROUPINGS)] = GROUPINGS[0]
    sort: Annotated[str, Text(MAX_WORD), Resets("page")] = ""
    page: Annotated[int, Number(100_000)] = 0
    q: Annotated[str, Text(MAX_NAME), Resets("page")] = ""
    dry: Annotated[int, Number(1_000_000)] = 0
    axis: Annotated[str, OneOf(AXES)] = AXES[0]
    span: Annotated[int, Number()] = 0
    start: Annotated[int | None, Number()] = None
    rows: Annotated[int, OneOfNumbers(ROWS)] = ROWS[0]
    lane: Annotated[str, Text(MAX_KEY, stripped=True)] = ""

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> "Look":
        """Read a look from a mapping of names to values. Invalid values become the defaults."""
        said = (field.moved.get(str(query.get(name)), {}) for name, field in FIELDS.items())
        otherwise = _collect_defaults(query) | ({name: value for fields in said for name, value in fields.items()})
        read: dict[str, Any] = {
            name: field.kind.read(_read_value(query, name, otherwise)) for name, field in FIELDS.items()
        }
        return cls(**{name: value for name, value in read.items() if value is not None})

    def to_query(self) -> dict[str, str]:
        """Return the values for a URL's query that differ from the defaults and from those that other fields set."""
        look = msgspec.structs.asdict(self)
        implied = {name: field.default for name, field in FIELDS.items()} | _collect_defaults(look)
        return {name: str(value) for name, value in look.items() if value != implied[name] and value is not None}

    def but(self, **changes: Any) -> "Look":
        """Return a copy with changes."""
        return msgspec.structs.replace(self, **changes)

    def href(self, **changes: Any) -> str:
        """Return a link to this page that shows the look with changes."""
        return _address(self.but(**changes))


def _read_value(query: Mapping[str, Any], name: str, otherwise: Mapping[str, str]) -> Any:
    """Return a query's value of a field; all numbers if a form sent a list of numbers."""
    several = getattr(query, "getlist", None)
    if several is not None and isinstance(FIELDS[name].kind, Numbers):
        return ".".join(several(name))
    return query.get(name, otherwise.get(name))


def _collect_defaults(query: Mapping[str, Any]) -> dict[str, str]:
    """Return the defaults that the present fields set for other fields; the first field takes precedence."""
    given = (field for name, field in reversed(FIELDS.items()) if field.kind.read(query.get(name)))
    return {rule.name: rule.value for field in given for rule in field.sets}


@lru_cache(maxsize=1024)
def _address(look: Look) -> str:
    return "?" + urlencode(look.to_query())


@dataclass(frozen=True)
class Field:
    """The declaration of one field of Look."""

    kind: Kind
    default: int | str | None
    resets: str | None
    sets: tuple[Sets, ...]
    moved: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, field: msgspec.structs.FieldInfo) -> "Field":
        kind, *rules = field.type.__metadata__
        resets = next((rule.name for rule in rules if isinstance(rule, Resets)), None)
        sets = tuple(rule for rule in rules if isinstance(rule, Sets))
        moved = next((rule.words for rule in rules if isinstance(rule, RenamedFields)), {})
        return cls(kind, field.default, resets, sets, moved)

    def to_json(self) -> dict[str, Any]:
        sets = [rule.to_json() for rule in self.sets]
        rules = {"resets": self.resets, "sets": sets, "moved": self.moved}
        declared = {"type": self.kind.type, "default": self.default}
        return declared | {name: rule for name, rule in rules.items() if rule}


FIELDS = {field.name: Field.of(field) for field in msgspec.structs.fields(Look)}


def declaration() -> dict[str, dict[str, Any]]:
    """Return the fields as data for the page."""
    return {name: field.to_json() for name, field in FIELDS.items()}
