"""Attempt: one pod's cycle through the extension points, with the answers of every plugin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scheduler_core.notebook.markup import Html, card, chip, element, format_count, join_html, seconds, table
from scheduler_core.notebook.scores import ScoreTable, score_table
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.world.readonly import BindingCycleView, Code, Evidence, NodeToStatus, PluginStep, Point

MOST_SHOWN = 20  # refused nodes
_BEFORE = (Point.PRE_ENQUEUE, Point.QUEUE_SORT)


@dataclass(frozen=True)
class Answer:
    """A plugin's answer at an extension point: kube's name of the code, and the message.

    `evaluated` and `refused` count nodes, if the plugin evaluates nodes.
    """

    point: str
    plugin: str
    code: str
    message: str = ""
    evaluated: int = 0
    refused: int = 0

    @property
    def ok(self) -> bool:
        return self.code in ("Success", "Skip", "Wait") and not self.refused


@dataclass(frozen=True)
class Attempt:
    """One scheduling cycle, with its binding cycle if that has ended.

    `outcome` is scheduled, unschedulable, or error, and `message` is kube's text of a failure. `feasible` are the nodes that passed
    Filter; `refused` has the plugin and the reason for each node that Filter rejected. Nodes that were not evaluated are in neither.
    `nominated` is the node on which preemption frees room by evicting `victims`. `bound` is the outcome of the binding cycle, or ""
    before its end or without one.

    kube: pkg/scheduler/schedule_one.go @ v1.34.1
    """

    number: int
    pod: str
    outcome: str
    node: str
    message: str
    started: int
    ended: int
    answers: tuple[Answer, ...]
    feasible: tuple[str, ...]
    scores: ScoreTable | None
    nominated: str = ""
    victims: tuple[str, ...] = ()
    bound: str = ""
    _names: Sequence[str] = field(default=(), repr=False)
    _verdicts: NodeToStatus | None = field(default=None, repr=False)

    @property
    def refused(self) -> Mapping[str, tuple[str, str]]:
        """The plugin that refused each node, and its reasons."""
        if self._verdicts is None:
            return {}
        found = ((name, self._verdicts.status_of(row)) for row, name in enumerate(self._names))
        return {name: (status.plugin, status.message) for name, status in found if status is not None}

    def at(self, point: str) -> tuple[Answer, ...]:
        """Return the answers at an extension point, such as Filter."""
        return tuple(answer for answer in self.answers if answer.point == point)

    def __repr__(self) -> str:
        return f"<Attempt {self.number}: {self._describe()}>"

    def _repr_html_(self) -> str:
        heading = f"✓ {self._describe()}" if self.node else f"✗ {self.pod} is {self.outcome}"
        said = f"Attempt {self.number}, from {seconds(self.started)} to {seconds(self.ended)}. {self.message}"
        return card(heading, element("p", said), self._show_victims(), self._way(), self._refusals())

    def _describe(self) -> str:
        if self.node:
            return f"{self.pod} → {self.node}" + (f" ({self.bound})" if self.bound else "")
        return f"{self.pod} is {self.outcome}: {self.message}"

    def _show_victims(self) -> Html:
        if not self.nominated:
            return Html("")
        victims = join_html(chip(pod, sort="bad") for pod in self.victims)
        return element("p", f"Preemption makes room on {self.nominated}. Victims: ", victims)

    def _way(self) -> Html:
        points = dict.fromkeys(answer.point for answer in self.answers)
        rows = [[point, join_html(map(_render_answer, self.at(point)))] for point in points]
        return table(["Extension point", "Plugins"], rows)

    def _refusals(self) -> Html:
        refused = self.refused
        if not refused:
            return Html("")
        shown = list(refused.items())[:MOST_SHOWN]
        rows = [[node, plugin, message] for node, (plugin, message) in shown]
        left = len(refused) - len(shown)
        more = element("p", f"{format_count(left, 'more node')} refused.") if left else Html("")
        return join_html((table(["Refused node", "Plugin", "Why"], rows), more))


def _render_answer(answer: Answer) -> Html:
    """Render a plugin with its answer."""
    if answer.refused:
        return chip(f"{answer.plugin} ✗ {answer.refused} of {format_count(answer.evaluated, 'node')}", sort="bad")
    if answer.code == "Skip":
        return chip(f"{answer.plugin} skips", sort="quiet")
    if answer.ok:
        return chip(f"{answer.plugin} ✓", sort="good")
    return chip(f"{answer.plugin} ✗ {answer.code}", sort="bad", title=answer.message)


def attempt_of(cycle: SchedulingCycle) -> Attempt:
    """Return an immutable copy of a finished cycle."""
    names, verdicts = cycle.nodes.names, cycle.node_to_status.frozen()
    rows = [] if cycle.feasible is None else cycle.feasible.tolist()
    board, chosen = cycle.scores, cycle.chosen or ""
    evidence = next((s.evidence for s in cycle.steps if isinstance(s.evidence, Evidence)), None)
    nominated = evidence.nominated if evidence is not None else ""
    assert cycle.ended is not None
    return Attempt(
        cycle.number,
        cycle.pod.key,
        cycle.outcome,
        chosen if cycle.outcome == "scheduled" else "",
        cycle.message,
        cycle.started,
        cycle.ended,
        _answers(cycle.steps),
        tuple(names[row] for row in rows),
        None if board is None or not board.raw else score_table(cycle.pod.key, names, board, chosen),
        nominated,
        _victims(evidence) if evidence is not None and nominated else (),
        "",
        names,
        verdicts,
    )


def add_binding(attempt: Attempt, binding: BindingCycleView, outcome: str, ended: int) -> Attempt:
    """Return the attempt with its binding cycle."""
    return replace(attempt, answers=(*attempt.answers, *_answers(binding.steps)), bound=outcome, ended=ended)


def _answers(steps: Sequence[PluginStep]) -> tuple[Answer, ...]:
    return tuple(_answer(step) for step in steps if step.point not in _BEFORE or not step.status.ok)


def _answer(step: PluginStep) -> Answer:
    code = Code(step.status.code).kube_name
    return Answer(step.point.value, step.plugin, code, step.status.message, step.evaluated, step.refused)


def _victims(evidence: Evidence) -> tuple[str, ...]:
    return tuple(
        pod.key
        for candidate in evidence.candidates
        if candidate.node == evidence.nominated
        for pod in candidate.victims
    )
