"""The queries about a world at a position."""

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

# Queries about users' own plugins.


class PluginTried(Struct, frozen=True):
    """The results of a CEL definition for a pod on each node, or its compile errors. `pods`: the pods to choose from."""

    problems: list[FieldProblem] = []
    trial: Data = {}
    pods: list[str] = []


class TryPlugin(Query[PluginTried], frozen=True, kw_only=True):
    """Try a CEL definition that is not in use yet; without one return only the pods. `pod` "" is the first pending one."""

    name: str
    definition: Data | None
    pod: str


class View(Query[ShownPanels], frozen=True, kw_only=True):
    """The panels for a look: all of them, or those with these names."""

    look: Look
    panels: list[str] | None = None


class Follower(Struct, frozen=True, array_like=True):
    """A viewer who follows the head: what the page shows (None: nothing yet), and the viewer's look."""

    seen: SeenPage | None
    look: Look


class Compare(Query[Delta], frozen=True, kw_only=True):
    """The differences from a page that shows `before`; the whole page if `before` is no longer known."""

    look: Look
    before: SeenPage | None


class ListedObject(Struct, frozen=True):
    """An object in a list, with the summary that kubectl's table shows next to its name."""

    kind: str
    namespace: str
    name: str
    summary: str


class Objects(Query[list[ListedObject]], frozen=True, kw_only=True):
    """All objects, or those of a kind, by kind, namespace and name."""

    kind: str | None = None


class ObjectShown(Struct, frozen=True):
    """One object as YAML in the form that a user writes; `silent` are fields without effect, each with the reason."""

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
    """A schedulerName that no scheduler has, and the number of pods that request it."""

    name: str
    pods: int


class SubjectFound(Struct, frozen=True):
    """An object with the user's related settings, and for a node its drain (presenters/acting.py).

    `everyone`: all objects, if `many` were requested; `subject` is then the first of them, named by their number.
    """

    subject: Subject
    drain: DrainState | None
    everyone: list[Subject] = []


class SubjectOf(Query[SubjectFound], frozen=True, kw_only=True):
    """The data about an object for actions.

    `many` means several objects of the kind: `label:key=value`, or `q:text`, the matches of the map's search.
    """

    kind: str
    namespace: str
    name: str
    many: str = ""


class ConfiguredWorld(Struct, frozen=True):
    """The schedulers, the world's settings, the injected faults of calls, and the behavior of extenders' servers by urlPrefix."""

    schedulers: list[SchedulerManifest]
    settings: Data
    faults: list[Data]
    unknown_schedulers: list[UnknownScheduler]
    behaviours: dict[str, Data] = {}


class Configuration(Query[ConfiguredWorld], frozen=True, kw_only=True):
    """The schedulers' configurations and the world's settings."""


class EffectiveConfiguration(Query[Data], frozen=True, kw_only=True):
    """A scheduler's configuration with all defaults: as `text`, as `lines` that are marked if they differ from kube's default, and its
    `profiles`. Empty if there is no such scheduler.
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
    """Parse the text of a scheduler's configuration, and find the lines of the fields with these paths."""

    text: str
    paths: list[str] = []


class NodeNames(Query[list[str]], frozen=True, kw_only=True):
    """Node names in the order of the heat map."""


class FoundName(Struct, frozen=True):
    """The object that a name refers to: a pod or claim by namespace/name, a node or controller by its name."""

    kind: str
    name: str


class FindNames(Query[list[FoundName]], frozen=True, kw_only=True):
    """The pods, nodes, claims, and controllers whose name contains `q`, those that begin with it first; at most `most` of each kind."""

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
    """The cluster's objects as YAML, from the `first` one on, as many as a time limit allows.

    They open another session in this state; if `for_kubectl`, objects and fields that a cluster creates itself are omitted.
    """

    first: int
    for_kubectl: bool = False


About = Literal["node", "scheduled", "next", "feasible"]


class Prediction(Struct, frozen=True):
    """The outcome of a pod's next attempt: a question's kind, key and answers to choose from (playground/lessons), and the texts for some
    wrong ones. `key` is None if no such attempt ended within the `looked` steps.
    """

    position: int
    pod: str
    kind: str
    key: str | None = None
    options: list[str] = []
    reasons: dict[str, dict[str, str]] = {}
    looked: int = 0


class Predict(Query[Prediction], frozen=True, kw_only=True):
    """The next attempt of a pod (namespace/name; "": any pod): its node, whether it succeeds, the number of feasible nodes, or its pod."""

    about: About
    pod: str = ""


class WhyNot(Query[Data | None], frozen=True, kw_only=True):
    """The plugins' present answers for a pod (namespace/name) on a node (features/fixes/why_not.py); None if there is no such pod.

    `node` "" is the first node that the pod is not on.
    """

    pod: str
    node: str


class CheckLesson(Request[CheckResult], frozen=True, kw_only=True):
    """Check a lesson's files by playing it, with at most `max_objects`. `move`: replace the positions that cards wait for with moments.

    The process has no session.
    """

    files: LessonFiles
    max_objects: int
    move: bool = False


class Variant(Struct, frozen=True):
    """The document of a lesson's variant (playground/lessons/own.py); empty, with the reason, if no draw gave a valid one."""

    slug: str = ""
    document: bytes = b""
    why: str = ""


class DrawVariant(Request[Variant], frozen=True, kw_only=True):
    """Draw a variant of the lesson `slug` and prove that it works; `lesson` is the document, if the lesson is not built in.

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
    """The verdict on an answer, None if nothing was judged; its words by language; for the named nodes, the plugin's reason of refusal.

    If there are `hints`, the learner tries again, and the other fields are empty. `meant`: the mistake that leads to a wrong number.
    """

    right: bool | None
    words: dict[str, str]
    said: list[tuple[str, str]] = []
    evidence: AnswerEvidence | None = None
    hints: list[Message] = []
    meant: list[Message] = []


class JudgeAnswer(Query[AnswerVerdict], frozen=True, kw_only=True):
    """Judge an answer to the question of a card (from 1) that the world has reached; `given` None requests the right answer.

    `again`: a wrong answer gets hints and another try, and the right answer stays hidden.
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
    """The question of the last card that the world has reached, for a teacher who asks a class; None if the card has none."""
