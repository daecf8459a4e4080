"""What is asked about a world at a position."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.sessions.protocol.base import Data, Query, Request
from playground.sessions.protocol.errors import FieldProblem
from playground.workbench.actions import Subject


class Shown(Struct, frozen=True):
    """Panels by name."""

    position: int
    panels: dict[str, Panel]


class View(Query[Shown], frozen=True, kw_only=True):
    """Panels as somebody who has this look sees them; all of them, or those with these names."""

    look: Look
    panels: list[str] | None = None


class PanelChange(Struct, frozen=True):
    """What differs in a panel: the whole of it, or the cards that changed."""

    name: str
    panel: Panel | None = None
    cards: dict[str, Data] = {}


class Delta(Struct, frozen=True):
    """What differs on a page, and which pods came to another place."""

    panels: list[PanelChange]
    moved: list[str]


class Seen(Struct, frozen=True, array_like=True):
    """What a page shows: a position, with a look."""

    position: int
    look: Look


class Follower(Struct, frozen=True, array_like=True):
    """Somebody who follows the head: what the page shows (None: nothing yet), and the look it has."""

    seen: Seen | None
    look: Look


class Compare(Query[Delta], frozen=True, kw_only=True):
    """What differs on the page of somebody who saw `before`; all of it where that is not known any more."""

    look: Look
    before: Seen | None


class ListedObject(Struct, frozen=True):
    """An object in a list, with the words that kubectl's table would show next to its name."""

    kind: str
    namespace: str
    name: str
    summary: str


class Objects(Query[list[ListedObject]], frozen=True, kw_only=True):
    """All objects, or those of a kind, by kind, namespace and name."""

    kind: str | None = None


class ObjectShown(Struct, frozen=True):
    """One object as YAML that a person would have written; `silent` are fields without effect, each with the reason."""

    text: str
    silent: list[tuple[str, str]]


class ObjectYaml(Query[ObjectShown], frozen=True, kw_only=True):
    """One object as it stands."""

    kind: str
    namespace: str
    name: str


class SchedulerManifest(Struct, frozen=True):
    """A scheduler's configuration with its defaults."""

    name: str
    manifest: Data


class UnknownScheduler(Struct, frozen=True):
    """A schedulerName that no scheduler has, and how many pods ask for it."""

    name: str
    pods: int


class SubjectFound(Struct, frozen=True):
    """An object with what a user has arranged around it, and for a node its drain (presenters/draining.py).

    `everyone`: the objects that were meant, where that was asked for; `subject` is then the first of them, named by how many there are.
    """

    subject: Subject
    drain: Data | None
    everyone: list[Subject] = []


class SubjectOf(Query[SubjectFound], frozen=True, kw_only=True):
    """What an action on an object has to know of it.

    `many` means several objects of the kind: `label:key=value`, or `q:text`, what the map's search finds.
    """

    kind: str
    namespace: str
    name: str
    many: str = ""


class Configured(Struct, frozen=True):
    """The schedulers, the world's settings, the calls that are to fail or to be slow, and what extenders' servers do, by urlPrefix."""

    schedulers: list[SchedulerManifest]
    settings: Data
    faults: list[Data]
    unknown_schedulers: list[UnknownScheduler]
    behaviours: dict[str, Data] = {}


class Configuration(Query[Configured], frozen=True, kw_only=True):
    """The schedulers' configurations and the world's settings."""


class EffectiveConfiguration(Query[Data], frozen=True, kw_only=True):
    """A scheduler's configuration with every default filled in: as `text`, as `lines` with whether they differ from kube's default, and
    its `profiles`. Nothing of it where there is no such scheduler.
    """

    scheduler: str


class ConfigurationRead(Struct, frozen=True):
    """How many documents a text has, the only one of them, what is wrong with it as YAML, and where fields that were asked for stand."""

    manifest: Any = None
    documents: int = 0
    errors: list[FieldProblem] = []
    lines: dict[str, int] = {}
    columns: dict[str, int] = {}


class ReadConfiguration(Request[ConfigurationRead], frozen=True, kw_only=True):
    """Read a text that is to be a scheduler's configuration; say on which lines fields with these paths stand."""

    text: str
    paths: list[str] = []


class NodeNames(Query[list[str]], frozen=True, kw_only=True):
    """Node names in the order of the heat map."""


class FoundName(Struct, frozen=True):
    """What a name leads to: a pod or claim by namespace/name, a node or controller by its name."""

    kind: str
    name: str


class FindNames(Query[list[FoundName]], frozen=True, kw_only=True):
    """Pods, nodes, claims and controllers whose name has `q` in it, those that begin with it first; at most so many of each kind."""

    q: str
    most: int


class AttemptEnd(Struct, frozen=True):
    """Where an attempt ended, whether its pod was scheduled, and whether it preempts others."""

    position: int
    pod: str
    scheduled: bool
    preempts: bool = False


class AttemptEnds(Query[list[AttemptEnd]], frozen=True, kw_only=True):
    """Where attempts ended, oldest first; of a long history at most so many, spread over all of it."""

    most: int


class NodeFacts(Query[list[Data]], frozen=True, kw_only=True):
    """What the large map's cards say of the nodes in these rows (presenters/cluster_map/measure.py), in what the mode shows."""

    rows: list[int]
    mode: str


class LessonHolds(Query[bool], frozen=True, kw_only=True):
    """Whether a condition of a lesson holds (playground/lessons/conditions.py), or the world has come to its end."""

    when: Data


class YamlPart(Struct, frozen=True):
    """Some objects as YAML documents, and the number of the next one."""

    text: bytes
    following: int | None


class ClusterYaml(Query[YamlPart], frozen=True, kw_only=True):
    """The cluster's objects as YAML, from the `first` one on, as many as a short time allows.

    They open another session in this state; `for_kubectl` they are without what a cluster makes of them by itself.
    """

    first: int
    for_kubectl: bool = False


class Metrics(Query[Data], frozen=True, kw_only=True):
    """kube-scheduler's metrics of one scheduler, or of all."""

    scheduler: str


class Statistics(Query[Data], frozen=True, kw_only=True):
    """How one scheduler fared up to a step: its metrics, their curves, use of the nodes, who refused what."""

    scheduler: str


Part = Literal["controllers", "nodes", "budgets", "rollouts", "replicas", "devices", "claims"]


class Cluster(Query[Data], frozen=True, kw_only=True):
    """What the components around the schedulers do: one part of it, or one node, pool of devices or claim by its name.

    `q` and `state` choose rows of devices and claims, `page` a page of them.
    """

    part: Part
    name: str
    q: str = ""
    state: str = ""
    page: int = 0


class Fixes(Query[Data], frozen=True, kw_only=True):
    """What would let a pod fit, proven; at most so many seconds are spent."""

    pod: str
    seconds: float


class WhyNot(Query[Data | None], frozen=True, kw_only=True):
    """What the plugins say now of a pod (namespace/name) on a node (presenters/why_not.py); None where there is no such pod.

    `node` "" is the first that the pod is not on.
    """

    pod: str
    node: str


About = Literal["node", "scheduled", "next", "feasible"]


class Foreseen(Struct, frozen=True):
    """What the next attempt of a pod comes to: a question's kind, key and answers to choose from (playground/lessons), and what is to be
    said of some wrong ones. `key` is None where no such attempt came in the `looked` steps.
    """

    position: int
    pod: str
    kind: str
    key: str | None = None
    options: list[str] = []
    reasons: dict[str, dict[str, str]] = {}
    looked: int = 0


class Foresee(Query[Foreseen], frozen=True, kw_only=True):
    """The next attempt of a pod (namespace/name; "": of any): its node, whether it finds one, how many are feasible, or who is next."""

    about: About
    pod: str = ""


class Journey(Query[Data], frozen=True, kw_only=True):
    """A pod's journey (presenters/journey) up to a position; at most so many seconds are spent on looking into its attempts."""

    pod: str
    page: int | None
    seconds: float


class Sequence(Query[Data], frozen=True, kw_only=True):
    """The records of a pod, or of a scheduler's process, as arrows (presenters/sequence), from step `first` on; what is asked for is named.

    At most so many seconds are spent.
    """

    pod: str
    scheduler: str
    first: int
    seconds: float


class CycleState(Query[Data | None], frozen=True, kw_only=True):
    """What a pod's present or last cycle keeps in its CycleState, and who wrote and read it."""

    pod: str


class DeviceSearch(Query[Data | None], frozen=True, kw_only=True):
    """The search for devices that Filter made for a pod on a node, walked again (presenters/devices/search.py); at most so many rows.

    None where the pod has had no cycle in which devices were searched for.
    """

    pod: str
    node: str
    most: int


class Changes(Query[Data], frozen=True, kw_only=True):
    """What differs between two positions (presenters/changes), some rows of it; `kind` and `q` (a part of the name) choose rows."""

    since: int
    kind: str
    q: str
    first: int
    most: int
