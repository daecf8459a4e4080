"""`scheduler-playground second-opinion`: what the real kube-scheduler does with a session's pods, beside what ours does."""

import contextlib
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground.management.outside import SecondOpinion, read_version, serve
from playground.management.terminal.command import Exit, TerminalCommand, add_options, leave
from playground.management.terminal.inputs import BadInput
from playground.management.terminal.printing import format_data, get_width, wrap
from playground.management.terminal.world import is_trace, make_world
from scheduler_core import Cluster
from scheduler_core.scheduler.config import read_release

FIELDS = {
    "node": "node",
    "condition": "PodScheduled",
    "nominated": "nominated node",
    "events": "Events",
    "gone": "is gone",
}


class Command(TerminalCommand):
    """Forks a session, lets a kube-scheduler work in the fork, and compares pod by pod."""

    help = (
        "Run a kube-scheduler of your own in a fork of a session, and compare its bindings, Events, conditions, and nominations with "
        "ours, pod by pod. Reads the link of a session, a trace, or what explain reads; without a link a local session is served "
        "meanwhile. Ties are compared as sets. Exit status: 0 the same, 1 something differs, 2 the input can't be used, 3 one of "
        "the two did not come to rest."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the session and the scheduler."""
        super().add_arguments(parser)
        parser.add_argument("--kube-scheduler", required=True, metavar="PATH", help="the binary, of 1.34 to 1.37")
        parser.add_argument("--seed", type=int, metavar="N", help="the seed of our draws (the session's)")
        add_options(
            parser,
            ("--content-type", "", "TYPE", "what it sends, such as application/json (protobuf)"),
            ("--wait", 600.0, "S", "how long it may take to come to rest (600)"),
        )
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")

    def handle(self, *args: Any, output: str, kube_scheduler: str, **options: Any) -> None:
        """Serve, fork, run, compare, print, and leave with the exit status."""
        version = read_version(str(Path(kube_scheduler).resolve()))
        try:
            release = read_release(version)
        except ValueError as error:
            raise BadInput(f"--kube-scheduler {kube_scheduler}: {error}") from None
        with self._open(options, release) as link:
            try:
                opinion = SecondOpinion(link, version)
                rests = opinion.run(str(Path(kube_scheduler).resolve()), options["content_type"], options["wait"])
                seed = options["seed"]
                found = opinion.ask("opinion.json" if seed is None else f"opinion.json?seed={seed}")
            except OSError as error:
                raise BadInput(f"{link}: {error}") from None
            data = describe(found, version, rests, opinion.fork.link)
        if output == "text":
            for line in _lines(data):
                self.stdout.write("\n".join(wrap(line, get_width())))
        else:
            self.stdout.write(format_data(data, (), (), output), ending="")
        leave(_exits(data))

    @contextlib.contextmanager
    def _open(self, options: dict[str, Any], release: Any) -> Iterator[str]:
        """The link of the session: that which is given, or of a session of the input that is served here."""
        words = options["words"]
        if words and words[0].startswith(("http://", "https://")):
            yield words[0]
            return
        inputs, question = self.read(options)
        if question.names:
            raise BadInput(f"{question.names[0]}: no such file; second-opinion takes a link or files")
        if len(inputs) == 1 and is_trace(inputs[0][1]):
            trace = inputs[0][1]
        else:
            trace = self._make_trace(inputs, options, release)
        with serve(trace) as link:
            yield link

    def _make_trace(self, inputs: list[tuple[str, bytes]], options: dict[str, Any], release: Any) -> bytes:
        seed = options["seed"] or 0
        made = make_world(inputs, options["config"], seed=seed, acting=True, release=options["release"] or release)
        for note in made.notes:
            self.stderr.write(note)
        cluster = Cluster(seed=seed, release=made.release)
        for command in made.commands:
            cluster.apply(command)
        with tempfile.TemporaryDirectory() as folder:
            return cluster.save(Path(folder) / "session.jsonl").read_bytes()


def describe(found: dict[str, Any], version: str, rests: bool, fork: str) -> dict[str, Any]:
    """The data of second-opinion/v1."""
    rows = found.get("pods") or []
    differ = [row for row in rows if row["different"]]
    return {
        "schema": "second-opinion/v1",
        "kubeScheduler": version,
        "release": found["release"],
        "fork": fork,
        "atRest": {"ours": bool(found.get("atRest")), "theirs": rests},
        "pods": len(rows),
        "bound": sum(bool(row["theirs"]["node"]) for row in rows),
        "tied": sum(bool(row["tied"]) for row in rows),
        "first": differ[0] if differ else None,
        "different": differ,
    }


def _exits(data: dict[str, Any]) -> Iterator[Exit]:
    if not all(data["atRest"].values()):
        yield Exit.FAILED
    if data["different"]:
        yield Exit.WAITS


def _lines(data: dict[str, Any]) -> Iterator[str]:
    yield (
        f"kube-scheduler {data['kubeScheduler']} and the model of {data['release']}: {data['pods']} pods, {data['bound']} bound, "
        f"{data['tied']} of them chosen among nodes that tie; {len(data['different'])} differ."
    )
    for name, side in (("ours", "the model"), ("theirs", "kube-scheduler")):
        if not data["atRest"][name]:
            yield f"{side} did not come to rest; more can follow."
    first = data["first"]
    if first is None:
        return
    yield f"The first difference is {first['pod']}:"
    for field in first["different"]:
        yield f"  {FIELDS[field]}: {_show(first['ours'][field])} here, {_show(first['theirs'][field])} there"
    if first["tied"]:
        yield f"  nodes that tie here: {', '.join(first['tied'])}"


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(filter(None, value.values())) or "none"
    if isinstance(value, list):
        return "; ".join(map(_show, value)) or "none"
    return str(value) or "none"
