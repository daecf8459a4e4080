"""What is asked about a world at a position."""

from typing import Any, Literal

from msgspec import Struct

from playground.lessons.authoring import CheckResult, LessonFiles
from playground.presenters.acting import DrainState
from playground.presenters.cluster_map.heat import NodeFact
from playground.presenters.look import Look
from playground.presenters.panel import Delta, SeenPage, ShownPanels
from playground.presenters.words import Message
from playground.sessions.protocol.base import Data, Query, Request
from playground.sessions.protocol.errors import FieldProblem
from playground.workbench.actions import Subject

# What is asked about plugins of one's own.


class PluginTried(Struct, frozen=True):
    """The results of a CEL definition for a pod on each node, or its compile errors. `pods`: the pods to choose from."""

    problems: list[FieldProblem] = []
    trial: Data = {}
    pods: list[str] = []


class TryPlugin(Query[PluginTried], frozen=True, kw_only=True):
    """Try a definition that nobody uses yet; without one only the pods are told. `pod` "" is the first that waits."""

    name: str
    definition: Data | None
    pod: str


class View(Query[ShownPanels], frozen=True, kw_only=True):
    """Panels as somebody who has this look sees them; all of them, or those with these names."""

    look: Look
    panels: list[str] | None = None


class Follower(Struct, frozen=True, array_like=True):
    """Somebody who follows the head: what the page shows (None: nothing yet), and the look it has."""

    seen: SeenPage | None
    look: Look


class Compare(Query[Delta], frozen=True, kw_only=True):
    """The differences on the page of a viewer who saw `before`; the whole page if that is no longer known."""

    look: Look
    before: SeenPage | None


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
    """An object with what a user has arranged around it, and for a node its drain (presenters/acting.py).

    `everyone`: the objects that were meant, where that was asked for; `subject` is then the first of them, named by how many there are.
    """

    subject: Subject
    drain: DrainState | None
    everyone: list[Subject] = []


class SubjectOf(Query[SubjectFound], frozen=True, kw_only=True):
    """The data that an action needs about an object.

    `many` means several objects of the kind: `label:key=value`, or `q:text`, the matches of the map's search.
    """

    kind: str
    namespace: str
    name: str
    many: str = ""


class ConfiguredWorld(Struct, frozen=True):
    """The schedulers, the world's settings, the calls that are to fail or to be slow, and what extenders' servers do, by urlPrefix."""

    schedulers: list[SchedulerManifest]
    settings: Data
    faults: list[Data]
    unknown_schedulers: list[UnknownScheduler]
    behaviours: dict[str, Data] = {}


class Configuration(Query[ConfiguredWorld], frozen=True, kw_only=True):
    """The schedulers' configurations and the world's settings."""


class EffectiveConfiguration(Query[Data], frozen=True, kw_only=True):
    """A scheduler's configuration with every default filled in: as `text`, as `lines` with whether they differ from kube's default, and
    its `profiles`. Nothing of it where there is no such scheduler.
    """

    scheduler: str


class ConfigurationRead(Struct, frozen=True):
    """The number of documents in a text, the only one of them, its YAML errors, and the places of the requested fields."""

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
    """The object that a name refers to: a pod or claim by namespace/name, a node or controller by its name."""

    kind: str
    name: str


class FindNames(Query[list[FoundName]], frozen=True, kw_only=True):
    """Pods, nodes, claims and controllers whose name has `q` in it, those that begin with it first; at most so many of each kind."""

    q: str
    most: int


class AttemptEnd(Struct, frozen=True):
    """The end of an attempt, whether its pod was scheduled, and whether the attempt preempts others."""

    position: int
    pod: str
    scheduled: bool
    preempts: bool = False


class AttemptEnds(Query[list[AttemptEnd]], frozen=True, kw_only=True):
    """The ends of attempts, oldest first; for a long history at most `most`, spread over all of it."""

    most: int


class NodeFacts(Query[list[NodeFact]], frozen=True, kw_only=True):
    """The large map's cards of the nodes in these rows (presenters/cluster_map/heat.py), for a mode."""

    rows: list[int]
    mode: str


class LessonHolds(Query[bool], frozen=True, kw_only=True):
    """A test whether a condition of a lesson holds (playground/lessons/conditions.py), or, unless `alone`, the world has ended."""

    when: Data
    alone: bool = False


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


About = Literal["node", "scheduled", "next", "feasible"]


class Prediction(Struct, frozen=True):
    """The outcome of a pod's next attempt: a question's kind, key and answers to choose from (playground/lessons), and the texts for
    some wrong ones. `key` is None if no such attempt came in the `looked` steps.
    """

    position: int
    pod: str
    kind: str
    key: str | None = None
    options: list[str] = []
    reasons: dict[str, dict[str, str]] = {}
    looked: int = 0


class Predict(Query[Prediction], frozen=True, kw_only=True):
    """The next attempt of a pod (namespace/name; "": of any): its node, whether it finds one, how many are feasible, or who is next."""

    about: About
    pod: str = ""


class WhyNot(Query[Data | None], frozen=True, kw_only=True):
    """The plugins' present answers for a pod (namespace/name) on a node (features/fixes/why_not.py); None if there is no such pod.

    `node` "" is the first that the pod is not on.
    """

    pod: str
    node: str


class CheckLesson(Request[CheckResult], frozen=True, kw_only=True):
    """Play what somebody wrote; its world may have so many objects. `move`: cards that wait for a position are moved to moments.

    The process has no session.
    """

    files: LessonFiles
    max_objects: int
    move: bool = False


class Variant(Struct, frozen=True):
    """A variant as it is handed on (playground/lessons/own.py); empty, with the reason, where none that was drawn can be shown."""

    slug: str = ""
    document: bytes = b""
    why: str = ""


class DrawVariant(Request[Variant], frozen=True, kw_only=True):
    """Draw a variant of the lesson of that name and prove it; `lesson` is the lesson where it is one that was handed on itself.

    The process has no session.
    """

    slug: str
    seed: str
    max_objects: int
    lesson: bytes = b""


class AnswerEvidence(Struct, frozen=True):
    """The record that answers a question: the end of a pod's attempt; `there`: this world has reached it, maybe at another step."""

    pod: str
    name: str
    attempt: int
    at: int
    there: bool
    stage: str


class AnswerVerdict(Struct, frozen=True):
    """The verdict on an answer, None where nothing was judged; its words by language; for the nodes that were named, what refused them.

    With `hints` the learner tries again, and nothing else is told. `meant`: the mistake that leads to a wrong number.
    """

    right: bool | None
    words: dict[str, str]
    said: list[tuple[str, str]] = []
    evidence: AnswerEvidence | None = None
    hints: list[Message] = []
    meant: list[Message] = []


class JudgeAnswer(Query[AnswerVerdict], frozen=True, kw_only=True):
    """Judge an answer to the question of a card (from 1) that the world has come to; `given` None asks for the answer itself.

    `again`: a wrong answer gets hints and another try, and keeps the right one hidden.
    """

    card: int
    given: list[str] | None
    again: bool = False


class LessonQuestion(Struct, frozen=True):
    """A question with its key; `words` are its card's, by language; `meant`: the mistakes that lead to wrong numbers."""

    kind: str
    words: dict[str, dict[str, str]]
    options: list[str]
    key: str | list[str]
    tolerance: float
    position: int
    meant: dict[str, Message] = {}


class OpenQuestion(Query[LessonQuestion | None], frozen=True, kw_only=True):
    """The question of the last card that the world has come to, for a teacher who puts it to a class; None where it asks nothing."""
