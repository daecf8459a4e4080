"""`python manage.py step`: continues a world by a few steps, prints their records, and saves it as a trace."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from typing import Any

from playground.management.explaining import plain
from playground.management.terminal.cluster import BadInput, read_objects
from playground.management.terminal.command import CHANGES, SEED, TerminalCommand, add_options
from playground.management.terminal.printing import write_answer
from playground.management.terminal.world import is_trace, read_trace
from playground.presenters.sentences.kinds import row
from scheduler_core import Cluster
from scheduler_core.analysis.whatif import apply_all, requests_of, type_in
from scheduler_core.world.simulation import Grain

MOST = 10_000
SHOWN = 200  # records
NAMED = 5  # pending pods
ASKED = ("plugin_ran", "point_started")  # printed as text only after a rejection


class Command(TerminalCommand):
    """A command that builds a world of the input, or continues a trace, and prints the records of the steps."""

    help = (
        "Go on with a cluster step by step, and say what happened. Reads manifests, or a trace: an exported session, or what --save "
        "wrote. --save keeps all steps as a trace, for another step, explain, whatif, export, or the studio; with --at and another file "
        "it is a fork. Exit status: 0 done, 2 the input can't be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--grain", choices=[*Grain], default=Grain.POD, help="how large a step is (pod)")
        parser.add_argument("--at", type=int, metavar="STEP", help="go on from this step of a trace, not from its end")
        add_options(
            parser,
            ("--count", 1, "N", f"so many steps (1), up to {MOST}"),
            *CHANGES,
            ("--save", "", "TRACE", "write the steps to this file"),
            SEED,
        )
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")

    def handle(self, *args: Any, output: str, count: int, **options: Any) -> None:
        if not 0 <= count <= MOST:
            raise BadInput(f"--count {count}: expected a number from 0 to {MOST}")
        cluster = self._make(options)
        seen = cluster.position
        records: list[Any] = []
        for change in (*map(type_in, options["run"]), *(apply_all(read_objects(file)) for file in options["apply"])):
            for command, pause in requests_of(cluster.world, change):
                records += cluster.apply(command)
                records += go_on(cluster, Grain.CALL, pause)
        records += go_on(cluster, options["grain"], count)
        try:
            if options["save"]:
                cluster.save(options["save"])
        except OSError as error:
            raise BadInput(f"{options['save']}: {error.strerror}") from None
        data = describe(cluster, records, cluster.position - seen)
        write_answer(self.stdout, data, _lines(data), output)

    def _make(self, options: dict[str, Any]) -> Cluster:
        """Return the cluster to continue. Raise BadInput."""
        inputs, question = self.read(options)
        if question.names:
            raise BadInput(f"{question.names[0]}: no such file; step takes files alone")
        at = options["at"]
        if len(inputs) == 1 and is_trace(inputs[0][1]):
            session = read_trace(inputs[0][1], inputs[0][0])
            if at is not None and not 0 <= at <= session.steps:
                raise BadInput(f"--at {at}: expected a step from 0 to {session.steps}")
            return session.at(session.steps if at is None else at)
        if at is not None:
            raise BadInput("--at: expected a trace to go back in; received manifests")
        seed = options["seed"]
        return self.make(inputs, options["config"], options["release"], seed=seed, acting=True).make_cluster(seed)


def go_on(cluster: Cluster, grain: str, count: int) -> list[Any]:
    """Make up to `count` steps, and return their records."""
    return [*chain(*takewhile(bool, (cluster.step(grain) for _ in range(count))))]


def describe(cluster: Cluster, records: Sequence[Any], steps: int) -> dict[str, Any]:
    """Return the data of step/v1: the records of these steps, and the state of the cluster."""
    return {
        "schema": "step/v1",
        "step": cluster.position,
        "steps": steps,
        "seconds": cluster.now / 1e9,
        "over": cluster.world.idle,
        "records": [
            {"seconds": record.t / 1e9, "kind": record.kind, "head": said["head"], "text": text, "refused": said["no"]}
            for record in records[-SHOWN:]
            for said in (row(record),)
            for text in (plain(said["sentence"]) if said["sentence"] else "",)
        ],
        "leftOut": max(0, len(records) - SHOWN),
        "attempts": [dict(record.data) for record in records if record.kind == "attempt_ended"],
        "placed": sum(map(bool, cluster.pods.values())),
        "waiting": [{"pod": pod, "place": cluster.place(pod)} for pod in cluster.pending],
    }


def _lines(data: dict[str, Any]) -> Iterator[str]:
    if data["leftOut"]:
        yield f"{data['leftOut']} earlier records are left out."
    yield from (
        f"{each['seconds']:10.3f} s  {each['head']}: {each['text']}"
        for each in data["records"]
        if each["text"] and (each["refused"] or each["kind"] not in ASKED)
    )
    waiting = "".join(f"; {each['pod']} waits ({each['place'] or 'unknown'})" for each in data["waiting"][:NAMED])
    more = f" and {len(data['waiting']) - NAMED} more" if len(data["waiting"]) > NAMED else ""
    yield f"Step {data['step']}. Pods with a node: {data['placed']}{waiting}{more}."
    if data["over"]:
        yield "Nothing is left to happen but timers."
