"""`python manage.py capacity`: nodes that would help pending pods, and nodes that can be removed."""

import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from msgspec import to_builtins

from playground.management.explaining import format_count, plain
from playground.management.terminal.cluster import BadInput
from playground.management.terminal.command import HELP, INPUT, SEED, TYPES, Exit, TerminalCommand, add_options, leave
from playground.management.terminal.printing import Progress, table, write_answer
from playground.management.terminal.world import read_node_types
from playground.presenters.why.reasons import describe_rest
from scheduler_core.analysis.capacity import Going, Help, find_going, find_help, price_nodes
from scheduler_core.analysis.whatif import finish, list_unpriced, settle

PARTS = ("help", "go")
SECONDS = 60.0
KEEPS = {
    "alone": "{pod} has no controller that creates it again",
    "annotation": "{pod} has the annotation {message}",
    "budget": "{pod} may not be evicted: {message}",
    "waits": "{pod} would wait: {message}",
    "stuck": "{pod} would not come to rest: {message}",
}


class Command(TerminalCommand):
    """A command that runs a cluster until it is at rest, and searches for nodes on copies of it."""

    help = (
        "Say which nodes would help the pods that wait (all of them, or those that are named), at which price, and which "
        f"nodes can go: both proven by running. {INPUT}Controllers act. {HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--only", choices=PARTS, default="", help="the nodes that help, or those that can go")
        seconds = f"each search may compute so long ({SECONDS:g})"
        add_options(parser, TYPES, ("--seconds", SECONDS, "S", seconds), SEED)
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")

    def handle(self, *args: Any, output: str, seed: int, only: str, seconds: float, **options: Any) -> None:
        if not seconds > 0:
            raise BadInput(f"--seconds {seconds:g}: expected more than 0")
        inputs, question = self.read(options)
        made = self.make(inputs, options["config"], options["release"], seed=seed, acting=True)
        helps, goes = None, None
        with Progress(sys.stderr) as progress:
            rest = settle(made.world, progress=progress.steps)
            types = read_node_types(made.world, options["types"], self.stderr.write)
            named = question.find_objects(made.world) if question.names else None
            progress.say("searching")
            if only != "go":
                end = time.monotonic() + seconds
                helps = finish(find_help(made.world, named, types.values(), should_stop=lambda: time.monotonic() > end))
            if only != "help":
                end = time.monotonic() + seconds
                prices = price_nodes(made.world.store, types)
                goes = finish(find_going(made.world, prices, should_stop=lambda: time.monotonic() > end))
        for said in map(plain, describe_rest(rest)):
            self.stderr.write(said)
        data = {
            "schema": "capacity/v1",
            "help": to_builtins(helps) if helps else None,
            "go": to_builtins(goes) if goes else None,
        }
        if helps and not helps.priced and (unpriced := list_unpriced(types.values())):
            self.stderr.write(f"Prices do not count, because some types have none: {', '.join(unpriced)}")
        lines = chain(_describe_help(helps) if helps else (), _describe_going(goes) if goes else ())
        write_answer(self.stdout, data, lines, output)
        leave([Exit.WAITS] if helps and helps.left else [])


def _describe_help(found: Help) -> Iterator[str]:
    if not found.pods:
        yield "No pod waits."
        return
    if found.nodes:
        cost, bound = (
            f"{n:g} an hour" if found.priced else format_count(round(n), "node") for n in (found.cost, found.bound)
        )
        named = ", ".join(f"{count} of {name}" for name, count in found.nodes.items())
        yield f"{named} would give {len(found.places)} of {len(found.pods)} pods a place: {cost}."
        proof = "no cheaper set does" if found.optimal else "cheaper sets may exist"
        yield f"Not below {bound} by the sums of requests; {proof}. Sets that were run: {found.runs}."
        yield from table(("TYPE ALONE", "NODES"), [(name, str(count)) for name, count in found.alone.items()])
    alike: dict[str, list[str]] = {}
    for pod, why in found.why.items():
        alike.setdefault(
            "".join(f"\n  {name}: {text or 'has room by itself'}" for name, text in why.items()), []
        ).append(pod)
    for text, pods in alike.items():
        more = f" and {len(pods) - 3} more" if len(pods) > 3 else ""
        yield from f"{', '.join(pods[:3])}{more}: no set was found.{text}".split("\n")
    yield ""


def _describe_going(found: Going) -> Iterator[str]:
    if found.order:
        saved = f", which saves {found.saved:g} an hour" if found.saved is not None else ""
        proof = "no larger set does" if found.optimal else f"{found.bound} at most"
        yield f"{len(found.order)} of {len(found.nodes)} nodes can go together, in this order{saved} ({proof}):"
        yield f"  {', '.join(found.order)}"
    else:
        yield "You cannot remove any node."
    rows = []
    for each in found.nodes:
        kept = [KEEPS[keeper.reason].format(pod=keeper.pod, message=keeper.message) for keeper in each.keepers]
        to = Counter(each.places.values())
        places = ", ".join(f"{count} to {node}" for node, count in sorted(to.items())) or "it is empty"
        rest = f" (and {len(kept) - 1} more)" if len(kept) > 1 else ""
        rows.append(
            (
                each.node,
                "yes" if each.goes else "no",
                f"{kept[0]}{rest}" if kept else places if each.tried else "not tried",
            )
        )
    yield from table(("NODE", "GOES", "WHY"), rows)
