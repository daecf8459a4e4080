"""Suggestions: questions for a card, each with the key that the engine computes, and tasks that the engine has solved."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from playground.lessons.evidence import evidence_of, is_drawn
from playground.lessons.facts import BadFact, LessonObservations, Value, value_of
from playground.lessons.format import Card, CardAction, Kind, Lesson, Question, Task
from playground.lessons.judging import as_text
from playground.lessons.named import key_of, object_of, pod_key, short
from playground.lessons.play import WRONG, World, options_at, solve
from scheduler_core.analysis.fixes import Budget, find_fixes
from scheduler_core.world.commands import Refused
from scheduler_core.world.readonly import Attempt, InvalidObject, Place, WorldView

FILTERS = (
    "NodeAffinity", "NodeResourcesFit", "TaintToleration", "NodePorts", "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip
MOST_ORDERED = 5
MOST_SCORED = 3
MOST_SAID = 4  # nodes whose refusals or totals are told
MOST_NODES = 30  # for counting how many more pods fit, and for tasks
MOST_TASKS = 3  # of each kind
NEW_POD = "mine"


class Suggestion(msgspec.Struct, frozen=True):
    """A question, its kind for the page's sentence, its pod, attempt, and node, and its key as a text.

    `drawn`: several nodes have the highest total, so a draw decides. `said`: the rejections or totals of nodes.
    """

    what: str
    question: Question
    key: str
    pod: str = ""
    attempt: int = 1
    node: str = ""
    drawn: bool = False
    said: tuple[tuple[str, str], ...] = ()


def suggestions(card: Card, seen: LessonObservations) -> tuple[Suggestion, ...]:
    """Return the questions that the card can ask at its step; none if the world has not reached it."""
    if card.id not in seen.at:
        return ()
    found = []
    for suggestion in _suggest_questions(card, seen.at[card.id], seen):
        try:
            key = value_of(suggestion.question.answer, seen, card.id)
        except (BadFact, KeyError, ValueError):
            continue
        if key not in ((), "") and _can_be_chosen(suggestion.question, key, seen, card):
            evidence = evidence_of(suggestion.question.answer, seen)
            said = {} if evidence is None or suggestion.question.kind == "yesno" else evidence.said
            others = tuple((node, text) for node, text in sorted(said.items()) if node != key)[:MOST_SAID]
            drawn = "node_of" in suggestion.question.answer and is_drawn(said)
            found.append(msgspec.structs.replace(suggestion, key=as_text(key), drawn=drawn, said=others))
    return tuple(found)


def _can_be_chosen(question: Question, key: Value, seen: LessonObservations, card: Card) -> bool:
    """Return whether the card's step offers a choice that includes the key."""
    if question.kind == "number":
        return True
    options = question.among or options_at(question.kind, seen, card.id)
    names = key if isinstance(key, tuple) else (as_text(key),)
    return len(options) > 1 and set(names) <= set(options)


def _suggest_questions(card: Card, world: WorldView, seen: LessonObservations) -> Iterator[Suggestion]:
    later = [each for each in seen.end.journal.attempts if each.last_position > world.position]
    about = _about(str(card.when.get("pod", "")), later, seen)
    if any(each.first_position > world.position for each in later):
        yield _suggestion("next_pod", "pod", {"next_pod": True})
    for attempt in about:
        yield from _of_attempt(attempt, seen)
    waiting = sorted({short(each.pod) for each in later if world.journal.place(each.pod) == Place.ACTIVE})
    if 2 <= len(waiting) <= MOST_ORDERED:
        yield _suggestion("order", "order", {"order": waiting}, among=tuple(waiting))
    for pod in dict.fromkeys(short(each.pod) for each in about):
        if len(world.store.list("Node")) <= MOST_NODES:
            yield _suggestion("fits", "number", {"fits": pod}, pod=pod)
        yield _suggestion("attempts", "number", {"attempts_of": pod}, pod=pod)


def _about(pod: str, later: list[Attempt], seen: LessonObservations) -> list[Attempt]:
    """Return the next attempt of the card's own pod (or its last), and the next attempt of all."""
    own = [each for each in later if short(each.pod) == pod][:1]
    if pod and not own:
        own = [each for each in seen.end.journal.attempts if short(each.pod) == pod][-1:]
    return [*own, *(each for each in later[:1] if each not in own)]


def _of_attempt(attempt: Attempt, seen: LessonObservations) -> Iterator[Suggestion]:
    pod = short(attempt.pod)
    own = [each.number for each in seen.end.journal.attempts if each.pod == attempt.pod]
    number = own.index(attempt.number) + 1

    def about(what: str, kind: Kind, word: str, node: str = "", **more: Any) -> Suggestion:
        fact = {word: pod, **({"attempt": number} if number > 1 else {}), **({"node": node} if node else {})}
        return _suggestion(what, kind, fact, pod=pod, attempt=number, node=node, **more)

    yield about("node", "node", "node_of")
    yield about("scheduled", "yesno", "scheduled")
    yield about("feasible", "number", "feasible_for")
    if len(attempt.plugins) == 1:
        yield about("plugin", "choice", "plugins_against", among=tuple(sorted({*FILTERS, *attempt.plugins})))
    elif attempt.plugins:
        yield about("plugins", "victims", "plugins_against", among=tuple(sorted({*FILTERS, *attempt.plugins})))
    if attempt.outcome == "unschedulable":
        yield about("preempts", "yesno", "preempts")
        yield about("nominated", "node", "nominated_for")
        yield about("victims", "victims", "victims_of")
        yield about("backoff", "number", "backoff_of")
    for node in sorted(seen.points.get(attempt.number, {}).get("weighted", {}))[:MOST_SCORED]:
        yield about("total", "number", "total_of", node)
    yield about("tied", "number", "tied_for")


def _suggestion(
    what: str, kind: Kind, fact: Mapping[str, Any], among: tuple[str, ...] = (), **about: Any
) -> Suggestion:
    return Suggestion(what, Question(kind, fact, among), "", **about)


class SuggestedTask(msgspec.Struct, frozen=True):
    """A task that the engine has solved by the task's own solution, with the pod and the node that it names."""

    task: Task
    pod: str
    node: str = ""


def suggest_tasks(lesson: Lesson, last: World, end: World) -> tuple[SuggestedTask, ...]:
    """Return tasks for the last card's step: a node for a pod that stays pending, and a new pod on a chosen node."""
    nodes = [node["metadata"]["name"] for node in end.store.list("Node")]
    if lesson.drawn or len(nodes) > MOST_NODES:
        return ()
    pods = [pod for pod in end.store.list("Pod") if not pod["spec"].get("nodeName")]
    found = []
    for pod in [short(pod_key(pod["metadata"])) for pod in pods][:MOST_TASKS]:
        fixes = find_fixes(end, key_of(pod), Budget(candidates=20, fixes=1))
        acts = tuple(CardAction(command=msgspec.to_builtins(command)) for fix in fixes[:1] for command in fix.commands)
        found.append(SuggestedTask(Task({"pod": pod, "outcome": "scheduled"}, acts), pod))
    for node in nodes[:MOST_TASKS] if object_of("Pod", NEW_POD, end) is None else ():
        spec = {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}],
        }
        meta = {"name": NEW_POD, "namespace": "default"}
        act = CardAction(apply=({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec},))
        found.append(SuggestedTask(Task({"pod": NEW_POD, "on": node}, (act,)), NEW_POD, node))
    return tuple(each for each in found if _is_solved(lesson, last, each.task))


def _is_solved(lesson: Lesson, last: World, task: Task) -> bool:
    try:
        plan = msgspec.structs.replace(lesson.plan, task=task)
        return solve(msgspec.structs.replace(lesson, plan=plan), last) == (False, True)
    except (Refused, InvalidObject, *WRONG):
        return False
