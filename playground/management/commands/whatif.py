"""`python manage.py whatif FILE...`: what would change with other nodes, replicas or another configuration, and how many more fit."""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import yaml
from django.core.management.base import CommandError

from playground.features.fixes.presenter import effect_sentence
from playground.management.explaining import format_refused_error, plain
from playground.management.terminal.command import TerminalCommand
from playground.management.terminal.exits import HELP, Exit, leave
from playground.management.terminal.files import BadInput, read_file
from playground.management.terminal.pipes import may_close
from playground.management.terminal.progress import Progress
from playground.management.terminal.tables import table
from playground.management.terminal.world import make_world, read_configuration
from playground.presenters.why.loops import describe_rest
from scheduler_core.analysis.whatif import (
    MOST,
    SCALABLE,
    NoSuch,
    Outcome,
    Rest,
    Room,
    add,
    drain,
    remove,
    room_for,
    scale,
    settle,
    what_if,
)
from scheduler_core.world.commands import Command as WorldCommand
from scheduler_core.world.commands import Refused, SetConfiguration
from scheduler_core.world.readonly import InvalidObject, load_manifests
from scheduler_core.world.simulation import Simulation

HURTING = ("evicted", "pending")
KINDS = {  # as kubectl takes them
    "deploy": "Deployment",
    "sts": "StatefulSet",
    "rs": "ReplicaSet",
    "rc": "ReplicationController",
    **{f"{kind.lower()}{end}": kind for kind in SCALABLE for end in ("", "s")},
}


class Command(TerminalCommand):
    """Runs a cluster until it is at rest, makes the changes on a copy, runs both on, and prints what differs."""

    help = (
        "Say what would change: nodes drained, removed or added, workloads scaled, another configuration; all that is asked is done at "
        "once. --more says how many more of a pod fit afterwards. Reads what kubectl prints; - is standard input. Controllers act. "
        "No database is needed. Only what the change brings about counts, and what is stuck in any case. "
        f"{HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the input, the changes, and the output."""
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="YAML, JSON, an archive or a folder of them; - reads standard input",
        )
        parser.add_argument(
            "--drain", action="append", default=[], metavar="NODE", help="drain a node; budgets are kept"
        )
        parser.add_argument(
            "--remove", action="append", default=[], metavar="NODE", help="a node is lost at once"
        )
        parser.add_argument(
            "--add",
            action="append",
            default=[],
            metavar="N=NODE",
            help="so many new nodes like one that exists",
        )
        parser.add_argument(
            "--scale",
            action="append",
            default=[],
            metavar="KIND/NS/NAME=N",
            help="a workload with so many replicas",
        )
        parser.add_argument("--config", default="", metavar="FILE", help="another KubeSchedulerConfiguration")
        parser.add_argument(
            "--more",
            default="",
            metavar="NS/NAME|FILE",
            help="how many more of this pod fit: one of the cluster's, or a file's",
        )
        parser.add_argument(
            "--most", type=int, default=MOST, metavar="N", help=f"count no further than this ({MOST})"
        )
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")
        parser.add_argument("--seed", type=int, default=0, help="the seed of the draws among equals (0)")

    @may_close()
    def handle(self, *args: Any, files: list[str], output: str, seed: int, **asked: Any) -> None:
        """Read, run, change, run, print, and leave with the exit status."""
        gc.set_threshold(100_000, 20, 20)  # a large cluster is many objects that stay
        try:
            made = make_world([(file, read_file(file)) for file in files], seed=seed, acting=True)
            for note in made.notes:
                self.stderr.write(note)
            with Progress(sys.stderr) as progress:
                rest = settle(made.world, progress=progress.steps)
                changes = list(_changes(made.world, asked))
                if not changes and not asked["more"]:
                    raise BadInput(
                        "nothing is asked: give --drain, --remove, --add, --scale, --config or --more"
                    )
                outcome = None
                if changes:
                    outcome = what_if(made.world, changes, progress=progress.steps, loops=rest.loops)
                    rest = outcome.rest
                room = _room(made.world, changes, asked) if asked["more"] else None
        except (BadInput, NoSuch, Refused) as bad:
            raise CommandError(str(bad), returncode=Exit.UNUSABLE) from None
        self._print(outcome, room, rest, output)
        if made.refused:
            self.stderr.write(format_refused_error(made.refused))
        leave(_list_exits(outcome, rest, made.refused))

    def _print(self, outcome: Outcome | None, room: Room | None, rest: Rest, output: str) -> None:
        data: dict[str, Any] = {}
        if outcome is not None:
            data |= outcome.to_json()
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
        if output == "json":
            self.stdout.write(json.dumps(data, ensure_ascii=False, indent=2))
        elif output == "yaml":
            self.stdout.write(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), ending="")
        else:
            parts = [*(_in_words(outcome) if outcome else ()), *said, *(_format_room(room) if room else ())]
            self.stdout.write("\n".join(parts))


def _changes(world: Simulation, asked: dict[str, Any]) -> Iterator[WorldCommand]:
    if asked["config"]:
        yield SetConfiguration(read_configuration(read_file(asked["config"])))
    for text in asked["add"]:
        count, like = _pair(text, "--add", "N=NODE", first=True)
        yield add(world, like, count)
    for text in asked["scale"]:
        replicas, name = _pair(text, "--scale", "KIND/NS/NAME=N", first=False)
        parts = name.split("/")
        if len(parts) not in (2, 3):
            raise BadInput(f"--scale {text}: expected KIND/NS/NAME=N, such as Deployment/default/web=5")
        kind = KINDS.get(parts[0].lower(), parts[0])
        yield scale(world, kind, parts[1] if len(parts) == 3 else "default", parts[-1], replicas)
    for node in asked["drain"]:
        yield drain(world, node)
    for node in asked["remove"]:
        yield remove(world, node)


def _pair(text: str, option: str, form: str, first: bool) -> tuple[int, str]:
    """The number and the name of N=NAME or NAME=N."""
    left, equals, right = text.partition("=") if first else text.rpartition("=")
    number, name = (left, right) if first else (right, left)
    if (
        not equals
        or not name
        or not (number.isascii() and number.isdecimal())
        or not 0 <= int(number) <= 5_000
    ):
        raise BadInput(f"{option} {text}: expected {form} with a whole number from 0 to 5000")
    return int(number), name


def _room(world: Simulation, changes: list[WorldCommand], asked: dict[str, Any]) -> Room:
    changed = world.fork()
    for change in changes:
        changed.apply(change)
    settle(changed)
    return room_for(changed, _pod(world, asked["more"]), asked["most"])


def _pod(world: Simulation, named: str) -> dict[str, Any]:
    pod = world.store.pod_at(named if "/" in named else f"default/{named}")
    if pod is not None:
        return dict(pod.manifest)
    try:
        manifests = [dict(loaded.manifest) for loaded in load_manifests(read_file(named).decode("utf-8-sig"))]
    except BadInput as bad:
        raise BadInput(
            f"--more {named}: neither a pod of the cluster nor a file that can be read ({bad})"
        ) from None
    except (InvalidObject, UnicodeDecodeError) as error:
        raise BadInput(f"{named}: {error}") from None
    pods = [manifest for manifest in manifests if manifest.get("kind") == "Pod"]
    if len(pods) != 1:
        raise BadInput(f"--more {named}: received {len(pods)} pods; expected one")
    return pods[0]


def _hurts(outcome: Outcome) -> bool:
    return any(not node for _, node in outcome.created) or any(
        effect.kind in HURTING or (effect.kind == "replaced" and not effect.to) for effect in outcome.effects
    )


def _list_exits(outcome: Outcome | None, rest: Rest, refused: int) -> Iterator[Exit]:
    """Yield the exit statuses of all problems found."""
    if not rest or (outcome is not None and (outcome.failed or outcome.held_up)):
        yield Exit.FAILED
    if refused:
        yield Exit.UNUSABLE
    if outcome is not None and _hurts(outcome):
        yield Exit.WAITS


def _in_words(outcome: Outcome) -> Iterator[str]:
    if not outcome.effects and not outcome.created and not outcome.failed:
        yield "No pod goes anywhere else."
    for effect in outcome.effects:
        yield plain(effect_sentence(effect.to_json()))
    for pod, node in outcome.created:
        yield f"{pod} is new and goes to {node}." if node else f"{pod} is new and waits."
    for end in outcome.failed:
        yield f"{end.pod} fails on {end.node} with {end.reason}: {end.message}"
    for node, pod, why in outcome.held_up:
        yield f"The drain of {node} is held up: {pod} may not go: {why}"
    yield ""
    yield f"Pods that wait: {len(outcome.pending)}; without the change: {len(outcome.pending_without)}."


def _format_room(room: Room) -> Iterator[str]:
    if room.enough:
        yield f"{room.count} more fit, and maybe more than these."
    else:
        yield f"{room.count} more fit."
    if room.nodes:
        yield from table(("NODE", "MORE"), [(node, str(count)) for node, count in room.nodes])
    if room.why:
        yield f"The next one would wait: {room.why}"
