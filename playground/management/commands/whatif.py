"""`python manage.py whatif`: the effect of other nodes, replicas or another configuration, and how many more pods fit."""

import os
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from playground.features.fixes.presenter import effect_sentence
from playground.features.upgrade.presenter import describe_upgrade
from playground.management.explaining import format_refused_error, plain
from playground.management.terminal import command
from playground.management.terminal.cluster import BadInput, Question, find_kind, read_file, read_objects
from playground.management.terminal.printing import Progress, blocked, missing, table, why_waiting, write_answer
from playground.management.terminal.world import make_world, read_configuration, read_node_types
from playground.presenters.why.facts import describe_fact
from playground.presenters.why.reasons import describe_rest
from scheduler_core.analysis import whatif
from scheduler_core.analysis.explain import Past, explain
from scheduler_core.analysis.upgrade import Stage, Upgrade, preview_upgrade
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.config import NEWEST, OLDEST
from scheduler_core.world.commands import SetSettings
from scheduler_core.world.simulation import Simulation

HURTING = ("evicted", "pending")
NAMED = 10  # new pods printed one by one; more are counted


class Command(command.TerminalCommand):
    """A command that runs a cluster until it is at rest, applies the changes to a copy, runs both, and prints the differences."""

    help = (
        "Say what would change: nodes drained, removed or added, workloads scaled, another configuration; all that is asked is done at "
        f"once. --more says how many more of a pod, or of a set of pods, fit afterwards. {command.INPUT}Controllers act. "
        f"Only what the change brings about counts, and what is stuck in any case. {command.HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        more = "how many more of this pod fit: one of the cluster's, of a workload of it, or those of a file; several are a set"
        command.add_options(
            parser,
            ("--drain", [], "NODE", "drain a node; budgets are kept"),
            ("--remove", [], "NODE", "a node is lost at once"),
            ("--add", [], "N=NODE|TYPE", "so many new nodes like one that exists, or of a type"),
            command.TYPES,
            ("--scale", [], "KIND/NS/NAME=N", "a workload with so many replicas"),
            *command.CHANGES,
            ("--more", [], "[N=]NS/NAME|KIND/NS/NAME|FILE", more),
            ("--most", whatif.MOST, "N", f"count no further than this ({whatif.MOST})"),
            command.SEED,
        )
        parser.add_argument(
            "--from",
            dest="from_release",
            type=command.read_release_option,
            metavar="RELEASE",
            help="with --release: the release before; without it that which the input indicates, else the oldest",
        )
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")

    def handle(self, *args: Any, output: str, seed: int, **asked: Any) -> None:
        inputs, question = self.read(asked)
        if question.names:
            raise BadInput(f"{question.names[0]}: no such file; --more, --scale and --drain take names")
        # With --release, the comparison starts from the oldest release, if the input indicates none.
        otherwise = OLDEST if asked["release"] else NEWEST
        made = make_world(inputs, seed=seed, acting=True, release=asked["from_release"], otherwise=otherwise)
        for note in made.notes:
            self.stderr.write(note)
        with Progress(sys.stderr) as progress:
            upgrade = None
            if asked["release"]:
                upgrade = preview_upgrade(
                    made.world, asked["release"], report=lambda stage: progress.say(format_stage(stage))
                )
            rest = whatif.settle(made.world, progress=progress.steps)
            types = read_node_types(made.world, asked["types"], self.stderr.write)
            changes = list(_changes(made.world, asked, question, self.stderr.write, types))
            if not changes and not asked["more"]:
                raise BadInput(
                    "nothing is asked: give --drain, --remove, --add, --scale, --run, --apply, --config, --release or --more"
                )
            outcome = None
            if changes and not (upgrade and len(changes) == 1):
                outcome = whatif.what_if(made.world, changes, progress=progress.steps, loops=rest.loops)
                rest = outcome.rest
            room = None
            if asked["more"]:
                pods = [pod for text in asked["more"] for pod in _pods(made.world, text, question)]
                room = whatif.room_for(outcome.world if outcome else made.world, pods, asked["most"])
        self._print(outcome, room, rest, output, upgrade, made.release)
        if made.refused:
            self.stderr.write(format_refused_error(made.refused))
        command.leave(_list_exits(outcome, rest, made.refused))

    def _print(
        self,
        outcome: whatif.Outcome | None,
        room: whatif.Room | None,
        rest: whatif.RestResult,
        output: str,
        upgrade: Upgrade | None,
        release: str,
    ) -> None:
        data: dict[str, Any] = {"schema": "whatif/v1", "release": release}
        if upgrade is not None:
            data["upgrade"] = upgrade.to_json()
        if outcome is not None:
            lists = {
                "missing": _list_missing(outcome),
                "waiting": _list_waiting(outcome),
                "blocked": _list_blocked(outcome),
            }
            data |= outcome.to_json() | lists
        if room is not None:
            data["more"] = {
                "count": room.count,
                "enough": room.enough,
                "nodes": [{"node": node, "count": count} for node, count in room.nodes],
                "why": room.why,
            }
        if outcome is None and not rest:
            data |= {"atRest": rest.at_rest, "stuck": [loop.to_json() for loop in rest.loops]}
        said = list(map(plain, describe_rest(rest)))
        if output != "text":
            for text in said:
                self.stderr.write(text)
        before = map(plain, describe_upgrade(upgrade)) if upgrade else ()
        lines = chain(before, _in_words(outcome) if outcome else (), said, _format_room(room) if room else ())
        write_answer(self.stdout, data, lines, output)


def format_stage(stage: Stage) -> str:
    """Return how far the preview of an upgrade is, in one line."""
    return f"run {stage.run}{f', without {stage.without}' if stage.without else ''}: {stage.steps:,} steps"


def _changes(
    world: Simulation,
    asked: dict[str, Any],
    question: Question,
    say: Callable[[str], object],
    types: dict[str, whatif.NodeType],
) -> Iterator[whatif.Change]:
    release = asked["release"] or world.settings.release
    if asked["release"]:
        yield SetSettings({"release": release})
    if asked["config"]:
        commands, notes = read_configuration(read_file(asked["config"]), asked["config"], release)
        for note in notes:
            say(note)
        yield from commands
    for text in asked["add"]:
        count, like = _pair(text, "--add", "N=NODE or N=TYPE", first=True)
        yield whatif.add(world, like, count, types)
    for text in asked["scale"]:
        replicas, name = _pair(text, "--scale", "KIND/NS/NAME=N", first=False)
        parts = name.split("/")
        if len(parts) not in (2, 3):
            raise BadInput(f"--scale {text}: expected KIND/NS/NAME=N, such as Deployment/default/web=5")
        namespace = parts[1] if len(parts) == 3 else question.namespace or "default"
        yield whatif.scale(world, find_kind(parts[0]) or parts[0], namespace, parts[-1], replicas)
    for node in asked["drain"]:
        yield whatif.drain(world, node)
    for node in asked["remove"]:
        yield whatif.remove(world, node)
    yield from map(whatif.type_in, asked["run"])
    yield from (whatif.apply_all(read_objects(file)) for file in asked["apply"])


def _pair(text: str, option: str, form: str, first: bool) -> tuple[int, str]:
    """Return the number and the name of N=NAME or NAME=N. Raise BadInput."""
    left, equals, right = text.partition("=") if first else text.rpartition("=")
    number, name = (left, right) if first else (right, left)
    if not equals or not name or not (number.isascii() and number.isdecimal()) or not 0 <= int(number) <= 5_000:
        raise BadInput(f"{option} {text}: expected {form} with a whole number from 0 to 5000")
    return int(number), name


def _pods(world: Simulation, text: str, question: Question) -> list[Manifest]:
    """Return the pods of one part of the set of --more: one pod for a workload, each replica for a file."""
    count, equals, named = text.partition("=")
    times, named = (int(count), named) if equals and count.isdecimal() else (1, text)
    if os.path.isfile(named) or named == "-":
        pods = [pod for each in read_objects(named) for pod in whatif.pods_of(each)]
        if not pods:
            raise BadInput(f"--more {text}: received no pod and no workload; expected at least one")
        return pods * times
    try:
        (key,) = Question([], question.namespace, pods=[named]).find_objects(world)
    except BadInput as bad:
        raise BadInput(f"--more {text}: neither a pod of the cluster nor a file that can be read ({bad})") from None
    kind, namespace, name = ("Pod", *key.split("/")) if key.count("/") == 1 else key.split("/")
    manifest = world.store.get(kind, namespace, name)
    if manifest and kind != "Pod":
        manifest = {**manifest, "spec": {**manifest["spec"], "replicas": 1, "parallelism": 1}}
    pods = whatif.pods_of(manifest) if manifest else []
    if not pods:
        raise BadInput(f"--more {text}: a {kind} has no template of pods")
    return pods * times


def _list_missing(outcome: whatif.Outcome) -> list[dict[str, Any]]:
    """Return the workloads that lack pods with the change, or more of them than without it."""
    before = {(row["kind"], row["namespace"], row["name"]): row["pods"] for row in missing(outcome.baseline)}
    rows = missing(outcome.world)
    return [row for row in rows if row["pods"] > before.get((row["kind"], row["namespace"], row["name"]), 0)]


def _list_blocked(outcome: whatif.Outcome) -> list[dict[str, str]]:
    """Return the objects that are blocked only with the change. Drains have their own lines."""
    before = {row["subject"] for row in blocked(outcome.baseline)}
    rows = (row for row in blocked(outcome.world) if not row["subject"].startswith("Node/"))
    return [row for row in rows if row["subject"] not in before]


def _list_waiting(outcome: whatif.Outcome) -> list[dict[str, str]]:
    """Return the pods that are pending only with the change, with the reasons."""
    past = Past(outcome.world)
    pods = (outcome.world.store.pod_at(key) for key in outcome.pending if key not in outcome.pending_without)
    return [{"pod": pod.key, "message": why_waiting(outcome.world, pod, past)} for pod in pods if pod]


def _hurts(outcome: whatif.Outcome) -> bool:
    return any(not node for _, node in outcome.created) or any(
        effect.kind in HURTING or (effect.kind == "replaced" and not effect.to) for effect in outcome.effects
    )


def _list_exits(outcome: whatif.Outcome | None, rest: whatif.RestResult, refused: int) -> Iterator[command.Exit]:
    """Yield the exit statuses of all problems found."""
    if not rest or (outcome is not None and (outcome.failed or outcome.held_up or _list_blocked(outcome))):
        yield command.Exit.FAILED
    if refused:
        yield command.Exit.UNUSABLE
    if outcome is not None and (_hurts(outcome) or _list_missing(outcome)):
        yield command.Exit.WAITS


def _in_words(outcome: whatif.Outcome) -> Iterator[str]:
    if not outcome.effects and not outcome.created and not outcome.failed:
        yield "No pod goes anywhere else."
    for effect in outcome.effects:
        yield plain(effect_sentence(effect.to_json()))
    yield from _describe_created(outcome)
    for end in outcome.failed:
        yield f"{end.pod} fails on {end.node} with {end.reason}: {end.message}"
    drained = outcome.world.surroundings.nodes.drains
    known = [fact for node in drained for fact in getattr(explain(outcome.baseline, f"Node/{node}"), "facts", ())]
    after = [fact for node in drained for fact in getattr(explain(outcome.world, f"Node/{node}"), "facts", ())]
    ends = {fact.values["pod"]: plain(describe_fact(fact)) for fact in after if fact.code.startswith("Ends")}
    uncounted = {fact.values["pod"]: plain(describe_fact(fact)) for fact in known if fact.code == "BudgetIsNotCounted"}
    yield from (plain(describe_fact(fact)) for fact in known if fact.code.startswith("DrainWants"))
    for node, pod, why in outcome.held_up:
        if pod in ends:
            yield f"The drain of {node} does not end: {ends[pod]}"
            continue
        if any(effect.by == pod for effect in outcome.effects):
            yield f"The drain of {node} does not empty the node: {pod} {why}."
            continue
        yield f"The drain of {node} is held up: {pod} may not go: {uncounted.get(pod, why)}"
    yield from (row["sentence"] for row in (*_list_missing(outcome), *_list_blocked(outcome)))
    alike: dict[str, list[str]] = {}
    for row in _list_waiting(outcome):
        alike.setdefault(row["message"], []).append(row["pod"])
    for message, pods in alike.items():
        more = f" and {len(pods) - NAMED} more" if len(pods) > NAMED else ""
        yield f"{', '.join(pods[:NAMED])}{more} {'waits' if len(pods) == 1 else 'wait'}: {message}"
    yield ""
    yield f"Pods that wait: {len(outcome.pending)}; without the change: {len(outcome.pending_without)}."


def _describe_created(outcome: whatif.Outcome) -> Iterator[str]:
    if len(outcome.created) <= NAMED:
        for pod, node in outcome.created:
            yield f"{pod} is new and goes to {node}." if node else f"{pod} is new and waits."
        return
    of_workload: dict[str, Counter[str]] = {}
    for key, node in outcome.created:
        made = outcome.world.store.pod_at(key)
        chain = whatif.owners_of(outcome.world.store, whatif.subject_of(made)) if made else [("Pod", *key.split("/"))]
        kind, namespace, name = (*chain,)[-1]
        of_workload.setdefault(f"{kind} {namespace}/{name}", Counter())[node] += 1
    for workload, nodes in of_workload.items():
        places = [f"{count} on {node}" for node, count in sorted(nodes.items()) if node]
        waits = [f"{nodes['']} wait"] if nodes[""] else []
        yield f"{workload} has {nodes.total()} new pods: {', '.join([*places, *waits])}."


def _format_room(room: whatif.Room) -> Iterator[str]:
    sets = "set" if room.count == 1 else "sets"
    number = f"{room.count} more" if room.size == 1 else f"{room.count} more such {sets} of {room.size} pods"
    fit = "fits" if room.count == 1 else "fit"
    yield f"{number} {fit}{', and maybe more than these' if room.enough else ''}."
    if room.nodes:
        yield from table(("NODE", "MORE"), [(node, str(count)) for node, count in room.nodes])
    if room.why:
        yield f"The next one would wait: {room.why}"
