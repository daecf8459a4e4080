"""The base class of commands about clusters: only their own options, inputs, exit statuses, and error format."""

import enum
import gc
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from playground.management.errors import PlainCommand
from playground.management.terminal.cluster import BadInput, Live, Question, is_file, list_inputs
from playground.management.terminal.world import FileWorld, make_world
from scheduler_core.analysis.whatif import UnknownObject
from scheduler_core.scheduler.config import RELEASES, Release, read_release
from scheduler_core.world.commands import Refused

NO_COLOR = "NO_COLOR"  # https://no-color.org
HELP = (
    "Exit status: 0 all is well, 1 something waits or is missing, 2 the input, or a part of it, can't be used, "
    "3 something failed, was refused, or is stuck; of several the highest."
)
INPUT = (
    "Reads files and folders of YAML, JSON or archives, standard input if it is a pipe (or -), and without either the cluster of "
    "your kubectl: it prints the kubectl get that it runs, and never writes. "
)


class Exit(enum.IntEnum):
    """The exit status of a command."""

    WELL = 0
    WAITS = 1
    UNUSABLE = 2
    FAILED = 3


def leave(found: Iterable[Exit]) -> None:
    """End the process with the highest status; return if all statuses are 0."""
    if worst := max(found, default=Exit.WELL):
        sys.exit(worst)


def read_release_option(text: str) -> Release:
    try:
        return read_release(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


Option = tuple[str, Any, str, str]
SEED: Option = ("--seed", 0, "N", "the seed of the draws among equals (0)")
TYPES: Option = (
    "--types",
    [],
    "FILE",
    "node types: a list with prices, node groups with cluster-autoscaler's annotations, or NodePools (docs/capacity.md)",
)
CHANGES: tuple[Option, ...] = (
    ("--run", [], "KUBECTL", "a kubectl command, as fixes are printed"),
    ("--apply", [], "FILE", "manifests"),
)


def add_options(parser: ArgumentParser, *rows: Option) -> None:
    """Add options: name, default, name of the value, help. A list default makes an option repeatable; False makes a flag."""
    for name, default, value, what in rows:
        how: dict[str, Any] = {"type": type(default), "metavar": value}
        if isinstance(default, list):
            how = {"action": "append", "metavar": value}
        elif default is False:
            how = {"action": "store_true"}
        parser.add_argument(name, default=default, help=what, **how)


class TerminalCommand(PlainCommand):
    """A command that needs neither settings nor a database."""

    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--settings", "--pythonpath", "--traceback", "--version", "--verbosity"}
    bad_input = (BadInput, UnknownObject, Refused)
    given: list[tuple[str, bytes]] = []  # inputs instead of files and of a cluster

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "words",
            nargs="*",
            metavar="FILE|NAME|KIND/NAME",
            help="files, folders, or -; anything else names a pod or a workload",
        )
        parser.add_argument("-n", "--namespace", default="", metavar="NS", help="the namespace of what is asked")
        parser.add_argument(
            "-A", "--all-namespaces", action="store_true", help="all namespaces, as for files without -n"
        )
        for name in Live.OPTIONS:
            parser.add_argument(f"--{name}", default="", metavar=name.upper(), help="as for kubectl")
        parser.add_argument(
            "--release",
            type=read_release_option,
            metavar="RELEASE",
            help=f"the release of kube-scheduler: {', '.join(RELEASES)}; without it that which the input indicates, else the newest",
        )
        parser.add_argument("--config", default="", metavar="FILE", help="the scheduler's configuration, in any form")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return a parser that takes files and names before, between, and after options, as kubectl does."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Execute the command as Django does, with fewer garbage collections, and respect NO_COLOR."""
        gc.set_threshold(100_000, 20, 20)  # a large cluster has many long-lived objects
        if os.environ.get(NO_COLOR) and not options["force_color"]:
            options["no_color"] = True
        return super().execute(*args, **options)

    def read(self, options: dict[str, Any]) -> tuple[list[tuple[str, bytes]], Question]:
        """Return the inputs, and the question about them. Raise BadInput."""
        words: list[str] = options["words"]
        if self.given:
            return self.given, Question(words, options["namespace"], options["all_namespaces"])
        live = Live({name: options[name.replace("-", "_")] for name in Live.OPTIONS}, self.stderr.write)
        question = Question(
            [word for word in words if not is_file(word)], options["namespace"], options["all_namespaces"]
        )
        inputs = list_inputs([word for word in words if is_file(word)], live.is_meant)
        if not inputs:
            inputs = live.read(question)
        return inputs, question

    def make(
        self, inputs: list[tuple[str, bytes]], configuration: str, release: Release | None, **how: Any
    ) -> FileWorld:
        """Return the world of the inputs (see make_world), and write its notes. Raise BadInput."""
        made = make_world(inputs, configuration, release=release, **how)
        for note in made.notes:
            self.stderr.write(note)
        return made
